"""Reads the files that a task was given: texts with their places, tables, and what was not read.

It builds on `leadhand.tools.files`, which opens only listed files and parses PDF, Word, HTML and
spreadsheets in limited processes. A plain text keeps the length of its file: offsets are Unicode
characters of the file as it is. The text of a PDF is made readable: without ligatures, words broken
at line ends, and the headers and footers that its pages repeat.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar, cast

from leadhand.tools.files import NOT_READ, Document, Documents, FileKind, InputFile, Inputs, decoded
from leadhand.tools.text import UnreadFile, size_text
from leadhand_teams.shared.grids import csv_tables, json_tables, sheet_tables, text_tables
from leadhand_teams.shared.tables import DataTable

T = TypeVar("T")
MAX_PLAIN_BYTES: Final = 32 << 20
"""Bytes read of a plain text, CSV or JSON file."""
_PLAIN: Final[tuple[FileKind, ...]] = ("text", "markdown", "csv", "json")
_ONE_FOR_ONE: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    **dict.fromkeys((0x0B, 0x0C, 0x0D, 0x85, 0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0xFEFF), " "),
    **dict.fromkeys((*range(0x2028, 0x202F), *range(0x2060, 0x206A)), " "),
    0x7F: "\u2421",
    **dict.fromkeys((*range(0x86, 0xA0), *range(0x80, 0x85), *range(0xFFF9, 0xFFFC)), "\ufffd"),
    **dict.fromkeys(range(0xE0000, 0xE0080), " "),
}
"""Characters that control or hide text, each by one that shows, so that offsets stay."""
_LIGATURES: Final = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_BROKEN_WORD: Final = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zà-öø-ÿ])")
_FIGURES: Final = re.compile(r"\d+")
_EDGE_LINES: Final = 3
"""Lines at the top and bottom of a page that may be a header or footer."""
_MAX_JSON_TEXTS: Final = 50_000
_BODY_FIELDS: Final = ("text", "body", "content", "answer", "summary", "description")


@dataclass(frozen=True)
class Text:
    """One text: a file, or a row of JSON Lines that has an `id`."""

    name: str
    """The file."""
    text: str
    page_starts: tuple[int, ...] = ()
    """The offset of each page; empty for a format without pages."""
    id: str | None = None
    """Of a row of JSON Lines."""
    title: str = ""
    """Of a row of JSON Lines."""

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """The line, from 1, of the character at `offset`."""
        return bisect_right(self._line_starts, offset)

    def page(self, offset: int) -> int | None:
        """The page, from 1; None for a format without pages."""
        return bisect_right(self.page_starts, offset) or None

    def ref(self, offset: int = 0) -> str:
        """The place of `offset`: an id, `file!page` or `file:line`."""
        if self.id is not None:
            return self.id
        page = self.page(offset)
        return f"{self.name}!{page}" if page else f"{self.name}:{self.line(offset)}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the files contain."""

    texts: tuple[Text, ...]
    tables: tuple[DataTable, ...]
    """Of CSV, JSON and spreadsheets, and those within texts."""
    unread: tuple[UnreadFile, ...]
    """What was not read, or not completely, and why."""
    files: tuple[str, ...] = ()
    """All that were listed."""
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The lines of plain text, CSV and JSON files."""

    def line(self, ref: str) -> str | None:
        """The line at a place such as `file:3`, of a plain file."""
        name, _, number = ref.rpartition(":")
        lines = self.lines.get(name, ())
        has_line = number.isdigit() and int(number) <= len(lines)
        return lines[int(number) - 1].strip() if has_line else None


def stamps(paths: Iterable[str | Path]) -> tuple[tuple[str, int, int], ...]:
    """The time and size of each file at `paths` and in folders there, as a key of what was read.

    A folder's own time does not change when a file in it does.
    """
    found: list[tuple[str, int, int]] = []
    for path in map(Path, paths):
        for file in (path, *sorted(path.rglob("*"))):
            with suppress(OSError):
                state = file.lstat()
                found.append((str(file), state.st_mtime_ns, state.st_size))
    return tuple(found)


def read_once(build: Callable[[Reading], T]) -> Callable[[Iterable[str]], T]:
    """A function of paths: what `build` makes of them, read again only if a file has changed."""

    @lru_cache(maxsize=4)
    def built(paths: tuple[str, ...], states: object) -> T:
        del states
        return build(read(path for path in paths if Path(path).exists()))

    lock = Lock()

    def found(paths: Iterable[str]) -> T:
        paths = tuple(paths)
        with lock:  # tasks that start together read once
            return built(paths, stamps(paths))

    return found


def read(paths: Iterable[str | Path]) -> Reading:
    """Read the files at `paths` and in folders there. Raises `InputError` if one isn't there."""
    inputs = Inputs.of([Path(path) for path in paths])
    texts: list[Text] = []
    tables: list[DataTable] = []
    unread = list(inputs.skipped)
    lines: dict[str, Sequence[str]] = {}
    unread += [UnreadFile(file.name, NOT_READ) for file in inputs.of_kind("other")]
    parsed = [file for file in inputs.files if file.kind not in (*_PLAIN, "other")]
    documents = Documents(inputs).read_each(parsed)
    for file in inputs.files:
        if file.kind == "other":
            continue
        if file.kind in _PLAIN:
            text = _plain(inputs, file, unread)
            if text is None:
                continue
            lines[file.name] = text.text.split("\n")
        else:
            found = next(documents)
            if not isinstance(found, Document):
                unread.append(UnreadFile(file.name, found.why))
                continue
            if found.cut:
                unread.append(UnreadFile(file.name, found.cut))
            text = Text(found.name, found.text, found.page_starts)
            text = _readable(found) if file.kind == "pdf" else text
        _add(file, text, texts, tables)
    names = tuple(file.name for file in inputs.files)
    return Reading(tuple(texts), tuple(tables), tuple(unread), names, lines)


def _add(file: InputFile, text: Text, texts: list[Text], tables: list[DataTable]) -> None:
    match file.kind:
        case "csv":
            found = csv_tables(file.name, text.text)
            tables += found
            texts += [] if found else [text]
        case "json":
            rows = _rows(text)
            found = [] if rows else json_tables(file.name, text.text)
            texts += rows or ([] if found else [text])
            tables += found
        case "xlsx":
            for start, end in pairwise((*text.page_starts, len(text.text))):
                tables += sheet_tables(file.name, text.text[start:end])
        case _:
            texts.append(text)
            tables += [] if file.kind == "pdf" else text_tables(file.name, text.text)


def _plain(inputs: Inputs, file: InputFile, unread: list[UnreadFile]) -> Text | None:
    try:
        with inputs.open(file.name) as stream:
            data = stream.read(MAX_PLAIN_BYTES)
            more = stream.read(1) != b""
    except Exception as error:  # `OSError`, and `UnreadableInput`, which is not public.
        why = str(error).removeprefix(f"{file.name}: ")
        why = f"reading it failed ({error.strerror})" if isinstance(error, OSError) else why
        unread.append(UnreadFile(file.name, why))
        return None
    if more:
        why = f"only its first {size_text(MAX_PLAIN_BYTES)} were read"
        unread.append(UnreadFile(file.name, why))
    text = decoded(data)
    # A lone carriage return ends a line; before a line feed it is a space.
    lone = "\r" in text and "\n" not in text
    text = text.replace("\r", "\n") if lone else text
    return Text(file.name, text.translate(_ONE_FOR_ONE))


def _rows(text: Text) -> list[Text]:
    """A text for each row of JSON Lines, if its rows have an id and a longer text."""
    found: list[Text] = []
    for line in filter(str.strip, text.text.split("\n")[:_MAX_JSON_TEXTS]):
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError):
            return []
        fields = cast("dict[str, object]", row) if isinstance(row, dict) else {}
        body = next((fields[name] for name in _BODY_FIELDS if name in fields), None)
        if "id" not in fields or not isinstance(body, str):
            return []
        title = fields.get("title")
        shown = title if isinstance(title, str) else ""
        found.append(Text(text.name, body, id=str(fields["id"]), title=shown))
    return found


def _readable(document: Document) -> Text:
    """The text of a PDF without what only its layout put there."""
    starts = pairwise((*document.page_starts, len(document.text)))
    pages = [document.text[start:end].split("\n") for start, end in starts]
    # The lines, with any numbers, that are at the edges of most pages.
    seen = Counter(shape for lines in pages for shape in {_shape(lines[n]) for n in _edges(lines)})
    made: list[str] = []
    for lines in pages:
        left_out = [
            n
            for n in _edges(lines)
            if len(pages) > 2 and seen[_shape(lines[n])] >= 0.6 * len(pages)
        ]
        page = "\n".join(line for n, line in enumerate(lines) if n not in left_out)
        made.append(_BROKEN_WORD.sub("", page.translate(_LIGATURES)).rstrip("\n") + "\n")
    begins = accumulate((len(page) for page in made[:-1]), initial=0)
    return Text(document.name, "".join(made), tuple(begins))


def _edges(lines: Sequence[str]) -> set[int]:
    """The lines that may be a header or footer."""
    filled = [n for n, line in enumerate(lines) if line.strip()]
    return {*filled[:_EDGE_LINES], *filled[-_EDGE_LINES:]}


def _shape(line: str) -> str:
    return _FIGURES.sub("0", " ".join(line.split()))
