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
    names = Counter(name for _, names in WRITER["PAGES"].values() for name in names.split())
    assert names == Counter(set(leadhand.__all__) - NOT_CLASSES)
