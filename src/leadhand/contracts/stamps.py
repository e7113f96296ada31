"""What every event carries: when it was, in which run, about which task."""

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
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
class TaskEvent(Stamp):
    """What every event about one task carries."""

    task_id: str
    attempt: int
    """The attempt it is about, from 1; 0 where none was started."""
