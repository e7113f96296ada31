"""The ruff tool: one batch run that the reviewed code can neither configure nor break."""

import stat
import sys
from pathlib import Path

import pytest

from leadhand.errors import ToolError
from leadhand.tools import ruff


def _write(folder: Path, **texts: str) -> list[Path]:
    files: list[Path] = []
    for name, text in texts.items():
        file = folder / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        files.append(file)
    return files


def test_all_files_are_looked_at_in_one_go_and_reported_in_the_order_given(tmp_path: Path) -> None:
    files = _write(tmp_path, b="print(y)\n", a="\n\nprint(x, z)\n")
    found = ruff.check(files, select=["F821"])
    assert [(one.file.name, one.line, one.end_line, one.column, one.code) for one in found] == [
        ("b.py", 1, 1, 7, "F821"),
        ("a.py", 3, 3, 7, "F821"),
        ("a.py", 3, 3, 10, "F821"),
    ]
    assert found[0].file is files[0]
    assert "`y`" in found[0].message


def test_nothing_to_look_at_is_no_run_at_all() -> None:
    assert ruff.check([], select=["F821"]) == []


def test_f26_configuration_in_the_reviewed_tree_hides_nothing(tmp_path: Path) -> None:
    """F26: neither ruff.toml, pyproject.toml nor ignore files beside the code are obeyed."""
    (tmp_path / "ruff.toml").write_text('exclude = ["*.py"]\n[lint]\nignore = ["ALL"]\n')
    (tmp_path / "pyproject.toml").write_text('[tool.ruff]\nextend-exclude = ["*"]\n')
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / ".ignore").write_text("*\n")
    assert [one.code for one in ruff.check(_write(tmp_path, a="print(x)\n"), select=["F821"])] == [
        "F821"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "print(x)  # noqa\n",
        "print(x)  # noqa: F821\n",
        "print(x)  # type: ignore\n",
        "# ruff: noqa\nprint(x)\n",
        "# flake8: noqa\nprint(x)\n",
        "# ruff: noqa: F821\nprint(x)\n",
        "# ruff: disable[F821]\nprint(x)\n# ruff: enable[F821]\n",
        "print(x)  # ruff: ignore[F821]\n",
        "# ruff: file-ignore[F821]\nprint(x)\n",
        "# /// script\n# [tool.ruff.lint]\n# ignore = ['F821']\n# ///\nprint(x)\n",
    ],
)
def test_f26_marks_in_the_code_hide_nothing(tmp_path: Path, text: str) -> None:
    """F26: a comment that asks checkers to look away is not obeyed."""
    assert [one.code for one in ruff.check(_write(tmp_path, a=text), select=["F821"])] == ["F821"]


def test_f26_the_environment_does_not_configure_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F26: the user's `RUFF_*` variables don't reach the run."""
    monkeypatch.setenv("RUFF_OUTPUT_FORMAT", "concise")
    monkeypatch.setenv("RUFF_OUTPUT_FILE", str(tmp_path / "elsewhere"))
    assert len(ruff.check(_write(tmp_path, a="print(x)\n"), select=["F821"])) == 1
    assert not (tmp_path / "elsewhere").exists()


def test_the_code_is_never_changed(tmp_path: Path) -> None:
    (file,) = _write(tmp_path, a="import os\n")
    assert [one.code for one in ruff.check([file], select=["F401"])] == ["F401"]
    assert file.read_text() == "import os\n"


def test_settings_reach_the_rules(tmp_path: Path) -> None:
    files = _write(tmp_path, a="def f(a, b, c):\n    pass\n")
    assert ruff.check(files, select=["PLR0913"]) == []
    found = ruff.check(files, select=["PLR0913"], settings={"lint.pylint.max-args": "2"})
    assert [one.code for one in found] == ["PLR0913"]


def test_a_file_that_does_not_parse_is_reported_whatever_is_selected(tmp_path: Path) -> None:
    found = ruff.check(_write(tmp_path, a="def f(:\n", b="print(x)\n"), select=["F821"])
    assert {(one.file.name, one.code) for one in found} == {
        ("a.py", "invalid-syntax"),
        ("b.py", "F821"),
    }


def test_a_file_made_to_overflow_the_stack_costs_only_itself(tmp_path: Path) -> None:
    deep = "x = " + "-" * 50_000 + "1\n"
    files = _write(tmp_path, a="print(x)\n", b=deep, c="print(x)\n", d="print(x)\n")
    found = ruff.check(files, select=["F821"])
    assert [(one.file.name, one.code) for one in found] == [
        ("a.py", "F821"),
        ("b.py", ruff.UNREADABLE),
        ("c.py", "F821"),
        ("d.py", "F821"),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="data is limited on Linux alone")
def test_a_file_that_needs_too_much_memory_costs_only_itself_and_is_named(tmp_path: Path) -> None:
    files = _write(tmp_path, big='x = ""\n' + 'x += "a"\n' * 9_000, small="print(y)\n")
    found = ruff.check(files, select=["F", "B", "PLE", "S"], data_bytes=60 << 20)
    assert {(one.file.name, one.code) for one in found} == {
        ("big.py", ruff.UNREADABLE),
        ("small.py", "F821"),
    }
    assert found[0].message == "ruff needs more than 60 MiB of memory for this file"


def test_text_that_is_not_utf_8_costs_only_itself(tmp_path: Path) -> None:
    latin = tmp_path / "latin.py"
    latin.write_bytes(b'x = "\xff"\n')
    found = ruff.check([latin, *_write(tmp_path, a="print(x)\n")], select=["F821"])
    assert [(one.file.name, one.code) for one in found if one.file != latin] == [("a.py", "F821")]


def test_a_flood_of_one_code_does_not_crowd_out_another(tmp_path: Path) -> None:
    flood = "".join(f"print(x{n})\n" for n in range(1_000)) + "print(1 is 1)\n"
    codes = [one.code for one in ruff.check(_write(tmp_path, a=flood), select=["F821", "F632"])]
    assert codes.count("F821") == ruff.MAX_PER_CODE
    assert codes.count("F632") == 1


def test_thousands_of_long_names_fit_on_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / ("n" * 150)
    folder.mkdir()
    files = _write(folder, **{f"m{n:04d}": "print(x)\n" for n in range(1_500)})
    assert len(ruff.check(files, select=["F821"])) == 1_500


def test_names_that_look_like_options_or_argument_files_are_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [Path("--fix.py"), Path("@list.py"), Path("a b.py")]
    for file in files:
        file.write_text("print(x)\n")
    assert [one.file for one in ruff.check(files, select=["F821"])] == files


def test_an_argument_that_ruff_refuses_is_a_tool_error_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="py999"):
        ruff.check(_write(tmp_path, a="x = 1\n"), select=["F821"], target="py999")


def test_a_run_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    files = _write(tmp_path, **{f"m{n}": "print(x + y)\n" * 30_000 for n in range(20)})
    with pytest.raises(ToolError, match="was not done after"):
        ruff.check(files, select=["F", "B", "PL"], timeout_s=0.0)


def test_a_ruff_that_answers_nonsense_is_a_tool_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bin" / "ruff"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho nonsense\nexit 1\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(fake.parent / "python"))
    with pytest.raises(ToolError, match="not JSON"):
        ruff.check(_write(tmp_path, a="x = 1\n"), select=["F821"])


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("x = 1", None),
        ("x = 1  # noqa", "# noqa"),
        ("x = 1  # noqa: F821, E501  because", "# noqa: F821, E501"),
        ("x = 1  # NOQA:F821", "# NOQA:F821"),
        ("x = y  # type: ignore[name-defined]", "# type: ignore[name-defined]"),
        ("x = y  # nosec", "# nosec"),
        ("x = y  # ruff: ignore[F821]", "# ruff: ignore[F821]"),
        ("x = y  # a note about noqa", None),
    ],
)
def test_a_comment_that_asks_checkers_to_look_away_is_quoted(line: str, mark: str | None) -> None:
    assert ruff.suppression(line) == mark


@pytest.mark.parametrize("gone", [["XYZ999"], ["ANN101"], ["ANN101", "XYZ999", "E999"]])
@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("preview", [True, False])
def test_rules_that_ruff_does_not_know_or_has_removed_are_left_out_and_named(
    tmp_path: Path, gone: list[str], files: int, preview: bool
) -> None:
    written = _write(tmp_path, **{f"f{n}": "print(x)\n" for n in range(files)})
    found = ruff.check(written, select=[gone[0], "F821", *gone[1:]], preview=preview)
    unknown = [one for one in found if one.code == ruff.UNKNOWN_RULE]
    assert sorted(one.message for one in unknown) == sorted(gone)
    assert {one.file for one in unknown} == {written[0]}
    assert [one.code for one in found if one not in unknown] == ["F821"] * files


def test_without_any_rule_that_ruff_knows_nothing_is_found(tmp_path: Path) -> None:
    (one,) = ruff.check(_write(tmp_path, a="print(x)\n"), select=["XYZ999"])
    assert (one.code, one.message) == (ruff.UNKNOWN_RULE, "XYZ999")
