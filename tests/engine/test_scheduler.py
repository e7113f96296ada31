"""The scheduler: dependency-driven, critical path first, and unharmed by what workers do."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.contracts.events.task import stuck_message
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Limits, Plan
from leadhand.contracts.team import RetryRules, Team, Worker
from leadhand.engine.attempts import GRACE_S
from leadhand.engine.current_attempt import time_limit_paused
from leadhand.engine.scheduler import Scheduler
from leadhand.engine.shared_workers import Slots
from leadhand.plans import graph
from leadhand.state.fold import RunState
from leadhand.testing import ScriptedRunner, completed, run_virtual
from tests.engine.scheduling import Script, schedule
from tests.plans.samples import accepted, nothing, plan, plans, task, team


def taking(seconds: dict[str, float]) -> Script:
    """A script in which each task takes as long as the table says."""

    async def work(handoff: Handoff) -> Outcome:
        await asyncio.sleep(seconds[handoff.task_id])
        return completed(handoff.task_id)

    return work


def statuses(state: RunState) -> dict[str, str]:
    return {id: one.status for id, one in state.tasks.items()}


def test_a_task_starts_the_moment_its_last_dependency_is_done() -> None:
    """No levels: `c` needs only `a`, so it doesn't wait for the slow `b` beside `a`."""
    the_plan = plan(task("a"), task("b"), task("c", "a"), task("d", "b", "c"))
    seconds = {"a": 1.0, "b": 10.0, "c": 2.0, "d": 1.0}
    tasks = run_virtual(schedule(the_plan, taking(seconds))).state.tasks
    assert tasks["c"].started_s == 1.0
    assert tasks["c"].finished_s == 3.0
    assert tasks["d"].started_s == 10.0


@given(plans(), st.data())
@settings(max_examples=60)
def test_unlimited_slots_take_exactly_the_critical_path(
    the_plan: Plan, data: st.DataObject
) -> None:
    seconds = {one.id: float(data.draw(st.integers(0, 20))) for one in the_plan.tasks}
    recorder = run_virtual(schedule(the_plan, taking(seconds)))
    longest, _ = graph.critical_path(the_plan.tasks, seconds)
    ends = [one.finished_s or 0.0 for one in recorder.state.tasks.values()]
    assert max(ends) == pytest.approx(longest)


def test_the_longest_remaining_path_goes_first_where_slots_are_short() -> None:
    the_plan = plan(task("leaf"), task("root"), task("middle", "root"), task("end", "middle"))
    seconds = {one.id: 1.0 for one in the_plan.tasks}
    state = run_virtual(schedule(the_plan, taking(seconds), concurrency=1)).state
    started = sorted(state.tasks, key=lambda id: state.tasks[id].started_s or 0.0)
    assert started[0] == "root"


def test_no_more_tasks_run_at_once_than_there_are_slots() -> None:
    running: set[str] = set()
    most = 0

    async def work(handoff: Handoff) -> Outcome:
        nonlocal most
        running.add(handoff.task_id)
        most = max(most, len(running))
        await asyncio.sleep(1)
        running.remove(handoff.task_id)
        return completed()

    the_plan = plan(*(task(str(n)) for n in range(10)))
    state = run_virtual(schedule(the_plan, work, concurrency=3)).state
    assert most == 3
    assert set(statuses(state).values()) == {"completed"}


def test_a_workers_own_concurrency_holds_only_for_its_tasks() -> None:
    one_at_a_time = Team(
        "t",
        workers=(
            Worker("narrow", "d", run=nothing, concurrency=1),
            Worker("wide", "d", run=nothing),
        ),
    )
    tasks = [task(f"n{n}", worker="narrow") for n in range(3)]
    tasks += [task(f"w{n}", worker="wide") for n in range(3)]
    seconds = {one.id: 1.0 for one in tasks}
    state = run_virtual(schedule(plan(*tasks), taking(seconds), the_team=one_at_a_time)).state
    assert [state.tasks[f"n{n}"].started_s for n in range(3)] == [0.0, 1.0, 2.0]
    assert [state.tasks[f"w{n}"].started_s for n in range(3)] == [0.0, 0.0, 0.0]


def test_workers_can_share_slots() -> None:
    two = team("a", "b")
    shared = (Slots(1),)
    the_plan = plan(task("x", worker="a"), task("y", worker="b"))
    state = run_virtual(
        schedule(
            the_plan,
            taking({"x": 1.0, "y": 1.0}),
            the_team=two,
            shared_slots={"a": shared, "b": shared},
        )
    ).state
    assert {one.started_s for one in state.tasks.values()} == {0.0, 1.0}


def test_a_failure_skips_what_needs_it_spares_its_siblings_and_is_told_to_the_tolerant() -> None:
    """T1 fails: T3 is skipped with the blame, T4 completes, T5 runs and is told."""
    the_plan = plan(
        task("t1"),
        task("t2"),
        task("t3", "t1"),
        task("t4", "t2"),
        task("t5", "t3", "t4", tolerates_missing=True),
        task("t6", "t3"),
    )
    told: dict[str, Handoff] = {}

    def work(handoff: Handoff) -> Outcome:
        told[handoff.task_id] = handoff
        if handoff.task_id == "t1":
            return Failed(kind="error", message="no such invoice")
        return completed(f"output of {handoff.task_id}")

    state = run_virtual(schedule(the_plan, work)).state
    assert statuses(state) == {
        "t1": "failed", "t2": "completed", "t3": "skipped",
        "t4": "completed", "t5": "completed", "t6": "skipped",
    }  # fmt: skip
    assert state.tasks["t3"].error == "needs 't1', which gave no result"
    assert state.tasks["t6"].error == "needs 't1', which gave no result"
    assert told["t5"].inputs == {"t4": "output of t4"}
    missing, there = told["t5"].context
    assert missing.why_missing == "needs 't1', which gave no result"
    assert (there.why_missing, there.excerpt) == (None, "output of t4")


def test_escalations_end_by_their_reason() -> None:
    partial = Result(output="half")
    by_id: dict[str, Outcome] = {
        "scope": Escalated(reason="out_of_scope", message="ask the legal team"),
        "unclear": Escalated(reason="ambiguous_input", message="which invoice?", partial=partial),
        "unsure": Escalated(reason="low_confidence", message="two readings", partial=partial),
        "clueless": Escalated(reason="low_confidence", message="no idea"),
    }
    the_plan = plan(*(task(id) for id in by_id))
    tasks = run_virtual(schedule(the_plan, lambda handoff: by_id[handoff.task_id])).state.tasks
    assert tasks["scope"].status == "escalated"
    assert tasks["scope"].error == "out_of_scope: ask the legal team"
    assert tasks["unclear"].status == "escalated"
    assert tasks["unclear"].result == partial
    assert tasks["unsure"].status == "completed"
    assert tasks["unsure"].error == "accepted at low confidence: two readings"
    assert tasks["clueless"].status == "escalated"


def test_a_task_that_takes_too_long_times_out_and_keeps_what_it_had() -> None:
    async def work(handoff: Handoff) -> Outcome:
        try:
            await asyncio.sleep(1_000)
        except asyncio.CancelledError:
            return Completed(result=Result(output="so far"))
        return completed()

    slow = task("slow").model_copy(update={"limits": Limits(timeout_s=5)})
    state = run_virtual(schedule(plan(slow, task("next", "slow")), work)).state
    assert state.tasks["slow"].status == "timed_out"
    assert state.tasks["slow"].error == "no answer within 5 s"
    assert state.tasks["slow"].result == Result(output="so far")
    assert state.tasks["next"].status == "skipped"
    assert (state.tasks["slow"].attempts, state.tasks["slow"].finished_s) == (2, 10.0)


@pytest.mark.parametrize(("deadline_s", "attempts"), [(9.9, 1), (10.0, 2), (None, 2)])
def test_a_timeout_is_retried_once_if_the_run_leaves_time_for_it(
    deadline_s: float | None, attempts: int
) -> None:
    slow = task("slow").model_copy(update={"limits": Limits(timeout_s=5)})
    script = taking({"slow": 1_000})
    recorder = run_virtual(schedule(plan(slow), script, deadline_s=deadline_s))
    lost = recorder.state.tasks["slow"]
    assert lost.attempts == attempts
    if attempts == 1:
        assert (lost.status, lost.finished_s) == ("timed_out", 5.0)


def test_a_timeout_counts_from_the_start_of_work_not_from_the_queue() -> None:
    limited = Team("t", workers=(Worker("worker", "d", run=nothing, limits=Limits(timeout_s=3)),))
    the_plan = plan(*(task(str(n)) for n in range(4)))
    seconds = {str(n): 2.0 for n in range(4)}
    state = run_virtual(schedule(the_plan, taking(seconds), concurrency=1, the_team=limited)).state
    assert set(statuses(state).values()) == {"completed"}


@pytest.mark.parametrize(
    ("work_s", "deadline_s", "status", "finished_s"),
    [
        (4.0, None, "completed", 105.0),
        (6.0, None, "timed_out", 106.0),
        (4.0, 50.0, "cancelled", 50.0),
    ],
)
def test_a_timeout_does_not_count_while_it_is_paused_but_the_deadline_does(
    work_s: float, deadline_s: float | None, status: str, finished_s: float
) -> None:
    async def work(handoff: Handoff) -> Outcome:
        await asyncio.sleep(1)
        with time_limit_paused():
            await asyncio.sleep(100)
        await asyncio.sleep(work_s)
        return completed()

    limited = task("slow").model_copy(update={"limits": Limits(timeout_s=6)})
    the_team = Team("t", workers=(Worker("worker", "d", run=nothing, retry=False),))
    state = run_virtual(
        schedule(plan(limited), work, the_team=the_team, deadline_s=deadline_s)
    ).state
    assert (state.tasks["slow"].status, state.tasks["slow"].finished_s) == (status, finished_s)


def test_the_deadline_stops_everything_and_says_what_is_missing() -> None:
    the_plan = plan(task("quick"), task("slow"), task("after", "slow"))
    seconds = {"quick": 1.0, "slow": 100.0, "after": 1.0}
    state = run_virtual(schedule(the_plan, taking(seconds), deadline_s=10)).state
    assert statuses(state) == {"quick": "completed", "slow": "cancelled", "after": "cancelled"}
    assert state.tasks["after"].error == "the run's deadline of 10 s was reached"
    assert state.tasks["slow"].finished_s == 10.0


async def test_work_that_stops_for_the_answers_sake_says_how_long_before_the_deadline() -> None:
    recorder = accepted(plan(task("slow")))
    recorder.state.resumed_s, recorder.state.due_s = 4.0, 7.0
    runners = {"worker": ScriptedRunner(taking({"slow": 100.0}))}
    await Scheduler(recorder, team(), runners, concurrency=1).run(work_ends_s=6.4)
    assert recorder.state.tasks["slow"].error == (
        "stopped 0.6 s before the run's deadline of 3 s to leave time for the answer"
    )


def test_a_worker_that_ignores_cancellation_is_let_go_and_named() -> None:
    """F38"""

    async def stubborn(handoff: Handoff) -> Outcome:
        if handoff.task_id == "good":
            return completed()
        while True:
            try:
                await asyncio.sleep(3_600)
            except BaseException:
                continue

    the_plan = plan(task("good"), task("bad"))
    recorder = run_virtual(schedule(the_plan, stubborn, deadline_s=2))
    state = recorder.state
    assert statuses(state) == {"good": "completed", "bad": "cancelled"}
    assert (state.tasks["bad"].finished_s or 0) <= 2 + GRACE_S
    assert state.stuck == (stuck_message("worker", "bad"),)


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), BaseException("odd")]
)
def test_whatever_a_worker_raises_is_a_failure_of_its_task_alone(error: BaseException) -> None:
    """F38"""

    def work(handoff: Handoff) -> Outcome:
        if handoff.task_id == "bad":
            raise error
        return completed()

    state = run_virtual(schedule(plan(task("bad"), task("good")), work)).state
    assert statuses(state) == {"bad": "failed", "good": "completed"}
    assert type(error).__name__ in (state.tasks["bad"].error or "")


def test_a_worker_that_raises_cancelled_by_itself_has_failed() -> None:
    """F38"""

    def work(handoff: Handoff) -> Outcome:
        raise asyncio.CancelledError

    assert statuses(run_virtual(schedule(plan(task("a")), work)).state) == {"a": "failed"}


def test_a_worker_that_returns_the_wrong_type_has_failed() -> None:
    """F38"""

    def work(handoff: Handoff) -> Outcome:
        return "just text"  # pyright: ignore[reportReturnType]

    state = run_virtual(schedule(plan(task("a")), work)).state
    assert state.tasks["a"].error == "the worker returned str, not an outcome"


async def test_cancelling_the_run_leaves_nothing_running() -> None:
    begun = asyncio.Event()

    async def work(handoff: Handoff) -> Outcome:
        begun.set()
        await asyncio.sleep(1_000)
        return completed()

    recorder = accepted(plan(task("a"), task("b", "a")))
    scheduler = Scheduler(recorder, team(), {"worker": ScriptedRunner(work)}, concurrency=4)
    running = asyncio.create_task(scheduler.run())
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    state, left = recorder.state, len(asyncio.all_tasks())
    assert statuses(state) == {"a": "cancelled", "b": "cancelled"}
    assert left == 1  # the test itself


def test_stopping_during_a_wait_between_attempts_ends_the_task() -> None:
    def work(handoff: Handoff) -> Outcome:
        return Failed(kind="error", message="busy", transient=True)

    state = run_virtual(schedule(plan(task("a")), work, deadline_s=0.5)).state
    assert statuses(state) == {"a": "cancelled"}


def test_an_attempt_that_timed_out_is_not_cancelled_by_the_end_of_the_run_as_well() -> None:
    async def script(handoff: Handoff) -> Outcome:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(GRACE_S / 2)
        return completed()

    slow = task("slow").model_copy(update={"limits": Limits(timeout_s=1.0)})
    once = Team("t", workers=(Worker("worker", "d"),), retry=RetryRules(max_attempts=1))
    recorder = run_virtual(
        schedule(plan(slow), script, the_team=once, deadline_s=1.0 + GRACE_S / 4)
    )
    ended = recorder.state.tasks["slow"]
    assert (ended.status, ended.error) == ("timed_out", "no answer within 1 s")
