"""Checks of teams that are defined in Python, which no loader has checked."""

from functools import partial, wraps
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from leadhand.contracts.team import TaskTemplate, Team, Worker
from leadhand.errors import TeamError
from leadhand.plans.team_checks import team_problems
from leadhand.supervisor import Supervisor


def test_template_entries_that_wait_for_each_other_are_a_problem() -> None:
    """F11"""
    entries = (
        TaskTemplate("a", "solo", "Begin", depends_on=("b",)),
        TaskTemplate("b", "solo", "Go on", depends_on=("a",)),
    )
    team = Team("mine", workers=(Worker("solo", "Works", run=len),), template=entries)
    (problem,) = team_problems(team)
    assert problem.startswith("these template entries wait for each other: a -> b -> a")


def test_a_worker_without_a_function_needs_a_model_to_be_at_hand() -> None:
    team = Team("mine", workers=(Worker("solo", "Works"),))
    (problem,) = team_problems(team)
    assert problem.startswith("worker 'solo' needs a model, and there is none")
    assert team_problems(team, model_at_hand=True) == ()


def test_a_function_that_cannot_take_a_handoff_is_found_before_a_run() -> None:
    def two(handoff: object, customer: int) -> str:
        return f"{handoff}{customer}"

    workers = (
        Worker("a", "Works", run=two),
        Worker("b", "Works", offline=lambda: "b"),
        Worker("c", "Works", run=partial(two, customer=5)),
        Worker("d", "Works", run=lambda *given, **more: (given, more)),
        Worker("e", "Works", run=len),
    )
    with pytest.raises(TeamError) as refused:
        Supervisor(Team("mine", workers=workers))
    first, second = refused.value.problems
    assert first.startswith("`run` of worker 'a' does not take a handoff: two(handoff, customer)")
    assert second.startswith("`offline` of worker 'b' does not take a handoff: <lambda>()")


def test_of_a_decorated_function_the_signature_that_is_called_counts() -> None:
    """Like the lenses of the review, which wrap functions of the change."""

    def analyse(*, change: str) -> str:
        return change

    @wraps(analyse)
    def work(handoff: object, *, change: str) -> str:
        return f"{handoff}{analyse(change=change)}"

    worker = Worker("a", "Works", run=partial(work, change="this"))
    assert team_problems(Team("mine", workers=(worker,))) == ()


class Invoice(BaseModel):
    number: int


def solo(output: object) -> Team:
    return Team("mine", workers=(Worker("solo", "Works", run=len, output=output),))


@pytest.mark.parametrize("output", [5, "Invoice", print, lambda: 5, object(), [str]])
def test_an_output_that_is_no_type_is_told_before_any_work_starts(output: object) -> None:
    with pytest.raises(TeamError, match="the output of worker 'solo' can't be used: ") as caught:
        Supervisor(solo(output))
    assert len(caught.value.problems) == 1
    outer = Team("outer", workers=(Worker("inner", "Works", team=solo(output)),))
    (problem,) = team_problems(outer)
    assert problem.startswith("in team 'mine': the output of worker 'solo'")


@pytest.mark.parametrize(
    "output",
    [None, str, Invoice, list[Invoice], dict[str, int] | None, Annotated[int, Field(gt=0)], {}],
)
def test_types_and_schemas_are_outputs(output: object) -> None:
    assert team_problems(solo(output)) == ()
