"""Runners that do as they are told, and the outcomes they give: a team's tests without a model."""

from collections.abc import Awaitable, Callable

from leadhand.contracts.outcome import Completed, Handoff, Outcome, Result


class ScriptedRunner:
    """A worker's stand-in that does what a script says, by task id and attempt."""

    def __init__(self, script: Callable[[Handoff], Awaitable[Outcome] | Outcome]) -> None:
        self._script = script
        self.handoffs: list[Handoff] = []
        """Every handoff it was given, in order."""

    async def run(self, handoff: Handoff) -> Outcome:
        """Whatever the script gives for this handoff."""
        self.handoffs.append(handoff)
        outcome = self._script(handoff)
        return await outcome if isinstance(outcome, Awaitable) else outcome


def completed(output: str = "done") -> Completed:
    """A completed outcome with a text as its output."""
    return Completed(result=Result(output=output))
