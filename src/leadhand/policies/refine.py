"""The rung `refine`: the supervisor words the task so that it avoids what went wrong."""

from leadhand.contracts.outcome import Failed
from leadhand.policies.actions import RefineTask
from leadhand.policies.history import History, Rules, Unsuccessful, said


def refine(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> RefineTask | None:
    """Once a task, if a model refines it and a model reads it."""
    if not is_refinable(outcome, history, rules):
        return None
    return RefineTask(f"{history.worker} ended with {said(outcome)}: its intent is refined")


def is_refinable(outcome: Unsuccessful, history: History, rules: Rules) -> bool:
    """Whether other words could help against an outcome, and somebody could find them.

    They can't against an outage, which is transient without an exception of the worker's, nor where
    a person has to allow what the worker wants to do.
    """
    if not rules.judgement or history.worker not in rules.by_model or history.refined:
        return False
    if "refine" in history.passed:
        return False
    if isinstance(outcome, Failed):
        return not outcome.transient or outcome.raised is not None
    return outcome.call is None
