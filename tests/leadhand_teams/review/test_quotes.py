"""A finding counts only if the change has its quote at its place."""

from pathlib import Path

import pytest

from leadhand.contracts.answer import Finding
from leadhand.synthesis.findings import Quote
from leadhand_teams.review.reported import ChangeQuotes
from tests.leadhand_teams.review.changes import make_change

BEFORE = """\
def pay(user, amount):
    check(user)
    log(amount)
    send(amount)


def rest():
    return 1
"""
AFTER = """\
def pay(user, amount):
    log(amount)
    send(
        amount,
        timeout=None,
    )


def rest():
    return 2
"""


@pytest.fixture
def quotes(tmp_path: Path) -> ChangeQuotes:
    """The quotes of a change of `a.py` in three places and of a deleted file."""
    return ChangeQuotes(
        make_change(tmp_path, {"a.py": AFTER}, {"a.py": BEFORE, "gone.py": "one\ntwo\n"})
    )


def quoting(evidence: str, line: int, end_line: int | None = None, path: str = "a.py") -> Finding:
    return Finding(
        path=path,
        line=line,
        end_line=line if end_line is None else end_line,
        severity="warning",
        category="bugs",
        rule="bugs/x",
        message="m",
        evidence=evidence,
    )


def test_an_added_line_is_found_with_its_number(quotes: ChangeQuotes) -> None:
    assert quotes.quoted(quoting("timeout=None", 5)) == Quote(side="added", lines=(5,))


def test_lines_may_be_partial_and_blank_ones_and_indentation_do_not_count(
    quotes: ChangeQuotes,
) -> None:
    found = quotes.quoted(quoting("send(\n\n  timeout=None,", 3, 6))
    assert found == Quote(side="added", lines=(3, 5))


def test_a_quote_may_stand_beside_the_named_line_in_the_same_hunk(quotes: ChangeQuotes) -> None:
    assert quotes.quoted(quoting("timeout=None", 3)) == Quote(side="added", lines=(5,))


def test_a_removed_line_is_found_by_the_line_that_stands_there_now(quotes: ChangeQuotes) -> None:
    removed = Quote(side="removed", lines=(2,))
    assert quotes.quoted(quoting("check(user)", 1)) == removed
    assert quotes.quoted(quoting("check(user)", 2)) == removed
    assert quotes.quoted(quoting("return 1", 10)) == Quote(side="removed", lines=(8,))


def test_a_deleted_file_can_be_quoted(quotes: ChangeQuotes) -> None:
    found = quotes.quoted(quoting("one\ntwo", 1, path="gone.py"))
    assert found == Quote(side="removed", lines=(1, 2))


@pytest.mark.parametrize(
    ("evidence", "line", "path"),
    [
        ("log(amount)", 2, "a.py"),
        ("check(user)", 9, "a.py"),
        ("timeout=None", 10, "a.py"),
        ("timeout = None", 5, "a.py"),
        ("timeout=None,\nsend(", 5, "a.py"),
        ("amount,\namount,", 4, "a.py"),
        ("send(\nreturn 2", 3, "a.py"),
        ("timeout=None", 5, "b.py"),
        ("", 5, "a.py"),
        (" \n\t", 5, "a.py"),
        ("one", 500, "gone.py"),
    ],
    ids=[
        "unchanged", "removed-elsewhere", "added-elsewhere", "reworded", "wrong-order",
        "one-line-twice", "across-hunks", "other-file", "empty", "blank", "far-away",
    ],
)  # fmt: skip
def test_what_the_change_does_not_say_there_is_no_quote(
    quotes: ChangeQuotes, evidence: str, line: int, path: str
) -> None:
    assert quotes.quoted(quoting(evidence, line, path=path)) is None


def test_a_range_that_claims_the_whole_file_finds_changed_lines_only(quotes: ChangeQuotes) -> None:
    assert quotes.quoted(quoting("return 2", 1, 10**9)) == Quote(side="added", lines=(10,))
    assert quotes.quoted(quoting("def pay", 1, 10**9)) is None
