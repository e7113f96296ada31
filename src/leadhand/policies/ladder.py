"""The failure ladder: the rungs that apply to an outcome, tried in order. Pure.

Rungs that cannot apply are passed over and cost nothing. The last one, giving up, always applies.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from leadhand.contracts.outcome import Escalated, EscalationReason, Failed
from leadhand.contracts.team import RetryRules
from leadhand.policies.actions import Accept, Action, GiveUp, Reassign, Retry


@dataclass(frozen=True, slots=True)
class History:
    """What was tried for a task so far."""

    worker: str
    """Who made the attempt that is being decided on."""
    attempts: int
    """Attempts made, this one included."""
    tried: tuple[str, ...]
    """The worker of each attempt, in order."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The team's rules, as far as a decision needs them."""

    retry: RetryRules = field(default_factory=RetryRules)
    fallbacks: Mapping[str, str] = field(default_factory=dict[str, str])
    """Worker -> the worker that takes over."""


def decide(outcome: Escalated | Failed, history: History, rules: Rules) -> Action:
    """What happens after an attempt that did not complete."""
    for rung in _rungs(outcome):
        action = rung(outcome, history, rules)
        if action is not None:
            return action
    return _give_up(outcome, history, rules)


Rung = Callable[[Escalated | Failed, History, Rules], Action | None]


def _rungs(outcome: Escalated | Failed) -> tuple[Rung, ...]:
    if isinstance(outcome, Escalated):
        return _AFTER_ESCALATION[outcome.reason]
    return () if outcome.kind in ("timeout", "budget") else (_retry, _fallback)


def _retry(outcome: Escalated | Failed, history: History, rules: Rules) -> Action | None:
    if not isinstance(outcome, Failed) or not outcome.transient or _spent(history, rules):
        return None
    waits = rules.retry.backoff_s or (0.0,)
    delay_s = waits[min(history.attempts, len(waits)) - 1]
    return Retry(delay_s, f"{outcome.kind} may pass: attempt {history.attempts + 1} follows")


def _fallback(outcome: Escalated | Failed, history: History, rules: Rules) -> Action | None:
    other = rules.fallbacks.get(history.worker)
    if other is None or other in history.tried or _spent(history, rules):
        return None
    said = outcome.reason if isinstance(outcome, Escalated) else outcome.kind
    return Reassign(other, f"{history.worker} ended with {said}; {other} is its fallback")


def _accept(outcome: Escalated | Failed, history: History, rules: Rules) -> Action | None:
    if outcome.partial is None:
        return None
    return Accept(outcome.partial, f"accepted at low confidence: {outcome.message}")


def _give_up(outcome: Escalated | Failed, history: History, rules: Rules) -> GiveUp:
    if _spent(history, rules) and history.attempts > 1:
        return GiveUp(f"given up after {history.attempts} attempts")
    said = outcome.reason if isinstance(outcome, Escalated) else outcome.kind
    return GiveUp(f"given up: no rung of the ladder helps against {said}")


def _spent(history: History, rules: Rules) -> bool:
    return history.attempts >= rules.retry.max_attempts


_AFTER_ESCALATION: dict[EscalationReason, tuple[Rung, ...]] = {
    "out_of_scope": (_fallback,),
    "ambiguous_input": (),
    "low_confidence": (_fallback, _accept),
    "timeout": (),
}
