"""Shapes of plans, and what of a plan a template keeps; pure, without runs."""

import pytest

from leadhand import Plan, Task, Team, Worker
from leadhand.advice.facts import RunFacts, shape
from leadhand.advice.freezing import freeze
from leadhand.contracts.task import Limits
from leadhand.errors import InputError

TEAM = Team("t", workers=[Worker("a", "Does a."), Worker("b", "Does b.")], model="openai:x")


def observed(request: str, *tasks: Task, amended: bool = False) -> RunFacts:
    plan = Plan(goal=request, tasks=tasks)
    return RunFacts(request, request, planned_by="planner", plan=plan, amended=amended)


def planned(*tasks: Task) -> Plan:
    return Plan(goal="r", tasks=tasks)


def one(id: str, worker: str, *after: str, intent: str = "Look") -> Task:
    return Task(id=id, worker=worker, intent=intent, depends_on=after)


def test_a_shape_does_not_depend_on_ids_and_order_but_on_workers_and_dependencies() -> None:
    plan = planned(one("1", "a"), one("2", "a", "1"), one("3", "b", "1"))
    same = planned(one("z", "b", "x"), one("x", "a"), one("y", "a", "x"))
    assert shape(plan) == shape(same)
    for other in (
        planned(one("1", "a"), one("2", "a"), one("3", "b", "1")),
        planned(one("1", "a"), one("2", "b", "1"), one("3", "b", "1")),
        planned(one("1", "a"), one("2", "a", "1"), one("3", "b", "2")),
    ):
        assert shape(plan) != shape(other)


def test_what_a_template_cannot_keep_is_a_problem_or_a_note() -> None:
    task = one("1", "a", intent="Look at it").model_copy(
        update={"payload": 1, "artifacts": ("x.csv",), "limits": Limits(max_steps=3, timeout_s=5)}
    )
    other = observed("other", task.model_copy(update={"payload": 2}))
    with pytest.raises(InputError) as refused:
        freeze(observed("first", task, amended=True), TEAM, [other])
    assert "task '1' works on artifacts of that run" in str(refused.value)
    assert "the payload of task '1' differs between runs" in str(refused.value)
    task = task.model_copy(update={"artifacts": ()})
    team, notes = freeze(observed("first", task, amended=True), TEAM, [])
    assert any("the run amended its plan later" in note for note in notes)
    assert "not kept: limits of task '1' (max_steps 3)" in notes
    assert team.template[0].limits == Limits(timeout_s=5)


def test_intents_that_differ_become_the_description_and_the_request() -> None:
    runs = [
        observed(request, one("1", "a", intent=intent))
        for request, intent in (("The invoice", "Check May"), ("The crash", "Read the log"))
    ]
    assert freeze(runs[0], TEAM, runs)[0].template[0].intent == "Does a: {request}"
    same = observed("The invoice", one("1", "a", intent="Read the log"))
    assert freeze(runs[0], TEAM, [same])[0].template[0].intent == (
        "Check May. The request: {request}"
    )


def test_braces_that_a_planner_wrote_stay_what_they_are() -> None:
    """And do not make the template one that is refused, or one that is filled in."""
    task = one("1", "a", intent="GET /orders/{id} and {request} of {count}: Refund {order}, please")
    (entry,) = freeze(observed("Refund {order}, please", task), TEAM, [])[0].template
    assert entry.intent == "GET /orders/{{id}} and {{request}} of {{count}}: {request}"
