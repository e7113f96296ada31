"""Callers and tests of what a change touches are found by name, quoted and counted."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from leadhand_teams.review.snapshot import write_snapshot
from leadhand_teams.review.usages import MAX_CHARS, MAX_PLACES, Kind, Usages
from tests.repositories import Repo

SHOP = """\
class Shop:
    def __init__(self, name):
        self.name = name

    def close(self):
        return self.name


def open_all(names):
    return [Shop(name) for name in names]
"""


def usages(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> Usages:
    repo = Repo(folder / "repository")
    for files in (before, after):
        repo.commit(files=files)
    return Usages.of(write_snapshot(folder / "change", repo=repo.folder))


def lines(usages: Usages, kind: Kind, path: str = "shop.py") -> list[str]:
    return usages.about([path], kind).splitlines()


@pytest.mark.parametrize(
    ("user", "place"),
    [
        ("from shop import open_all\n\nopen_all([])\n", "user.py:3: open_all([])"),
        (
            "import shop as s\n\n\ndef go():\n    s.open_all([])\n",
            "user.py:5 in go: s.open_all([])",
        ),
        ("def open_all(x): ...\n\n\nopen_all(1)  # not shop's\n", None),
        ("import other\n\nother.open_all(1)  # not shop's\n", None),
        ("# shop.open_all is mentioned here\n", None),
    ],
    ids=["imported", "by its module", "another function", "another module", "a comment"],
)
def test_a_function_is_used_where_it_is_imported_or_reached_by_its_module(
    tmp_path: Path, user: str, place: str | None
) -> None:
    changed = SHOP.replace("for name in names", "for name in sorted(names)")
    found = usages(tmp_path, {"shop.py": SHOP, "user.py": user}, {"shop.py": changed})
    shown = lines(found, "callers")
    if place is None:
        assert shown == ["No callers name open_all."]
    else:
        assert shown == ["open_all (shop.py:9)", f"  {place}"]


def test_methods_are_used_in_files_that_name_their_class(tmp_path: Path) -> None:
    users = {
        "a.py": "from shop import Shop\n\nshop = Shop('a')\nshop.close()\n",
        "b.py": "connection.close()\n",
        "tests/test_shop.py": "def test_it(shop: 'Shop'):\n    assert shop.close()\n",
    }
    changed = SHOP.replace("return self.name", "return None").replace("self.name =", "self._n =")
    found = usages(tmp_path, {"shop.py": SHOP, **users}, {"shop.py": changed})
    assert lines(found, "callers") == [
        "Shop (shop.py:2)",
        "  shop.py:10 in open_all: return [Shop(name) for name in names]",
        "  a.py:3: shop = Shop('a')",
        "Shop.close (shop.py:5)",
        "  a.py:4: shop.close()",
    ]
    assert lines(found, "tests") == [
        "Shop.close (shop.py:5)",
        "  tests/test_shop.py:2 in test_it: assert shop.close()",
        "No tests name Shop.",
    ]


def test_callers_of_what_is_gone_are_named_too(tmp_path: Path) -> None:
    user = "from shop import open_all\n\nprint(open_all)\n"
    found = usages(
        tmp_path, {"shop.py": SHOP, "user.py": user}, {"shop.py": SHOP.partition("\n\ndef open")[0]}
    )
    assert lines(found, "callers") == [
        "open_all (shop.py:9, removed)",
        "  user.py:3: print(open_all)",
    ]


def test_what_there_is_no_room_for_is_counted(tmp_path: Path) -> None:
    names = [f"function_{n:03}" for n in range(90)]
    before = "".join(f"def {name}():\n    return 1\n\n\n" for name in names)
    calls = "".join(f"{name}()\n" * (MAX_PLACES + 2) for name in names)
    user = f"from shop import {', '.join(names)}\n\n{calls}"
    found = usages(
        tmp_path, {"shop.py": before, "user.py": user}, {"shop.py": before.replace("1", "2")}
    )
    text = found.about(["shop.py"], "callers")
    assert "  ... and 2 more places in 1 file\n" in text
    assert text.splitlines()[-1] == f"(and {90 - text.count('(shop.py:')} more)"
    assert len(text) < MAX_CHARS + 100
    assert lines(found, "tests")[-1].endswith(" and 70 more.")


def test_of_a_patch_alone_there_are_none(tmp_path: Path) -> None:
    patch = b"--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-def old(): ...\n+def new(): ...\n"
    (tmp_path / "change.diff").write_bytes(patch)
    with (tmp_path / "change.diff").open("rb") as file:
        change = write_snapshot(tmp_path / "change", patch=file)
    assert Usages.of(change).about(["shop.py"], "callers") == ""
