"""Plans without measure, and outcomes without end: refused on their size, or bounded."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from leadhand import Supervisor, Team
from leadhand.contracts.events import PlanRejected, TaskDispatched
from leadhand.contracts.outcome import (
    Completed,
    Escalated,
    EscalationReason,
    Failed,
    Handoff,
    Outcome,
    PlanImpact,
    Result,
)
from leadhand.contracts.task import Task
from leadhand.engine.revisions import MAX_REVISIONS
from leadhand.planners.proposal import MAX_TOLD, proposed
from leadhand.state.fold import RunState
from leadhand.testing import ScriptedServer, run_virtual
from leadhand.testing.json_data import Json, Object
from tests.engine.ladders import crew
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.engine.scheduling import schedule
from tests.planners.planners import proposal, proposing, said, task, team
from tests.plans.samples import plan
from tests.plans.samples import task as plan_task
from tests.recorders import LogRecorder
from tests.stored import store_of


class Untouched(dict[str, Json]):
    """A task that must not be looked at: refusing a plan on its size costs nothing."""

    def get(self, key: str, default: object = None) -> Json:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise AssertionError(key, default)

    def items(self) -> Sequence[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise AssertionError


@pytest.mark.parametrize("count", [201, 10_000, 600_000])
def test_f12_a_models_plan_without_measure_is_refused_on_its_size_alone(count: int) -> None:
    tasks: list[Json] = [Untouched()] * count
    found = proposed(proposal(*tasks), "goal", team())
    assert isinstance(found, tuple)
    assert [problem.code for problem in found] == ["too_many_tasks"]
    assert f"the plan has {count:,} tasks and a model's may have 200" in found[0].message


def test_f12_dependencies_without_measure_are_refused_before_they_are_read() -> None:
    needs: list[Json] = [None] * 1_000_000
    endless: Object = {**task("a"), "depends_on": needs}
    found = proposed(proposal(endless, task("b")), "goal", team())
    assert isinstance(found, tuple)
    assert [problem.message for problem in found] == [
        "tasks[0].depends_on: it names 1,000,000 tasks; give each once"
    ]


def test_f12_a_run_whose_planner_floods_it_ends_with_one_line(server: ScriptedServer) -> None:
    server.reset(script=proposing(proposal(*(task(number) for number in range(600)))))
    supervisor = Supervisor(_unplanned())
    answer = supervisor.run_sync("Compare the prices of copper and zinc since 2019")
    (gap,) = answer.gaps
    assert answer.status == "failed"
    assert "the plan has 600 tasks and a model's may have 200" in gap.why
    assert len(gap.why) < 300
    assert len(answer.answer) < 600


def _unplanned() -> Team:
    """A team whose workers get no task without a plan of a model."""
    own = team()
    return replace(own, workers=[replace(one, read_only=False) for one in own.workers])


def test_a_model_and_the_journal_get_fifty_problems_and_how_many_more(
    server: ScriptedServer,
) -> None:
    gone = [f"gone-{number}" for number in range(150)]
    server.reset(script=proposing(proposal(*(task(n, "search", *gone) for n in range(10)))))
    supervisor = Supervisor(_unplanned())
    answer = supervisor.run_sync("Compare the prices of copper and zinc since 2019")
    repair = said(server.stats().bodies[1], "tool")[-1]
    assert f"and {1_500 - MAX_TOLD:,} more problems" in repair
    assert repair.count("which is not in the plan") == MAX_TOLD
    events = store_of(supervisor).events(answer.run_id)
    kept = [event.problems for event in events if isinstance(event, PlanRejected)]
    assert max(len(problems) for problems in kept) <= MAX_TOLD + 1
    assert "and 1,450 more" in answer.gaps[0].why


# Outcomes without end


@dataclass
class Inventive(ScriptedRemedies):
    """Never at a loss: other words, another worker, more parts and more tasks, each time."""

    def __post_init__(self) -> None:
        self.count = 0

    async def refine(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """Words that were never used."""
        await self._asked("refine", known=True)
        return f"{task.intent} {len(self.asked)}"

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        """The first that there is."""
        await self._asked("route", known=True)
        return workers[0] if workers else None

    async def split(self, task: Task, outcome: Escalated | Failed) -> Sequence[Task]:
        """Eight parts of any part."""
        await self._asked("split", known=True)
        return [plan_task(f"p{number}", worker=task.worker) for number in range(8)]

    async def revise(self, state: RunState, impact: PlanImpact, *, task_id: str) -> Sequence[Task]:
        """One task more."""
        await self._asked("revise", known=True)
        return [plan_task(f"more-{len(self.asked)}", worker="first")]


def endless(script: Outcome) -> tuple[LogRecorder, Inventive]:
    """A run of one task whose workers always end like this, while everyone has advice."""
    remedies = Inventive()

    async def work(handoff: Handoff) -> Outcome:
        await asyncio.sleep(1)
        return script

    ran = schedule(
        plan(plan_task("a", worker="first")),
        work,
        the_team=crew(),
        remedies=remedies,
        person=ScriptedPerson("try this"),
    )
    return run_virtual(ran), remedies


@pytest.mark.parametrize(
    ("reason", "attempts"),
    [("ambiguous_input", 3), ("out_of_scope", 3), ("low_confidence", 3), ("timeout", 1 + 8 + 64)],
)
def test_endless_escalation_and_refinement_are_bounded(
    reason: EscalationReason, attempts: int
) -> None:
    """Three attempts of a task; of one that is split and split again, those of its parts."""
    recorder, remedies = endless(Escalated(reason=reason, message="again"))
    dispatched = [event for event in recorder.log() if isinstance(event, TaskDispatched)]
    assert len(dispatched) <= attempts
    assert len(remedies.asked) <= len(dispatched)
    assert all(one.ended for one in recorder.state.tasks.values())


def test_endless_failure_is_bounded() -> None:
    recorder, remedies = endless(Failed(kind="tool_error", message="no table"))
    dispatched = [event for event in recorder.log() if isinstance(event, TaskDispatched)]
    assert len(dispatched) <= 3
    assert len(remedies.asked) <= 3


def test_results_that_always_ask_for_more_work_get_it_twice() -> None:
    more = PlanImpact(kind="adds", reason="there is more")
    recorder, remedies = endless(Completed(result=Result(output="x", plan_impact=more)))
    assert remedies.asked == ["revise"] * MAX_REVISIONS
    assert len(recorder.state.tasks) == 1 + MAX_REVISIONS
