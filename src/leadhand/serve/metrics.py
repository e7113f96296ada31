"""`GET /metrics` for Prometheus: figures of this process and its journal, without a label of a run,
principal or tenant. They are about all tenants, so only an operator of all of them gets them."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence

import prometheus_client
from fastapi import APIRouter, Request, Response
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from leadhand.contracts.events import Event, ModelCalled, RunFinished
from leadhand.contracts.summary import RunSummary, WorkerHealth
from leadhand.serve.principals import Operator, check_every_tenant
from leadhand.serve.service import Service, Serving

COUNTED_RUNS = 10_000
"""The latest runs of the journal, whose states are counted."""
COUNTED_EVERY_S = 15.0
_RUN_S = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400)
_CALL_S = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120)

router = APIRouter(tags=["health"])


class ServiceMetrics:
    """Hears the events of all runs of this process; the rest is read when it is asked for."""

    def __init__(self, service: Service) -> None:
        self.registry = registry = prometheus_client.CollectorRegistry()
        self._service = service
        self._states = Counter[tuple[str, str]]()
        self._oldest_s = dict[str, float]()
        self._counted = 0.0
        self._runs = prometheus_client.Histogram(
            "leadhand_run_seconds",
            "From the start of a run to its answer",
            ("team", "status"),
            buckets=_RUN_S,
            registry=registry,
        )
        self._tasks = prometheus_client.Counter(
            "leadhand_tasks",
            "Tasks of runs that ended",
            ("team", "worker", "status"),
            registry=registry,
        )
        self._calls = prometheus_client.Histogram(
            "leadhand_model_call_seconds",
            "Calls to models",
            ("model", "ended"),
            buckets=_CALL_S,
            registry=registry,
        )
        self._tokens = prometheus_client.Counter(
            "leadhand_tokens", "Tokens of models", ("model", "kind"), registry=registry
        )
        self._cost = prometheus_client.Counter(
            "leadhand_cost_usd",
            "What models cost, where it is known",
            ("model",),
            registry=registry,
        )
        registry.register(_State(self))
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
        if time.monotonic() > self._counted + COUNTED_EVERY_S:
            self._count(await self._service.journal.runs(limit=COUNTED_RUNS))
            self._counted = time.monotonic()
        return prometheus_client.generate_latest(self.registry)

    def _count(self, runs: Sequence[RunSummary]) -> None:
        served = [run for run in runs if run.team in self._service.supervisors]
        self._states = Counter((run.team, run.status) for run in served)
        asked = [(run.team, run.asked_at) for run in served if run.asked_at is not None]
        now = time.time()
        self._oldest_s = dict.fromkeys(self._service.supervisors, 0.0)
        for team, at in asked:
            self._oldest_s[team] = max(self._oldest_s[team], now - at.timestamp())

    def gauges(self) -> Iterable[GaugeMetricFamily]:
        states = _gauge("leadhand_runs", "The latest stored runs, by state", "team", "state")
        for labels, count in self._states.items():
            states.add_metric(labels, count)
        oldest = _gauge(
            "leadhand_question_wait_seconds", "How long the oldest question waits", "team"
        )
        for team, waited_s in self._oldest_s.items():
            oldest.add_metric((team,), waited_s)
        running = _gauge("leadhand_tasks_running", "Attempts under way", "team", "worker")
        waiting = _gauge("leadhand_tasks_waiting", "Tasks in a worker's queue", "team", "worker")
        breakers = _gauge("leadhand_breaker_open", "1: it gets no tasks", "team", "worker")
        for team, worker in self._workers():
            labels = (team, worker.worker)
            running.add_metric(labels, worker.running)
            waiting.add_metric(labels, worker.waiting)
            breakers.add_metric(labels, worker.breaker != "closed")
        return (states, oldest, running, waiting, breakers, *self._queued())

    def _queued(self) -> Iterable[GaugeMetricFamily]:
        """Of the queues of runs, which supervisors may share."""
        every = (one.queue for one in self._service.supervisors.values())
        queues = {one for one in every if one is not None}
        for name, says, value in (
            ("running", "Runs that work", sum(one.running for one in queues)),
            ("waiting", "Runs that wait for their turn", sum(one.waiting for one in queues)),
            (
                "oldest_wait_seconds",
                "How long the run waits that has waited longest",
                max((one.oldest_wait_s for one in queues), default=0.0),
            ),
        ):
            yield GaugeMetricFamily(f"leadhand_queue_{name}", says, value=value)

    def _workers(self) -> Iterable[tuple[str, WorkerHealth]]:
        for team, supervisor in self._service.supervisors.items():
            for worker in supervisor.health().workers:
                yield team, worker


class _State(Collector):
    def __init__(self, metrics: ServiceMetrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self._metrics.gauges()


def _gauge(name: str, says: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, says, labels=labels)


@router.get("/metrics")
async def read_metrics(request: Request, principal: Operator, _: Serving) -> Response:
    """Figures for Prometheus, for operators of all tenants."""
    check_every_tenant(principal)
    metrics: ServiceMetrics = request.app.state.metrics
    return Response(await metrics.text(), media_type=prometheus_client.CONTENT_TYPE_LATEST)
