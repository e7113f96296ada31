"""The rung `retry`: the same again after a wait, if the failure could be gone by then."""

from zlib import crc32

from leadhand.contracts.outcome import Failed
from leadhand.policies.actions import RetryTask
from leadhand.policies.history import History, Rules, Unsuccessful
from leadhand.policies.refine import is_refinable

JITTER = 0.2
"""How much shorter or longer than its rule says a wait may be: tasks that failed together do not
come back together."""
BEFORE_REFINING = 1
"""Retries of an attempt that raised, before its intent is refined if a model can do that."""


def retry(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> RetryTask | None:
    """Applies to transient failures, as often as attempts are left; to a timeout once."""
    own = rules.retries.get(history.worker)
    if not isinstance(outcome, Failed) or own is False:
        return None
    if own is not None and own.attempts is not None and history.by_worker >= own.attempts:
        return None
    if outcome.kind == "timeout":
        return _once_more(history, now_s)
    if not outcome.transient:
        return None
    if history.by_worker > BEFORE_REFINING and is_refinable(outcome, history, rules):
        return None
    waits = rules.retry.backoff_s or (0.0,)
    wait_s = waits[min(history.attempts, len(waits)) - 1]
    delay_s = round(wait_s * (1 + JITTER * (2 * history.jitter - 1)), 3)
    return RetryTask(delay_s, f"{outcome.kind} may pass: attempt {history.attempts + 1} follows")


def _once_more(history: History, now_s: float) -> RetryTask | None:
    """At once, as the attempt itself was a wait; not if the run would end the next one early."""
    if history.timeouts:
        return None
    if history.until_s is not None and now_s + (history.timeout_s or 0.0) > history.until_s:
        return None
    return RetryTask(0.0, f"it took too long: attempt {history.attempts + 1} follows")


def jitter(attempt: str) -> float:
    """Where in its range the wait after an attempt lies, 0 to 1: by chance, and at every replay
    the same. `attempt` names it among those of all runs."""
    return crc32(attempt.encode()) / 2**32
