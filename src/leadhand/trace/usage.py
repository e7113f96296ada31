"""Who used what in a run: what an event says of it. Pure."""

from typing import NamedTuple

from leadhand.contracts import events
from leadhand.contracts.outcome import Usage


class UsageOwner(NamedTuple):
    """Who used something."""

    role: str
    worker: str | None
    """`outer/inner` where a team is a worker; none where no worker used it."""
    model: str | None


def usage_of(event: events.Event) -> Usage | None:
    """What an event says was used; the state knows whether that was counted before."""
    match event:
        case events.ModelCalled():
            return Usage(
                model=event.model,
                requests=1,
                input_tokens=event.input_tokens,
                output_tokens=event.output_tokens,
                cost_usd=event.cost_usd,
                duration_s=event.duration_s,
            )
        case events.TaskCompleted():
            return event.result.usage
        case events.OpinionJudged():
            return event.second.usage
        case events.TaskFailed() | events.TaskEscalated():
            return event.partial.usage if event.partial is not None else None
        case _:
            return None
