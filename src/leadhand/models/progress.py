"""What a role is writing while it writes it: for those who watch a run, and kept nowhere."""

import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the answer of a planner or synthesizer has come."""

    role: str
    path: str
    """The nested team it works in, as `legal/`; empty in the run itself."""
    text: str
    """All that came so far: text, or the JSON of a form."""


ProgressListener = Callable[[Progress], None]
_listener: ContextVar[ProgressListener | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def watching(listener: ProgressListener) -> Generator[None]:
    """Runs that start in the block show `listener` what their roles write."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def progress_listener() -> ProgressListener | None:
    """Who watches the current run, if anyone does."""
    return _listener.get()
