"""What all runs share of a worker: its places, the queue for them, and its breaker."""

import asyncio
import contextlib
import datetime as dt
import threading
from dataclasses import replace

import pytest

from leadhand.contracts.outcome import (
    Completed,
    Escalated,
    Failed,
    Handoff,
    Outcome,
    PlanImpact,
    Result,
)
from leadhand.contracts.summary import WorkerHealth
from leadhand.contracts.task import Task
from leadhand.contracts.team import Ladder, Team, Worker
from leadhand.engine.scheduler import Scheduler
from leadhand.engine.shared_workers import SharedWorker, SharedWorkers, Waiter
from leadhand.testing import ScriptedRunner, VirtualClock
from tests.engine.remedies import ScriptedRemedies
from tests.patience import HANG_S
from tests.plans.samples import accepted, nothing, plan, task

LADDER = Ladder(breaker_failures=1, breaker_pause_s=5.0)
DOWN = Failed(kind="error", message="down", transient=True)
DONE = Completed(result=Result(output=1))


class Runs:
    """Runs that may wait for a worker. Needs a running event loop."""

    def __init__(self, *names: str) -> None:
        self._news = {name: asyncio.Event() for name in names}
        self._waiters = {name: Waiter(event) for name, event in self._news.items()}

    def __getitem__(self, name: str) -> Waiter:
        return self._waiters[name]

    def woken(self) -> list[str]:
        """Those that were woken since the last look."""
        found = [name for name, event in self._news.items() if event.is_set()]
        for event in self._news.values():
            event.clear()
        return found


def shared(concurrency: int | None = 1) -> SharedWorker:
    return SharedWorker("w", concurrency, contextlib.nullcontext())


async def test_runs_that_wait_for_a_worker_have_it_in_turn() -> None:
    runs, one = Runs("a", "b", "c"), shared()
    assert one.may_start(runs["a"])
    assert one.take(runs["a"], "a/1")
    assert not one.take(runs["b"], "b/1")
    assert one.running == 1
    for name in ("b", "c", "b"):
        one.line_up(runs[name], wants=True)
    one.release(runs["a"], 2.0)
    assert (runs.woken(), one.running, one.latency_s) == (["b"], 0, 2.0)
    assert [one.may_start(runs[name]) for name in "abc"] == [False, True, False]
    assert one.take(runs["b"], "b/1")
    one.release(runs["b"], 2.0)
    assert runs.woken() == ["c"]
    assert [one.may_start(runs[name]) for name in "abc"] == [False, False, True]


async def test_a_run_that_gives_up_its_turn_passes_it_on() -> None:
    runs, one = Runs("a", "b", "c"), shared(2)
    for id in ("a/1", "a/2"):
        assert one.take(runs["a"], id)
    for name in ("a", "b", "c"):
        one.line_up(runs[name], wants=True)
    one.release(runs["a"], 1.0)
    assert runs.woken() == [], "the run that gives back looks for itself"
    one.line_up(runs["a"], wants=False)
    assert runs.woken() == ["b"]
    one.line_up(runs["b"], wants=True)
    assert runs.woken() == ["c"], "whoever could start and does not, has other reasons to wait"
    for name, ready in {"a": ["a/3"], "c": ["c/1", "c/2"]}.items():
        one.join(runs[name], ready)
    assert one.waiting == 3
    one.leave(runs["c"])
    assert (one.waiting, one.may_start(runs["a"])) == (1, True)


async def test_the_last_task_counts_for_three_tenths_of_the_latency() -> None:
    runs, one = Runs("a"), shared(None)
    known: list[float | None] = []
    for took_s in (None, 2.0, 4.0, 2.6):
        one.take(runs["a"], "a/1")
        one.release(runs["a"], took_s)
        known.append(one.latency_s)
    assert known == [None, 2.0, 2.6, 2.6]


async def test_a_worker_without_a_limit_is_nobodys_turn() -> None:
    runs, one = Runs("a"), shared(None)
    assert all(one.take(runs["a"], f"a/{n}") for n in range(100))
    one.release(runs["a"], 1.0)
    assert runs.woken() == []


@pytest.mark.parametrize(
    ("outcome", "breaker"),
    [
        (DONE, "closed"),
        (Escalated(reason="out_of_scope", message="not mine"), "closed"),
        (DOWN, "open again"),
        (Failed(kind="error", message="wrong"), "open"),
        (None, "open"),
    ],
)
async def test_the_probes_end_wakes_those_who_wait_for_it(
    outcome: Outcome | None, breaker: str
) -> None:
    runs, one = Runs("a", "b"), shared(None)
    assert not one.ended("a/1", DONE, LADDER, 0.0)
    assert one.ended("a/1", DOWN, LADDER, 0.0)
    one.take(runs["a"], "a/2")
    one.wake_after_probe(runs["b"])
    assert not one.ended("late", DOWN, LADDER, 1.0)
    assert runs.woken() == []
    assert one.ended("a/2", outcome, LADDER, 5.0) == (breaker != "open")
    assert runs.woken() == ["b"]
    assert one.breaker.status == breaker.removesuffix(" again")
    assert one.breaker.pause_s == (10.0 if breaker == "open again" else 5.0)
    one.ended("a/3", None, LADDER, 5.0)
    assert runs.woken() == [], "once"
    one.wake_after_probe(runs["b"])
    one.leave(runs["b"])
    one.ended("a/3", None, LADDER, 5.0)
    assert runs.woken() == [], "not after its end"


async def test_a_worker_with_several_places_is_one_and_each_is_told_once() -> None:
    clerk = Worker("clerk", "d", run=nothing, concurrency=3)
    inner = Team("inner", workers=(clerk, Worker("own", "d", run=nothing)))
    team = Team("t", workers=(clerk, Worker("legal", "d", team=inner)))
    nobody = WorkerHealth(
        worker="legal", running=0, waiting=0, concurrency=None, latency_s=None, breaker="closed",
        breaker_until=None, failures=0, reason=None,
    )  # fmt: skip
    workers = SharedWorkers(team)
    one = workers.of((), clerk)
    assert one is workers.of(("legal",), clerk)
    unknown = Worker("more", "d", run=nothing)
    assert workers.of((), unknown) is workers.of((), unknown)
    one.take(Waiter(asyncio.Event()), "a/1")
    one.join(Waiter(asyncio.Event()), ["a/3", "a/4"])
    one.latency_s = 1.5
    one.ended("a/2", DOWN, LADDER, 0.0)
    await asyncio.sleep(1)
    assert workers.health(VirtualClock()) == (
        WorkerHealth(
            worker="clerk",
            running=1,
            waiting=2,
            concurrency=3,
            latency_s=1.5,
            breaker="open",
            breaker_until=dt.datetime(2000, 1, 1, 0, 0, 5, tzinfo=dt.UTC),
            failures=1,
            reason="1 tasks in a row failed, the last with: down",
        ),
        nobody,
        replace(nobody, worker="legal/own"),
        replace(nobody, worker="more"),
    )


def test_a_run_in_another_thread_is_woken_and_one_whose_loop_has_ended_hurts_nobody() -> None:
    waiters: list[Waiter] = []
    waits = threading.Event()

    async def wait() -> None:
        news = asyncio.Event()
        waiters.append(Waiter(news))
        asyncio.get_running_loop().call_soon(waits.set)
        await asyncio.wait_for(news.wait(), HANG_S)

    thread = threading.Thread(target=lambda: asyncio.run(wait()))
    thread.start()
    assert waits.wait(HANG_S)
    waiters[0].wake()
    thread.join()
    waiters[0].wake()


async def _two_runs(shared_workers: SharedWorkers, team: Team, *, hold_by: str) -> list[str]:
    """The tasks of two runs in the order in which the one place of `desk` went to them.

    `busy` has the place for two seconds. Run `one` queues first, but then it starts nothing for a
    while, or no more.
    """
    order: list[str] = []

    async def script(handoff: Handoff) -> Outcome:
        order.append(handoff.task_id)
        if handoff.task_id == "deaf":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(100)
            await asyncio.sleep(10)
        await asyncio.sleep({"busy": 2.0, "look": 1.0}.get(handoff.task_id, 1.0))
        impact = PlanImpact(reason="r") if handoff.task_id == "look" else None
        return Completed(result=Result(output=1, plan_impact=impact))

    def scheduler(*tasks: Task, remedies: ScriptedRemedies | None = None) -> Scheduler:
        return Scheduler(
            accepted(plan(*tasks)),
            team,
            {worker.name: ScriptedRunner(script) for worker in team.workers},
            concurrency=8,
            shared_workers=shared_workers,
            remedies=remedies,
            grace_s=5.0,
        )

    wanted = task("one", worker="desk")
    if hold_by == "revision":
        remedies = ScriptedRemedies(revised=(wanted,), delay_s=0.5)
        one = scheduler(task("look", worker="other"), wanted, remedies=remedies)
    else:
        one = scheduler(task("deaf", worker="other"), wanted)
    async with asyncio.TaskGroup() as group:
        group.create_task(scheduler(task("busy", worker="desk")).run())
        await asyncio.sleep(0.1)
        first = group.create_task(one.run())
        await asyncio.sleep(0.1)
        group.create_task(scheduler(task("two", worker="desk")).run())
        await asyncio.sleep(1.5)
        if hold_by == "cancellation":
            first.cancel()
        await asyncio.sleep(1.0)
        order.append("place was free for a second")
    return [name for name in order if name not in ("busy", "look", "deaf")]


@pytest.mark.parametrize("hold_by", ["revision", "cancellation"])
async def test_a_run_that_starts_nothing_leaves_its_place_in_the_queue(hold_by: str) -> None:
    team = Team(
        "t",
        workers=(
            Worker("desk", "d", run=nothing, concurrency=1),
            Worker("other", "d", run=nothing),
        ),
    )
    order = await _two_runs(SharedWorkers(team), team, hold_by=hold_by)
    assert order[:2] == ["two", "place was free for a second"]
    assert order[2:] == (["one"] if hold_by == "revision" else [])
