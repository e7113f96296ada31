"""`RunSummary`: one line of a list of runs."""

import datetime as dt
from typing import Literal

from leadhand.contracts.answer import Status
from leadhand.contracts.record import Record

MAX_REQUEST_CHARS = 200


class RunSummary(Record):
    """A stored run as a list of runs shows it."""

    run_id: str
    team: str
    request: str
    """Its first `MAX_REQUEST_CHARS` characters."""
    status: Status | Literal["running", "interrupted", "damaged"]
    """`waiting`: for a person. `interrupted`: it has no answer, and no process works on it.
    `damaged`: nothing else is known about it."""
    started_at: dt.datetime
    updated_at: dt.datetime
    """When the last event was stored."""
    tasks: int = 0
    completed: int = 0
    makespan_s: float | None = None
    """None until there is an answer; so is the cost."""
    cost_usd: float | None = None
