"""A worker by model whose tools may fail to read a part of what was handed in."""

from collections.abc import Callable

from leadhand.contracts.outcome import Completed, Handoff, Outcome
from leadhand.ports import Runner


class WithUnread:
    """A `Runner` whose results say what its tools could not read: a model seldom says it."""

    def __init__(self, runner: Runner, unread: Callable[[], tuple[str, ...]]) -> None:
        self._runner = runner
        self._unread = unread

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        outcome = await self._runner.run(handoff)
        if not isinstance(outcome, Completed) or not (unread := self._unread()):
            return outcome
        missing = (*outcome.result.missing, *unread)
        return Completed(result=outcome.result.model_copy(update={"missing": missing}))
