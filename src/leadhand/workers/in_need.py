"""Workers that a model works for, and that have code of their own for when no model can be had."""

from collections.abc import Callable
from dataclasses import dataclass

from leadhand.contracts.outcome import Completed, Failed, Handoff, Outcome
from leadhand.ports import Runner

PATIENT_ATTEMPTS = 1
"""Attempts after which an endpoint that may come back is waited for no more."""


@dataclass(slots=True)
class Need:
    """Whether models can be had in one run."""

    why: str | None = None
    """Why not; none as long as they can."""


class CodeInNeed:
    """A `Runner` by model; where no model could be asked, by the worker's code, which is said."""

    def __init__(self, by_model: Runner, by_code: Runner, need: Need) -> None:
        self._by_model = by_model
        self._by_code = by_code
        self._need = need

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        why = self._need.why
        if why is None:
            outcome = await self._by_model.run(handoff)
            if not isinstance(outcome, Failed) or not _is_need(outcome, handoff):
                return outcome
            why = outcome.message
        done = await self._by_code.run(handoff)
        if not isinstance(done, Completed):
            return done
        return Completed(result=done.result.model_copy(update={"without_model": why}))


class WithInputs:
    """A `Runner` by code that looks at all that was handed in, where its task names none of it.

    A model that plans does not know the files; its workers find them with their tools.
    """

    def __init__(self, runner: Runner, inputs: Callable[[], tuple[str, ...]]) -> None:
        self._runner = runner
        self._inputs = inputs

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        if not handoff.artifacts and (inputs := self._inputs()):
            handoff = handoff.model_copy(update={"artifacts": inputs})
        return await self._runner.run(handoff)


def _is_need(outcome: Failed, handoff: Handoff) -> bool:
    """Whether a model's worker failed for want of a model, and not of its own."""
    if outcome.kind == "budget":
        return True
    waits = outcome.transient and handoff.attempt <= PATIENT_ATTEMPTS
    return outcome.kind == "error" and not waits
