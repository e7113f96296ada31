"""The rung `refine`: the supervisor puts the task in words that avoid what went wrong."""

from leadhand.contracts.outcome import Failed
from leadhand.policies.actions import Refine
from leadhand.policies.history import History, Rules, Unsuccessful, said


def refine(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> Refine | None:
    """Once a task, where somebody can find the words and a model reads them.

    A transient failure is nobody's misunderstanding: no words help against an outage. Nor do they
    where a person has to allow what the worker wants to do.
    """
    if not rules.judgement or history.worker not in rules.by_model or history.refined:
        return None
    if outcome.transient if isinstance(outcome, Failed) else outcome.call is not None:
        return None
    return Refine(f"{history.worker} ended with {said(outcome)}: the intent is put in other words")
