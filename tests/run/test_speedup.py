"""Speed-up: what every attempt took itself, one after the other, over what the run took.

In virtual time, where work takes exactly as long as it says.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand import Failed, Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Metrics
from leadhand.contracts.budget import Rate
from leadhand.contracts.events import Event, ModelCalled, TaskCompleted, parse
from leadhand.contracts.events import dump as dumped
from leadhand.contracts.outcome import Outcome
from leadhand.journal import MemoryJournal
from leadhand.state.fold import fold
from leadhand.state.times import metrics
from leadhand.synthesis.merge import Merge
from leadhand.testing import run_virtual
from leadhand.testing.virtual_time import VirtualTimeLoop
from leadhand.trace.formatting import format_gain, format_speedup
from tests.handles import resumed
from tests.slow_import import SLOW_IMPORT_S, look

CALL_S = 0.2


async def answered(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A model that takes its time over an answer."""
    await asyncio.sleep(CALL_S)
    if info.output_tools:
        planned = (
            '{"tasks": [{"id": "t0", "worker": "reader", "intent": "Read.", "depends_on": []}]}'
        )
        return ModelResponse([ToolCallPart(info.output_tools[0].name, planned)])
    return ModelResponse([TextPart("Forty metres.")])


MODEL = FunctionModel(answered, model_name="slow")
TIERS = dict.fromkeys(("fast", "standard", "strong"), (MODEL,))


def model_team(**fields: object) -> Team:
    """One worker whose model makes one call a task."""
    worker = Worker("reader", "Reads", instructions="You read.", plain=True)
    return Team("t", models=TIERS, workers=(worker,), **fields)  # pyright: ignore[reportArgumentType]


async def second(_: Handoff) -> str:
    """A worker that takes a second."""
    await asyncio.sleep(1.0)
    return "done"


def function_team(*workers: Worker) -> Team:
    return Team("t", workers=workers or (Worker("reader", "Reads", run=second),))


def plan(count: int, worker: str = "reader") -> Plan:
    tasks = [Task(id=f"t{n}", worker=worker, intent=f"Read part {n}.") for n in range(count)]
    return Plan(goal="Read all of it.", tasks=tuple(tasks))


def figures(team: Team, the_plan: Plan | None = None, **options: object) -> Metrics:
    """The figures of a run with so many tasks at once as there are, unless said otherwise."""
    return ran(team, the_plan, **options)[0]


def ran(
    team: Team, the_plan: Plan | None = None, **options: object
) -> tuple[Metrics, Sequence[Event]]:
    journal = MemoryJournal()
    supervisor = Supervisor(team, journal=journal, synthesizer=Merge(), **options)  # pyright: ignore[reportArgumentType]
    answer = run_virtual(supervisor.run(None if the_plan else "How high?", plan=the_plan))
    return answer.metrics, journal.store.events(answer.run_id)


def test_calls_that_wait_for_the_rate_of_their_model_gain_nothing() -> None:
    of_ten = figures(model_team(rates={"function:slow": Rate(concurrency=1)}), plan(10))
    assert of_ten.makespan_s == pytest.approx(10 * CALL_S)
    assert of_ten.sequential_s == pytest.approx(10 * CALL_S)
    assert of_ten.speedup == pytest.approx(1.0)
    assert of_ten.speedup_high is None


def test_calls_at_once_gain_all_that_they_take_together() -> None:
    assert figures(model_team(), plan(10)).speedup == pytest.approx(10.0)


def test_how_long_a_call_waited_to_be_sent_is_in_the_log() -> None:
    _, events = ran(model_team(rates={"function:slow": Rate(concurrency=1)}), plan(3))
    calls = [event for event in events if isinstance(event, ModelCalled)]
    assert [call.queued_s for call in calls] == pytest.approx([0.0, CALL_S, 2 * CALL_S])
    assert [call.duration_s for call in calls] == pytest.approx([CALL_S] * 3)


def test_a_planner_that_waits_for_a_rate_that_others_use_up_plans_no_longer() -> None:
    rate = {"function:slow": Rate(concurrency=1)}
    supervisor = Supervisor(model_team(rates=rate), synthesizer=Merge())

    async def two() -> tuple[Metrics, Metrics]:
        first, other = await asyncio.gather(supervisor.run("How high?"), supervisor.run("How?"))
        return first.metrics, other.metrics

    for one in run_virtual(two()):
        assert one.sequential_s == pytest.approx(2 * CALL_S)
        assert one.critical_path_s == pytest.approx(2 * CALL_S)
        assert one.makespan_s > 3 * CALL_S - 0.001


def test_tasks_that_wait_for_a_slot_gain_nothing() -> None:
    one_at_a_time = figures(function_team(), plan(4), concurrency=1)
    assert one_at_a_time.sequential_s == pytest.approx(4.0)
    assert one_at_a_time.speedup == pytest.approx(1.0)


def test_workers_that_keep_the_event_loop_busy_gain_nothing() -> None:
    def compute(taking_s: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.jump(taking_s)

    async def busy(_: Handoff) -> str:
        for _step in range(4):
            compute(0.25)
            await asyncio.sleep(0)
        return "done"

    of_six = figures(function_team(Worker("reader", "Computes", run=busy)), plan(6))
    assert of_six.makespan_s == pytest.approx(6.0)
    assert of_six.sequential_s == pytest.approx(6.0)
    assert of_six.speedup_high is None


def test_a_wait_while_the_loop_worked_for_others_gives_a_range_that_holds_the_truth() -> None:
    async def patient(_: Handoff) -> str:
        await asyncio.sleep(1.0)
        return "done"

    async def rude(_: Handoff) -> str:
        await asyncio.sleep(0.5)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.jump(2.0)
        return "done"

    team = function_team(Worker("patient", "Waits", run=patient), Worker("rude", "d", run=rude))
    tasks = (*plan(1, "patient").tasks, Task(id="r", worker="rude", intent="Compute."))
    both = figures(team, Plan(goal="Do both.", tasks=tasks))
    assert both.makespan_s == pytest.approx(2.5)
    assert both.speedup is None
    assert both.sequential_s == pytest.approx(0.5 + 2.5)
    assert both.speedup_high == pytest.approx((2.5 + 2.5) / 2.5)


def test_the_tasks_of_a_nested_team_count_one_by_one() -> None:
    inner = Team(
        "inner", workers=(Worker("a", "Reads", run=second), Worker("b", "Counts", run=second))
    )
    outer = function_team(Worker("nested", "Has others read", team=inner))
    of_one = figures(outer, plan(1, "nested"))
    assert of_one.makespan_s == pytest.approx(1.0)
    assert of_one.sequential_s == pytest.approx(2.0)
    assert of_one.critical_path_s == pytest.approx(1.0)


def test_a_nested_team_that_is_resumed_counts_its_past_once_at_a_later_attempt_too() -> None:
    async def fails(_: Handoff) -> str:
        await asyncio.sleep(1.0)
        raise ValueError("no")

    async def slow(_: Handoff) -> str:
        await asyncio.sleep(3.0)
        return "done"

    async def stopped(run: Awaitable[object], *, after_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(run, after_s)

    inner = Team("inner", workers=(Worker("a", "Reads", run=slow), Worker("b", "Counts", run=slow)))
    bad = Worker("bad", "Fails", run=fails, retry=False, fallback="nested")
    team = function_team(bad, Worker("nested", "Has others read", team=inner))
    supervisor = Supervisor(team, journal=MemoryJournal(), synthesizer=Merge())
    run_virtual(stopped(supervisor.run(plan=plan(1, "bad"), run_id="r"), after_s=2.0))
    run_virtual(stopped(resumed(supervisor, "r"), after_s=1.0))
    of_all = run_virtual(resumed(supervisor, "r")).metrics
    assert of_all.makespan_s == pytest.approx(6.0)
    assert of_all.critical_path_s == pytest.approx(1 + 1 + 1 + 3)
    assert of_all.sequential_s == pytest.approx(1 + 2 * (1 + 1 + 3))


def test_what_did_not_wait_for_a_task_is_not_on_a_chain_with_it() -> None:
    async def fails(_: Handoff) -> str:
        raise ValueError("no")

    team = function_team(
        Worker("reader", "Reads", run=second), Worker("bad", "Fails", run=fails, retry=False)
    )
    slow, bad = (
        Task(id="slow", worker="reader", intent="Read."),
        Task(id="bad", worker="bad", intent="Read on."),
    )
    skipped = Task(id="skipped", worker="reader", intent="Read both.", depends_on=("slow", "bad"))
    last = Task(
        id="last",
        worker="reader",
        intent="Read it all.",
        depends_on=("skipped",),
        tolerates_missing=True,
    )
    of_all = figures(team, Plan(goal="Read all of it.", tasks=(slow, bad, skipped, last)))
    assert of_all.makespan_s == pytest.approx(1.0)
    assert of_all.critical_path_s == pytest.approx(1.0)


def test_the_longest_chain_has_the_wait_for_a_retry_and_the_sequence_has_not() -> None:
    tried: list[int] = []

    async def flaky(handoff: Handoff) -> Outcome | str:
        tried.append(handoff.attempt)
        await asyncio.sleep(1.0)
        if len(tried) == 1:
            return Failed(kind="error", message="not yet", transient=True)
        return "done"

    with_retry = figures(function_team(Worker("reader", "Reads", run=flaky)), plan(1))
    assert len(tried) == 2
    assert with_retry.sequential_s == pytest.approx(2.0)
    assert with_retry.makespan_s > 2.1
    assert with_retry.critical_path_s == pytest.approx(with_retry.makespan_s)


def test_work_before_a_run_was_stopped_counts_once_it_is_resumed() -> None:
    _, events = ran(function_team(), plan(3), concurrency=1)
    (end,) = [n for n, e in enumerate(events) if isinstance(e, TaskCompleted) and e.task_id == "t1"]
    journal = MemoryJournal()
    for event in events[: end + 1]:
        journal.append(event)
    supervisor = Supervisor(function_team(), journal=journal, concurrency=1)
    later = run_virtual(resumed(supervisor, events[0].run_id)).metrics
    assert later.sequential_s == pytest.approx(3.0)
    again = run_virtual(resumed(supervisor, events[0].run_id, from_task="t0")).metrics
    assert again.sequential_s == pytest.approx(4.0)
    assert again.makespan_s == pytest.approx(4.0)


def test_an_attempt_that_was_lost_with_its_process_may_have_worked_or_waited() -> None:
    _, events = ran(function_team(), plan(2))
    (last,) = [
        n for n, e in enumerate(events) if isinstance(e, TaskCompleted) and e.task_id == "t0"
    ]
    standing = metrics(fold(events[: last + 1]), events[last].elapsed_s)
    assert standing.speedup is None
    assert standing.speedup_high == pytest.approx(2.0)


def test_a_speedup_that_is_not_known_is_shown_as_its_bound() -> None:
    _, events = ran(function_team(), plan(2))
    state = fold(
        replace(event, worked_s=0.5, worked_high_s=1.0)
        if isinstance(event, TaskCompleted)
        else event
        for event in events
    )
    ranged = metrics(state, 1.0)
    assert (ranged.sequential_s, ranged.speedup, ranged.speedup_high) == (1.0, None, 2.0)
    assert format_speedup(ranged) == "at most 2.0x"
    assert format_gain(ranged) == "at most 2.0x as fast as one by one"
    assert format_speedup(ranged.model_copy(update={"speedup": 1.0})) == "1.0x to 2.0x"
    assert format_gain(ranged.model_copy(update={"speedup_high": 1.0})) == ""


def test_a_worker_process_is_started_as_work_of_the_run() -> None:
    """Before, the run looked slower than one task at a time."""
    team = function_team(Worker("reader", "Reads", run=look, isolate="process"))
    of_one = asyncio.run(Supervisor(team).run(plan=plan(1))).metrics
    assert SLOW_IMPORT_S <= of_one.sequential_s <= of_one.makespan_s


def test_threads_that_wait_while_another_computes_give_a_bound_and_no_speedup() -> None:
    """They may have waited for the interpreter instead."""
    all_there, computed = threading.Barrier(5), threading.Event()

    def wait(_: Handoff) -> str:
        all_there.wait()
        computed.wait()
        return "done"

    def compute(_: Handoff) -> str:
        all_there.wait()
        while time.thread_time() - 0.2 * (time.perf_counter() - began_s) < 0.05:
            sum(range(1_000))
        computed.set()
        return "done"

    team = function_team(
        Worker("waits", "Waits", run=wait), Worker("computes", "Computes", run=compute)
    )
    tasks = (*plan(4, "waits").tasks, Task(id="c", worker="computes", intent="Compute."))
    began_s = time.perf_counter()
    of_all = asyncio.run(Supervisor(team).run(plan=Plan(goal="Do it.", tasks=tasks))).metrics
    assert of_all.speedup is None
    assert of_all.speedup_high is not None
    assert of_all.speedup_high >= of_all.sequential_s / of_all.makespan_s


def test_answers_that_come_at_once_and_work_of_others_long_before_leave_nothing_unknown() -> None:
    began_s: list[float] = []

    async def asks(_: Handoff) -> str:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        began_s.append(loop.time())
        loop.jump(0.05)
        await asyncio.sleep(5.0 - loop.time())
        loop.jump(0.05)
        return "done"

    of_all = figures(function_team(Worker("reader", "Asks", run=asks)), plan(20))
    assert of_all.speedup_high is None
    assert of_all.sequential_s == pytest.approx(sum(5.05 - start_s for start_s in began_s))


def test_tasks_that_wait_for_a_client_which_another_opens_do_not_work_meanwhile() -> None:
    class Slow(FunctionModel):
        async def __aenter__(self) -> "Slow":
            await asyncio.sleep(1.0)
            return self

    model = Slow(answered, model_name="slow")
    team = replace(model_team(), models=dict.fromkeys(("fast", "standard", "strong"), (model,)))
    of_all = figures(team, plan(10))
    assert of_all.makespan_s == pytest.approx(1.0 + CALL_S)
    assert of_all.sequential_s == pytest.approx(1.0 + 10 * CALL_S)


def test_an_event_of_an_old_journal_counts_from_its_dispatch() -> None:
    _, events = ran(function_team(), plan(1))
    (completed,) = [event for event in events if isinstance(event, TaskCompleted)]
    old = parse(dumped(replace(completed, worked_s=None)).replace('"worked_s":null,', ""))
    assert isinstance(old, TaskCompleted)
    state = fold([old if event is completed else event for event in events])
    assert state.tasks["t0"].worked_s == pytest.approx(1.0)
