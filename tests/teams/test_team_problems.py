"""What is checked of a team that is made in Python, where no loader looked at it before."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from leadhand.contracts.team import TaskTemplate, Team, Worker
from leadhand.errors import TeamError
from leadhand.supervisor import Supervisor
from leadhand.validation import team_problems


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
    assert problem.startswith("worker 'solo' has nothing to do its work with")
    assert team_problems(team, model_at_hand=True) == ()


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
