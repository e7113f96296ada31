"""Scripted runners and their outcomes, for tests of a team without a model."""

from collections.abc import Awaitable, Callable

from leadhand.contracts.outcome import Completed, Handoff, Outcome, Result


class ScriptedRunner:
    """A fake worker whose outcomes come from a function."""

    def __init__(self, script: Callable[[Handoff], Awaitable[Outcome] | Outcome]) -> None:
        self._script = script
        self.handoffs: list[Handoff] = []

    async def run(self, handoff: Handoff) -> Outcome:
        self.handoffs.append(handoff)
        outcome = self._script(handoff)
        return await outcome if isinstance(outcome, Awaitable) else outcome


def completed(output: str = "done") -> Completed:
    return Completed(result=Result(output=output))
