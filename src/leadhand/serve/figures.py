"""How the service does: `/healthz`, `/readyz`, `/metrics` for Prometheus, and what runs have used.

`/metrics` has figures of this process and its journal, without a label of a run, principal or
tenant. They are about all tenants, so only an operator of all of them gets them.
"""

import datetime as dt
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import prometheus_client
from fastapi import APIRouter, Query, Request, Response
from pydantic import AwareDatetime, BaseModel

from leadhand.contracts.events import Event, ModelCalled, RunFinished
from leadhand.contracts.summary import RunSummary
from leadhand.serve.problems import HttpProblem, stopping
from leadhand.serve.service import Calling, Service

COUNTED_RUNS = 10_000
"""The latest runs of the journal, whose states are counted."""
COUNTED_EVERY_S = 15.0
_RUN_S = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400)
_CALL_S = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120)

router = APIRouter()


class Condition(BaseModel):
    status: str


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", tags=["health"])
async def read_health() -> Condition:
    """The process answers; for all callers."""
    return Condition(status="ok")


@router.get("/readyz", tags=["health"])
async def read_readiness(caller: Calling) -> Condition:
    """Runs can be started here: 503 while the service drains, or without a journal or home."""
    service = caller.service
    if service.draining.is_set():
        raise stopping()
    if _has_lost_home(service):
        raise HttpProblem(503, "its home is gone: stop it, or put the home back")
    await service.journal.last_seq("readyz")
    return Condition(status="ready")


def _has_lost_home(service: Service) -> bool:
    """Whether its folder was deleted, of which the files that are open still work."""
    folder: Path | None = getattr(getattr(service.journal, "store", None), "folder", None)
    return folder is not None and not folder.is_dir()


class ServiceMetrics:
    """Hears the events of all runs of this process; the rest is read when it is asked for."""

    def __init__(self, service: Service) -> None:
        self._service, self._counted_s = service, 0.0
        self._registry = registry = prometheus_client.CollectorRegistry()
        counter = partial(prometheus_client.Counter, namespace="leadhand", registry=registry)
        gauge = partial(prometheus_client.Gauge, namespace="leadhand", registry=registry)
        histogram = partial(prometheus_client.Histogram, namespace="leadhand", registry=registry)
        says = "From the start of a run to its answer"
        self._runs = histogram("run_seconds", says, ("team", "status"), buckets=_RUN_S)
        self._tasks = counter("tasks", "Tasks of runs that ended", ("team", "worker", "status"))
        calls = ("model", "ended")
        self._calls = histogram("model_call_seconds", "Calls to models", calls, buckets=_CALL_S)
        self._tokens = counter("tokens", "Tokens of models", ("model", "kind"))
        self._cost = counter("cost_usd", "What models cost, where it is known", ("model",))
        self._states = gauge("runs", "The latest stored runs, by state", ("team", "state"))
        worker = ("team", "worker")
        self._running = gauge("tasks_running", "Attempts under way", worker)
        self._waiting = gauge("tasks_waiting", "Tasks in a worker's queue", worker)
        self._open = gauge("breaker_open", "1: it gets no tasks", worker)
        # Of this process; teams may share a queue.
        queues = {one.queue for one in service.supervisors.values() if one.queue is not None}
        working = gauge("queue_running", "Runs that work")
        working.set_function(lambda: sum(one.running for one in queues))
        line = gauge("queue_waiting", "Runs that wait for their turn")
        line.set_function(lambda: sum(one.waiting for one in queues))
        oldest = gauge("queue_oldest_wait_seconds", "How long the first of them has waited")
        oldest.set_function(lambda: max((one.oldest_wait_s for one in queues), default=0.0))
        for supervisor in service.supervisors.values():
            supervisor.add_listener(self.hear)

    def hear(self, event: Event) -> None:
        match event:
            case RunFinished(within=(), answer=answer):
                self._runs.labels(answer.team, answer.status).observe(answer.metrics.makespan_s)
                for task in answer.tasks:
                    self._tasks.labels(answer.team, task.worker, task.status).inc()
            case ModelCalled():
                ended = "answered" if event.error is None else "failed"
                self._calls.labels(event.model, ended).observe(event.duration_s)
                self._tokens.labels(event.model, "input").inc(event.input_tokens)
                self._tokens.labels(event.model, "output").inc(event.output_tokens)
                self._cost.labels(event.model).inc(event.cost_usd or 0.0)
            case _:
                pass

    async def text(self) -> bytes:
        """The figures in the format that Prometheus reads."""
        supervisors = self._service.supervisors
        if time.monotonic() > self._counted_s + COUNTED_EVERY_S:
            found = await self._service.journal.runs(limit=COUNTED_RUNS)
            states = Counter((run.team, run.status) for run in found if run.team in supervisors)
            self._states.clear()
            for state, number in states.items():
                self._states.labels(*state).set(number)
            self._counted_s = time.monotonic()
        for team, supervisor in supervisors.items():
            for one in supervisor.health().workers:
                self._running.labels(team, one.worker).set(one.running)
                self._waiting.labels(team, one.worker).set(one.waiting)
                self._open.labels(team, one.worker).set(one.breaker != "closed")
        return prometheus_client.generate_latest(self._registry)


@router.get("/metrics", tags=["health"])
async def read_metrics(request: Request, caller: Calling) -> Response:
    """Figures for Prometheus, for operators of all tenants."""
    caller.check_role("operator", everywhere=True)
    metrics: ServiceMetrics = request.app.state.metrics
    return Response(await metrics.text(), media_type=prometheus_client.CONTENT_TYPE_LATEST)


UsageKey = Literal["team", "principal", "tenant", "day"]


class UsageRow(BaseModel):
    key: str
    """The team, principal, tenant, or day in UTC; empty for runs of the command line."""
    runs: int = 0
    complete: int = 0
    """Runs whose answer is complete."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Of the runs whose cost is known."""
    unpriced: int = 0
    """Runs that used tokens of a model whose price is not known."""


class UsageReport(BaseModel):
    by: UsageKey
    rows: list[UsageRow]
    """Sorted by their keys. What a run used counts once it has an answer."""


@router.get("/api/v1/usage", tags=["usage"])
async def read_usage(
    caller: Calling,
    by: UsageKey = "team",
    since: Annotated[AwareDatetime, Query(description="Began then or later")] | None = None,
    until: Annotated[AwareDatetime, Query(description="Began before")] | None = None,
) -> UsageReport:
    """What the runs have used that the caller may see."""
    rows: dict[str, UsageRow] = {}

    def count(run: RunSummary) -> bool:
        at = run.started_at
        in_time = (since is None or at >= since) and (until is None or at < until)
        if in_time and caller.principal.may_see(run.origin):
            day = at.astimezone(dt.UTC).date().isoformat()
            key = {"team": run.team, "day": day}.get(by) or str(run.origin.get(by, ""))
            row = rows.setdefault(key, UsageRow(key=key))
            row.runs += 1
            row.complete += run.status == "complete"
            row.input_tokens += run.input_tokens
            row.output_tokens += run.output_tokens
            row.cost_usd += run.cost_usd or 0.0
            row.unpriced += run.cost_usd is None and run.input_tokens > 0
        return False  # none is kept: there may be many

    await caller.service.journal.runs(where=count)
    return UsageReport(by=by, rows=[rows[key] for key in sorted(rows)])
