"""What the guidelines lens reports about code that breaks the style in settings files."""

from pathlib import Path

import pytest

from leadhand.contracts.finding import Finding
from leadhand.teams.review.lenses.guidelines.editorconfig import effective, read_editorconfig
from tests.teams.review.changes import make_change
from tests.teams.review.lenses.test_guidelines_findings import look, only

RUFF = '[tool.ruff]\nline-length = 60\n\n[tool.ruff.lint]\nselect = ["E", "F"]\n'
LONG = f'A = "{"x " * 40}"\n'
SPLITTABLE = f"a = b({', '.join(['c'] * 30)})\n"


def seen(
    folder: Path, settings: dict[str, str], code: str, *, path: str = "a.py"
) -> tuple[Finding, ...]:
    return look(make_change(folder, {**settings, path: code}, settings)).findings


def test_a_line_over_the_limit_that_ruff_enforces_is_found(tmp_path: Path) -> None:
    found = only(seen(tmp_path, {"pyproject.toml": RUFF}, LONG))
    assert found.rule == "guidelines/line-length"
    assert 'pyproject.toml:2 "line-length = 60"' in found.message
    assert "86 characters" in found.message


@pytest.mark.parametrize(
    "settings",
    [
        {"pyproject.toml": RUFF.replace('"E", "F"', '"F"')},
        {"pyproject.toml": RUFF + 'ignore = ["E501"]\n'},
        {"pyproject.toml": RUFF + '[tool.ruff.lint.per-file-ignores]\n"a.py" = ["E501"]\n'},
        {"pyproject.toml": RUFF.replace("[tool.ruff]", '[tool.ruff]\nextend-exclude = ["a.py"]')},
        {"pyproject.toml": "[tool.black]\nline-length = 60\n"},
        {"setup.cfg": "[flake8]\nmax-line-length = 60\nextend-ignore = E501\n"},
        {"setup.cfg": "[flake8]\nmax-line-length = 60\nper-file-ignores =\n    a.py:E501\n"},
        {".editorconfig": "[*]\nmax_line_length = 60\n"},
    ],
)
def test_a_long_string_is_fine_where_no_linter_enforces_the_limit(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    assert seen(tmp_path, settings, LONG) == ()


@pytest.mark.parametrize(
    "settings",
    [
        {"pyproject.toml": "[tool.black]\nline-length = 60\n"},
        {"ruff.toml": "line-length = 60\n"},
        {".editorconfig": "[*.py]\nmax_line_length = 60\n"},
        {"setup.cfg": "[flake8]\nmax-line-length = 60\n"},
    ],
)
def test_code_that_a_formatter_would_break_is_found(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    found = only(seen(tmp_path, settings, SPLITTABLE))
    assert (found.rule, found.severity) == ("guidelines/line-length", "info")


def test_settings_override_documents(tmp_path: Path) -> None:
    settings = {"pyproject.toml": RUFF, "AGENTS.md": "# R\n\n- Line length: 70 characters\n"}
    assert "pyproject.toml" in only(seen(tmp_path, settings, LONG)).message


def test_the_nearest_settings_apply(tmp_path: Path) -> None:
    settings = {"pyproject.toml": RUFF, "libs/pyproject.toml": RUFF.replace("60", "120")}
    assert seen(tmp_path, settings, LONG, path="libs/a.py") == ()


def test_a_limit_within_a_string_may_be_marked_at_its_end(tmp_path: Path) -> None:
    code = f'A = """\n{"x " * 40}\n"""  # noqa: E501\n'
    assert seen(tmp_path, {"pyproject.toml": RUFF}, code) == ()


def test_declared_quotes_are_checked(tmp_path: Path) -> None:
    settings = {"pyproject.toml": '[tool.ruff.format]\nquote-style = "single"\n'}
    assert only(seen(tmp_path, settings, 'A = "b"\n')).rule == "guidelines/quotes"


def test_a_declared_docstring_convention_is_checked(tmp_path: Path) -> None:
    settings = {"pyproject.toml": '[tool.ruff.lint.pydocstyle]\nconvention = "numpy"\n'}
    code = 'def a(b):\n    """Give b.\n\n    Args:\n        b: it\n    """\n'
    assert only(seen(tmp_path, settings, code)).rule == "guidelines/docstring-style"


def test_f23_settings_that_can_not_be_parsed_declare_nothing(tmp_path: Path) -> None:
    for n, text in enumerate(("[tool.ruff\n", "a = " + "[" * 5000, "line-length = 'x'\n")):
        assert seen(tmp_path / str(n), {"pyproject.toml": text}, LONG) == ()


EDITOR = (
    "root = true\n\n[*]\nindent_style = space\nindent_size = 4\ninsert_final_newline = true\n"
    "trim_trailing_whitespace = true\n\n[*.{js,ts}]\nindent_size = 2\n\n[Makefile]\n"
    "indent_style = tab\n\n[*.md]\ntrim_trailing_whitespace = false\n"
)


@pytest.mark.parametrize(
    ("path", "code", "rule", "line"),
    [
        ("a.py", "a = 1\nb = 2", "final-newline", 2),
        ("a.py", "a = 1 \n", "trailing-whitespace", 1),
        ("a.py", "def a():\n\treturn 1\n", "indentation", 2),
        ("a.py", "def a():\n  return 1\n", "indentation", 2),
        ("a.js", "a = 1\nb = 2", "final-newline", 2),
        ("a.go", "func a() {\n\tb()\n}\n", "indentation", 2),
    ],
)
def test_an_editorconfig_is_checked(
    tmp_path: Path, path: str, code: str, rule: str, line: int
) -> None:
    found = only(seen(tmp_path, {".editorconfig": EDITOR}, code, path=path))
    assert (found.rule, found.line) == (f"guidelines/{rule}", line)
    assert ".editorconfig:" in found.message


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", 'A = """\n\tb \n"""\n'),
        ("a.py", "a = b(\n        c,\n     d)\n"),
        ("a.py", "def a(\n    b,\n) -> int: ...\n"),
        ("a.md", "some words  \nmore\n"),
        ("a.txt", "a \nb"),
        ("a.js", "if (a) {\n  b()\n}\n"),
    ],
)
def test_text_that_an_editorconfig_does_not_cover_is_left_alone(
    tmp_path: Path, path: str, code: str
) -> None:
    assert seen(tmp_path, {".editorconfig": EDITOR}, code, path=path) == ()


@pytest.mark.parametrize(
    ("glob", "path", "holds"),
    [
        ("*", "a/b.py", True),
        ("*.py", "a/b.py", True),
        ("*.py", "a/b.pyi", False),
        ("*.{js,py}", "b.py", True),
        ("{a,b}.py", "b.py", True),
        ("/b.py", "a/b.py", False),
        ("a/**.py", "a/x/b.py", True),
        ("a/*.py", "a/x/b.py", False),
        ("[!a].py", "b.py", True),
        ("[ab].py", "c.py", False),
        ("file{1..9}.py", "file7.py", True),
        ("a{.py", "a.py", False),
        ("*" * 9, "a.py", False),
        ("*a" * 9, "a" * 60, False),
    ],
)
def test_globs_match_as_editorconfig_says(glob: str, path: str, holds: bool) -> None:
    found = list(read_editorconfig(".editorconfig", f"[{glob}]\nindent_size = 2\n", ""))
    assert bool(effective(found, path)) is holds


def test_later_sections_and_nearer_files_win() -> None:
    outer = read_editorconfig(
        ".editorconfig", "[*]\nindent_size = 2\n[*.py]\nindent_size = 4\n", ""
    )
    inner = read_editorconfig("a/.editorconfig", "[*.py]\nindent_size = 3\n", "a/")
    found = [*outer, *inner]
    assert effective(found, "b.py")["indent_size"].value == "indent_size:4"
    assert effective(found, "a/b.py")["indent_size"].value == "indent_size:3"
