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


Watcher = Callable[[Progress], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextlib.contextmanager
def watching(watcher: Watcher) -> Generator[None]:
    """Runs that start in the block show `watcher` what their roles write."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Watcher | None:
    """Who watches the current run, if anyone does."""
    return _watcher.get()
