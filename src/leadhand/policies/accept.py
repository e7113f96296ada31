"""The rung `accept`: what there is, with a flag that says why it is doubtful."""

from leadhand.policies.actions import AcceptResult
from leadhand.policies.history import History, Rules, Unsuccessful


def accept(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> AcceptResult | None:
    """Where there is a partial result."""
    if outcome.partial is None:
        return None
    return AcceptResult(outcome.partial, f"accepted at low confidence: {outcome.message}")
