"""What all runs share of a worker: its places, the queue for them, and its breaker."""

import asyncio
import contextlib
import datetime as dt
import threading
from dataclasses import replace

import pytest

from leadhand.contracts.health import WorkerHealth
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result
from leadhand.contracts.team import Ladder, Team, Worker
from leadhand.engine.shared_workers import SharedWorker, SharedWorkers, Waiter
from leadhand.testing import VirtualClock, run_virtual
from tests.patience import HANG_S
from tests.plans.samples import nothing

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


def test_runs_that_wait_for_a_worker_have_it_in_turn() -> None:
    async def story() -> None:
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

    run_virtual(story())


def test_a_run_that_gives_up_its_turn_passes_it_on() -> None:
    async def story() -> None:
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
        one.add_waiting(3)
        one.leave(runs["c"], 2)
        assert (one.waiting, one.may_start(runs["a"])) == (1, True)

    run_virtual(story())


def test_a_worker_without_a_limit_is_nobodys_turn() -> None:
    async def story() -> None:
        runs, one = Runs("a"), shared(None)
        assert all(one.take(runs["a"], f"a/{n}") for n in range(100))
        one.release(runs["a"], 1.0)
        assert runs.woken() == []

    run_virtual(story())


@pytest.mark.parametrize(
    ("outcome", "changes"),
    [
        (DONE, True),
        (Escalated(reason="out_of_scope", message="not mine"), True),
        (DOWN, 10.0),
        (Failed(kind="error", message="wrong"), None),
        (None, None),
    ],
)
def test_the_probes_end_wakes_whoever_waits_for_it(
    outcome: Outcome | None, changes: float | bool | None
) -> None:
    async def story() -> None:
        runs, one = Runs("a", "b"), shared(None)
        assert one.ended("a/1", DONE, LADDER, 0.0) is None
        assert one.ended("a/1", DOWN, LADDER, 0.0) == 5.0
        one.take(runs["a"], "a/2")
        one.wake_after_probe(runs["b"])
        assert one.ended("late", DOWN, LADDER, 1.0) is None
        assert runs.woken() == []
        assert one.ended("a/2", outcome, LADDER, 5.0) == changes
        assert runs.woken() == ["b"]
        assert one.breaker.status == ("closed" if changes is True else "open")
        one.ended("a/3", None, LADDER, 5.0)
        assert runs.woken() == [], "once"
        one.wake_after_probe(runs["b"])
        one.leave(runs["b"], 0)
        one.ended("a/3", None, LADDER, 5.0)
        assert runs.woken() == [], "not after its end"

    run_virtual(story())


def test_a_worker_with_several_places_is_one_and_each_is_told_once() -> None:
    clerk = Worker("clerk", "d", run=nothing, concurrency=3)
    inner = Team("inner", workers=(clerk, Worker("own", "d", run=nothing)))
    team = Team("t", workers=(clerk, Worker("legal", "d", team=inner)))

    async def story() -> tuple[WorkerHealth, ...]:
        workers = SharedWorkers(team)
        one = workers.of((), clerk)
        assert one is workers.of(("legal",), clerk)
        unknown = Worker("more", "d", run=nothing)
        assert workers.of((), unknown) is workers.of((), unknown)
        one.take(Waiter(asyncio.Event()), "a/1")
        one.add_waiting(2)
        one.latency_s = 1.5
        one.ended("a/2", DOWN, LADDER, 0.0)
        await asyncio.sleep(1)
        return workers.health(VirtualClock())

    nobody = WorkerHealth(
        worker="legal", running=0, waiting=0, concurrency=None, latency_s=None, breaker="closed",
        breaker_until=None, failures=0, reason=None,
    )  # fmt: skip
    assert run_virtual(story()) == (
        WorkerHealth(
            worker="clerk", running=1, waiting=2, concurrency=3, latency_s=1.5, breaker="open",
            breaker_until=dt.datetime(2000, 1, 1, 0, 0, 5, tzinfo=dt.UTC), failures=1,
            reason="1 tasks in a row failed, the last with: down",
        ),
        nobody,
        replace(nobody, worker="legal/own"),
        replace(nobody, worker="more"),
    )  # fmt: skip


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
