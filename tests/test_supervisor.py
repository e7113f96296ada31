"""The supervisor: plan, check, run, answer; whatever happens there is an answer that says so."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from leadhand import (
    Completed,
    Failed,
    Handoff,
    InputError,
    Limits,
    Plan,
    PlanError,
    Result,
    Supervisor,
    Task,
    TaskTemplate,
    Team,
    Worker,
)
from leadhand.cli.run.command import exit_status
from leadhand.contracts.answer import Synthesis
from leadhand.contracts.events import Event, RunFinished, WorkerStuck, dump, parse
from leadhand.contracts.events.task import stuck_message
from leadhand.contracts.outcome import TaskResult
from leadhand.state.fold import fold
from leadhand.testing import VirtualClock, run_virtual
from tests.handles import streamed
from tests.patience import wait_until
from tests.plans.samples import plan, task
from tests.stored import store_of

pytestmark = pytest.mark.wall_clock


def count_words(handoff: Handoff) -> int:
    return len(handoff.intent.split())


async def shout(handoff: Handoff) -> str:
    return handoff.intent.upper()


def add(handoff: Handoff) -> int:
    return sum(value for value in handoff.inputs.values() if isinstance(value, int))


TEAM = Team(
    "words",
    workers=(
        Worker("count", "Counts words", run=count_words),
        Worker("shout", "Raises its voice", run=shout),
        Worker("add", "Adds numbers", run=add),
    ),
)


def test_a_plan_of_your_own_runs_and_its_results_flow_along_the_edges() -> None:
    the_plan = Plan(
        goal="count both",
        tasks=(
            Task(id="a", worker="count", intent="one two"),
            Task(id="b", worker="count", intent="one two three"),
            Task(id="sum", worker="add", intent="add them up", depends_on=("a", "b")),
        ),
    )
    answer = Supervisor(TEAM).run_sync(plan=the_plan)
    assert answer.status == "complete"
    assert answer.engine == "deterministic"
    assert answer.request == "count both"
    assert answer.output == {"a": 2, "b": 3, "sum": 5}
    assert answer.gaps == ()
    assert {one.id: one.status for one in answer.tasks}["sum"] == "completed"


def test_a_team_without_a_template_gives_every_worker_the_request() -> None:
    answer = Supervisor(TEAM).run_sync("two words")
    assert answer.output == {"count": 2, "shout": "TWO WORDS", "add": 0}
    assert "## shout (shout)\n\nTWO WORDS" in answer.answer


def test_the_answer_of_a_plan_of_one_task_is_its_output() -> None:
    answer = Supervisor(TEAM).run_sync(plan=plan(task("only", worker="shout")))
    assert answer.answer == "WORK ON PART ONLY"
    assert answer.output == "WORK ON PART ONLY"


def test_a_template_says_what_depends_on_what() -> None:
    team = Team(
        "t",
        workers=TEAM.workers,
        template=(
            TaskTemplate("words", "count", "count the words of: {request}"),
            TaskTemplate("total", "add", "add the counts of {request}", depends_on=("words",)),
        ),
    )
    the_plan = asyncio.run(Supervisor(team).plan("a {batch} of {odd} braces"))
    assert [one.id for one in the_plan.tasks] == ["words", "total"]
    assert the_plan.tasks[0].intent == "count the words of: a {batch} of {odd} braces"
    assert the_plan.tasks[1].depends_on == ("words",)


def test_a_plan_with_problems_is_rejected_before_anything_runs() -> None:
    """F11"""
    ran: list[str] = []
    team = Team("t", workers=(Worker("w", "d", run=lambda handoff: ran.append("x")),))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    bad = plan(task("a", "b", worker="w"), task("b", "a", worker="w"))
    with pytest.raises(PlanError, match="wait for each other"):
        Supervisor(team).run_sync(plan=bad)
    assert ran == []


def unread(handoff: Handoff) -> Completed:
    return Completed(
        result=Result(
            output="3 of 4 files", missing=("`d.bin` was not read:\nno text", "b.csv was cut")
        )
    )


def test_what_a_worker_did_not_do_is_a_gap_of_an_answer_that_is_partial() -> None:
    """The task is completed; the answer is not complete, and the command line ends with 3."""
    team = Team("t", workers=(*TEAM.workers, Worker("reader", "d", run=unread)))
    answer = Supervisor(team).run_sync(plan=plan(task("a", worker="reader")))
    assert (answer.status, answer.ended_by, exit_status(answer)) == ("partial", None, 3)
    assert [one.status for one in answer.tasks] == ["completed"]
    assert [(gap.task_id, gap.why, gap.what) for gap in answer.gaps] == [
        ("a", "`d.bin` was not read: no text", ""),
        ("a", "b.csv was cut", ""),
    ]
    assert answer.answer.startswith("## What is missing")
    assert "3 of 4 files" in answer.answer


def test_so_is_what_a_worker_of_a_nested_team_did_not_do() -> None:
    inner = Team("inner", workers=(Worker("reader", "d", run=unread),))
    team = Team("t", workers=(Worker("readers", "d", team=inner),))
    answer = Supervisor(team).run_sync(plan=plan(task("a", worker="readers")))
    assert answer.status == "partial"
    assert [gap.task_id for gap in answer.gaps] == ["a/reader", "a/reader"]


def test_a_task_adds_fifty_gaps_at_most_and_says_how_many_more_there_are() -> None:
    def hasty(handoff: Handoff) -> Result:
        return Result(output="no file", missing=tuple(f"{n}.txt " * 200 for n in range(1_000)))

    team = Team("t", workers=(Worker("hasty", "d", run=hasty),))
    gaps = Supervisor(team).run_sync("read").gaps
    assert (len(gaps), gaps[-1].why) == (51, "950 more that are not listed here")
    assert {len(gap.why) for gap in gaps[:-1]} == {500}


def test_failed_work_is_named_as_a_gap_and_the_rest_is_answered() -> None:
    def fail(handoff: Handoff) -> Failed:
        return Failed(kind="error", message="no such invoice", partial=Result(output="page 1"))

    team = Team("t", workers=(*TEAM.workers, Worker("bad", "d", run=fail)))
    the_plan = plan(
        task("a", worker="shout"), task("b", worker="bad"), task("c", "b", worker="shout")
    )
    answer = Supervisor(team).run_sync(plan=the_plan)
    assert answer.status == "partial"
    assert [(gap.task_id, gap.why) for gap in answer.gaps] == [
        ("b", "no such invoice"),
        ("c", "needs 'b', which gave no result"),
    ]
    assert "WORK ON PART A" in answer.answer
    assert "page 1" in answer.answer
    gaps = (
        "- `b`: no such invoice. It was to: work on part b\n"
        "- `c`: needs 'b', which gave no result. It was to: work on part c"
    )
    assert answer.answer.startswith(f"## What is missing\n\n{gaps}\n\n## What was found\n\n")


def test_a_run_in_which_nothing_completes_has_failed() -> None:
    def fail(handoff: Handoff) -> Failed:
        return Failed(kind="error", message="no")

    team = Team("t", workers=(Worker("w", "d", run=fail),))
    assert Supervisor(team).run_sync("do this one thing").status == "failed"


def test_the_deadline_leaves_an_answer_with_what_was_done() -> None:
    async def slow(handoff: Handoff) -> str:
        await asyncio.sleep(1_000)
        return "late"

    team = Team(
        "t",
        workers=(Worker("slow", "d", run=slow), Worker("fast", "d", run=shout)),
        limits=Limits(timeout_s=900),
    )
    the_plan = plan(task("s", worker="slow"), task("f", worker="fast"))
    supervisor = Supervisor(team, deadline_s=30, clock=VirtualClock())
    answer = run_virtual(supervisor.run(plan=the_plan))
    assert answer.status == "partial"
    assert answer.gaps[0].why == "the run's deadline of 30 s was reached"
    assert answer.metrics.makespan_s == pytest.approx(30.0)


async def test_cancelling_gives_an_answer_that_says_so() -> None:
    begun = asyncio.Event()

    async def wait(handoff: Handoff) -> str:
        begun.set()
        await asyncio.sleep(1_000)
        return "never"

    team = Team("t", workers=(Worker("w", "d", run=wait), *TEAM.workers))
    supervisor = Supervisor(team)
    the_plan = plan(task("a", worker="w"), task("b", worker="shout"))
    running = asyncio.create_task(supervisor.run(plan=the_plan, run_id="mine"))
    await begun.wait()
    supervisor.cancel()
    answer = await running
    assert answer.status == "cancelled"
    assert answer.run_id == "mine"
    assert {gap.task_id for gap in answer.gaps} <= {"a", "b"}


def test_a_synthesis_that_fails_still_hands_over_the_results() -> None:
    class Broken:
        name = "broken"
        calls_model = False

        async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
            raise RuntimeError("no words")

        def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
            raise RuntimeError("none at all")

    answer = Supervisor(TEAM, synthesizer=Broken()).run_sync(plan=plan(task("a", worker="shout")))
    assert answer.status == "partial"
    assert "WORK ON PART A" in answer.answer
    assert "`synthesis`: the synthesis failed; these are the bare results" in answer.answer


async def test_a_handle_gives_the_run_as_its_events() -> None:
    supervisor = Supervisor(TEAM)
    stream = streamed(supervisor, plan=plan(task("a", worker="shout")), run_id="r")
    events = [event async for event in stream]
    assert fold(events) == fold(store_of(supervisor).events("r"))
    assert fold(parse(dump(event)) for event in events) == fold(events)
    assert isinstance(events[-1], RunFinished)
    assert [event.type for event in events] == [
        "run_started",
        "plan_proposed",
        "plan_accepted",
        "task_dispatched",
        "task_completed",
        "synthesis_started",
        "run_finished",
    ]


def test_a_listener_that_breaks_does_not_break_the_run() -> None:
    def broken(event: object) -> None:
        raise ValueError("no screen")

    answer = asyncio.run(Supervisor(TEAM).run("two words", listener=broken))
    assert answer.status == "complete"


async def test_runs_side_by_side_do_not_mix() -> None:
    supervisor = Supervisor(TEAM)
    plans = [plan(task(f"t{n}", worker="shout")) for n in range(20)]
    answers = await asyncio.gather(*(supervisor.run(plan=one) for one in plans))
    assert [one.output for one in answers] == [f"WORK ON PART T{n}" for n in range(20)]
    assert len({one.run_id for one in answers}) == 20


async def test_a_run_id_can_be_used_once() -> None:
    supervisor = Supervisor(TEAM)
    await supervisor.run("two words", run_id="r")
    with pytest.raises(InputError, match="exists already"):
        await supervisor.run("two words", run_id="r")


async def test_run_sync_says_what_to_use_where_a_loop_is_running() -> None:
    with pytest.raises(InputError, match="await supervisor"):
        Supervisor(TEAM).run_sync("two words")


def test_sync_and_async_workers_run_at_once() -> None:
    """Two sync workers that wait for each other could never end one after the other."""
    barrier = threading.Barrier(2, timeout=30)

    def meet(handoff: Handoff) -> str:
        barrier.wait()
        return "met"

    team = Team("t", workers=(Worker("w", "d", run=meet),))
    answer = Supervisor(team).run_sync(plan=plan(task("a", worker="w"), task("b", worker="w")))
    assert answer.status == "complete"


def test_the_metrics_add_up() -> None:
    async def sleep(handoff: Handoff) -> Completed:
        await asyncio.sleep(float(handoff.intent.split()[-1]))
        return Completed(result=Result(output=None))

    team = Team("t", workers=(Worker("w", "d", run=sleep),))
    the_plan = Plan(
        goal="sleep",
        tasks=(
            Task(id="a", worker="w", intent="sleep 3"),
            Task(id="b", worker="w", intent="sleep 4"),
            Task(id="c", worker="w", intent="sleep 2", depends_on=("a",)),
        ),
    )
    metrics = run_virtual(Supervisor(team, clock=VirtualClock()).run(plan=the_plan)).metrics
    assert metrics.makespan_s == pytest.approx(5.0)
    assert metrics.sequential_s == pytest.approx(9.0)
    assert metrics.critical_path_s == pytest.approx(5.0)
    assert metrics.speedup == pytest.approx(1.8)
    assert metrics.cost_usd is None


def test_a_sync_worker_that_never_returns_is_abandoned_and_named() -> None:
    """F38"""
    release = threading.Event()

    def stuck(handoff: Handoff) -> str:
        release.wait(60)
        return "too late"

    team = Team(
        "t",
        workers=(
            Worker("stuck", "d", run=stuck, limits=Limits(timeout_s=0.05)),
            Worker("shout", "d", run=shout),
        ),
    )
    supervisor = Supervisor(team)
    the_plan = plan(task("a", worker="stuck"), task("b", worker="shout"))
    answer = asyncio.run(supervisor.run(plan=the_plan, run_id="r"))
    release.set()
    state = fold(store_of(supervisor).events("r"))
    assert [one.status for one in answer.tasks] == ["timed_out", "completed"]
    assert answer.gaps[0].why == "no answer within 0.05 s"
    assert {*state.stuck} == {stuck_message("stuck", "a")}


def test_an_async_worker_that_blocks_the_loop_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """F38"""
    named = asyncio.Event()

    async def block(handoff: Handoff) -> str:
        wait_until(lambda: "has blocked the event loop" in caplog.text)
        await named.wait()
        return "awake"

    def listen(event: Event) -> None:
        if isinstance(event, WorkerStuck):
            named.set()

    team = Team("t", workers=(Worker("blocker", "d", run=block),))
    supervisor = Supervisor(team)
    the_plan = plan(task("a", worker="blocker"))
    asyncio.run(supervisor.run(plan=the_plan, run_id="r", listener=listen))
    (message,) = fold(store_of(supervisor).events("r")).stuck
    assert "worker 'blocker' blocked the event loop" in message
