"""The text that a role is writing, for live views of a run. It is not recorded."""

import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The answer of a planner or synthesizer so far."""

    role: str
    path: str
    """The nested team that it works in, such as `legal/`; empty in the run itself."""
    text: str
    """Plain text, or incomplete JSON."""


ProgressListener = Callable[[Progress], None]
_listener: ContextVar[ProgressListener | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def watching(listener: ProgressListener) -> Generator[None]:
    """Have runs that start in the block report to `listener` what their roles write."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def progress_listener() -> ProgressListener | None:
    """The listener of the current run, if there is one."""
    return _listener.get()
