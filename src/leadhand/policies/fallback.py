"""The rung `fallback`: the worker that the team names for it takes over."""

from leadhand.contracts.outcome import Failed
from leadhand.policies.actions import FallBack
from leadhand.policies.history import History, Rules, Unsuccessful, free, said


def fallback(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> FallBack | None:
    """Where there is one that has not tried, and its breaker is not open.

    Once the budget is used up, only a function can take over: it costs nothing.
    """
    other = rules.fallbacks.get(history.worker)
    if other is None or not free(other, history):
        return None
    if isinstance(outcome, Failed) and outcome.kind == "budget" and other in rules.by_model:
        return None
    return FallBack(other, f"{history.worker} ended with {said(outcome)}; {other} is its fallback")
