"""The consoles: data is printed on stdout, progress on stderr."""

import contextlib
import sys
from collections.abc import Iterable
from typing import IO, TextIO, cast

from rich.console import Console, RenderableType
from rich.text import Text

from leadhand.cli.views.terminal import InertStream

MAX_WIDTH = 100
"""The longest line of what is laid out, on wider terminals too."""


class DataConsole(Console):
    """`writing_output` handles a reader that has left."""

    def __init__(self, stream: TextIO | None = None, *, width: int | None = None) -> None:
        file = cast("IO[str]", InertStream(stream or sys.stdout))
        super().__init__(file=file, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Raise the error; rich would end the process with its own status."""
        raise BrokenPipeError


def error_console() -> Console:
    """Progress goes to stderr, so that stdout holds data only. Errors of writing it are ignored."""
    file = cast("IO[str]", _IgnoringErrors(sys.stderr))
    return Console(file=file, highlight=False, markup=False, emoji=False)


def print_page(console: Console, content: RenderableType) -> None:
    """Print what is laid out, within `MAX_WIDTH`."""
    console.print(content, width=min(console.width, MAX_WIDTH))


def print_line(console: Console, text: str | Text, style: str = "") -> None:
    """Print one line without wrapping it, for programs that read lines."""
    console.print(Text(text, style) if isinstance(text, str) else text, soft_wrap=True)


Line = tuple[int, Text]
"""The indent of a line, and its text. Its continuation has a larger indent."""


def print_lines(lines: Iterable[Line], console: Console) -> None:
    """Wrapped at the width of the console but for commands to copy."""
    width = min(console.width, MAX_WIDTH)
    for indent, text in lines:
        rows = [text] if text.no_wrap else text.wrap(console, max(width - indent - 2, 20))
        for number, line in enumerate(rows or [Text()]):
            line.rstrip()
            print_line(console, Text(" " * (indent + 2 * (number > 0))) + line)


def print_note(text: str) -> None:
    """Print a line of the program's own on stderr."""
    print_line(error_console(), f"leadhand: {text}")


class _IgnoringErrors:
    """A stream whose errors are ignored: a run goes on if its progress can't be shown."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
