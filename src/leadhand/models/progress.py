"""The text that a role is writing, for live views of a run. It is not recorded."""

import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Progress:
    """The answer of a planner or synthesizer so far."""

    role: str
    path: str
    """The nested team that it works in, such as `legal/`; empty in the run itself."""
    text: str
    """Plain text, or incomplete JSON."""
    type: Literal["progress"] = "progress"
    """Tells it from an event."""


ProgressListener = Callable[[Progress], None]
FindListener = Callable[[], ProgressListener | None]
_find: ContextVar[FindListener] = ContextVar("find", default=lambda: None)


@contextlib.contextmanager
def watching(listener: ProgressListener) -> Generator[None]:
    """Have runs that start in the block report to `listener` what their roles write."""
    with also_watching(lambda: listener):
        yield


@contextlib.contextmanager
def also_watching(find: FindListener) -> Generator[None]:
    """The same with a listener that may come and go: it is found for each call of a model."""
    before = _find.get()

    def both() -> ProgressListener | None:
        first, second = before(), find()
        if first is None or second is None:
            return first or second

        def tell(progress: Progress) -> None:
            first(progress)
            second(progress)

        return tell

    token = _find.set(both)
    try:
        yield
    finally:
        _find.reset(token)


def progress_listener() -> ProgressListener | None:
    """The listener of the current run, if there is one."""
    return _find.get()()
