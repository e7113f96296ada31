"""The consoles: data is printed on stdout, progress on stderr."""

import contextlib
import sys
from typing import IO, TextIO, cast

from rich.console import Console


class DataConsole(Console):
    """Stdout. `standard_streams.written` deals with a reader that has gone."""

    def on_broken_pipe(self) -> None:
        """Raise the error as it came, where rich would end the process with a status of its own."""
        raise BrokenPipeError


def error_console() -> Console:
    """Where progress goes: stderr, so that stdout holds data only. What can't be shown is not."""
    return Console(file=cast("IO[str]", _Forgiving(sys.stderr)))


class _Forgiving:
    """A stream that may come to nothing: a run doesn't end for want of showing its progress."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        with contextlib.suppress(OSError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """The same."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
