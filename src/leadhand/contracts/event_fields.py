"""What every event carries: when it was, in which run, about which task."""

import datetime as dt
from dataclasses import dataclass
from typing import TypedDict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """What every event carries."""

    seq: int
    """Position in the log, from 1, without holes."""
    at: dt.datetime
    """UTC wall clock."""
    elapsed_s: float
    """Seconds since the run started, by a clock that never goes back."""
    run_id: str
    within: tuple[str, ...] = ()
    """The tasks that it happened within, the outermost first, where a nested team does them. Then
    `task_id` is the whole way, as in `legal/t1`; other ids are those of the nested plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent(RunEvent):
    """What every event about one task carries."""

    task_id: str
    attempt: int
    """The attempt it is about, from 1; 0 where none was started."""


class AttemptTimes(TypedDict):
    """What an attempt itself took, for the event that ends it."""

    worked_s: float | None
    worked_high_s: float | None
    path_s: float | None


NO_TIMES = AttemptTimes(worked_s=None, worked_high_s=None, path_s=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEvent(TaskEvent):
    """What every event that may end an attempt carries."""

    worked_s: float | None = None
    """How long the attempt itself worked: without waiting for rates, the event loop or the
    interpreter. None: it was not measured, and all the time since its dispatch counts."""
    worked_high_s: float | None = None
    """Where waiting can't be told from work, `worked_s` is the least and this the most it can have
    been; none: `worked_s` is exact."""
    path_s: float | None = None
    """The longest chain within it, where a team did it; none: all of `worked_s`."""
