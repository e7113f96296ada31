"""Proposals: what is read as a plan, what is ignored, and what is reported as wrong."""

import pytest

from leadhand.contracts.task import Plan
from leadhand.planners.proposal import object_in, proposed
from leadhand.testing.json_data import Json, Object, compact
from tests.planners.planners import SOUND, proposal, task, team


def plan_of(data: Object, *, synthesis: str = "merge") -> Plan:
    plan = proposed(data, "the goal", team(synthesis=synthesis))
    assert isinstance(plan, Plan), plan
    return plan


def problems_of(data: Object) -> list[str]:
    problems = proposed(data, "the goal", team())
    assert not isinstance(problems, Plan)
    assert {problem.code for problem in problems} == {"invalid_plan"}
    return [problem.message for problem in problems]


def test_every_field_that_a_model_may_set_reaches_the_plan() -> None:
    second: Object = {
        **task("b", "count", "a"),
        "done_when": "both figures are there",
        "tolerates_missing": True,
    }
    plan = plan_of(proposal(task("a"), second, synthesis="reduce"))
    assert (plan.goal, plan.synthesis, plan.instruction) == ("the goal", "reduce", "Be brief.")
    first, last = plan.tasks
    assert (last.id, last.worker, last.depends_on) == ("b", "count", ("a",))
    assert (last.done_when, last.tolerates_missing) == ("both figures are there", True)
    assert (first.depends_on, first.done_when, first.tolerates_missing) == ((), "", False)


@pytest.mark.parametrize("chosen", ["merge", "select", "reduce"])
def test_the_model_chooses_the_strategy_unless_the_team_has_one_of_its_own(chosen: str) -> None:
    data = proposal(task("a"), synthesis=chosen)
    assert plan_of(data).synthesis == chosen
    assert plan_of(data, synthesis="findings").synthesis == "findings"


@pytest.mark.parametrize("teams", ["merge", "select", "findings"])
def test_the_strategy_is_the_teams_if_the_model_names_none(teams: str) -> None:
    assert plan_of({"tasks": [task("a")]}, synthesis=teams).synthesis == teams


def test_numbers_for_ids_are_their_text() -> None:
    second: Object = {**task(2), "depends_on": [1]}
    plan = plan_of(proposal(task(1), second))
    assert [(task.id, task.depends_on) for task in plan.tasks] == [("1", ()), ("2", ("1",))]


@pytest.mark.parametrize(
    ("needs", "depends_on"),
    [
        (["count"], ("b",)),
        (["count", "b"], ("b",)),
        (["a", "count"], ("a", "b")),
        (["search"], ("search",)),
        (["cook"], ("cook",)),
    ],
    ids=["a worker", "a worker and its task", "beside an id", "a worker of two", "neither"],
)
def test_a_dependency_on_a_worker_with_one_task_is_on_that_task(
    needs: list[Json], depends_on: tuple[str, ...]
) -> None:
    last: Object = {**task("d"), "worker": "write", "depends_on": needs}
    plan = plan_of(proposal(task("a", "search"), task("b", "count"), task("c", "search"), last))
    assert plan.tasks[-1].depends_on == depends_on


def test_a_task_that_depends_on_its_own_worker_depends_on_the_other_task_of_it() -> None:
    second: Object = {**task("b"), "depends_on": ["search"]}
    assert plan_of(proposal(task("a"), second)).tasks[1].depends_on == ("a",)
    alone = plan_of(proposal({**task("a"), "depends_on": ["search"]}))
    assert alone.tasks[0].depends_on == ("search",), "the checks name what is wrong"


def test_null_is_nothing_and_keys_of_the_models_own_are_passed_over() -> None:
    only: Object = {**task("a"), "depends_on": None, "done_when": None, "priority": "high"}
    plan = plan_of({"tasks": [only], "synthesis": None, "thoughts": "one step"})
    assert plan.tasks[0].depends_on == ()
    assert (plan.synthesis, plan.instruction) == ("merge", "")


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"steps": []}, "tasks: "),
        ({"tasks": "one"}, "tasks: "),
        (proposal("find it"), "tasks[0]: "),
        (proposal({"id": "a", "worker": "search", "task": "Find it"}), "tasks[0].intent: "),
        (proposal(task("a"), {**task("b"), "intent": None}), "tasks[1].intent: "),
        (proposal({**task("a"), "worker": ["search"]}), "tasks[0].worker: "),
        (proposal({**task("a"), "depends_on": "b"}), "tasks[0].depends_on: "),
        (proposal({**task("a"), "depends_on": ["b", {}]}), "tasks[0].depends_on[1]: "),
        (proposal(task("")), "tasks[0].id: "),
        (proposal(task("a" * 201, intent="Find it")), "tasks[0].id: "),
        (proposal(task(True)), "tasks[0].id: "),
        (proposal(task("a"), synthesis="blend"), "synthesis: "),
    ],
)
def test_an_invalid_proposal_is_named_with_its_path(data: Object, place: str) -> None:
    (problem,) = problems_of(data)
    assert problem.startswith(place)
    assert "\n" not in problem


def test_everything_that_cannot_be_read_is_named_at_once() -> None:
    tasks: list[Json] = [{"id": "a", "worker": "search"}, {"id": "b", "intent": "Find it"}]
    problems = problems_of({"tasks": tasks, "synthesis": "blend"})
    assert [problem.partition(":")[0] for problem in problems] == [
        "tasks[0].intent",
        "tasks[1].worker",
        "synthesis",
    ]


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here it is: {}\nDone."])
def test_an_object_is_found_whatever_is_around_it(around: str) -> None:
    assert object_in(around.replace("{}", compact(SOUND))) == SOUND


@pytest.mark.parametrize(
    "text", ["", "no", "}{", "[1]", '{"a": NaN}', compact(SOUND)[:-1], compact(SOUND)[1:]]
)
def test_f05_half_an_object_is_none(text: str) -> None:
    assert object_in(text) is None
