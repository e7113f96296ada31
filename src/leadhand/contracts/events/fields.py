"""The fields that events share: when, in which run, about which task and attempt."""

import datetime as dt
from dataclasses import dataclass
from typing import TypedDict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """The fields of every event."""

    seq: int
    """Position in the log, from 1, without gaps."""
    at: dt.datetime
    """UTC wall clock."""
    elapsed_s: float
    """Seconds since the run started, by a monotonic clock."""
    run_id: str
    within: tuple[str, ...] = ()
    """For an event of a nested team, the tasks that contain it, the outermost first. Its `task_id`
    is then a path such as `legal/t1`; other ids are those of the nested plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent(RunEvent):
    """The fields of every event about one task."""

    task_id: str
    attempt: int
    """The attempt, from 1; 0 if none was started."""


class AttemptTimes(TypedDict):
    """How long an attempt worked, for the event that ends it: see `AttemptEvent`."""

    worked_s: float | None
    worked_high_s: float | None
    path_s: float | None


NO_TIMES = AttemptTimes(worked_s=None, worked_high_s=None, path_s=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEvent(TaskEvent):
    """The fields of every event that may end an attempt."""

    worked_s: float | None = None
    """Without waits for rates, event loop or interpreter. None: all the time since its dispatch."""
    worked_high_s: float | None = None
    """The upper bound, if waits can't be told from work; None if `worked_s` is exact."""
    path_s: float | None = None
    """The longest chain within the attempt of a nested team; None: all of `worked_s`."""
