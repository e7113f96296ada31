"""Which failures of a worker are retried, when and how often, through the supervisor."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand import (
    Answer,
    Escalated,
    Failed,
    Handoff,
    Ladder,
    Limits,
    Outcome,
    Permanent,
    Plan,
    Retry,
    Supervisor,
    Task,
    Team,
    Worker,
)
from leadhand.contracts.events import Event, TaskFailed, TaskReassigned, TaskRefined, TaskRetried
from leadhand.contracts.ladder import JITTER_SHARE, RetryRules
from leadhand.testing import VirtualClock, run_virtual
from tests.apart import Busy, busy_twice
from tests.engine.remedies import ScriptedRemedies
from tests.plans.samples import plan, task

Work = Callable[[Handoff], object]


class Flaky:
    """A worker that raises at its first attempts, and takes down when it was called."""

    def __init__(self, error: BaseException, *, times: int = 99) -> None:
        self._error = error
        self._times = times
        self.called_s: list[float] = []

    async def __call__(self, handoff: Handoff) -> str:
        """The name of the task."""
        self.called_s.append(asyncio.get_running_loop().time())
        if len(self.called_s) <= self._times:
            raise self._error
        return handoff.intent


def echo(handoff: Handoff) -> str:
    return handoff.intent


def run(*workers: Worker, **options: object) -> tuple[Answer, list[Event]]:
    """One task for the first worker."""
    events: list[Event] = []
    team = Team("t", workers=workers, **options)  # pyright: ignore[reportArgumentType]
    supervisor = Supervisor(team, clock=VirtualClock())
    the_plan = plan(task("a", worker=workers[0].name))
    answer = run_virtual(supervisor.run(plan=the_plan, run_id="r", listener=events.append))
    return answer, events


def test_an_exception_that_could_be_gone_is_retried_after_about_one_and_two_seconds() -> None:
    flaky = Flaky(RuntimeError("HTTP 503"), times=2)
    answer, events = run(Worker("w", "d", run=flaky))
    assert answer.status == "complete"
    first, second, third = flaky.called_s
    assert second - first == pytest.approx(1.0, rel=JITTER_SHARE)
    assert third - second == pytest.approx(2.0, rel=JITTER_SHARE)
    waits = [event.delay_s for event in events if isinstance(event, TaskRetried)]
    assert waits == pytest.approx([second - first, third - second])
    assert len({*waits, 1.0, 2.0}) == 4, "the waits are jittered"


def test_the_same_run_waits_the_same_time_and_another_task_another() -> None:
    waits: list[list[float]] = []
    for _ in range(2):
        team = Team("t", workers=(Worker("w", "d", run=Flaky(OSError("down"))),))
        events: list[Event] = []
        supervisor = Supervisor(team, clock=VirtualClock())
        both = plan(task("a", worker="w"), task("b", worker="w"))
        run_virtual(supervisor.run(plan=both, run_id="same", listener=events.append))
        waits.append([event.delay_s for event in events if isinstance(event, TaskRetried)])
    assert waits[0] == waits[1]
    assert len(set(waits[0])) == len(waits[0]) == 4


@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("k"), Permanent("no such account")])
def test_a_permanent_failure_is_never_retried(error: Exception) -> None:
    flaky = Flaky(error)
    answer, events = run(Worker("w", "d", run=flaky))
    assert (answer.status, len(flaky.called_s)) == ("failed", 1)
    assert [event.transient for event in events if isinstance(event, TaskFailed)] == [False]


def test_what_a_worker_returns_in_place_of_its_output_type_is_not_retried() -> None:
    answer, _ = run(Worker("w", "d", run=echo, output=int))
    assert (answer.status, answer.tasks[0].attempts) == ("failed", 1)


def test_with_a_fallback_there_is_one_retry_and_then_the_fallback() -> None:
    flaky = Flaky(RuntimeError("HTTP 503"))
    answer, _ = run(Worker("w", "d", run=flaky, fallback="spare"), Worker("spare", "d", run=echo))
    assert (answer.status, len(flaky.called_s), answer.tasks[0].attempts) == ("complete", 2, 3)


@pytest.mark.parametrize(
    ("retry", "calls"),
    [
        (False, 1),
        (True, 3),
        (Retry(attempts=2), 2),
        (Retry(attempts=9), 3),
        (Retry(on=(ValueError,)), 3),
        (Retry(on=(ValueError,), attempts=1), 1),
        (Retry(on=(ConnectionError, OSError)), 1),
    ],
)
def test_a_worker_says_what_of_it_is_retried_and_how_often(retry: bool | Retry, calls: int) -> None:
    listed = isinstance(retry, Retry) and retry.on is not None
    flaky = Flaky(UnicodeError("half a character") if listed else RuntimeError("HTTP 503"))
    run(Worker("w", "d", run=flaky, retry=retry))
    assert len(flaky.called_s) == calls


def test_a_worker_that_is_not_retried_is_not_after_a_timeout_either() -> None:
    async def hang(handoff: Handoff) -> None:
        await asyncio.sleep(1_000)

    limits = Limits(timeout_s=5)
    for retry, attempts in ((True, 2), (False, 1)):
        answer, _ = run(Worker("w", "d", run=hang, limits=limits, retry=retry))
        assert (answer.tasks[0].status, answer.tasks[0].attempts) == ("timed_out", attempts)


def test_the_waits_and_the_attempts_in_all_are_the_teams() -> None:
    flaky = Flaky(RuntimeError("HTTP 503"))
    run(Worker("w", "d", run=flaky), retry=RetryRules(max_attempts=5, backoff_s=(10.0, 20.0)))
    gaps = [b - a for a, b in zip(flaky.called_s, flaky.called_s[1:], strict=False)]
    assert gaps == [pytest.approx(wait, rel=JITTER_SHARE) for wait in (10.0, 20.0, 20.0, 20.0)]


def test_an_agent_whose_tool_raises_is_retried_once_and_then_refined() -> None:
    """The model reads the intent: after one retry with the same words other words may help."""
    intents: list[str] = []

    def lookup() -> str:
        """Looks it up."""
        raise RuntimeError("HTTP 503")

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        intents.append(str(messages[0]))
        return ModelResponse([ToolCallPart("lookup", {})])

    agent = Agent(FunctionModel(model), tools=[lookup])
    team = Team("t", workers=(Worker("w", "d", run=agent),))
    remedies = ScriptedRemedies(intent="Look it up elsewhere.")
    supervisor = Supervisor(team, clock=VirtualClock(), remedies=remedies)
    answer = run_virtual(supervisor.run(plan=plan(task("a", worker="w"))))
    assert answer.tasks[0].attempts == 3
    assert remedies.asked == ["refine"]
    assert ["elsewhere" in intent for intent in intents] == [False, False, True]


@pytest.mark.parametrize(("retry", "calls"), [(True, 1), (Retry(on=(Busy,)), 3)])
def test_a_worker_in_a_process_is_retried_by_the_same_rules(
    tmp_path: Path, retry: bool | Retry, calls: int
) -> None:
    file = tmp_path / "calls"
    file.write_text("")
    team = Team(
        "t",
        workers=(Worker("w", "d", run=busy_twice, isolate="process", retry=retry),),
        retry=RetryRules(backoff_s=(0.0,)),
    )
    one = Plan(goal="count", tasks=(Task(id="a", worker="w", intent=str(file)),))
    answer = asyncio.run(Supervisor(team).run(plan=one))
    assert (len(file.read_text()), answer.status == "complete") == (calls, calls == 3)


def test_a_workers_retries_are_those_of_a_nested_team_too() -> None:
    flaky = Flaky(RuntimeError("HTTP 503"), times=1)
    inner = Team("inner", workers=(Worker("w", "d", run=flaky),))
    answer, _ = run(Worker("desk", "d", team=inner))
    assert (answer.status, answer.tasks[0].attempts, len(flaky.called_s)) == ("complete", 1, 2)


@pytest.mark.parametrize("error", [RuntimeError("HTTP 503"), ValueError("bad")])
def test_what_a_nested_teams_ladder_gave_up_is_not_tried_again_by_the_ladder_around_it(
    error: Exception,
) -> None:
    flaky = Flaky(error)
    inner = Team("inner", workers=(Worker("w", "d", run=flaky),))
    desk = Worker("desk", "d", team=inner, fallback="spare")
    outer = Team("outer", workers=(desk, Worker("spare", "d", run=Flaky(error))))
    remedies = ScriptedRemedies(intent="Look it up elsewhere.")
    supervisor = Supervisor(outer, clock=VirtualClock(), remedies=remedies)
    answer = run_virtual(supervisor.run(plan=plan(task("a", worker="desk"))))
    assert (answer.status, answer.tasks[0].worker) == ("failed", "spare")
    assert len(flaky.called_s) == (3 if isinstance(error, RuntimeError) else 1)
    assert "refine" not in remedies.asked


def test_a_nested_run_that_a_timeout_cut_off_is_tried_again() -> None:
    called: list[int] = []

    async def slow_at_first(handoff: Handoff) -> str:
        called.append(handoff.attempt)
        await asyncio.sleep(1_000 if len(called) == 1 else 1)
        return "done"

    inner = Team("inner", workers=(Worker("w", "d", run=slow_at_first),))
    answer, _ = run(Worker("desk", "d", team=inner, limits=Limits(timeout_s=50)))
    assert (answer.status, answer.tasks[0].attempts, len(called)) == ("complete", 2, 2)


def test_a_nested_run_that_the_deadline_of_all_cut_off_is_not_tried_again() -> None:
    """It was, with 0.1 s left, and the answer named a deadline of 0.1 s."""
    called: list[int] = []

    async def slow(handoff: Handoff) -> str:
        called.append(handoff.attempt)
        await asyncio.sleep(1_000)
        return "done"

    inner = Team("inner", workers=(Worker("w", "d", run=slow),))
    outer = Team("outer", workers=(Worker("desk", "d", team=inner),))
    given = plan(task("a", worker="desk"))
    answer = run_virtual(Supervisor(outer, clock=VirtualClock()).run(plan=given, deadline_s=30))
    assert (answer.status, answer.tasks[0].attempts, called) == ("failed", 1, [1])
    assert "deadline of 29.8 s" in answer.gaps[0].why


@pytest.mark.parametrize("rung", ["refine", "split"])
@pytest.mark.parametrize("ending", ["failure", "timeout", "escalation"])
def test_refine_and_split_do_nothing_for_a_function_and_the_next_rung_is_tried(
    rung: Literal["refine", "split"], ending: str
) -> None:
    """As docs/failures.md says; the team has a model that could be asked."""

    def asked(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise AssertionError("the model was asked")

    def fails(handoff: Handoff) -> Outcome:
        if ending == "escalation":
            return Escalated(reason="ambiguous_input", message="which one?")
        return Failed(kind="timeout" if ending == "timeout" else "tool_error", message="no")

    tried: Sequence[Literal["refine", "split", "fallback"]] = (rung, "fallback")
    events = run(
        Worker("first", "Fails", run=fails, fallback="second"),
        Worker("second", "Does it", run=echo),
        models=dict.fromkeys(("standard", "strong"), (FunctionModel(asked),)),
        ladder=Ladder(failed=tried, timeout=tried, ambiguous_input=tried),
    )[1]
    decided = [event.type for event in events if isinstance(event, TaskRefined | TaskReassigned)]
    assert decided == ["task_reassigned"]
