"""The rung `reassign`: a router says which worker the task is for."""

from leadhand.policies.actions import ReassignTask
from leadhand.policies.history import History, Rules, Unsuccessful, free, said


def reassign(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> ReassignTask | None:
    """Where somebody can choose, and there is somebody to choose."""
    if not rules.judgement or not candidates(history, rules):
        return None
    return ReassignTask(
        f"{history.worker} ended with {said(outcome)}: another worker is looked for"
    )


def candidates(history: History, rules: Rules) -> tuple[str, ...]:
    """The workers that a task may be given to next."""
    return tuple(name for name in rules.workers if free(name, history))
