"""Answers that are less sure than the worker's `min_confidence` asks for are handed back."""

from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from leadhand.ports import Runner


def completed(result: Result, least: int | None, *, who: str = "worker") -> Completed | Escalated:
    """`result` as the worker's answer; an escalation with it if it is less sure than `least`.

    A result that does not say how sure it is counts as sure enough.
    """
    sure = result.confidence
    if least is None or sure is None or sure >= least:
        return Completed(result=result)
    message = f"the {who} is only {sure} % sure; {least} % is asked for"
    return Escalated(reason="low_confidence", message=message, partial=result)


class WithConfidence:
    """A worker by function, whose results say themselves how sure they are."""

    def __init__(self, runner: Runner, least: int) -> None:
        self._runner = runner
        self._least = least

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        outcome = await self._runner.run(handoff)
        if isinstance(outcome, Completed):
            return completed(outcome.result, self._least)
        return outcome
