"""Reads the text of input files: limited, cleaned, any cut noted, easy to cite (F18)."""

import hashlib
import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BufferedReader
from itertools import accumulate
from typing import Final

from leadhand.engine.current_attempt import time_left_s
from leadhand.tools.files.inputs import InputFile, Inputs, UnreadableInput
from leadhand.tools.files.kinds import FileKind
from leadhand.tools.files.legible import cleaned, decoded
from leadhand.tools.files.parsing import PARSED_KINDS, ParsedFile, ParserLimits, ParserPool
from leadhand.tools.text import size_text

MAX_TEXT_BYTES: Final = 8 << 20
_MAX_HASHED_BYTES: Final = 1 << 30
_CACHED_CHARS: Final = 32 << 20
_AHEAD: Final = 16
_READING_SHARE: Final = 0.5
"""The part of an attempt's remaining time that parsing may take."""
_TIMEOUT_S: Final = 60.0
_LIMITS: Final = ParserLimits()

_NO_TEXT: Final[dict[FileKind, str]] = {
    "parquet": "a Parquet table has no text to read; query it as a table",
    "other": "it is not text, nor a format that is read here",
}


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    text: str
    """All pages, without control characters, with `\\n` line ends."""
    page_starts: tuple[int, ...] = ()
    """The offset of each page, or sheet, in `text`; empty for a format without pages."""
    cut: str | None = None
    """What `text` lacks, with the hash of the whole file; None if it is complete."""

    def page(self, offset: int) -> int | None:
        """The page, from 1, of the character at `offset`; None for a format without pages."""
        return bisect_right(self.page_starts, offset) or None

    def line(self, offset: int) -> int:
        """The line, from 1, of the character at `offset`."""
        return self.text.count("\n", 0, offset) + 1


def citation(name: str, *, line: int, page: int | None) -> str:
    """`[report.md:12]`, or `[paper.pdf p.3]` in a format with pages."""
    return f"[{name} p.{page}]" if page else f"[{name}:{line}]"


class Documents:
    """Reads the text of `inputs` on demand and caches it; thread-safe."""

    def __init__(
        self,
        inputs: Inputs,
        *,
        limits: ParserLimits = _LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.inputs = inputs
        self._limits = limits
        self._clock = clock
        self._kept: dict[str, Document] = {}
        self._lock = threading.Lock()

    def read(self, name: str) -> Document:
        """Raises `ToolCallError` or `UnreadableInput`."""
        file = self.inputs.find(name)
        with self._lock:
            kept = self._kept.get(file.name)
        if kept is not None:
            return kept
        document = next(self.read_each([file]))
        if isinstance(document, UnreadableInput):
            raise document
        with self._lock:
            self._kept[document.name] = document
            while sum(len(kept.text) for kept in self._kept.values()) > _CACHED_CHARS:
                del self._kept[next(iter(self._kept))]
        return document

    def read_each(
        self, files: Sequence[InputFile], *, timeout_s: float = _TIMEOUT_S
    ) -> Generator[Document | UnreadableInput]:
        """The text of each file, uncached, or why not; after `timeout_s` parses no more."""
        # The attempt needs time for its other work.
        timeout_s = min(timeout_s, _READING_SHARE * time_left_s())
        parsers = ParserPool(self._limits, timeout_s=timeout_s, clock=self._clock)
        with parsers, ExitStack() as streams:
            ahead: deque[Callable[[], Document | UnreadableInput]] = deque()
            for file in files:
                ahead.append(self._started(file, parsers, streams))
                if len(ahead) == _AHEAD:
                    yield ahead.popleft()()
            while ahead:
                yield ahead.popleft()()

    def _started(
        self, file: InputFile, parsers: ParserPool, streams: ExitStack
    ) -> Callable[[], Document | UnreadableInput]:
        """Begin to parse a file; the result waits for its text."""
        if file.kind not in PARSED_KINDS:
            return lambda: self._plain(file)
        try:
            stream = streams.enter_context(self.inputs.open(file.name))
        except UnreadableInput as error:
            unreadable = error
            return lambda: unreadable
        job = parsers.add(file.kind, stream)

        def outcome() -> Document | UnreadableInput:
            with stream:
                return _document(file, parsers.result(job), stream)

        return outcome

    def _plain(self, file: InputFile) -> Document | UnreadableInput:
        if why := _NO_TEXT.get(file.kind):
            return UnreadableInput(file.name, why)
        try:
            with self.inputs.open(file.name) as stream:
                data = stream.read(MAX_TEXT_BYTES)
                more = stream.read(1) != b""
                cut = f"only its first {size_text(MAX_TEXT_BYTES)} were read" if more else None
                text = cleaned(decoded(data))
                return Document(file.name, text, cut=_with_hash(cut, stream))
        except UnreadableInput as unreadable:
            return unreadable
        except OSError as error:
            return UnreadableInput(file.name, f"reading it failed ({error.strerror})")


def _document(
    file: InputFile, outcome: ParsedFile, stream: BufferedReader
) -> Document | UnreadableInput:
    if outcome.error is not None:
        return UnreadableInput(file.name, outcome.error)
    pages = [cleaned(page).rstrip("\n") + "\n" for page in outcome.pages]
    text = "".join(pages)
    if not text.strip():
        return UnreadableInput(
            file.name, "it holds no text that can be read; it may hold images of text"
        )
    starts = accumulate((len(page) for page in pages[:-1]), initial=0)
    return Document(
        file.name,
        text,
        page_starts=tuple(starts) if file.kind in ("pdf", "xlsx") else (),
        cut=_with_hash(outcome.cut, stream),
    )


def _with_hash(cut: str | None, stream: BufferedReader) -> str | None:
    """`cut` with the size of the file and, unless it is huge, its SHA-256 (F18)."""
    if cut is None:
        return None
    size = stream.seek(0, 2)
    stream.seek(0)
    if size > _MAX_HASHED_BYTES:
        return f"{cut}; the file has {size:,} bytes"
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return f"{cut}; the file has {size:,} bytes, sha256 {digest}"
