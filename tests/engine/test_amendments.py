"""What others propose to change of a plan: checked against what has started, and made exact."""

from functools import partial

import pytest

from leadhand.contracts.events import (
    PlanAccepted,
    PlanAmended,
    PlanProposed,
    RunStarted,
    TaskDispatched,
)
from leadhand.contracts.task import Limits, Plan, Task
from leadhand.engine.amendments import (
    Amendment,
    amended,
    amendment,
    asks_approval,
    parts_of,
    split_up,
)
from leadhand.policies.rungs import MAX_PARTS
from leadhand.state.run_state import RunState
from tests.plans.samples import plan, task, team
from tests.state.folding import Run

A, B, C = task("a"), task("b", "a"), task("c", "b")
TEAM = team("worker", "other")


def begun() -> RunState:
    """A run whose task `a` has started, and whose task `x` was dropped."""
    dropped = partial(
        PlanAmended, task_id="a", reason="r", revision=2, by="planner", dropped=("x",)
    )
    return (
        Run()
        .told(
            partial(RunStarted, team="t", request="do it", engine="model", deadline_s=None),
            partial(PlanProposed, plan=plan(A, B, C, task("x")), by="planner"),
            PlanAccepted,
            partial(TaskDispatched, task_id="a", attempt=1, worker="worker"),
            dropped,
        )
        .state
    )


def test_only_what_is_new_or_different_is_an_amendment() -> None:
    state = begun()
    elsewhere, more = task("c", "b", worker="other"), task("d", "c")
    assert amendment(state, [A, B, C], TEAM) == Amendment()
    assert amendment(state, [B, C], TEAM) == Amendment()
    found = amendment(state, [elsewhere, more], TEAM)
    # `b` is left out, and `c` still needs it: that is no plan.
    assert found == (
        "task 'c' depends on 'b', which is not in the plan: remove it from `depends_on`, or "
        "add a task with that id; the plan has a, d",
    )
    found = amendment(state, [B, elsewhere, more], TEAM)
    assert found == Amendment(added=(more,), changed=(elsewhere,))
    free = task("c")
    assert amendment(state, [free], TEAM) == Amendment(changed=(free,), dropped=("b",))
    assert amendment(state, [], TEAM) == Amendment(dropped=("b", "c"))


def test_everything_that_is_wrong_with_a_proposal_is_said() -> None:
    state = begun()
    started = "task 'a' has started: leave it out, or give another id"
    for other in (task("a", worker="other"), A.model_copy(update={"intent": "something else"})):
        assert amendment(state, [other, B, C], TEAM) == (started,)
    vague = Task(id="d", worker="worker", intent="do the task")
    found = amendment(state, [task("a", worker="other"), B, C, task("x"), vague, vague], TEAM)
    assert isinstance(found, tuple)
    assert found[:3] == (
        started,
        "task 'x' was in the plan before: give another id",
        "more than one task has the same id: give each its own",
    )
    assert found[3].startswith("more than one task has the id 'd'")
    assert found[4].startswith("the intent of task 'd' ('do the task') says nothing")


def test_the_intents_of_old_tasks_are_no_longer_at_issue() -> None:
    """Only a model's plan may have no vague intent, and these may be a person's."""
    vague = Task(id="v", worker="worker", intent="do the task")
    first = partial(PlanProposed, plan=plan(vague), by="person")
    start = partial(RunStarted, team="t", request="do it", engine="model", deadline_s=None)
    state = Run().told(start, first, PlanAccepted).state
    assert amendment(state, [vague, task("d")], TEAM) == Amendment(added=(task("d"),))
    assert amendment(state, [], TEAM) == ("the plan has no tasks: add at least one",)


@pytest.mark.parametrize(
    ("found", "asks"),
    [
        (Amendment(), False),
        (Amendment(dropped=("b", "c")), False),
        (Amendment(added=(task("d"),)), True),
        (Amendment(changed=(task("c", "b", "a"),)), False),
        (Amendment(changed=(task("c"),)), True),
        (Amendment(changed=(task("c", "b", worker="other"),)), True),
    ],
)
def test_only_less_work_and_more_waiting_need_no_new_approval(found: Amendment, asks: bool) -> None:
    assert asks_approval(begun(), found) is asks


def test_the_whole_plan_as_it_would_be_is_the_next_revision() -> None:
    state = begun()
    now, more = task("c", worker="other"), task("d")
    found = Amendment(added=(more,), changed=(now,), dropped=("b",))
    goal = plan().goal
    assert amended(state, found) == Plan(goal=goal, tasks=(A, now, more), revision=3)
    parts = (task("b.1"), task("b.2"))
    assert split_up(state, "b", parts) == Plan(
        goal=goal, tasks=(A, *parts, task("c", "b.1", "b.2")), revision=3
    )
    unplanned = RunState(request="do it")
    assert amended(unplanned, Amendment(added=(more,))) == Plan(
        goal="do it", tasks=(more,), revision=2
    )


def test_parts_have_what_they_leave_open_from_the_whole() -> None:
    whole = Task(
        id="t", worker="worker", intent="all of it", payload={"n": 1}, depends_on=("a",),
        artifacts=("f",), limits=Limits(timeout_s=5), tolerates_missing=True,
    )  # fmt: skip
    one = task("one").model_copy(update={"artifacts": ("g",)})
    two = task("two", "one", worker="other")
    three = task("three", "one").model_copy(update={"payload": {"n": 2}})
    inherited = {"limits": whole.limits, "tolerates_missing": True}
    assert parts_of(whole, [one, two, three], TEAM) == (
        one.model_copy(
            update={"id": "t.1", "payload": {"n": 1}, "depends_on": ("a",), **inherited}
        ),
        two.model_copy(
            update={"id": "t.2", "depends_on": ("a", "t.1"), "artifacts": ("f",), **inherited}
        ),
        three.model_copy(
            update={"id": "t.3", "depends_on": ("a", "t.1"), "artifacts": ("f",), **inherited}
        ),
    )


@pytest.mark.parametrize("count", [0, 1, MAX_PARTS + 1])
def test_a_task_has_two_parts_or_a_few_more(count: int) -> None:
    parts = [task(f"p{n}") for n in range(count)]
    assert parts_of(A, parts, TEAM) == (
        f"a task is split into 2 to {MAX_PARTS} parts, not into {count}"
    )


def test_parts_that_are_no_plan_are_told_why() -> None:
    assert not isinstance(parts_of(A, [task("x"), task("y")], TEAM), str)
    most = [task(f"p{n}") for n in range(MAX_PARTS)]
    assert not isinstance(parts_of(A, most, TEAM), str)
    assert parts_of(A, [task("x", "x"), task("y", "gone")], TEAM) == (
        "task 'x' depends on itself: remove 'x' from its depends_on; task 'y' depends on 'gone', "
        "which is not in the plan: remove it from `depends_on`, or add a task with that id; "
        "the plan has x"
    )
