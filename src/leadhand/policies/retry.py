"""The rung `retry`: the same again after a wait, where the failure may pass by itself."""

from leadhand.contracts.outcome import Failed
from leadhand.policies.actions import Retry
from leadhand.policies.history import History, Rules, Unsuccessful


def retry(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> Retry | None:
    """Applies to transient failures alone."""
    if not isinstance(outcome, Failed) or not outcome.transient:
        return None
    waits = rules.retry.backoff_s or (0.0,)
    delay_s = waits[min(history.attempts, len(waits)) - 1]
    return Retry(delay_s, f"{outcome.kind} may pass: attempt {history.attempts + 1} follows")
