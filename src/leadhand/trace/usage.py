"""The usage that an event reports, and who used it. Pure."""

from typing import NamedTuple

from leadhand.contracts import events
from leadhand.contracts.outcome import Usage


class UsageOwner(NamedTuple):
    """The role, worker and model that used something."""

    role: str
    worker: str | None
    """`outer/inner` in a nested team; `None` if no worker used it."""
    model: str | None


def usage_of(event: events.Event) -> Usage | None:
    """The usage in an event; the state knows whether it was counted before."""
    match event:
        case events.ModelCalled():
            return event.usage
        case events.TaskCompleted():
            return event.result.usage
        case events.OpinionJudged():
            return event.second.usage
        case events.TaskFailed() | events.TaskEscalated():
            return event.partial.usage if event.partial is not None else None
        case _:
            return None
