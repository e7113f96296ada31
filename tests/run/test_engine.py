"""`engine` and the first sentence say what happened: whether output of a model was used."""

import dataclasses

import pytest

from leadhand import Answer, Handoff, Plan, Result, Supervisor, Team, Worker
from leadhand.cli.views.answer import footer
from leadhand.contracts.events import Event, PlanProposed
from leadhand.contracts.task import PlanRequest
from leadhand.contracts.team import TaskTemplate
from leadhand.run.gaps import without_gaps
from leadhand.testing import run_virtual
from leadhand.testing.json_data import Object
from leadhand.trace.run_history import RunHistory
from tests.engine.remedies import ScriptedRemedies
from tests.models.in_process import InProcess
from tests.plans.samples import plan, task
from tests.run.kinds.kinds import around, supervisor, works
from tests.run.people.desk import RUN, approved, log, says
from tests.run.people.test_amendments import PLAN, REVISED, Office

SILENT: Object = {"misbehave": {"latency_ms": 10_000_000}}


def deaf(role: str) -> Object:
    return {"match": {"role": role}, "reply": SILENT}


async def code(handoff: Handoff) -> Result:
    return Result(output="by code")


def team(model: InProcess, **worker: object) -> Team:
    return Team(
        "t",
        model=model.model,
        workers=[
            Worker(name, f"Knows {name}", instructions="Find it.", **worker)  # pyright: ignore[reportArgumentType, reportCallIssue]
            for name in "ab"
        ],
        template=[TaskTemplate(name, name, f"Find {name}") for name in "ab"],
        planner="ahead",
    )


def answered(of: Team) -> Answer:
    return run_virtual(supervisor(of, deadline_s=60.0).run("Compare copper and zinc"))


@pytest.mark.parametrize("worker", [{"offline": code}, {"run": works}], ids=["offline", "code"])
@pytest.mark.parametrize("nested", [False, True], ids=["alone", "nested"])
def test_a_planner_that_does_not_answer_in_time_leaves_the_work_to_code(
    worker: dict[str, object], nested: bool
) -> None:
    model = InProcess(script=[{"reply": SILENT}])
    of = team(model, **worker)
    answer = answered(around(of) if nested else of)
    assert answer.metrics.requests > 0
    assert answer.engine == "deterministic"
    said = "*No plan came from the model in time; code did the work.*\n\n"
    assert said in answer.answer
    if not nested:
        assert answer.answer.startswith(said)
        assert without_gaps(answer.answer, answer.gaps).startswith(f"{said}## a (a)")
    assert "engine: deterministic, no output of a model was used" in footer(answer)
    assert any(part.endswith(("request", "requests")) for part in footer(answer))


@pytest.mark.parametrize(
    ("script", "engine"),
    [
        ([], "model"),
        ([deaf("planner")], "model"),
        ([deaf("planner"), deaf("worker"), deaf("synthesizer")], "deterministic"),
        ([deaf("worker"), deaf("synthesizer")], "model"),
        ([deaf("synthesizer")], "model"),
    ],
    ids=["all", "no plan", "nothing", "only the plan", "no text"],
)
def test_the_engine_is_a_model_if_any_of_its_output_was_used(
    script: list[Object], engine: str
) -> None:
    answer = answered(team(InProcess(script=script)))
    assert answer.engine == engine


def test_a_plan_that_is_not_valid_is_not_output_that_was_used() -> None:
    bad: Object = {"tasks": [{"id": "x", "worker": "nobody", "intent": "Find it"}]}
    model = InProcess(script=[{"match": {"role": "planner"}, "reply": {"json": bad}}])
    of = team(model, run=works)
    of = Team("t", model=of.model, workers=of.workers, template=of.template, synthesis="last")
    answer = answered(of)
    said = "*No valid plan came from the model; "
    assert answer.answer.startswith(said)


class Wrong:
    """A planner whose plan can't be carried out."""

    name = "wrong"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """A plan for nobody."""
        return plan(task("x", worker="nobody"))


def test_why_no_plan_came_from_the_planner_is_still_said_once_its_replacement_is_amended() -> None:
    office, (ask, _) = Office(), says(approved(), approved())
    entries = [
        TaskTemplate(one.id, "worker", "Do it", depends_on=one.depends_on) for one in PLAN.tasks
    ]
    made = Supervisor(
        Team("office", workers=[Worker("worker", "works", run=office.work)], template=entries),
        remedies=ScriptedRemedies(revised=REVISED),
        planner=Wrong(),
        person=ask,
        approve=["plan"],
        journal=office.journal,
    )
    answer = run_virtual(made.run("look into it", run_id=RUN))
    assert (answer.status, len(answer.tasks)) == ("complete", 4)
    proposed = [event.task_id for event in log(made) if isinstance(event, PlanProposed)]
    assert proposed == [None, "look"]
    assert answer.answer.startswith("*No valid plan came from the planner; ")


def test_a_planner_without_a_plan_is_the_first_sentence_and_the_origin_of_the_templates() -> None:
    model = InProcess(script=[{"match": {"role": "planner"}, "reply": {"text": "No idea."}}])
    of = team(model, run=works)
    host = supervisor(of, deadline_s=60.0)
    events: list[Event] = []
    answer = run_virtual(host.run("Compare copper and zinc", listener=events.append))
    assert answer.answer.startswith("*No plan came from the model; ")
    *_, version = RunHistory.of(events).plans
    assert version.title.endswith("by template, because no plan came from the model, accepted")
    alone = supervisor(dataclasses.replace(of, template=()), deadline_s=60.0)
    alone = run_virtual(alone.run("Compare copper and zinc"))
    assert alone.answer.startswith("*There is no answer, because no plan came from the model.*")
