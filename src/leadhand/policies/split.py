"""The rung `split`: a few smaller tasks take the place of one that was too much."""

from leadhand.policies.actions import SplitTask
from leadhand.policies.history import History, Rules, Unsuccessful, said

MAX_DEPTH = 2
"""A part may be split again, its parts not."""
MAX_PARTS = 8


def split(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> SplitTask | None:
    """Where somebody can find the parts, and the task is not such a part of a part itself."""
    if not rules.judgement or history.worker not in rules.by_model:
        return None
    if history.splits >= MAX_DEPTH:
        return None
    return SplitTask(f"{history.worker} ended with {said(outcome)}: smaller tasks are looked for")
