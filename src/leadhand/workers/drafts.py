"""A worker whose code drafts a result, to which a model may add (`Worker(draft=...)`)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue

from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from leadhand.ports import Runner
from leadhand.workers.offline import CODE_SLACK_S, OfflineSwitch

if TYPE_CHECKING:
    from leadhand.workers.loop import ModelWorker

SLACK_SHARE = 0.05
"""The share of a task's time that is left once its model was stopped."""


@dataclass(frozen=True, slots=True)
class WithDraft:
    """A `Runner` that drafts by code, then has a model add to it.

    A draft that is no result is the outcome, and no model is asked. A model that fails, hands the
    task back or is too slow costs nothing but its time: the draft is the result.
    """

    by_model: "ModelWorker | None"
    by_code: Runner
    offline_switch: OfflineSwitch

    async def run(self, handoff: Handoff) -> Outcome:
        loop, limit_s = asyncio.get_running_loop(), handoff.limits.timeout_s
        until_s = None
        if limit_s is not None:
            slack_s = min(CODE_SLACK_S + SLACK_SHARE * limit_s, limit_s / 2)
            until_s = loop.time() + limit_s - slack_s
        drafted = await self.by_code.run(handoff)
        if not isinstance(drafted, Completed):
            return drafted
        why = self.offline_switch.why or "there is no model"
        if self.offline_switch.why is None and self.by_model is not None:
            within_s = None if until_s is None else max(until_s - loop.time(), 0.0)
            work = self.by_model.run(handoff, drafted.result)
            outcome = await self.offline_switch.unless_switched_on(work, within_s=within_s)
            if isinstance(outcome, Completed):
                return Completed(result=_joined(drafted.result, outcome.result))
            if isinstance(outcome, Escalated) and outcome.paused is not None:
                return outcome  # its tool waits for a person
            why = self.offline_switch.why or "its model did not answer in time"
            if outcome is not None:
                why = outcome.message
        alone = f"no model added to its draft: {why}"
        return Completed(result=drafted.result.model_copy(update={"draft_only": alone}))


def _joined(draft: Result, added: Result) -> Result:
    """The draft with what a model added."""
    output: dict[str, JsonValue] = {"draft": draft.output}
    if isinstance(draft.output, Mapping):
        output = {**draft.output}
    known = {
        "output": {**output, "added": added.output},
        "summary": draft.summary or added.summary,
        "evidence": (*draft.evidence, *added.evidence),
        "usage": draft.usage.plus(added.usage),
    }
    return draft.model_copy(update=known)
