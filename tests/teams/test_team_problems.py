"""What is checked of a team that is made in Python, where no loader looked at it before."""

from leadhand.contracts.team import TaskTemplate, Team, Worker
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
