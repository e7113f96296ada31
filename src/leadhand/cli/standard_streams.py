"""Standard streams that are closed or fail, and requests to end the program."""

import contextlib
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Generator
from types import FrameType

from leadhand.errors import InputError, ToolError

_WRONG_NAME = (errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG)
"""What is wrong with a file that the user named; nothing is wrong with the disk."""


@contextlib.contextmanager
def writing_output() -> Generator[None]:
    """While the block writes to stdout, ignore that its reader has left, as `| head` does.
    Raises `ToolError` if the output can't be written, for example on a full disk."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _discard()
    except OSError as error:
        if error.filename is not None:  # not stdout, but a file or program that the block used
            kind = InputError if error.errno in _WRONG_NAME else ToolError
            raise kind(f"can't use {str(error.filename)[:200]}: {error.strerror}") from error
        _discard()
        raise ToolError(f"can't write the output: {error.strerror}") from error


def _discard() -> None:
    """Discard what is still to be written, so that flushing it at exit can't fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def prepare() -> None:
    """Open the streams that the caller closed, and clean up on SIGTERM and SIGHUP as on Ctrl-C.
    Characters that an encoding lacks are printed as escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _interrupt)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: the process has to end, where Ctrl-C may discard only a line."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Terminated
