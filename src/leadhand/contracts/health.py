"""The health of a supervisor: what its workers and the models of this process have to do now."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from leadhand.contracts.budget import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerHealth:
    """One worker, over all runs of the supervisor."""

    worker: str
    """Its name; of a nested team's worker the way to it, as in `legal/clerk`."""
    running: int
    """Attempts that it makes now."""
    waiting: int
    """Tasks that are ready and wait for it."""
    concurrency: int | None
    """How many tasks it works on at once; None: as many as the runs allow."""
    latency_s: float | None
    """How long an attempt took it lately; None before the first."""
    breaker: Literal["closed", "open", "half_open"]
    """`open`: it gets no tasks. `half_open`: it has one, to prove itself."""
    breaker_until: dt.datetime | None
    """When it gets a task again, UTC; None while the breaker is not open."""
    failures: int
    """Tasks in a row that failed; a permanent failure is none of them."""
    reason: str | None
    """Why the breaker is open; None if it is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """One model, over all runs of this process in the same event loop."""

    model: str
    """Its name at its provider."""
    rate: Rate
    """How fast it may be asked."""
    running: int
    """Requests under way."""
    requests: int | None
    """Requests of the last minute; None where no rate has them counted."""
    tokens: int | None
    """Tokens of the last minute, expected ones included; None where no rate has them counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a supervisor keeps between its runs, and nothing else is kept: no more than its team."""

    runs: tuple[str, ...]
    """The runs under way, by id."""
    workers: tuple[WorkerHealth, ...]
    """In the team's order, each nested team's after the worker that it is."""
    models: tuple[ModelHealth, ...]
    """Those that were asked in the running event loop; empty outside of one."""

    def worker(self, name: str) -> WorkerHealth:
        """The worker of that name. Raises `KeyError` if there is none."""
        return {one.worker: one for one in self.workers}[name]
