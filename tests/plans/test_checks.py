"""`check` names every problem of a plan at once, each with the way to fix it."""

from dataclasses import replace

import pytest
from pydantic import JsonValue

from leadhand.contracts.role import Role
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Route, TaskTemplate, Team, Worker
from leadhand.errors import TeamError
from leadhand.plans.checks import Problem, check
from leadhand.plans.payloads import MAX_LEVELS
from leadhand.plans.team_checks import team_problems
from leadhand.supervisor import Supervisor
from tests.plans.samples import nothing, plan, task, team

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


def test_no_task_has_the_path_of_one_in_a_nested_plan() -> None:
    tasks = (task("e", worker="inner"), task("e/f", worker="billing"), task("g/f", worker="inner"))
    inner = replace(TEAM, workers=(*TEAM.workers, Worker("inner", "Both", team=TEAM)))
    (problem,) = check(plan(*tasks), inner)
    assert (problem.code, problem.task_id) == ("ambiguous_id", "e/f")
    levels = replace(TEAM, planner=Role(kind="recursive"))
    broken_down = plan(task("e", worker="subplanner"), *tasks[1:2], task("e/g/h", worker="billing"))
    assert [one.task_id for one in check(broken_down, levels)] == ["e/f", "e/g/h"]
    assert check(plan(task("e", worker="billing"), tasks[1]), inner) == ()


def test_every_problem_is_named_at_once_with_its_task_and_what_to_do() -> None:
    """F11"""
    broken = plan(
        task("a", "a", worker="billing"),
        task("b", "nobody", "nobody", worker="biling"),
        task("c", "d", worker="technical"),
        *(task("d", "c", worker="technical"), *[task("d", worker="technical")] * 2),
        Task(id="e", worker="technical", intent="Sum it up", tools=("find_invoice", "gone")),
        Task(id="f", worker="technical", intent="Analyze the data."),
        Task(id="g", worker="technical", intent=" "),
        Task(id="h", worker="technical", intent="i", payload=_nested(levels=200)),
    )
    unknown = Problem(
        "unknown_dependency",
        "task 'b' depends on 'nobody', which is not in the plan: remove it from "
        "`depends_on`, or add a task with that id; the plan has a, c, d, d, d, e, f, g, h",
        "b",
    )
    vague = ": say what to look at, what to find out or make, and how to tell that it is done"
    assert check(broken, TEAM) == (
        Problem("duplicate_id", "more than one task has the id 'd': give each its own", "d"),
        Problem(
            "unknown_worker",
            "task 'b' is for 'biling', who is not in team 'support': did you mean 'billing'? it "
            "has billing, technical",
            "b",
        ),
        Problem(
            "tool_out_of_reach",
            "task 'e' needs the tool 'find_invoice', which worker 'technical' does not have: give "
            "the task to billing",
            "e",
        ),
        Problem(
            "tool_out_of_reach",
            "task 'e' needs the tool 'gone', which worker 'technical' does not have: no worker of "
            "the team has it; leave it out",
            "e",
        ),
        Problem(
            "invalid_payload",
            f"the payload of task 'h' is nested more than {MAX_LEVELS} levels deep: flatten it",
            "h",
        ),
        Problem(
            "self_dependency", "task 'a' depends on itself: remove 'a' from its depends_on", "a"
        ),
        Problem("duplicate_dependency", "task 'b' names a dependency twice: name each once", "b"),
        unknown,
        unknown,
        Problem(
            "cycle",
            "these 2 tasks wait for each other: c -> d -> c: remove one of these dependencies",
            "c",
        ),
        Problem(
            "vague_intent",
            f"the intent of task 'f' ('Analyze the data.') says nothing about this task{vague}",
            "f",
            "warning",
        ),
        Problem("vague_intent", f"the intent of task 'g' is empty{vague}", "g", "warning"),
    )


def _nested(*, levels: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(("workers", "more"), [(10, ""), (11, " and more")])
def test_of_many_workers_ten_are_named(workers: int, more: str) -> None:
    names = [f"worker{n}" for n in range(workers)]
    (problem,) = check(plan(task("a", worker="zzz")), team(*names))
    assert problem.message.endswith(f"'team': it has {', '.join(names[:10])}{more}")


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (11, "t0 -> t1 -> t2 -> t3 -> t4 -> t5 -> t6 -> t7 -> t8 -> t9 -> t10 -> t0"),
        (12, "t0 -> t1 -> t2 -> t3 -> t4 -> t5 -> ... -> t8 -> t9 -> t10 -> t11 -> t0"),
    ],
)
def test_of_a_long_cycle_both_ends_are_shown(length: int, shown: str) -> None:
    tasks = (task(f"t{n}", f"t{(n + 1) % length}", worker="billing") for n in range(length))
    (problem,) = check(plan(*tasks), TEAM)
    assert problem.message.startswith(f"these {length} tasks wait for each other: {shown}: ")


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
    assert check(Plan(goal="g", tasks=()), TEAM) == (
        Problem("empty_plan", "the plan has no tasks: add at least one"),
    )


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
        "handle your" + " the" * 16 + " data",  # 80 characters
    ],
)
def test_stock_phrases_are_vague(intent: str) -> None:
    vague = plan(Task(id="a", worker="billing", intent=intent), task("b", worker="billing"))
    assert codes(vague) == ["vague_intent"]


@pytest.mark.parametrize(
    "intent",
    [
        "Check invoice 7",
        "Sum it",
        "Analyze the data of Q3 for outliers above 3 sigma",
        "Refund #9",
        "handle your your" + " the" * 15 + " data",  # 81 characters
    ],
)
def test_definite_intents_and_long_ones_are_not_vague(intent: str) -> None:
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
    (problem,) = check(several, TEAM)
    assert problem.message.startswith("the intent of task 'a' only repeats the request: ")
    assert check(several, TEAM, request="Why is my invoice so high?") == ()


def test_a_model_may_write_200_tasks_and_a_person_more() -> None:
    """F12"""
    large = [task(str(n), worker="billing") for n in range(201)]
    assert codes(plan(*large)) == codes(plan(*large[:200]), "model") == []
    assert check(plan(*large), TEAM, author="model") == (
        Problem(
            "too_many_tasks",
            "the plan has 201 tasks and a model's may have 200: merge tasks or split the request",
        ),
    )


def test_oversized_plans_are_refused_on_their_size_alone() -> None:
    """F12"""
    many = plan(*[task("same", worker="nobody")] * 100_001)
    assert codes(many) == ["too_many_tasks"]
    needs = tuple(str(n) for n in range(1_001))
    dense = plan(*[task("same", *needs, worker="billing")] * 1_000)
    assert check(dense, TEAM) == (
        Problem(
            "too_many_edges",
            "the plan has 1,001,000 dependencies and may have 1,000,000: let tasks depend only on "
            "results that they use",
        ),
    )


def test_a_teams_problems_are_named_at_once_with_what_to_do() -> None:
    inner = Team("in", workers=(Worker("w", "d", run=lambda: 1), Worker("v", "d", fallback="v")))
    broken = Team(
        "t",
        workers=(
            Worker("a", "d", run=nothing, fallback="a"),
            Worker("a", "d", run=nothing, fallback="b"),
            Worker("b", "d", fallback="c", plain=True, tools=("x",)),
            Worker("d", "d", model="auto", output="int"),
            Worker("n", "d", team=inner, run=nothing),  # pyright: ignore[reportArgumentType]
            Worker("e", "d", model="auto", plain=True, output=int),
        ),
        routes=(Route("a"), Route("f", pattern="[", secondary="g"), Route("a", also=["a"])),
        template=(TaskTemplate("x", "zzz", "do x well", depends_on=("y",)),),
    )
    known = "it has a, a, b, d, n, e"
    plain = "is plain and so can have neither tools nor a declared output: leave out one or the"
    assert team_problems(broken)[:-1] == (
        "only a team's `model` can be `auto`: name the models of tiers, roles and workers",
        "more than one worker is called 'a': give each its own name",
        "worker 'a' is its own fallback: name another, or none",
        f"worker 'b' {plain} other",
        f"worker 'b' falls back to 'c', who is not in the team: {known}",
        "the output of worker 'd' can't be used: 'int' is not a data type: give one, such as "
        "`list[str]`, a pydantic model or a dataclass, or a JSON Schema as a mapping",
        "worker 'n' has a team and a function: its team does the work, leave out `run` and "
        "`offline`",
        "in team 'in': worker 'v' is its own fallback: name another, or none",
        f"worker 'e' {plain} other",
        "route 1 takes everything, so those after it never apply: put it last",
        f"route 2 leads to 'f', who is not in the team: {known}",
        f"route 2 leads to 'g', who is not in the team: {known}",
        "the pattern of route 2 can't be used: unclosed character class",
        "route 3 names 'a' more than once: leave it out of `secondary` and `also`",
        f"template entry 'x' is for 'zzz', who is not in the team: {known}",
        "template entry 'x' depends on 'y', which is not an entry",
        "in team 'in': `run` of worker 'w' does not take a handoff: <lambda>() can't be called "
        "with one argument, the handoff: write `def <lambda>(handoff): ...`",
    )
    assert team_problems(broken)[-1] == (
        "workers 'b' and 'n/v' need a model, and there is none: name one "
        '(`model="provider:name"`), have leadhand look for one (`model="auto"`), or write code '
        "that does the work without one (`offline=function`)"
    )
    assert len(team_problems(broken, model_at_hand=True)) == 16
    with pytest.raises(TeamError, match="is its own fallback") as caught:
        Supervisor(broken)
    assert len(caught.value.problems) == 18


def test_a_team_without_workers_is_refused() -> None:
    with pytest.raises(TeamError, match=r"it has no workers: add at least one$"):
        Supervisor(Team("empty", workers=()))


def test_a_usual_team_has_no_problems() -> None:
    assert team_problems(team("a", "b")) == ()


def test_a_synthesis_that_neither_leadhand_nor_the_team_has_is_an_error() -> None:
    one = Task(id="a", worker="billing", intent="Find invoice 17 of customer 81")
    wrong = Plan(goal="g", tasks=(one,), synthesis="lastt")
    (problem,) = check(wrong, TEAM)
    assert problem.code == "unknown_synthesis"
    assert "'lastt': did you mean 'last'?" in problem.message
    assert check(wrong.model_copy(update={"synthesis": "last"}), TEAM) == ()
    assert check(wrong, replace(TEAM, synthesis="lastt")) == ()
