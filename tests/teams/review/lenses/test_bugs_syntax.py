"""The bugs lens: files that no longer parse, and files that need not parse."""

from pathlib import Path

import pytest

from tests.teams.review.changes import make_change
from tests.teams.review.lenses.bugs_reports import findings, report


def test_a_file_that_a_change_breaks_is_one_critical_finding(tmp_path: Path) -> None:
    (one,) = findings(
        tmp_path, "def f():\n    return (1\n\ndef g(): ...\n", "def f():\n    return 1\n"
    )
    assert (one.rule, one.severity) == ("bugs/syntax-error", "critical")
    assert "It parsed before this change." in one.message


def test_a_new_file_that_does_not_parse_is_found(tmp_path: Path) -> None:
    assert [one.rule for one in findings(tmp_path, "def f(:\n    pass\n")] == ["bugs/syntax-error"]


def test_a_conflict_marker_has_a_rule_of_its_own(tmp_path: Path) -> None:
    text = "x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> other\n"
    (one,) = findings(tmp_path, text)
    assert (one.rule, one.line) == ("bugs/conflict-marker", 2)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("old.py", "print 'hello'\n"),
        ("old.py", "try:\n    f()\nexcept ValueError, e:\n    pass\n"),
        ("gen.py", "import {{ module }}\n"),
        ("{{name}}/setup.py", "name = <name>\n"),
        ("tests/data/broken.py", "def f(:\n"),
        ("tests/bad_syntax.py", "def f(:\n"),
    ],
)
def test_files_that_need_not_parse_are_not_assessed(tmp_path: Path, path: str, text: str) -> None:
    seen = report(make_change(tmp_path, {path: text}))
    assert seen.findings == ()
    assert [note.path for note in seen.not_assessed] == [path]


def test_a_file_that_did_not_parse_before_is_not_blamed_on_the_change(tmp_path: Path) -> None:
    seen = report(make_change(tmp_path, {"a.py": "def f(:\n  x\n"}, {"a.py": "def f(:\n"}))
    assert seen.findings == ()
    assert "it did not before" in seen.not_assessed[0].why


def test_syntax_that_is_newer_than_this_python_is_not_an_error(tmp_path: Path) -> None:
    text = "type Alias = int\nname = 'x'\nprint(t'{name}')\n"
    assert report(make_change(tmp_path, {"a.py": text})).findings == ()
