"""The rung `stronger_tier`: the same worker with a stronger model."""

from leadhand.policies.actions import RaiseTier
from leadhand.policies.history import History, Rules, Unsuccessful, said


def stronger_tier(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> RaiseTier | None:
    """Where the team has a stronger one."""
    tier = history.tier or "standard"
    above = rules.stronger.get((history.worker, tier))
    if above is None:
        return None
    return RaiseTier(tier, above, f"{history.worker} ended with {said(outcome)} on tier {tier}")
