"""What a change shows of its author's intention, and what the review then asks."""

from pathlib import Path

import pytest

from leadhand.contracts.answer import Finding
from leadhand.synthesis.findings import Review
from leadhand_teams.review.snapshot import write_snapshot
from leadhand_teams.review.synthesizer import MAX_QUESTIONS
from tests.leadhand_teams.review.test_no_alarm import reviewed
from tests.repositories import Repo

GUARDED = "def delete(user, row):\n    if not user.is_admin:\n        raise Forbidden(user)\n"
DELETES = "    row.delete()\n"
TEST = "def test_delete():\n    delete(user, row)\n    assert not row.stored\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository in which only administrators delete rows, with a test that does not ask."""
    repo = Repo(tmp_path / "repo")
    repo.commit("Add", {"rows.py": GUARDED + DELETES, "tests/test_rows.py": TEST})
    return repo


def of(tmp_path: Path, repo: Repo, title: str, files: dict[str, str]) -> Review:
    """The review of a commit that also lets everyone delete rows."""
    repo.commit(title, {"rows.py": f"def delete(user, row):\n{DELETES}", **files})
    return reviewed(write_snapshot(tmp_path / "change", repo=repo.folder, revision="HEAD"))


@pytest.mark.parametrize(
    ("title", "files"),
    [
        ("Change rows", {"tests/test_rows.py": f"{TEST}    assert row.history\n"}),
        ("Change rows", {"docs/rows.rst": "Everyone may delete a row.\n"}),
        ("Allow everyone to delete rows", {}),
    ],
)
def test_a_change_that_shows_that_it_is_meant_is_asked_nothing(
    tmp_path: Path, repo: Repo, title: str, files: dict[str, str]
) -> None:
    review = of(tmp_path, repo, title, files)
    assert (review.findings, review.look) == ((), ())
    assert "shows that it is meant" in guard(review.suppressed).why


@pytest.mark.parametrize("test", [TEST.replace("    assert not row.stored\n", ""), f"\n{TEST}"])
def test_tests_that_are_taken_away_or_only_move_show_nothing(
    tmp_path: Path, repo: Repo, test: str
) -> None:
    review = of(tmp_path, repo, "Change rows", {"tests/test_rows.py": test})
    assert guard(review.look).confidence >= 30


def test_one_change_is_asked_few_questions(tmp_path: Path, repo: Repo) -> None:
    names = ("a", "b", "c")
    kinds = ("is_admin", "is_owner", "is_staff")
    guarded = {
        f"{name}.py": GUARDED.replace("is_admin", kind) + DELETES
        for name, kind in zip(names, kinds, strict=True)
    }
    repo.commit("Add more", guarded)
    bare = dict.fromkeys(guarded, f"def delete(user, row):\n{DELETES}")
    review = of(tmp_path, repo, "Change rows", bare)
    assert len((*review.findings, *review.look)) == MAX_QUESTIONS
    assert guard(review.suppressed).confidence >= 30


def guard(found: tuple[Finding, ...]) -> Finding:
    return next(one for one in found if "guard" in one.rule)


@pytest.mark.parametrize(
    ("title", "asked"),
    [("Change rows", 1), ("Names are not shortened", 0), ("typing: names of rows", 0)],
)
def test_what_may_not_matter_is_asked_only_if_the_title_does_not_tell(
    tmp_path: Path, repo: Repo, title: str, asked: int
) -> None:
    repo.commit("Add labels", {"labels.py": "def label(row):\n    return shorten(row.name)\n"})
    repo.commit(title, {"labels.py": "def label(row):\n    return row.name\n"})
    review = reviewed(write_snapshot(tmp_path / "change", repo=repo.folder, revision="HEAD"))
    assert [one.rule for one in review.look] == ["security/removed-wrapper"] * asked


def test_a_lost_await_is_asked_about_whatever_the_change_shows(tmp_path: Path, repo: Repo) -> None:
    before = "async def store(row, db):\n    await db.save(row)\n"
    repo.commit("Add stores", {"stores.py": before})
    after = "async def store(row, db):\n    db.save(row, twice=True)\n"
    test = "def test_store():\n    assert stored\n"
    repo.commit("Replace it", {"stores.py": after, "tests/test_stores.py": test})
    review = reviewed(write_snapshot(tmp_path / "change", repo=repo.folder, revision="HEAD"))
    assert [one.rule for one in review.look] == ["bugs/await-dropped"]
