"""What becomes of the plans that a model proposes, over real HTTP."""

import asyncio

import pytest

from leadhand.contracts.team import Team
from leadhand.errors import ModelError, PlanError
from leadhand.models.prompts import prompt
from leadhand.plans.checks import Problem
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object, compact
from tests.planners.planners import (
    REQUEST,
    SOUND,
    Turned,
    answers,
    planned,
    proposal,
    proposing,
    task,
    team,
    told,
)


def rejected_by(made: Team, log: Turned | None = None) -> tuple[Problem, ...]:
    with pytest.raises(PlanError) as caught:
        asyncio.run(planned(made, turned_down=log))
    problems = caught.value.problems
    return tuple(problem for problem in problems if isinstance(problem, Problem))


def test_a_plan_may_be_one_task_that_repeats_the_request(server: ScriptedServer) -> None:
    server.reset(script=proposing(proposal(task("only", intent=REQUEST.text))))
    plan = asyncio.run(planned(team()))
    assert [task.intent for task in plan.tasks] == [REQUEST.text]
    assert server.stats().requests == 1


def test_f11_every_problem_goes_back_at_once_and_a_repaired_plan_is_used(
    server: ScriptedServer,
) -> None:
    bad = proposal(
        task("a", "search", "b"),
        task("b", "count", "a"),
        task("c", "cook"),
        task("d", intent="Analyze the data."),
        task("d", "search", "gone"),
    )
    server.reset(script=proposing(bad, SOUND))
    log: Turned = []
    plan = asyncio.run(planned(team(), turned_down=log))
    assert [task.id for task in plan.tasks] == ["a", "b"]
    ((turned_down, problems),) = log
    assert turned_down is not None
    assert [task.id for task in turned_down.tasks] == ["a", "b", "c", "d", "d"]
    assert len(problems) == 5
    reply = told(server.stats().bodies[1])
    assert reply.splitlines()[0] == prompt("leadhand.planners", "rejected")
    numbered = [f"{number}. {problem}" for number, problem in enumerate(problems, start=1)]
    assert reply.splitlines()[2:] == numbered
    for sign in ("a -> b -> a", "'cook'", "Analyze the data", "the id 'd'", "'gone'"):
        assert sign in reply


def test_two_repairs_that_do_not_help_end_in_every_problem_of_the_last_plan(
    server: ScriptedServer,
) -> None:
    first, second = proposal(task("a", "cook")), proposal(task("a", "baker"))
    last = proposal(task("a", "poet"), task("b", "search", "z"))
    server.reset(script=proposing(first, second, last))
    log: Turned = []
    problems = rejected_by(team(), log)
    assert [problem.code for problem in problems] == ["unknown_worker", "unknown_dependency"]
    assert "'poet'" in problems[0].message
    assert [plan.tasks[0].worker for plan, _ in log if plan is not None] == ["cook", "baker"]
    assert server.stats().requests == 3


@pytest.mark.parametrize(
    ("tasks", "code"),
    [
        ([], "empty_plan"),
        ([task("a", "search", "b"), task("b", "search", "a")], "cycle"),
        ([task("a", "search", "a"), task("b")], "self_dependency"),
        ([task("a", "search", "z"), task("b")], "unknown_dependency"),
        ([task("a", "cook")], "unknown_worker"),
        ([task("a"), task("a")], "duplicate_id"),
        ([task("a", intent="Process the data as needed")], "vague_intent"),
        ([task("a", intent=" ")], "vague_intent"),
        ([task("a", intent=REQUEST.text), task("b")], "vague_intent"),
        ([task(number) for number in range(201)], "too_many_tasks"),
    ],
)
def test_f11_f12_a_plan_with_a_problem_is_never_taken(
    server: ScriptedServer, tasks: list[Json], code: str
) -> None:
    server.reset(script=proposing(proposal(*tasks)))
    assert code in {problem.code for problem in rejected_by(team())}


def test_two_hundred_tasks_are_taken(server: ScriptedServer) -> None:
    server.reset(script=proposing(proposal(*(task(number) for number in range(200)))))
    assert len(asyncio.run(planned(team())).tasks) == 200


def test_an_answer_without_a_plan_is_sent_back_with_the_reason(server: ScriptedServer) -> None:
    wrong: Object = {
        "tasks": [
            {"id": "a", "worker": "search", "task": "Find the price of zinc", "depends_on": []},
            {**task("b"), "depends_on": "a"},
        ],
        "synthesis": "blend",
    }
    server.reset(script=proposing(wrong, SOUND))
    log: Turned = []
    asyncio.run(planned(team(), turned_down=log))
    ((plan, problems),) = log
    assert plan is None
    assert [problem.partition(":")[0] for problem in problems] == [
        "tasks[0].intent",
        "tasks[1].depends_on",
        "synthesis",
    ]
    assert "'merge', 'select' or 'reduce'" in problems[2]
    assert all(problem in told(server.stats().bodies[1]) for problem in problems)


def test_an_answer_that_stays_no_plan_is_rejected_like_any_other(server: ScriptedServer) -> None:
    server.reset(script=proposing({"steps": []}))
    (problem,) = rejected_by(team())
    assert (problem.code, problem.message) == ("invalid_plan", "tasks: Field required")


def test_f05_a_plan_cut_in_half_is_asked_for_again_and_never_taken(server: ScriptedServer) -> None:
    server.reset(script=answers({"json": SOUND, "misbehave": {"cut_json": True}}, {"json": SOUND}))
    log: Turned = []
    plan = asyncio.run(planned(team(), turned_down=log))
    assert len(plan.tasks) == 2
    assert log == []
    assert "not valid JSON" in told(server.stats().bodies[1])


def test_a_repair_that_is_cut_off_still_counts_as_an_answer(server: ScriptedServer) -> None:
    bad: Object = {"json": proposal(task("a", "cook"))}
    server.reset(script=answers(bad, {**bad, "misbehave": {"cut_json": True}}, bad))
    log: Turned = []
    with pytest.raises(ModelError, match="'cook', who is not in team"):
        asyncio.run(planned(team(), turned_down=log))
    assert (len(log), server.stats().requests) == (2, 3)


def test_f05_plans_that_are_always_cut_end_in_a_model_error(server: ScriptedServer) -> None:
    server.reset(script=answers({"json": SOUND, "misbehave": {"cut_json": True}}))
    with pytest.raises(ModelError, match="not valid JSON"):
        asyncio.run(planned(team()))
    assert server.stats().requests == 3


def test_words_without_a_plan_end_in_a_model_error(server: ScriptedServer) -> None:
    server.reset(script=answers({"text": "I'd rather not."}))
    with pytest.raises(ModelError, match="This is not a plan"):
        asyncio.run(planned(team()))


def test_a_plan_among_words_is_found(server: ScriptedServer) -> None:
    server.reset(script=answers({"text": f"Here it is:\n```json\n{compact(SOUND)}\n```\nDone."}))
    assert len(asyncio.run(planned(team())).tasks) == 2


def test_a_model_that_fails_during_a_repair_is_a_model_error(server: ScriptedServer) -> None:
    bad = proposal(task("a", "cook"))
    server.reset(script=answers({"json": bad}, {"misbehave": {"401": True}}))
    with pytest.raises(ModelError):
        asyncio.run(planned(team()))
