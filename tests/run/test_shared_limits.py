"""F47: limits and breakers of workers hold across all runs of one supervisor."""

import asyncio
import dataclasses
import datetime as dt
import threading
from collections import Counter

import pytest

from leadhand import Answer, Handoff, Plan, Route, Supervisor, Task, Team, Worker
from leadhand.contracts.events import BreakerClosed, BreakerOpened, TaskReassigned
from leadhand.contracts.ladder import RetryRules
from leadhand.contracts.team import Ladder
from leadhand.testing import VirtualClock, run_virtual
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.stored import store_of


class Desk:
    """A worker that takes its time, and knows how many tasks it has at once."""

    def __init__(self, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self.now = self.most = 0
        self.order: list[str] = []

    async def __call__(self, handoff: Handoff) -> str:
        """The run's id."""
        self.now += 1
        self.most = max(self.most, self.now)
        self.order.append(handoff.run_id)
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self.now -= 1
        return handoff.run_id


class Dead:
    """A worker that fails until it is repaired."""

    def __init__(self) -> None:
        self.calls = 0
        self.works = False

    async def __call__(self, handoff: Handoff) -> str:
        """Done, if it works."""
        self.calls += 1
        if not self.works:
            raise ConnectionError("no route to the desk")
        return "done"


async def helps(handoff: Handoff) -> str:
    return "helped"


def tasks(worker: str, count: int = 1) -> Plan:
    each = (Task(id=f"t{n}", worker=worker, intent=f"Part {n}.") for n in range(count))
    return Plan(goal="do it", tasks=tuple(each))


def supervised(*workers: Worker, **fields: object) -> Supervisor:
    team = Team("t", workers=workers, **fields)  # pyright: ignore[reportArgumentType]
    return Supervisor(team, clock=VirtualClock())


async def at_once(supervisor: Supervisor, plans: list[Plan]) -> list[Answer]:
    runs = (supervisor.run(plan=plan, run_id=f"r{n}") for n, plan in enumerate(plans))
    return await asyncio.gather(*runs)


def test_twelve_runs_give_a_worker_one_task_at_a_time_and_the_rest_to_its_fallback() -> None:
    desk, helper = Desk(), Desk()
    supervisor = supervised(
        Worker("desk", "d", run=desk, concurrency=1, max_queue=0, fallback="helper"),
        Worker("helper", "d", run=helper),
    )
    answers = run_virtual(at_once(supervisor, [tasks("desk")] * 12))
    assert {answer.status for answer in answers} == {"complete"}
    assert desk.most == 1
    assert (len(desk.order), len(helper.order)) == (1, 11)


def test_a_run_that_waits_is_woken_when_another_run_frees_the_worker() -> None:
    desk = Desk()
    supervisor = supervised(Worker("desk", "d", run=desk, concurrency=2))
    answers = run_virtual(at_once(supervisor, [tasks("desk")] * 7))
    assert {answer.status for answer in answers} == {"complete"}
    assert desk.most == 2
    assert max(answer.metrics.makespan_s for answer in answers) == pytest.approx(4.0, abs=0.1)


def test_a_large_run_does_not_keep_a_small_one_waiting_for_all_its_tasks() -> None:
    desk = Desk()
    supervisor = supervised(Worker("desk", "d", run=desk, concurrency=1))
    run_virtual(at_once(supervisor, [tasks("desk", 30), tasks("desk"), tasks("desk", 2)]))
    assert desk.order[:6] == ["r0", "r0", "r1", "r2", "r0", "r2"], "they take turns"
    assert desk.most == 1


async def test_a_run_that_is_cancelled_while_it_waits_holds_up_nobody() -> None:
    desk = Desk()
    supervisor = supervised(Worker("desk", "d", run=desk, concurrency=1))
    runs = asyncio.gather(
        *(supervisor.run(plan=tasks("desk", 3), run_id=f"r{n}") for n in range(3))
    )
    await asyncio.sleep(1.5)  # r0 has had its turn, r1 works, r2 and r0 wait
    await supervisor.handle("r2").cancel()
    await supervisor.handle("r1").cancel()
    answers = await runs
    assert [answer.status for answer in answers] == ["complete", "cancelled", "cancelled"]
    health = supervisor.health()
    assert [(one.running, one.waiting) for one in health.workers] == [(0, 0)]


def test_a_run_whose_own_slots_are_full_leaves_its_turn_to_others() -> None:
    desk, slow = Desk(), Desk(100.0)
    workers = (Worker("desk", "d", run=desk, concurrency=1), Worker("slow", "d", run=slow))
    supervisor = Supervisor(Team("t", workers=workers), clock=VirtualClock(), concurrency=1)
    busy = plan(task("a", worker="slow"), task("b", "a", worker="slow"), task("c", worker="desk"))
    first, second = run_virtual(at_once(supervisor, [busy, tasks("desk", 5)]))
    assert (first.status, second.status) == ("complete", "complete")
    assert second.metrics.makespan_s == pytest.approx(5.0, abs=0.1)


def test_nested_teams_of_all_runs_share_their_workers() -> None:
    desk = Desk()
    inner = Team("inner", workers=(Worker("clerk", "d", run=desk, concurrency=1),))
    supervisor = supervised(Worker("office", "d", team=inner))
    answers = run_virtual(at_once(supervisor, [tasks("office", 2)] * 4))
    assert {answer.status for answer in answers} == {"complete"}
    assert desk.most == 1
    assert [one.worker for one in supervisor.health().workers] == ["office", "office/clerk"]


def test_a_worker_that_has_two_places_in_the_tree_is_one() -> None:
    desk = Desk()
    clerk = Worker("clerk", "d", run=desk, concurrency=1)
    inner = Team("inner", workers=(clerk,))
    supervisor = supervised(clerk, Worker("office", "d", team=inner))
    run_virtual(at_once(supervisor, [tasks("clerk", 3), tasks("office", 3)]))
    assert desk.most == 1
    assert [one.worker for one in supervisor.health().workers] == ["clerk", "office"]


def test_workers_of_one_role_share_the_load_of_all_runs() -> None:
    one, two = Desk(), Desk()
    supervisor = supervised(
        Worker("one", "d", run=one, concurrency=1, role="desk"),
        Worker("two", "d", run=two, concurrency=1, role="desk"),
    )
    run_virtual(at_once(supervisor, [tasks("one")] * 10))
    assert (len(one.order), len(two.order)) == (5, 5)
    assert (one.most, two.most) == (1, 1)


async def test_a_routed_request_goes_to_the_worker_of_its_role_with_the_shortest_wait() -> None:
    """The latency is known from an earlier run, the queue is that of a run beside it."""
    slow, quick = Desk(10.0), Desk(1.0)
    supervisor = supervised(
        Worker("slow", "d", run=slow, role="desk"),
        Worker("quick", "d", run=quick, role="desk"),
        routes=[Route("slow", words=["order"])],
        planner="routed",
    )
    both = [Task(id=name, worker=name, intent="Do it") for name in ("slow", "quick")]
    await supervisor.run(plan=Plan(goal="Do it", tasks=both), run_id="first")
    answer = await supervisor.run("Where is my order?", run_id="second")
    assert (answer.tasks[0].worker, answer.metrics.makespan_s) == ("quick", 1.0)
    beside = asyncio.create_task(supervisor.run(plan=tasks("quick", 10), run_id="beside"))
    await asyncio.sleep(0.5)
    answer = await supervisor.run("And my other order?", run_id="third")
    assert answer.tasks[0].worker == "slow", "ten tasks of a second are with quick"
    await beside


# Breakers


async def one_after_the_other(supervisor: Supervisor, count: int) -> list[Answer]:
    return [await supervisor.run(plan=tasks("desk"), run_id=f"r{n}") for n in range(count)]


def test_a_dead_worker_is_left_alone_by_later_runs() -> None:
    dead = Dead()
    supervisor = supervised(
        Worker("desk", "d", run=dead, fallback="helper"), Worker("helper", "d", run=helps)
    )
    answers = run_virtual(one_after_the_other(supervisor, 20))
    assert {answer.status for answer in answers} == {"complete"}
    # Four runs try twice. The fifth failure opens the breaker, and no probe is due yet.
    assert dead.calls == 9
    moved = [
        event.reason
        for event in store_of(supervisor).events("r10")
        if isinstance(event, TaskReassigned)
    ]
    assert len(moved) == 1
    assert moved[0].startswith("the breaker of desk is open: 5 tasks in a row failed, the last")
    opened = [
        answer.run_id
        for answer in answers
        if any(isinstance(e, BreakerOpened) for e in store_of(supervisor).events(answer.run_id))
    ]
    assert opened == ["r4"], "the events of a run say what happened in it"


async def test_without_a_fallback_later_runs_fail_at_once_until_a_probe_succeeds() -> None:
    dead = Dead()
    supervisor = supervised(
        Worker("desk", "d", run=dead, retry=False), ladder=Ladder(breaker_pause_s=60.0)
    )
    answers = await one_after_the_other(supervisor, 8)
    health = supervisor.health().worker("desk")
    assert (health.breaker, health.failures) == ("open", 5)
    assert health.breaker_until == VirtualClock().now() + dt.timedelta(seconds=60)
    dead.works = True
    await asyncio.sleep(59)
    early = await supervisor.run(plan=tasks("desk"), run_id="early")
    await asyncio.sleep(1)
    probe = await supervisor.run(plan=tasks("desk"), run_id="probe")
    assert dead.calls == 5 + 1
    whys = [answer.gaps[0].why for answer in (*answers[5:], early)]
    assert all("the breaker of desk is open: 5 tasks in a row failed" in why for why in whys)
    assert probe.status == "complete"
    assert any(isinstance(one, BreakerClosed) for one in store_of(supervisor).events("probe"))
    assert supervisor.health().worker("desk").breaker == "closed"


def test_a_run_that_is_resumed_begins_with_the_workers_as_they_are_now() -> None:
    dead = Dead()
    team = Team("t", workers=(Worker("desk", "d", run=dead),), retry=RetryRules(max_attempts=1))
    first = Supervisor(team, clock=VirtualClock())
    run_virtual(first.run(plan=tasks("desk", 6), run_id="r"))
    dead.works = True
    second = Supervisor(team, clock=VirtualClock(), journal=first.journal)
    answer = run_virtual(resumed(second, "r"))
    assert answer.status == "complete"


def test_many_malformed_inputs_do_not_shut_out_the_rest() -> None:
    async def picky(handoff: Handoff) -> str:
        if handoff.run_id != "r19":
            raise ValueError("malformed")
        return "done"

    supervisor = supervised(Worker("desk", "d", run=picky))
    answers = run_virtual(one_after_the_other(supervisor, 20))
    assert Counter(answer.status for answer in answers) == {"failed": 19, "complete": 1}
    health = supervisor.health().worker("desk")
    assert (health.failures, health.breaker) == (0, "closed")


# What is kept


async def test_what_is_kept_between_runs_is_no_more_than_the_team() -> None:
    """F47."""
    supervisor = supervised(
        Worker("desk", "d", run=Dead(), fallback="helper", concurrency=2),
        Worker("helper", "d", run=helps),
    )
    await at_once(supervisor, [tasks("desk", 3)] * 50)
    health = supervisor.health()
    assert dataclasses.is_dataclass(health)
    assert health.runs == ()
    assert [(one.worker, one.running, one.waiting) for one in health.workers] == [
        ("desk", 0, 0),
        ("helper", 0, 0),
    ]
    assert health.worker("helper").latency_s is not None
    shared_workers = supervisor._host.shared_workers  # pyright: ignore[reportPrivateUsage]
    kept = [shared_workers.of((), worker) for worker in supervisor.team.workers]
    assert sum(len(one._queue) + len(one._awaiting_probe) for one in kept) == 0  # pyright: ignore[reportPrivateUsage]


async def test_health_shows_what_runs_and_what_waits() -> None:
    desk = Desk()
    supervisor = supervised(Worker("desk", "d", run=desk, concurrency=2))
    runs = asyncio.gather(
        *(supervisor.run(plan=tasks("desk", 3), run_id=f"r{n}") for n in range(2))
    )
    await asyncio.sleep(0.5)
    health = supervisor.health()
    assert health.runs == ("r0", "r1")
    one = health.worker("desk")
    assert (one.running, one.waiting, one.concurrency) == (2, 4, 2)
    await runs
    latency_s = supervisor.health().worker("desk").latency_s
    assert latency_s == pytest.approx(1.0)


def test_health_can_be_asked_outside_of_an_event_loop_while_a_breaker_is_open() -> None:
    """A program that uses `run_sync` has no loop of its own to ask in."""
    team = Team("t", workers=(Worker("desk", "d", run=Dead(), retry=False),))
    supervisor = Supervisor(team)
    supervisor.run_sync(plan=tasks("desk", 5))
    health = supervisor.health().worker("desk")
    assert (health.breaker, health.failures) == ("open", 5)
    assert health.breaker_until is not None


def test_runs_in_the_loops_of_several_threads_share_the_limit() -> None:
    now, most, lock = [0], [0], threading.Lock()
    inside, leave = threading.Semaphore(0), threading.Semaphore(0)

    def work(handoff: Handoff) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        inside.release()
        leave.acquire(timeout=60)
        with lock:
            now[0] -= 1
        return "done"

    supervisor = Supervisor(Team("t", workers=(Worker("desk", "d", run=work, concurrency=1),)))
    answers: list[Answer] = []

    def one() -> None:
        answers.append(supervisor.run_sync(plan=tasks("desk", 2)))

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(6):
        assert inside.acquire(timeout=60)
        leave.release()
    for thread in threads:
        thread.join(60)
    assert [answer.status for answer in answers] == ["complete"] * 3
    assert most[0] == 1
