"""The tool calls of one attempt: records of them, and what tools return and raise, as replies."""

import asyncio
from typing import cast

from pydantic import ValidationError
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ToolCallPart, ToolReturn, ToolReturnPart

from leadhand.contracts import events
from leadhand.contracts.outcome import Handoff
from leadhand.engine.failures import legible
from leadhand.engine.recorder import Recorder
from leadhand.errors import LeadhandError
from leadhand.models.structured import reply
from leadhand.models.text_calls import IN_TEXT
from leadhand.untrusted.cutting import cut
from leadhand.workers.conversation import PendingCall, not_made
from leadhand.workers.texts import KeptText, as_text

LOGGED_CHARS = 2_000


class ToolLog:
    def __init__(self, recorder: Recorder, handoff: Handoff) -> None:
        self._recorder = recorder
        self._handoff = handoff

    def record(
        self,
        call: ToolCallPart,
        arguments: object,
        kept: KeptText,
        error: str | None,
        started_s: float,
        *,
        approved: str | None = None,
        made: bool = True,
    ) -> None:
        """Record a call; the last two are as in `ToolCalled`."""
        self._recorder.record(
            events.ToolCalled(
                **self._recorder.task_stamp(self._handoff.task_id, self._handoff.attempt),
                worker=self._handoff.to_agent,
                tool=cut(legible(call.tool_name), 200),
                arguments=legible(cut(as_text(arguments), LOGGED_CHARS)),
                output=cut(kept.text, LOGGED_CHARS),
                output_chars=kept.chars,
                sha256=kept.sha256,
                error=error,
                duration_s=asyncio.get_running_loop().time() - started_s,
                approved=approved,
                made=made,
                in_text=call.tool_call_id.startswith(IN_TEXT),
            )
        )

    def decline(
        self,
        call: ToolCallPart,
        arguments: object,
        problem: str,
        started_s: float,
        *,
        approved: str | None = None,
    ) -> ToolReturnPart:
        self.record(call, arguments, KeptText.of(""), problem, started_s, approved=approved)
        return cast("ToolReturnPart", reply(call, problem))

    def unmade(self, call: PendingCall, why: str, started_s: float) -> ToolReturnPart:
        """The reply to an approved call that can't be made, which is a gap of the answer."""
        part, why = call.part, why.rstrip(".")
        nothing = KeptText.of("")
        self.record(part, call.arguments, nothing, why, started_s, approved=call.key, made=False)
        return cast("ToolReturnPart", reply(part, not_made(why)))


def unwrapped(value: object) -> object:
    """A tool's output, with any extra content that it returned for the model."""
    if not isinstance(value, ToolReturn):
        return value
    given, aside = cast("object", value.return_value), value.content
    return [given, *([aside] if isinstance(aside, str) else aside)] if aside else given


def is_rich(value: object) -> bool:
    """Whether a part of an output goes to the model as it is, such as an image."""
    return type(value).__module__.startswith("pydantic_ai.")


def error_reply(error: BaseException) -> str:
    """What the model is told about an exception that a call raised: how to call the tool right."""
    if isinstance(error, ValidationError):
        rows = error.errors(include_url=False, include_input=False, include_context=False)
        lines = [f"{'.'.join(map(str, row['loc'])) or 'arguments'}: {row['msg']}" for row in rows]
        return f"Invalid arguments: {'; '.join(lines[:10])}. Nothing was done."
    if isinstance(error, TimeoutError):
        return "The tool took too long and was stopped."
    if isinstance(error, ModelRetry | ToolFailed):
        return str(error.message if isinstance(error, ModelRetry) else error)
    if isinstance(error, LeadhandError):
        return cut(legible(str(error)), 1_000)
    message = cut(legible(" ".join(str(error).split())), 1_000)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
