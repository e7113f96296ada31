"""The rung `fallback`: the worker that the team names for it takes over."""

from leadhand.policies.actions import Reassign
from leadhand.policies.history import History, Rules, Unsuccessful, free, said


def fallback(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> Reassign | None:
    """Where there is one that has not tried, and its breaker is not open."""
    other = rules.fallbacks.get(history.worker)
    if other is None or not free(other, history, now_s):
        return None
    return Reassign(other, f"{history.worker} ended with {said(outcome)}; {other} is its fallback")
