"""Reads the style that a project declares to its own tools: line length, quotes, docstrings.

Linters other than the project's are not asked for: only settings that the project wrote down count,
and a limit whose check the project itself switched off is no limit.
"""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import cast

from leadhand.teams.review.lenses.guidelines.guideline import Guideline, Kind
from leadhand.teams.review.lenses.guidelines.prose import GuidelineSource

Table = Mapping[str, object]

_E501 = re.compile(r"\bE(?:5|50|501)?\b")
_MAX_GLOBS = 100

FORMATTER = "formatter:"
"""Mark of a line length that a formatter aims at and no linter enforces."""


def declared(path: str, text: str, folder: str) -> Iterator[Guideline]:
    """The checkable rules that the configuration file at `path` declares for `folder`."""
    name = PurePosixPath(path).name
    if name.endswith(".toml"):
        try:
            data = cast("Table", tomllib.loads(text))
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            return
        tool = _table(data, "tool") if name == "pyproject.toml" else {"ruff": data}
        yield from _toml(path, text, folder, tool)
    else:
        yield from _flake8(path, text)


def _toml(path: str, text: str, folder: str, tool: Table) -> Iterator[Guideline]:
    ruff, black = _table(tool, "ruff"), _table(tool, "black")
    lint = _table(ruff, "lint") or ruff

    def rule(kind: Kind, value: str, words: str) -> Guideline:
        number, quote = _line(text, words)
        return Guideline(
            kind=kind,
            value=value,
            source=GuidelineSource(path, number, quote),
            folder=folder,
            excluded=_left_out(ruff, lint, kind),
        )

    length = ruff.get("line-length", ruff.get("line_length"))
    if isinstance(length, int) and not isinstance(length, bool):
        enforced = _selects(lint, "E501")
        mark = "" if enforced else FORMATTER
        own = _table(lint, "pycodestyle").get("max-line-length")
        if enforced and isinstance(own, int):
            yield rule("line-length", str(own), "max-line-length")
        elif enforced or not _names(lint, "ignore", "E501"):
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


def _left_out(ruff: Table, lint: Table, kind: Kind) -> tuple[str, ...]:
    """Patterns of files for which ruff is told not to look at what `kind` is about."""
    globs = _codes(ruff, "exclude") + _codes(ruff, "extend-exclude") + _codes(lint, "exclude")
    code = {"line-length": "E501", "quotes": "Q000"}.get(kind, "D")
    for key in ("per-file-ignores", "extend-per-file-ignores"):
        for glob in _table(lint, key):
            if any(
                one == "ALL" or (one and code.startswith(one))
                for one in _codes(_table(lint, key), glob)
            ):
                globs.append(glob)
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
    number, quote = _line(text, "max-line-length", raw)
    entries = re.split(r"[\n ]+", section.get("per-file-ignores", ""))
    excluded = [
        glob for glob, _, codes in (
            entry.partition(":") for entry in entries
        )
        if _E501.search(codes)
    ]  # fmt: skip
    yield Guideline(
        kind="line-length",
        value="" if off else raw,
        source=GuidelineSource(path, number, quote),
        excluded=tuple(excluded[:_MAX_GLOBS]),
    )


def _table(data: Table, key: str) -> Table:
    value = data.get(key)
    return cast("Table", value) if isinstance(value, dict) else {}


def _codes(lint: Table, key: str) -> list[str]:
    value = lint.get(key)
    return [str(one) for one in cast("list[object]", value)] if isinstance(value, list) else []


def _names(lint: Table, key: str, code: str) -> bool:
    """Whether a list of ruff codes, or its `extend-` twin, covers `code`."""
    listed = _codes(lint, key) + _codes(lint, f"extend-{key}")
    return any(one == "ALL" or (one and code.startswith(one)) for one in listed)


def _selects(lint: Table, code: str) -> bool:
    return _names(lint, "select", code) and not _names(lint, "ignore", code)


def _line(text: str, words: str, value: str = "") -> tuple[int, str]:
    """The number and text of the first line that sets `words`, to `value` where one is given."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip().replace("_", "-").startswith(words.replace("_", "-")) and value in line:
            plain = "".join(c if c.isprintable() else " " for c in line.strip())
            return number, plain.replace('"', "'")[:140]
    return 1, words
