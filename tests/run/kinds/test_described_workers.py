"""Workers that a plan describes: by a model, however odd, by a person, by code."""

import pytest

from leadhand import Completed, Handoff, Plan, Reply, Result, Task, Team, Worker
from leadhand.contracts.events import Event, PlanProposed, PlanRejected
from leadhand.contracts.outcome import PlanImpact
from leadhand.contracts.people import Question
from leadhand.contracts.task import PlannedWorker, PlanRequest
from leadhand.errors import PlanError
from leadhand.testing import run_virtual
from leadhand.testing.json_data import Object
from tests.engine.remedies import ScriptedRemedies
from tests.models.in_process import InProcess
from tests.run.kinds.factories import (
    SOUND,
    asked,
    bodies,
    made,
    planning,
    proposal,
    supervisor,
    team,
    tools_in,
)

ODD: dict[str, tuple[Object, str]] = {
    "many": (proposal(*(made(f"w{n}") for n in range(1_000))), "describes 1,000 workers"),
    "tool": (proposal(made("counter", "find_stock", "rm")), "'rm', which is not in the catalogue"),
    "declared": (proposal(made("Writer"), tasks=["Writer"]), "is in the team already"),
    "path": (proposal(made("../etc"), tasks=["../etc"]), "a worker can't be called '../etc'"),
    "control": (proposal(made("x\x1b[2J"), tasks=["x\x1b[2J"]), r"can't be called 'x\x1b[2J'"),
    "long": (proposal(made(instructions="x" * 100_000)), "may have 8,000"),
    "schema": (proposal(made(output='{"type": "strin"}')), "is not JSON Schema"),
    "remote": (proposal(made(output='{"$ref": "http://x.io"}')), "leave out `$ref`"),
    "no schema": (proposal(made(output="yes")), "must be a JSON Schema as an object"),
    "missing": ({"tasks": SOUND["tasks"]}, "'counter', who is not in team"),
    "no list": ({**SOUND, "workers": "counter"}, "workers: "),
    "nameless": (proposal({"description": "x"}), "workers[0].name: "),
}


@pytest.mark.parametrize("odd", ODD)
def test_a_planner_that_describes_an_odd_worker_is_told_and_repairs_it(odd: str) -> None:
    given, why = ODD[odd]
    model = planning(given, SOUND)
    answer, events = asked(team(model.model))
    assert answer.status == "complete"
    (rejected,) = [event for event in events if isinstance(event, PlanRejected)]
    assert any(why in problem for problem in rejected.problems), rejected.problems
    assert all(problem.isprintable() for problem in rejected.problems)
    assert model.stats().by_role["planner"] == 2


def test_what_a_model_leaves_open_is_least() -> None:
    only: Object = {"name": " counter ", "description": "Counts", "instructions": "Count."}
    model = planning(proposal(only, tasks=["counter"]))
    answer, events = asked(team(model.model))
    assert answer.status == "complete"
    (plan,) = [event.plan for event in events if isinstance(event, PlanProposed)]
    assert (plan.workers[0].tools, plan.workers[0].output) == ((), None)


BY_HAND = Plan(
    goal="Count the copper",
    tasks=[Task(id="t1", worker="helper", intent="Count the copper in store")],
    workers=[
        PlannedWorker(name="helper", description="Counts tons in store", instructions="Count them.")
    ],
)


def test_a_persons_plan_may_describe_workers_and_leave_their_tools_to_code() -> None:
    model = InProcess()
    events: list[Event] = []
    run = supervisor(team(model.model)).run(plan=BY_HAND, listener=events.append)
    assert run_virtual(run).status == "complete"
    (plan,) = [event.plan for event in events if isinstance(event, PlanProposed)]
    assert plan.workers[0].tools == ("find_stock",)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


class ByHand:
    """A planner in code."""

    name = "by hand"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        return BY_HAND


def test_a_planner_in_code_may_describe_workers() -> None:
    plan = run_virtual(supervisor(team(InProcess().model), planner=ByHand()).plan("Count it"))
    assert plan.workers[0].tools == ("find_stock",)


def test_described_workers_need_a_model() -> None:
    with pytest.raises(PlanError, match="need a model, and there is none"):
        run_virtual(supervisor(team(None)).run(plan=BY_HAND))


def test_a_person_may_change_the_workers_that_they_are_shown_but_not_beyond_the_catalogue() -> None:
    told: list[Question] = []

    async def person(question: Question) -> Reply:
        told.append(question)
        assert question.plan is not None
        tools = ("shell",) if len(told) == 1 else ("find_price",)
        (worker,) = question.plan.workers
        changed = worker.model_copy(update={"tools": tools})
        plan = question.plan.model_copy(update={"workers": (changed,)})
        return Reply(verdict="approved", plan=plan)

    model = planning(SOUND)
    answer, events = asked(team(model.model), approve=["plan"], person=person)
    assert answer.status == "complete"
    assert len(told) == 2
    proposed = [event.plan.workers[0].tools for event in events if isinstance(event, PlanProposed)]
    assert proposed == [("find_stock",), ("find_price",)]
    assert tools_in(bodies(model, "worker")[0])[0] == "find_price"


def test_the_workers_of_a_plan_that_runs_stay_as_they_are() -> None:
    asked_for: list[str] = []

    async def person(question: Question) -> Reply:
        asked_for.append(question.text)
        plan = question.plan
        if plan is not None and len(asked_for) == 2:
            more = plan.workers[0].model_copy(update={"tools": ("find_price",)})
            plan = plan.model_copy(update={"workers": (more,)})
        return Reply(verdict="approved", plan=plan)

    def surprised(handoff: Handoff) -> Completed:
        impact = PlanImpact(kind="adds", reason="there are two stores")
        return Completed(result=Result(output="found", plan_impact=impact))

    more = Task(id="more", worker="counter", intent="Count the tons in the second store")
    model = planning(SOUND)
    answer, _ = asked(
        team(model.model, workers=[Worker("writer", "Writes letters", run=surprised)]),
        approve=["plan"],
        person=person,
        remedies=ScriptedRemedies(revised=(more,)),
    )
    assert answer.status == "complete"
    assert [task.worker for task in answer.tasks] == ["counter", "writer", "counter"]
    _, second, third = asked_for
    assert "there are two stores" in second
    assert "the plan runs already: leave its `workers` as they are" in third
    assert "find_price" not in str(bodies(model, "worker"))
