"""The last rung, which always applies: what there is stays, and the task becomes a gap."""

from leadhand.policies.actions import GiveUp
from leadhand.policies.history import History, Rules, Unsuccessful, said, spent


def give_up(outcome: Unsuccessful, history: History, rules: Rules, *, budget: bool) -> GiveUp:
    """`budget`: whether the run may have followed this attempt by another."""
    if spent(history, rules) and history.attempts > 1:
        return GiveUp(f"given up after {history.attempts} attempts")
    if not budget:
        return GiveUp(f"given up: the run has tried {history.repeated} times again, as it may")
    return GiveUp(f"given up: no rung of the ladder helps against {said(outcome)}")
