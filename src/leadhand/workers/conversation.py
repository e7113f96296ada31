"""The conversation of an attempt, which can pause until a person has approved tool calls.

It is then in the journal with the question, and continues from there in any process: what was done
before is not done again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue, ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
)
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.data import Record
from leadhand.contracts.outcome import NO_USAGE, Escalated, PausedAttempt, Result, Usage
from leadhand.contracts.people import ToolCall
from leadhand.models.structured import partial_in
from leadhand.untrusted.cutting import cut
from leadhand.workers.texts import KeptText

SHOWN_CHARS = 2_000
"""Characters of a call's arguments that a message shows."""
CHANGED = "its arguments were stored without the secrets in them"
"""Why an approved call is not made whose arguments are no longer as the model gave them."""


def refusal(reason: str) -> str:
    return f"A person refused this call, so it was not made{f': {reason}' if reason else '.'}"


def not_made(why: str) -> str:
    """The reply to an approved call that can't be made."""
    again = "If you make it again, correct and complete, it needs another approval."
    return f"A person approved this call, but it was not made: {why}. {again}"


@dataclass(frozen=True, slots=True)
class PendingCall:
    part: ToolCallPart
    key: str
    arguments: dict[str, JsonValue]
    changed: bool = False
    """Whether these arguments are not those that the model gave."""


class ToolboxState(Record):
    calls: tuple[tuple[str, str, int], ...] = ()
    """Tool, arguments, and how often it was called with them."""
    refused: tuple[tuple[str, str, str], ...] = ()
    """Tool, arguments, and why a person refused the call."""
    changed: tuple[str, ...] = ()
    """The keys of approved calls that were not made, because their arguments had changed."""
    made: int = 0
    unreadable: int = 0
    texts: dict[str, KeptText] = Field(default_factory=dict)
    """The full outputs, by the name of their source."""


class _Pending(Record):
    tool_call_id: str
    sha256: str
    """Of the arguments as the model gave them."""


class StoredConversation(Record):
    messages: JsonValue
    step: int
    repairs: int
    usage: Usage
    toolbox: ToolboxState
    pending: tuple[_Pending, ...]
    """About each call of the question, in order."""

    @classmethod
    def of(cls, paused: PausedAttempt) -> "StoredConversation | None":
        """That of a paused attempt; None if it can't be read: then the attempt starts again."""
        try:
            kept = cls.model_validate(paused.conversation)
            ModelMessagesTypeAdapter.validate_python(kept.messages)
        except ValidationError:
            return None
        return kept if len(kept.pending) == len(paused.calls) else None

    @property
    def model_messages(self) -> list[ModelMessage]:
        return ModelMessagesTypeAdapter.validate_python(self.messages)

    def pending_calls(self, paused: PausedAttempt) -> list[PendingCall]:
        return [
            PendingCall(
                ToolCallPart(call.tool, call.arguments, one.tool_call_id),
                call.id,
                call.arguments,
                changed=one.sha256 != _hash(call.arguments),
            )
            for one, call in zip(self.pending, paused.calls, strict=True)
        ]


class Conversation:
    """A worker's conversation with its model in one attempt."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self.messages: list[ModelMessage] = []
        self.usage = NO_USAGE
        self.repairs = 0

    def tell(self, parts: Sequence[ModelRequestPart], *, instructions: str | None) -> None:
        last = self.messages[-1] if self.messages else None
        if isinstance(last, ModelRequest):
            self.messages[-1] = ModelRequest([*last.parts, *parts], instructions=last.instructions)
        elif last is not None:
            self.messages.append(ModelRequest(parts, instructions=instructions or None))

    def partial_result(self, form: ToolDefinition | None) -> Result | None:
        """The answer in the model's last text, without the arguments around it."""
        for message in reversed(self.messages):
            if isinstance(message, ModelResponse):
                partial = partial_in(message, form)
                if not isinstance(partial, str):
                    partial = partial.get("answer") or partial.get("summary")
                if partial:
                    return Result(output=partial, usage=self.usage)
        return None

    def pause(self, calls: Sequence[PendingCall], *, step: int, toolbox: ToolboxState) -> Escalated:
        """The outcome of an attempt that waits for an approval of `calls`."""
        kept = StoredConversation(
            messages=ModelMessagesTypeAdapter.dump_python(self.messages, mode="json"),
            step=step,
            repairs=self.repairs,
            usage=self.usage,
            toolbox=toolbox,
            pending=tuple(
                _Pending(tool_call_id=call.part.tool_call_id, sha256=_hash(call.arguments))
                for call in calls
            ),
        )
        asked = tuple(
            ToolCall(
                id=call.key, tool=call.part.tool_name, worker=self._worker, arguments=call.arguments
            )
            for call in calls
        )
        arguments = [json.dumps(call.arguments, ensure_ascii=False) for call in calls]
        shown = "; ".join(
            f"{call.tool} needs a person's approval: {cut(given, SHOWN_CHARS)}"
            for call, given in zip(asked, arguments, strict=True)
        )
        return Escalated(
            reason="ambiguous_input",
            message=shown,
            paused=PausedAttempt(calls=asked, conversation=kept.model_dump(mode="json")),
        )

    def restore(self, kept: StoredConversation) -> None:
        """Continue from what `pause` stored."""
        # In place: the context of tools has the list too.
        self.messages[:] = kept.model_messages
        self.usage, self.repairs = kept.usage, kept.repairs


def _hash(arguments: Mapping[str, JsonValue]) -> str:
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
