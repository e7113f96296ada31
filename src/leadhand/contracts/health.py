"""The health of a supervisor: the load of its workers and of the models of this process."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from leadhand.contracts.budget import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerHealth:
    """One worker, over all runs of the supervisor."""

    worker: str
    """Its name; for a worker of a nested team a path such as `legal/clerk`."""
    running: int
    """Attempts that are running."""
    waiting: int
    """Tasks that are ready and wait for this worker."""
    concurrency: int | None
    """How many tasks it may work on at once; None: as many as the runs allow."""
    latency_s: float | None
    """How long an attempt took recently; None before the first."""
    breaker: Literal["closed", "open", "half_open"]
    """`open`: it receives no tasks. `half_open`: it works on a probe."""
    breaker_until: dt.datetime | None
    """When it receives a probe, UTC; None while the breaker is not open."""
    failures: int
    """Tasks that failed in a row; permanent failures do not count."""
    reason: str | None
    """Why the breaker is open; None if it is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """One model, over all runs of this process in the same event loop."""

    model: str
    """Its name at its provider."""
    rate: Rate
    running: int
    """Requests in flight."""
    requests: int | None
    """Requests of the last minute; None if no rate limits them, so that they are not counted."""
    tokens: int | None
    """Tokens of the last minute, including those reserved; None if no rate limits them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """All that a supervisor keeps between its runs; its size depends only on the team."""

    runs: tuple[str, ...]
    """The ids of the running runs."""
    workers: tuple[WorkerHealth, ...]
    """In the team's order; a nested team's workers follow the worker that stands for the team."""
    models: tuple[ModelHealth, ...]
    """The models called in the running event loop; empty outside of one."""

    def worker(self, name: str) -> WorkerHealth:
        """The worker of that name. Raises `KeyError` if there is none."""
        return {one.worker: one for one in self.workers}[name]
