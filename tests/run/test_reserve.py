"""Code that stands in for a model runs before the deadline, however long the model keeps silent."""

import asyncio
import dataclasses

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand import (
    Answer,
    Completed,
    Handoff,
    Limits,
    Plan,
    Result,
    Supervisor,
    Task,
    Team,
    Worker,
)
from leadhand.contracts.outcome import Failed, Outcome
from leadhand.testing import VirtualClock, run_virtual
from leadhand.workers.offline import OfflineFallback, OfflineSwitch
from tests.workers.worker_samples import make_handoff


async def count(handoff: Handoff) -> str:
    return f"counted by {handoff.to_agent}"


async def never(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


SILENT = FunctionModel(never)
"""An endpoint that takes a request, and never answers."""


TEAM = Team(
    "notes",
    model=SILENT,
    workers=(
        Worker("reader", "Reads notes", instructions="Read.", offline=count),
        Worker("writer", "Writes", instructions="Write.", offline=count),
    ),
)
PLAN = Plan(
    goal="What do the notes say?",
    tasks=(
        Task(id="read", worker="reader", intent="Read the notes on growth."),
        Task(id="write", worker="writer", intent="Write up what they say.", depends_on=("read",)),
    ),
)


def run(team: Team, deadline_s: float) -> Answer:
    supervisor = Supervisor(team, deadline_s=deadline_s, clock=VirtualClock())
    return run_virtual(supervisor.run(plan=PLAN))


@pytest.mark.parametrize("offline_s", [None, 0.2])
def test_a_silent_endpoint_leaves_time_for_the_code_of_every_task_to_come(
    offline_s: float | None,
) -> None:
    workers = tuple(dataclasses.replace(one, offline_s=offline_s) for one in TEAM.workers)
    answer = run(dataclasses.replace(TEAM, workers=workers), 8)
    assert {task.status for task in answer.tasks} == {"completed"}
    assert "counted by writer" in answer.answer
    assert (answer.status, answer.ended_by) == ("partial", "deadline")
    assert "no model answered until" in answer.gaps[0].why


def test_without_a_model_nothing_is_kept_and_nothing_is_late() -> None:
    answer = run(dataclasses.replace(TEAM, model=None), 8)
    assert (answer.status, answer.ended_by) == ("complete", None)


def test_a_nested_team_keeps_time_of_its_own() -> None:
    inner = dataclasses.replace(TEAM, name="inner", workers=TEAM.workers[:1])
    team = Team("outer", model=TEAM.model, workers=(Worker("desk", "d", team=inner),))
    one = Plan(goal="Read.", tasks=(Task(id="a", worker="desk", intent="Read it all."),))
    answer = run_virtual(Supervisor(team, deadline_s=10, clock=VirtualClock()).run(plan=one))
    assert "counted by reader" in answer.answer


# One attempt, in virtual time


class Silent:
    """A model that never answers, or fails."""

    def __init__(self, outcome: Outcome | None = None) -> None:
        self._outcome = outcome
        self.stopped_s: float | None = None

    async def run(self, handoff: Handoff) -> Outcome:
        """What it was told to give."""
        if self._outcome is not None:
            return self._outcome
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.stopped_s = asyncio.get_running_loop().time()
        raise AssertionError


class Code:
    """Code that takes a second."""

    async def run(self, handoff: Handoff) -> Outcome:
        """Done."""
        await asyncio.sleep(1)
        return Completed(result=Result(output="by code"))


async def test_what_is_asked_at_need_is_stopped_and_code_goes_first_from_then_on() -> None:
    silent, outer = Silent(), OfflineSwitch()
    need = OfflineSwitch(outer)
    worker = OfflineFallback(silent, Code(), need)
    asyncio.get_running_loop().call_later(5, outer.switch_on, "the time is up")
    first = await worker.run(make_handoff())
    assert asyncio.get_running_loop().time() == 6.0
    outcomes = [first, await worker.run(make_handoff())]
    whys = [one.result.without_model for one in outcomes if isinstance(one, Completed)]
    assert whys == ["the time is up"] * 2
    assert silent.stopped_s == 5.0
    assert need.code_took_s == {"worker": 1.0}


async def test_a_need_within_a_nested_team_does_not_reach_the_run_around_it() -> None:
    outer = OfflineSwitch()
    inner = OfflineSwitch(outer)
    inner.switch_on("its task has little time")
    assert (outer.why, inner.why) == (None, "its task has little time")


@pytest.mark.parametrize(("attempt", "by_code"), [(1, False), (2, True)])
def test_a_model_that_is_silent_again_leaves_the_attempt_to_the_code(
    attempt: int, by_code: bool
) -> None:
    handoff = make_handoff().model_copy(
        update={"attempt": attempt, "limits": Limits(timeout_s=10.0)}
    )

    async def story() -> Outcome | None:
        worker = OfflineFallback(Silent(), Code(), OfflineSwitch(), offline_s=2.0)
        try:
            async with asyncio.timeout(10.0):
                return await worker.run(handoff)
        except TimeoutError:
            return None

    outcome = run_virtual(story())
    assert isinstance(outcome, Completed) == by_code
    if isinstance(outcome, Completed):
        assert outcome.result.without_model == "no model answered within 7.75 s"


def test_a_retry_that_would_come_too_late_is_not_waited_for() -> None:
    lost = Silent(Failed(kind="error", message="HTTP 503", transient=True))

    async def story(until_s: float) -> Outcome:
        need = OfflineSwitch()
        need.models_until_s = until_s
        return await OfflineFallback(lost, Code(), need, patience_s=2.4).run(make_handoff())

    assert isinstance(run_virtual(story(3.0)), Failed)
    late = run_virtual(story(2.0))
    assert isinstance(late, Completed)
    assert late.result.without_model == "HTTP 503"
