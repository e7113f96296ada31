"""Reads the style from the settings of a project's tools: line length, quotes, docstrings.

Defaults of a tool do not count, nor does a limit whose check the project has switched off.
"""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import cast

from leadhand.teams.review.lenses.guidelines.guideline import Guideline, Kind
from leadhand.teams.review.lenses.guidelines.prose import GuidelineSource

TomlTable = Mapping[str, object]

_E501 = re.compile(r"\bE(?:5|50|501)?\b")
_MAX_GLOBS = 100

FORMATTER = "formatter:"
"""Prefix of a line length that a formatter aims at and no linter enforces."""


def read_style_settings(path: str, text: str, folder: str) -> Iterator[Guideline]:
    """The checkable rules that the configuration file at `path` sets for `folder`."""
    name = PurePosixPath(path).name
    if name.endswith(".toml"):
        try:
            data = cast("TomlTable", tomllib.loads(text))
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            return
        tool = _table(data, "tool") if name == "pyproject.toml" else {"ruff": data}
        yield from _toml(path, text, folder, tool)
    else:
        yield from _flake8(path, text)


def _toml(path: str, text: str, folder: str, tool: TomlTable) -> Iterator[Guideline]:
    ruff, black = _table(tool, "ruff"), _table(tool, "black")
    lint = _table(ruff, "lint") or ruff

    def rule(kind: Kind, value: str, setting: str) -> Guideline:
        source = GuidelineSource(path, *_setting_line(text, setting))
        return Guideline(kind, value, source, folder, excluded=_excluded(ruff, lint, kind))

    length = ruff.get("line-length", ruff.get("line_length"))
    if isinstance(length, int) and not isinstance(length, bool):
        enforced = _selects(lint, "E501")
        mark = "" if enforced else FORMATTER
        own = _table(lint, "pycodestyle").get("max-line-length")
        if enforced and isinstance(own, int):
            yield rule("line-length", str(own), "max-line-length")
        elif enforced or not _lists(lint, "ignore", "E501"):
            yield rule("line-length", f"{mark}{length}", "line-length")
        else:
            yield rule("line-length", "", "line-length")
    elif isinstance(length := black.get("line-length", black.get("line_length")), int):
        yield rule("line-length", f"{FORMATTER}{length}", "line-length")
    style = _table(ruff, "format").get("quote-style")
    if style in ("single", "double"):
        yield rule("quotes", str(style), "quote-style")
    elif _selects(lint, "Q000"):
        quotes = _table(lint, "flake8-quotes").get("inline-quotes")
        if quotes in ("single", "double"):
            yield rule("quotes", str(quotes), "inline-quotes")
    convention = _table(lint, "pydocstyle").get("convention") or _table(tool, "pydocstyle").get(
        "convention"
    )
    if convention in ("google", "numpy"):
        yield rule("docstring-style", str(convention), "convention")


def _excluded(ruff: TomlTable, lint: TomlTable, kind: Kind) -> tuple[str, ...]:
    """Patterns of files in which ruff does not check what `kind` is about."""
    globs = _strings(ruff, "exclude") + _strings(ruff, "extend-exclude") + _strings(lint, "exclude")
    code = {"line-length": "E501", "quotes": "Q000"}.get(kind, "D")
    for key in ("per-file-ignores", "extend-per-file-ignores"):
        ignores = _table(lint, key)
        globs += [glob for glob in ignores if _covers(_strings(ignores, glob), code)]
    return tuple(
        pattern
        for glob in globs[:_MAX_GLOBS]
        if len(glob) < 200
        for pattern in (glob, f"{glob.rstrip('/')}/*", glob.replace("**/", ""))
    )


def _flake8(path: str, text: str) -> Iterator[Guideline]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
        section = parser["flake8"]
    except (configparser.Error, KeyError):
        return
    raw = section.get("max-line-length", section.get("max_line_length", "")).split("#")[0].strip()
    if not raw.isdigit():
        return
    ignored = " ".join(section.get(name, "") for name in ("ignore", "extend-ignore"))
    select = section.get("select", "")
    off = _E501.search(ignored) or (select and not _E501.search(select))
    source = GuidelineSource(path, *_setting_line(text, "max-line-length", raw))
    entries = re.split(r"[\n ]+", section.get("per-file-ignores", ""))
    parts = (entry.partition(":") for entry in entries)
    excluded = [glob for glob, _, codes in parts if _E501.search(codes)]
    yield Guideline(
        "line-length", "" if off else raw, source, excluded=tuple(excluded[:_MAX_GLOBS])
    )


def _table(data: TomlTable, key: str) -> TomlTable:
    value = data.get(key)
    return cast("TomlTable", value) if isinstance(value, dict) else {}


def _strings(data: TomlTable, key: str) -> list[str]:
    value = data.get(key)
    return [str(one) for one in cast("list[object]", value)] if isinstance(value, list) else []


def _covers(codes: Sequence[str], code: str) -> bool:
    return any(one == "ALL" or (one and code.startswith(one)) for one in codes)


def _lists(lint: TomlTable, key: str, code: str) -> bool:
    """Whether a list of ruff codes, or its `extend-` counterpart, covers `code`."""
    return _covers(_strings(lint, key) + _strings(lint, f"extend-{key}"), code)


def _selects(lint: TomlTable, code: str) -> bool:
    return _lists(lint, "select", code) and not _lists(lint, "ignore", code)


def _setting_line(text: str, setting: str, value: str = "") -> tuple[int, str]:
    """The number and text of the first line with `setting`, and with `value` if one is given."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip().replace("_", "-").startswith(setting) and value in line:
            plain = "".join(c if c.isprintable() else " " for c in line.strip())
            return number, plain.replace('"', "'")[:140]
    return 1, setting
