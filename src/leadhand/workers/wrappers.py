"""Runners around a runner: each changes the handoff that goes in or the outcome that comes out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.plans.payloads import DeclaredType
from leadhand.ports import Runner


def completed_or_escalated(
    result: Result, min_confidence: int | None, *, who: str = "worker"
) -> Completed | Escalated:
    """A result below `min_confidence` is an escalation; without a confidence it completes."""
    sure = result.confidence
    if min_confidence is None or sure is None or sure >= min_confidence:
        return Completed(result=result)
    message = f"the {who} is only {sure} % sure; {min_confidence} % is required"
    return Escalated(reason="low_confidence", message=message, partial=result)


@dataclass(frozen=True, slots=True)
class WithMinConfidence:
    """Escalates results of code whose confidence is below the worker's `min_confidence`."""

    runner: Runner
    min_confidence: int

    async def run(self, handoff: Handoff) -> Outcome:
        outcome = await self.runner.run(handoff)
        if isinstance(outcome, Completed):
            return completed_or_escalated(outcome.result, self.min_confidence)
        return outcome


@dataclass(frozen=True, slots=True)
class WithUnreadInputs:
    """Adds to a model's results which inputs its tools could not read: models rarely say so."""

    runner: Runner
    unread: Callable[[], tuple[str, ...]]

    async def run(self, handoff: Handoff) -> Outcome:
        outcome = await self.runner.run(handoff)
        if not isinstance(outcome, Completed) or not (unread := self.unread()):
            return outcome
        missing = (*outcome.result.missing, *unread)
        return Completed(result=outcome.result.model_copy(update={"missing": missing}))


@dataclass(frozen=True, slots=True)
class WithInputs:
    """Gives offline code all inputs if its task names no artifacts."""

    runner: Runner
    inputs: Callable[[], tuple[str, ...]]

    async def run(self, handoff: Handoff) -> Outcome:
        if not handoff.artifacts and (inputs := self.inputs()):
            handoff = handoff.model_copy(update={"artifacts": inputs})
        return await self.runner.run(handoff)


@dataclass(frozen=True, slots=True)
class WithTypedPayload:
    runner: Runner
    form: DeclaredType

    async def run(self, handoff: Handoff) -> Outcome:
        payload = cast("JsonValue", handoff.payload)
        problems = self.form.problems(payload)
        if problems:
            message = f"the task has no payload that this worker takes: {'; '.join(problems)}"
            return Failed(kind="error", message=message)
        typed = self.form.typed(payload)
        return await self.runner.run(handoff.model_copy(update={"payload": typed}))


class WithOuterContext:
    """Shows a worker of a nested team what the team was given; outer ids start with `../`."""

    def __init__(self, runner: Runner, outer: Handoff) -> None:
        self._runner = runner
        self._context = tuple(
            one.model_copy(update={"task_id": f"../{one.task_id}"}) for one in outer.context
        )
        self._inputs = {f"../{id}": output for id, output in outer.inputs.items()}
        self._artifacts = outer.artifacts
        self._origin = outer.origin

    async def run(self, handoff: Handoff) -> Outcome:
        return await self._runner.run(
            handoff.model_copy(
                update={
                    "context": self._context + handoff.context,
                    "inputs": {**self._inputs, **handoff.inputs},
                    "artifacts": handoff.artifacts or self._artifacts,
                    "origin": self._origin,
                }
            )
        )


@dataclass(frozen=True, slots=True)
class NotStarted:
    """Stands for a worker that did not start: each of its tasks fails and says why."""

    failure: Failed

    async def run(self, handoff: Handoff) -> Outcome:
        return self.failure
