"""`check` names every problem of a plan at once, each with the way to mend it."""

import pytest

from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import TaskTemplate, Team, Worker
from leadhand.errors import TeamError
from leadhand.supervisor import Supervisor
from leadhand.validation import check, team_problems
from tests.plans import nothing, plan, task, team

TEAM = Team(
    "support",
    workers=(
        Worker("billing", "Invoices", run=nothing, tools=("find_invoice",)),
        Worker("technical", "Errors", run=nothing),
    ),
)


def codes(the_plan: Plan, author: str = "person") -> list[str]:
    return [
        problem.code
        for problem in check(the_plan, TEAM, author="model" if author == "model" else "person")
    ]


def test_a_sound_plan_has_no_problems() -> None:
    assert check(plan(task("a", worker="billing")), TEAM) == ()


def test_every_problem_is_named_at_once() -> None:
    """F11"""
    broken = plan(
        task("a", "a", worker="billing"),
        task("b", "nobody", worker="biling"),
        task("c", "d", worker="technical"),
        task("d", "c", worker="technical"),
        task("d", worker="technical"),
        Task(id="e", worker="technical", intent="Analyze the data.", tools=("find_invoice",)),
    )
    found = {problem.code: problem for problem in check(broken, TEAM)}
    assert set(found) == {
        "self_dependency",
        "unknown_dependency",
        "unknown_worker",
        "cycle",
        "duplicate_id",
        "tool_out_of_reach",
        "vague_intent",
    }
    assert "did you mean 'billing'?" in found["unknown_worker"].message
    assert "give the task to billing" in found["tool_out_of_reach"].message
    assert "'nobody'" in found["unknown_dependency"].message


def test_a_cycle_names_its_path() -> None:
    """F11"""
    circular = plan(
        task("a", "c", worker="billing"),
        task("b", "a", worker="billing"),
        task("c", "b", worker="billing"),
    )
    (problem,) = check(circular, TEAM)
    assert problem.code == "cycle"
    assert "a -> c -> b -> a" in problem.message


def test_an_empty_plan_is_refused() -> None:
    assert codes(Plan(goal="g", tasks=())) == ["empty_plan"]


@pytest.mark.parametrize(
    "intent",
    [
        "",
        "  ",
        "Analyze the data",
        "do the task",
        "Process the user's request.",
        "continue",
        "TODO",
    ],
)
def test_stock_phrases_are_vague(intent: str) -> None:
    vague = plan(Task(id="a", worker="billing", intent=intent), task("b", worker="billing"))
    assert codes(vague) == ["vague_intent"]


@pytest.mark.parametrize(
    "intent",
    ["Check invoice 7", "Sum it", "Analyze the data of Q3 for outliers above 3 sigma", "Refund #9"],
)
def test_short_but_definite_intents_are_not_vague(intent: str) -> None:
    assert codes(plan(Task(id="a", worker="billing", intent=intent))) == []


def test_a_vague_intent_is_an_error_in_a_models_plan_and_a_warning_in_a_persons() -> None:
    vague = plan(Task(id="a", worker="billing", intent="handle the request"))
    assert [problem.severity for problem in check(vague, TEAM)] == ["warning"]
    assert [problem.severity for problem in check(vague, TEAM, author="model")] == ["error"]


def test_repeating_the_request_is_vague_only_where_there_are_other_tasks() -> None:
    copied = Task(id="a", worker="billing", intent="I was charged twice!")
    alone = Plan(goal="I was charged twice", tasks=(copied,))
    assert check(alone, TEAM) == ()
    several = Plan(goal="I was charged twice", tasks=(copied, task("b", worker="billing")))
    assert [problem.code for problem in check(several, TEAM)] == ["vague_intent"]


def test_a_model_may_write_200_tasks_and_a_person_more() -> None:
    """F12"""
    large = plan(*(task(str(n), worker="billing") for n in range(201)))
    assert codes(large) == []
    assert codes(large, "model") == ["too_many_tasks"]


def test_oversized_plans_are_refused_on_their_size_alone() -> None:
    """F12"""
    many = plan(*(task(str(n), worker="nobody") for n in range(100_001)))
    assert codes(many) == ["too_many_tasks"]
    needs = tuple(str(n) for n in range(1_001))
    dense = plan(*(task(f"x{n}", *needs, worker="billing") for n in range(1_000)))
    assert codes(dense) == ["too_many_edges"]


def test_a_teams_problems_are_named_at_once() -> None:
    broken = Team(
        "t",
        workers=(
            Worker("a", "d", run=nothing, fallback="a"),
            Worker("a", "d", run=nothing),
            Worker("b", "d", fallback="c"),
        ),
        template=(TaskTemplate("x", "zed", "do x well", depends_on=("y",)),),
    )
    assert len(team_problems(broken)) == 6
    with pytest.raises(TeamError, match="is its own fallback") as caught:
        Supervisor(broken)
    assert len(caught.value.problems) == 6


def test_a_team_without_workers_is_refused() -> None:
    with pytest.raises(TeamError, match="no workers"):
        Supervisor(Team("empty", workers=()))


def test_a_usual_team_has_no_problems() -> None:
    assert team_problems(team("a", "b")) == ()
