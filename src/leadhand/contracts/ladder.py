"""What happens after an attempt that did not complete: retries and the failure ladder, as data."""

import dataclasses
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval
from pydantic import BeforeValidator

from leadhand.contracts.data import Many, argument, check_fields

JITTER_SHARE = 0.2
"""Share by which a wait is shortened or lengthened, so that tasks that failed together are not all
retried together."""


@argument
@dataclasses.dataclass(frozen=True)
class Retry:
    """Which failures of a worker are retried with the same intent, and how often.

    It narrows the team's `RetryRules`, which set the waits, the attempts of a task by all workers,
    and how many tasks of a run may be retried.
    """

    _: dataclasses.KW_ONLY
    on: Many[type[BaseException]] | None = None
    """Only these exceptions and their subclasses are retried, even a `ValueError`; None: all but
    the permanent ones, which `leadhand.engine.failures` lists."""
    attempts: Annotated[int, Ge(1)] | None = None
    """Attempts including the first; never more than the team allows. None: as many."""

    __post_init__ = check_fields


@argument
@dataclasses.dataclass(frozen=True)
class RetryRules:
    """When and how often a team's failed tasks are retried.

    A transient failure is retried with the same intent, after a wait, until one attempt is left for
    the worker's fallback; if a model can refine the intent, it is retried once before that.
    `Worker.retry` says what counts as transient.
    """

    max_attempts: Annotated[int, Interval(ge=1, le=100)] = 3
    """Attempts of one task by all workers, including the first."""
    backoff_s: Many[Annotated[float, Ge(0)]] = (1.0, 2.0)
    """Seconds to wait before the second, third, ... attempt, jittered by a fifth; the last one
    repeats. A timeout is retried at once."""
    retry_share: Annotated[float, Ge(0)] = 0.2
    """The share of a run's tasks that may be retried, besides the first ten: an outage must not
    multiply calls."""

    __post_init__ = check_fields


Rung = Literal[
    "retry",
    "refine",
    "fallback",
    "raise_tier",
    "reassign",
    "split",
    "second_opinion",
    "ask_person",
    "accept",
]
"""What a team's ladder may list; after the last rung the task is given up."""
_FORMER_RUNGS = {"stronger_tier": "raise_tier"}


def _current_name(rung: object) -> object:
    return _FORMER_RUNGS.get(rung, rung) if isinstance(rung, str) else rung


NamedRung = Annotated[Rung, BeforeValidator(_current_name)]
"""A rung in a team's files or in Python, by its present name or a former one."""


@argument
@dataclasses.dataclass(frozen=True)
class Ladder:
    """What is tried after each kind of outcome, in order. A rung that can't apply costs nothing.

    The last attempt goes to the fallback worker instead of the same one, if its rung is still ahead
    and it is free.
    """

    _: dataclasses.KW_ONLY
    failed: Many[NamedRung] = ("retry", "refine", "fallback", "raise_tier")
    """After a failure other than a timeout."""
    out_of_scope: Many[NamedRung] = ("reassign", "fallback", "ask_person")
    ambiguous_input: Many[NamedRung] = ("refine", "ask_person")
    low_confidence: Many[NamedRung] = ("raise_tier", "second_opinion", "accept")
    timeout: Many[NamedRung] = ("retry", "split", "raise_tier", "fallback")
    """After an attempt that took too long, which is retried once if the run has time left, or an
    escalation because the task is too large, which is not."""
    breaker_failures: Annotated[int, Ge(1)] = 5
    """After this many failures of a worker in a row, its tasks go straight to its fallback."""
    breaker_pause_s: Annotated[float, Gt(0)] = 10.0
    """Seconds until the worker receives a probe; doubled each time a probe fails."""

    __post_init__ = check_fields
