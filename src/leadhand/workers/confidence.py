"""Results below a worker's `min_confidence` become escalations."""

from leadhand.contracts.outcome import Completed, Escalated, Result


def completed_or_escalated(
    result: Result, min_confidence: int | None, *, who: str = "worker"
) -> Completed | Escalated:
    """A result without a confidence completes."""
    sure = result.confidence
    if min_confidence is None or sure is None or sure >= min_confidence:
        return Completed(result=result)
    message = f"the {who} is only {sure} % sure; {min_confidence} % is required"
    return Escalated(reason="low_confidence", message=message, partial=result)
