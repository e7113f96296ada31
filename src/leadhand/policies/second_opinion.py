"""The rung `second_opinion`: another worker tries as well, and the better result is taken."""

from leadhand.contracts.outcome import Completed, Outcome, Result
from leadhand.policies.actions import AcceptResult, JudgeOpinions, SecondOpinion
from leadhand.policies.history import History, Rules, Unsuccessful, free, said


def second_opinion(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> SecondOpinion | None:
    """Where the worker's fallback has not tried, and its breaker is not open."""
    other = rules.fallbacks.get(history.worker)
    if other is None or not free(other, history):
        return None
    return SecondOpinion(other, f"{history.worker} ended with {said(outcome)}; {other} tries too")


def judged(outcome: Outcome, history: History, first: Result) -> JudgeOpinions | AcceptResult:
    """What follows where the second opinion on `first` has come, or has not."""
    second = outcome.result if isinstance(outcome, Completed) else outcome.partial
    if second is not None:
        return JudgeOpinions(first, second, f"{history.worker} gave a second opinion")
    ended = "" if isinstance(outcome, Completed) else said(outcome)
    return AcceptResult(
        first,
        f"accepted at low confidence: {history.worker} ended with {ended} as a second opinion",
    )


def more_confident(first: Result, second: Result, *, doubted: bool) -> tuple[bool, str]:
    """Whether the second is taken where nobody can judge, and why: the higher confidence.

    `doubted`: the second worker handed its result back with doubts, as the first did. Where a
    worker does not say how sure it is, who has no doubts is the surer one, and the first of equals.
    """
    if first.confidence is None or second.confidence is None:
        if doubted:
            return False, "the first of two doubtful results"
        return True, "its worker has no doubts"
    takes = second.confidence > first.confidence or (
        second.confidence == first.confidence and not doubted
    )
    one, other = (second, first) if takes else (first, second)
    return takes, f"its worker is surer: {one.confidence} of 100, the other {other.confidence}"
