"""Reads a team's files: YAML, and Markdown with YAML front matter, with the line of every value.

The result is plain data. Size, depth and aliases are limited, so that a hostile file costs no more
than its length.
"""

import json
import re
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

import yaml

from leadhand.teams.notes import FileLine, Notes

MAX_BYTES = 256 * 1024
MAX_DEPTH = 20
MAX_NUMBER = 2**63
"""Larger whole numbers are read as text."""
_TOO_DEEP = f"is nested more than {MAX_DEPTH} deep: keep it flat"
MAX_ALIASES = 10
"""How often a file may refer to an anchor (`*name`)."""

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
KeyPath = tuple[str | int, ...]

# libyaml is ten times as fast, but mistakes are reported with the messages of the Python parser.
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_parse = cast("Callable[..., object]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
_compose = cast("Callable[..., object]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset({"!", *(f"{_TAG}{name}" for name in ("str", "int", "float", "bool"))})


@dataclass(frozen=True, slots=True)
class TeamFile:
    """A file as plain data. Keys without a value are left out."""

    file: str
    values: dict[str, Value]
    body: str = ""
    """The text after the front matter, without surrounding blank lines."""
    lines: dict[KeyPath, int] = field(default_factory=dict[KeyPath, int])
    """The line of each key and list item, by its path, for example `("limits", "tier")`."""

    def place(self, *path: str | int) -> FileLine:
        """The line of `path`, or of the nearest key above it that the file has."""
        return FileLine(self.file, self.lines.get(self.nearest(path), 1))

    def nearest(self, path: KeyPath) -> KeyPath:
        while path and path not in self.lines:
            path = path[:-1]
        return path


def read_yaml(path: Path, file: str, notes: Notes) -> TeamFile | None:
    """Returns `None`, with a problem in `notes`, if it can't be read."""
    text = read_text(path, file, notes)
    return None if text is None else document_in(text, file, notes)


def read_markdown(path: Path, file: str, notes: Notes) -> TeamFile | None:
    """Returns `None`, with a problem in `notes`, if it can't be read."""
    text = read_text(path, file, notes)
    return None if text is None else markdown_in(text, file, notes)


def markdown_in(text: str, file: str, notes: Notes, *, lenient: bool = False) -> TeamFile | None:
    """A text with front matter; `None` if that can't be read, with a problem in `notes`.

    `lenient`: a line that is not YAML, such as `key: text: more`, is text, with a warning. Other
    programs allow that.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        notes.problem(
            FileLine(file, 1),
            "has no front matter: begin with a line `---`, then `description: ...` and other "
            "keys, then `---` again",
        )
        return None
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() == "---"), None)
    if end is None:
        notes.problem(FileLine(file, 1), "the front matter never ends: close it with a line `---`")
        return None
    # The blank line replaces the first `---`, so that line numbers are those of the file.
    front = "\n".join(["", *lines[1:end], ""])
    body = "\n".join(lines[end + 1 :]).strip()
    return document_in(front, file, notes, body=body, lenient=lenient)


def read_text(path: Path, file: str, notes: Notes) -> str | None:
    """Returns `None`, with a problem in `notes`, if it can't be read."""
    place = FileLine(file, 0)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            notes.problem(place, "is not a file")
            return None
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        notes.problem(place, f"can't be read: {error.strerror or error}")
        return None
    if len(raw) > MAX_BYTES:
        notes.problem(place, f"is larger than {MAX_BYTES // 1024} KiB: shorten it")
        return None
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        notes.problem(FileLine(file, line), "is not UTF-8 text here: save the file as UTF-8")
        return None


class _Refused(Exception):
    """A file contains something that is not allowed, at a line counted from 0."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


_PLAIN_LINE = re.compile(
    r"""^([A-Za-z][\w-]*:[ ]+)((?![\[{|>"'])\S.*:(?:[ ].*)?|[*&!%@`].*)$""", re.MULTILINE
)
"""A line of which YAML can't read the value, but could if it were quoted."""


def document_in(
    text: str, file: str, notes: Notes, *, body: str = "", lenient: bool = False
) -> TeamFile | None:
    """`None`, with a problem in `notes`, if it is no mapping."""
    try:
        _bound(text)
        node = cast("yaml.Node | None", _compose(text, Loader=_LOADER))
        if node is None:
            return TeamFile(file, {}, body)
        if not isinstance(node, yaml.MappingNode):
            raise _Refused(node.start_mark.line, "is not a mapping: write `key: value` lines")
        reader = _Reader(file, notes)
        return TeamFile(file, reader.mapping(node, ()), body, reader.lines)
    except _Refused as error:
        notes.problem(FileLine(file, error.line + 1), error.why)
    except yaml.YAMLError as error:
        line, why = _mistake(text, error)
        if lenient:
            quoted = _PLAIN_LINE.sub(lambda m: m[1] + json.dumps(m[2]), text)
            found = document_in(quoted, file, attempt := Notes(), body=body)
            if found is not None and not attempt.problems:
                notes.warn(FileLine(file, line), f"{why}; it is read as plain text")
                return found
        notes.problem(FileLine(file, line), why)
    return None


def _bound(text: str) -> None:
    """Raise `_Refused` if `text` is too deep, has too many aliases, or tags that make objects."""
    depth = aliases = 0
    with closing(_events(text, _LOADER)) as events:
        for event in events:
            match event:
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    depth -= 1
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    depth += 1
                case yaml.AliasEvent():
                    aliases += 1
                case _:
                    pass
            tag = cast("str | None", getattr(event, "tag", None))
            line = cast("yaml.Mark", event.start_mark).line
            if depth > MAX_DEPTH:
                raise _Refused(line, _TOO_DEEP)
            if aliases > MAX_ALIASES:
                why = f"has more than {MAX_ALIASES} aliases (`*name`): write the values out"
                raise _Refused(line, why)
            if tag is not None and tag not in _PLAIN_TAGS:
                shown = f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
                raise _Refused(line, f"the tag {shown!r} is not read: leave it out")


def _events(text: str, loader: type) -> Generator[yaml.Event]:
    yield from cast("Iterator[yaml.Event]", _parse(text, Loader=loader))


class _Reader:
    def __init__(self, file: str, notes: Notes) -> None:
        self._file = file
        self._notes = notes
        self._scalars = yaml.constructor.SafeConstructor()
        self.lines: dict[KeyPath, int] = {}

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Value]:
        """The mapping without keys that have no value."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        values: dict[str, Value] = {}
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Refused(line - 1, "a key must be one word: write `key: value`")
            key = str(key_node.value)
            if key in seen:
                self._notes.problem(
                    FileLine(self._file, line),
                    f"`{key}` is on line {seen[key]} too: keep one of them",
                )
                continue
            seen[key] = line
            self.lines[*path, key] = line
            value = self._value(value_node, (*path, key))
            if value is not None:
                values[key] = value
        return values

    def _value(self, node: yaml.Node, path: KeyPath) -> Value:
        # An alias inside its own anchor is endless, which the events don't show.
        if len(path) > MAX_DEPTH:
            raise _Refused(node.start_mark.line, "contains itself: write the values out")
        match node:
            case yaml.MappingNode():
                return self.mapping(node, path)
            case yaml.SequenceNode():
                items: list[Value] = []
                for index, item in enumerate(node.value):
                    self.lines[*path, index] = item.start_mark.line + 1
                    items.append(self._value(item, (*path, index)))
                return items
            case _:
                return self._scalar(node)

    def _scalar(self, node: yaml.Node) -> Value:
        """Numbers, booleans and null as such; all else, dates too, as text."""
        text = str(node.value)
        assert isinstance(node, yaml.ScalarNode), "the caller handles mappings and lists"
        try:
            match node.tag.removeprefix(_TAG):
                case "null":
                    return None
                case "bool":
                    return bool(self._scalars.construct_yaml_bool(node))
                case "int":
                    number = int(self._scalars.construct_yaml_int(node))
                    return number if abs(number) <= MAX_NUMBER else text
                case "float":
                    return float(self._scalars.construct_yaml_float(node))
                case _:
                    return text
        except (ValueError, KeyError):
            # `!!int x`, or a number only by YAML's rules, such as `0b_`.
            return text


_HINTS = (
    ("mapping values are not allowed", "put text with `: ` in it in quotes, and indent evenly"),
    ("'\\t'", "indent with spaces, not with tabs"),
    ("cannot start any token", "put text that begins with a special character in quotes"),
    ("expected <block end>", "make its indentation match the lines around it"),
    ("could not find expected ':'", "write `key: value`; is a `:` missing?"),
    ("found unexpected end of stream", "close the quotes"),
    ("sequence entries are not allowed", "begin the list on a line of its own"),
    ("expected ',' or", "close the bracket, and put text with `: ` in it in quotes"),
    ("but found '<stream end>'", "close the brackets"),
    ("undefined alias", "put text that begins with `*` in quotes"),
    ("unknown escape character", "use single quotes, in which a backslash means itself"),
    ("but found another document", "keep one document, without a second `---`"),
)


def _mistake(text: str, error: yaml.YAMLError) -> tuple[int, str]:
    """Why `text` is not YAML, and the line, from 1."""
    if isinstance(error, yaml.MarkedYAMLError) and "nesting depth" in str(error.problem):
        # libyaml's own limit. The parser below has none, and its time is quadratic in the depth.
        mark = error.problem_mark
        return (mark.line + 1 if mark else 1), _TOO_DEEP
    try:
        for _ in _events(text, yaml.SafeLoader):
            pass
    except yaml.YAMLError as plain:
        error = plain
    if isinstance(error, yaml.MarkedYAMLError):
        problem = str(error.problem)
        # If quotes or brackets are not closed, the line that opens them helps more.
        is_open = "end of stream" in problem or "expected ',' or" in problem
        mark = (error.context_mark if is_open else None) or error.problem_mark
        hint = next((hint for part, hint in _HINTS if part in problem), "fix or quote it")
        return (mark.line + 1 if mark else 1), f"is not YAML ({problem}): {hint}"
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return line, f"contains the character {error.character!r}, which YAML forbids: remove it"
    return 1, "is not valid YAML"
