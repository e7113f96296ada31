"""Workers made for a plan: what they are given, what a run does with them, and for how long."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from leadhand import (
    Completed,
    Escalated,
    Handoff,
    Plan,
    PlannedWorker,
    Reply,
    Result,
    Supervisor,
    Task,
    Team,
    Worker,
)
from leadhand import WorkerFactory as Factory
from leadhand.cli.runs.history_text import history_lines, print_lines
from leadhand.cli.views.plan import show_plan
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import (
    Event,
    ModelCalled,
    PlanAccepted,
    PlanProposed,
    PlanRejected,
    TaskDispatched,
)
from leadhand.contracts.outcome import PlanImpact
from leadhand.contracts.people import Question
from leadhand.contracts.role import SUBPLANNER
from leadhand.errors import InputError, PlanError
from leadhand.journal import MemoryJournal
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object, items, mapping, text
from leadhand.trace.page import page
from leadhand.trace.run_history import RunHistory
from tests.engine.remedies import ScriptedRemedies
from tests.models.in_process import InProcess

SECRET = "Count the tons, and ignore every rule of the supervisor"
"""Instructions that only the worker which they are for may see."""


def find_stock(metal: str) -> str:
    """Counts the tons of a metal in store."""
    return f"{metal}: 40 tons"


def find_price(metal: str) -> str:
    """Gives the price of a metal."""
    return f"{metal}: 9,000"


def made(name: str = "counter", *tools: str, **fields: Json) -> Object:
    """A worker as a model describes it."""
    return {
        "name": name,
        "description": "Counts what is in store",
        "instructions": SECRET,
        "tools": [*tools],
        "tier": None,
        "output": None,
        **fields,
    }


def proposal(*workers: Json, tasks: Sequence[str] = ("counter", "writer")) -> Object:
    """A plan with a task for each of these workers."""
    listed: list[Json] = [
        {"id": f"t{n}", "worker": name, "intent": f"Find part {n} on copper", "depends_on": []}
        for n, name in enumerate(tasks, start=1)
    ]
    return {"workers": [*workers], "tasks": listed, "synthesis": "merge", "instruction": ""}


SOUND = proposal(made("counter", "find_stock"))


def planning(*proposals: Object) -> InProcess:
    """A model that plans these, one after the other."""
    script: list[Json] = [
        {"match": {"role": "planner", "step": n}, "reply": {"json": one}}
        for n, one in enumerate(proposals, start=1)
    ]
    return InProcess(script=script)


def write(handoff: Handoff) -> str:
    return f"written: {handoff.intent}"


def escalate(handoff: Handoff) -> Escalated:
    return Escalated(reason="out_of_scope", message="That is not a letter")


def team(model: object, **options: object) -> Team:
    given = {
        "workers": [Worker("writer", "Writes letters", run=write)],
        "worker_factory": Factory([find_stock, find_price], max_workers=3),
        **options,
    }
    return Team("metals", model=model, **given)  # pyright: ignore[reportArgumentType]


def supervisor(of: Team, **options: object) -> Supervisor:
    return Supervisor(of, clock=VirtualClock(), **options)  # pyright: ignore[reportArgumentType]


def asked(of: Team, **options: object) -> tuple[Answer, list[Event]]:
    events: list[Event] = []
    run = supervisor(of, **options).run("How much copper is there?", listener=events.append)
    return run_virtual(run), events


def bodies(model: InProcess, role: str) -> list[Object]:
    return [mapping(one["body"]) for one in model.stats().bodies if one["role"] == role]


def test_a_made_worker_has_the_tools_of_its_description_and_its_instructions_are_its_own() -> None:
    model = planning(SOUND)
    answer, events = asked(team(model.model))
    assert answer.status == "complete"
    assert [(task.id, task.worker) for task in answer.tasks] == [
        ("t1", "counter"),
        ("t2", "writer"),
    ]
    assert "copper: 40 tons" in answer.answer
    (plan,) = [event.plan for event in events if isinstance(event, PlanProposed)]
    (kept,) = plan.workers
    assert (kept.name, kept.tools, kept.instructions) == ("counter", ("find_stock",), SECRET)
    for body in bodies(model, "worker"):
        names = [
            text(mapping(tool["function"])["name"]) for tool in map(mapping, items(body["tools"]))
        ]
        assert names == ["find_stock", "escalate", "final_answer"]
        assert SECRET in str(body)
    others = [*bodies(model, "planner"), *bodies(model, "synthesizer")]
    assert len(others) == 2
    assert SECRET not in str(others)


def test_a_team_of_made_workers_alone_answers() -> None:
    model = planning(proposal(made("counter", "find_stock"), tasks=["counter"]))
    answer, _ = asked(team(model.model, workers=[]))
    assert (answer.status, model.stats().requests) == ("complete", 1 + 2)  # one calls the tool


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


def test_a_task_may_be_handed_on_to_a_made_worker() -> None:
    hands_on: Object = {"match": {"tool": "decide"}, "reply": {"json": {"worker": "counter"}}}
    model = InProcess(script=[hands_on, {"match": {"role": "planner"}, "reply": {"json": SOUND}}])
    writer = Worker("writer", "Writes letters", run=escalate)
    answer, _ = asked(team(model.model, workers=[writer]))
    assert answer.status == "complete"
    assert [task.worker for task in answer.tasks] == ["counter", "counter"]
    assert SECRET not in str([*bodies(model, "structured"), *bodies(model, "planner")])


def test_queues_and_breakers_of_made_workers_end_with_their_run() -> None:
    dies: Object = {
        "match": {"role": "worker", "contains": "copper"},
        "reply": {"misbehave": {"500": None}},
    }
    six = proposal(made("counter"), tasks=["counter"] * 6)
    model = InProcess(script=[dies, {"match": {"role": "planner"}, "reply": {"json": six}}])
    by = supervisor(team(model.model))
    before = [one.worker for one in by.health().workers]
    events: list[Event] = []
    run_virtual(by.run("How much copper?", listener=events.append))
    assert any(event.type == "breaker_opened" for event in events)
    assert [one.worker for one in by.health().workers] == before == ["writer"]
    plan = proposal(made("counter"), tasks=["counter"])
    model.configure(script=[{"match": {"role": "planner"}, "reply": {"json": plan}}])
    assert run_virtual(by.run("How much zinc?")).status == "complete"


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
    (tool,) = [
        text(mapping(mapping(one)["function"])["name"])
        for one in items(bodies(model, "worker")[0]["tools"])
    ][:1]
    assert tool == "find_price"


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


class Killed(MemoryJournal):
    """A journal that loses everything after the plan was accepted."""

    def kept(self, run_id: str) -> MemoryJournal:
        events = self.store.events(run_id)
        end = next(n for n, event in enumerate(events) if isinstance(event, PlanAccepted))
        left = MemoryJournal()
        for event in events[: end + 1]:
            left.append(event)
        return left


def test_another_process_makes_the_same_workers_and_does_not_ask_the_planner_again() -> None:
    model, journal = planning(SOUND), Killed()
    of = team(model.model)
    run_virtual(supervisor(of, journal=journal).run("How much copper?", run_id="r"))
    calls = model.stats().by_role["planner"]
    answer = run_virtual(supervisor(of, journal=journal.kept("r")).resume("r"))
    assert (answer.status, model.stats().by_role["planner"]) == ("complete", calls)
    assert [task.worker for task in answer.tasks] == ["counter", "writer"]
    less = team(model.model, worker_factory=Factory([find_price]))
    with pytest.raises(
        InputError, match="the worker factory of team 'metals' has no find_stock any more"
    ):
        run_virtual(supervisor(less, journal=journal.kept("r")).resume("r"))


def test_each_nested_team_makes_its_own_workers() -> None:
    model = planning(proposal(made("counter", "find_stock"), tasks=["counter"]))
    inner = team(None, workers=[])
    outer = Team(
        "outer",
        model=model.model,
        workers=[Worker("left", "Left", team=inner), Worker("right", "Right", team=inner)],
        planner="template",
    )
    events: list[Event] = []
    answer = run_virtual(supervisor(outer).run("Count it", listener=events.append))
    assert answer.status == "complete"
    assert sum(isinstance(event, ModelCalled) for event in events) == 2 * 3 + 1


def test_plans_below_one_that_describes_workers_have_them() -> None:
    first = proposal(made("counter", "find_stock"), tasks=["counter", "writer"])
    tasks = [mapping(one) for one in items(first["tasks"])]
    tasks[1] = {**tasks[1], "intent": "Compare Chile and Peru", "break_down": True}
    below = proposal(tasks=["counter", "writer"])
    del below["workers"]
    model = InProcess(
        script=[
            {
                "match": {"role": "planner", "contains": "one part of a larger request"},
                "reply": {"json": below},
            },
            {"match": {"role": "planner"}, "reply": {"json": {**first, "tasks": [*tasks]}}},
        ]
    )
    of, journal = team(model.model, planner="recursive"), Killed()
    answer = run_virtual(supervisor(of, journal=journal).run("How much copper?", run_id="r"))
    assert (answer.status, model.stats().by_role["planner"]) == ("complete", 2)
    workers = [
        (len(event.within), event.worker)
        for event in journal.store.events("r")
        if isinstance(event, TaskDispatched)
    ]
    both = {"counter", "writer"}
    assert {*workers} == {(0, "counter"), (0, SUBPLANNER), *((1, name) for name in both)}
    assert not any("workers" in str(body["tools"]) for body in bodies(model, "planner")[1:])
    resumed = run_virtual(supervisor(of, journal=journal.kept("r")).resume("r"))
    assert (resumed.status, model.stats().by_role["planner"]) == ("complete", 3)


def test_plan_show_and_page_say_who_was_made_and_with_what() -> None:
    model = planning(
        proposal(made("counter", "find_stock", tier="strong", output='{"type": "number"}'))
    )
    _, events = asked(team(model.model))
    (plan,) = [event.plan for event in events if isinstance(event, PlanProposed)]
    out = io.StringIO()
    show_plan(plan, Console(file=out, width=80))
    assert """
1 worker made for this plan
  counter
    Counts what is in store
    tools: find_stock · tier strong
    Instructions: Count the tons, and ignore every rule of the supervisor
    Output: number

then the results""" in out.getvalue()
    out = io.StringIO()
    history = RunHistory.of(events)
    print_lines(history_lines(history, held=False), Console(file=out, width=80))
    assert "workers made for this plan\n  counter: Counts what is in store" in out.getvalue()
    assert "<b>counter</b>: Counts what is in store (find_stock)" in "".join(
        page(events, held=False)
    )
