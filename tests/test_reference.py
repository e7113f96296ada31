"""The reference pages are what `make reference` writes, and have every public name once."""

import runpy
from collections import Counter
from pathlib import Path

import leadhand

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
WRITER = runpy.run_path(str(FOLDER / "generate.py"))
NOT_CLASSES = {"Event", "Outcome", "events"}


def test_the_reference_pages_are_up_to_date() -> None:
    """If this fails: `make reference`."""
    for name in WRITER["PAGES"]:
        assert (FOLDER / f"{name}.md").read_text(encoding="utf-8") == WRITER["page"](name)
    assert {path.stem for path in FOLDER.glob("*.md")} == set(WRITER["PAGES"])


def test_every_public_name_is_on_one_page() -> None:
    names = Counter(
        kind.__name__ for name in WRITER["PAGES"] for kind in WRITER["documented"](name)
    )
    public = set(dir(leadhand)) - NOT_CLASSES
    assert {name: names[name] for name in public} == dict.fromkeys(public, 1)
    assert names == Counter({*names})


def test_what_leadhand_does_not_export_says_where_it_is_imported_from() -> None:
    assert "## `Rate`\n\n`from leadhand.contracts.budget import Rate`\n" in WRITER["page"](
        "supervisor"
    )
