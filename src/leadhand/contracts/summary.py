"""A stored run in a few words, as a list of many shows it."""

import datetime as dt
from typing import Literal

from leadhand.contracts.answer import Status
from leadhand.contracts.record import Record

MAX_REQUEST_CHARS = 200


class RunSummary(Record):
    """What a list of runs says of one."""

    run_id: str
    team: str
    request: str
    """Its first `MAX_REQUEST_CHARS` characters."""
    status: Status | Literal["running", "interrupted", "damaged"]
    """`waiting`: for a person. `interrupted`: it has no answer, and nobody works on it.
    `damaged`: nothing else can be said of it."""
    started_at: dt.datetime
    updated_at: dt.datetime
    """When the last event was kept."""
    tasks: int = 0
    completed: int = 0
    makespan_s: float | None = None
    """None as long as there is no answer; so is the cost."""
    cost_usd: float | None = None
