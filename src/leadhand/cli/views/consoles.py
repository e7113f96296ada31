"""The consoles: data is printed on stdout, progress on stderr."""

import contextlib
import sys
from typing import IO, TextIO, cast

from rich.console import Console

from leadhand.cli.views.terminal import InertStream


class DataConsole(Console):
    """Stdout, without workflow commands. `writing_output` handles a reader that has left."""

    def __init__(self) -> None:
        super().__init__(file=cast("IO[str]", InertStream(sys.stdout)))

    def on_broken_pipe(self) -> None:
        """Raise the error; rich would end the process with its own status."""
        raise BrokenPipeError


def error_console() -> Console:
    """Progress goes to stderr, so that stdout holds data only. Errors of writing it are ignored."""
    return Console(file=cast("IO[str]", _IgnoringErrors(sys.stderr)))


def print_note(text: str) -> None:
    """Print a line of the program's own on stderr."""
    error_console().print(f"leadhand: {text}", markup=False, highlight=False, soft_wrap=True)


class _IgnoringErrors:
    """A stream whose errors are ignored: a run goes on if its progress can't be shown."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text if possible."""
        with contextlib.suppress(OSError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush if possible."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
