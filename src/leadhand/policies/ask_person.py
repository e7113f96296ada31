"""The rung `ask_person`: somebody who knows is asked, where the run has a person."""

from leadhand.policies.actions import AskPerson
from leadhand.policies.history import History, Rules, Unsuccessful, said


def ask_person(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> AskPerson | None:
    """Where there is a person to ask."""
    if not rules.person:
        return None
    return AskPerson(f"{history.worker} ended with {said(outcome)}: a person is asked")
