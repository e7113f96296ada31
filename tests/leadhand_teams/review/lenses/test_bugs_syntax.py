"""The bugs lens: files that no longer parse, and files that need not parse."""

import re
from pathlib import Path

import pytest

from leadhand_teams.review.lenses.bugs import syntax
from tests.leadhand_teams.review.changes import make_change
from tests.leadhand_teams.review.lenses.bugs_reports import findings, report


def test_a_file_that_a_change_breaks_is_one_critical_finding(tmp_path: Path) -> None:
    (one,) = findings(
        tmp_path, "def f():\n    return (1\n\ndef g(): ...\n", "def f():\n    return 1\n"
    )
    assert (one.rule, one.severity) == ("bugs/syntax-error", "critical")
    assert "It parsed before this change." in one.message
    assert not re.search(r"\bline \d", one.message), "its place says where, and only that"


def test_a_new_file_that_does_not_parse_is_found(tmp_path: Path) -> None:
    assert [one.rule for one in findings(tmp_path, "def f(:\n    pass\n")] == ["bugs/syntax-error"]


def test_a_conflict_marker_has_a_rule_of_its_own(tmp_path: Path) -> None:
    text = "x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> other\n"
    (one,) = findings(tmp_path, text)
    assert (one.rule, one.line) == ("bugs/conflict-marker", 2)


MARKED = "a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> other\n"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("config.yml", ["bugs/conflict-marker"]),
        ("web/app.js", ["bugs/conflict-marker"]),
        ("docs/merging.md", []),
        ("tests/merge.txt", []),
    ],
)
def test_a_conflict_is_found_in_any_file_but_prose_and_tests(
    tmp_path: Path, path: str, found: list[str]
) -> None:
    seen = report(make_change(tmp_path, {path: MARKED}))
    assert [one.rule for one in seen.findings] == found


def test_a_line_of_equal_signs_is_no_conflict(tmp_path: Path) -> None:
    assert findings(tmp_path, "Title\n=======\n", path="a.cfg") == []
    text = f"TEXT = '''\n{MARKED}'''\n"
    assert findings(tmp_path / "b", text) == []


@pytest.mark.parametrize(
    ("path", "text", "excuse"),
    [
        ("gen.py", "import {{ module }}\n", "template"),
        ("{{name}}/setup.py", "name = <name>\n", "template"),
        ("cell.py", "!pip install httpx\n", "notebook"),
        ("tests/data/broken.py", "def f(:\n", "data for tests"),
        ("testdata/a.py", "def f(:\n", "data for tests"),
        ("tests/bad_syntax.py", "def f(:\n", "data for tests"),
        ("old.py", "#!/usr/bin/python2\nprint 'hello'\n", "Python 2"),
    ],
)
def test_new_files_that_are_broken_on_purpose_are_not_assessed(
    tmp_path: Path, path: str, text: str, excuse: str
) -> None:
    seen = report(make_change(tmp_path, {path: text}))
    assert seen.findings == ()
    (note,) = seen.not_assessed
    assert (note.path, excuse in note.why) == (path, True)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("old.py", "print \'hello\'\n"),
        ("database/query.py", "def f(:\n"),
        ("examples/run.py", "def f(:\n"),
        ("tests/data/test_input.py", "def f(:\n"),
        ("app.py", "def f(:\n    return \'{{ x }}\'\n"),
        ("app.py", "def f():\n    pass\nreturn 1\n"),
        ("app.py", "def f(a, a):\n    pass\n"),
        ("app.py", "x = " + "(" * 300 + "1" + ")" * 300 + "\n"),
        ("app.py", "x = " + "-" * 9_000 + "1\n"),
        ("app.py", "x = a" + ".b" * 30_000 + "\n"),
        ("app.py", "".join(" " * n + "if 1:\n" for n in range(101)) + " " * 101 + "pass\n"),
    ],
    ids=["python 2", "data in a name", "example", "test", "braces", "return", "twice", "brackets",
         "signs", "attributes", "indented"],
)  # fmt: skip
def test_whatever_python_refuses_is_a_fact(tmp_path: Path, path: str, text: str) -> None:
    (one,) = findings(tmp_path, text, path=path)
    assert one.rule == syntax.SYNTAX_ERROR.id
    assert syntax.SYNTAX_ERROR.fact
    assert len(one.evidence) <= 300


@pytest.mark.parametrize("path", ["tests/data/broken.py", "templates/a.py", "old_py2.py"])
def test_a_file_that_parsed_before_is_found_wherever_it_is(tmp_path: Path, path: str) -> None:
    (one,) = findings(tmp_path, "x = (1\n", "x = (1\n)\n", path=path)
    assert (one.rule, one.evidence) == ("bugs/syntax-error", ")")
    assert "It parsed before this change." in one.message


def test_a_file_that_did_not_parse_before_is_not_blamed_on_the_change(tmp_path: Path) -> None:
    seen = report(make_change(tmp_path, {"a.py": "def f(:\n  x\n"}, {"a.py": "def f(:\n"}))
    assert seen.findings == ()
    assert "it did not before" in seen.not_assessed[0].why


def test_a_file_that_parsed_and_did_not_compile_before_is_not_blamed_on_it(tmp_path: Path) -> None:
    before = "if x:\n    continue\n"
    seen = report(make_change(tmp_path, {"a.py": f"y = 1\n{before}"}, {"a.py": before}))
    assert seen.findings == ()


def test_syntax_that_is_newer_than_this_python_is_not_an_error(tmp_path: Path) -> None:
    text = "type Alias = int\nname = 'x'\nprint(t'{name}')\n"
    assert report(make_change(tmp_path, {"a.py": text})).findings == ()
