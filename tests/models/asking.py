"""Asks models through a real `Caller` and keeps the log of it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.events import Event, ModelCalled
from leadhand.contracts.outcome import NO_USAGE, Usage
from leadhand.contracts.team import ModelSpec
from leadhand.errors import ModelError
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.connections import Connections
from leadhand.models.structured import first_message
from leadhand.ports import Clock
from leadhand.testing.json_data import Json, Object, mapping
from tests.recorders import LogRecorder

OPENAI = "openai-chat:scripted"
ANTHROPIC = "anthropic:claude-opus-5-5"
BOTH = [OPENAI, ANTHROPIC]
PLAIN = CallRequest("Answer in a word.")
ASKER = Requester("worker")
COLOUR = ToolDefinition(
    name="final_answer",
    description="Ends the task.",
    parameters_json_schema={
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    },
    kind="output",
)


def recorder(
    listener: Callable[[Event], None] | None = None, *, clock: Clock | None = None
) -> LogRecorder:
    """A recorder in memory. Needs a running event loop."""
    listeners = (listener,) if listener else ()
    return LogRecorder(clock=clock, listeners=listeners)


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking."""

    response: ModelResponse | None
    usage: Usage
    error: ModelError | None
    calls: tuple[ModelCalled, ...]

    @property
    def text(self) -> str:
        """What the model said."""
        return (self.response.text if self.response else None) or ""


async def ask(
    *models: ModelSpec,
    text: str = "What is the sky's colour?",
    request: CallRequest = PLAIN,
    seed: int = 1,
) -> Asked:
    """What the first of `models` that answers says to `text`."""
    pen = recorder()
    messages: list[ModelMessage] = [first_message(text, request)]
    response, usage, failure = None, NO_USAGE, None
    async with Connections(seed=seed) as connections:
        caller = Caller(connections, pen)
        try:
            response, usage = await caller.ask(ASKER, messages, request=request, models=models)
        except ModelError as error:
            failure = error
    calls = tuple(event for event in pen.log() if isinstance(event, ModelCalled))
    return Asked(response, usage, failure, calls)


async def ask_all(*cases: tuple[str, str]) -> list[Asked]:
    """What comes of asking models for texts, at once: together they wait as long as one."""
    async with Connections() as connections:
        for model, _ in cases:
            connections.to(model)  # imports its SDK, which would hold up calls under way
    return await asyncio.gather(*(ask(model, text=text) for model, text in cases))


def with_settings(settings: Mapping[str, JsonValue]) -> CallRequest:
    return CallRequest("Answer in a word.", settings=settings)


def replies(*given: Object) -> list[Object]:
    """A script that gives these replies in order to any role, and then the role's own answers."""
    return [{"reply": reply, "times": 1} for reply in given]


def misbehaving(*faults: Mapping[str, Json]) -> list[Object]:
    """A script in which the first answers misbehave like this, one after the other."""
    given: list[Object] = [{"misbehave": {**fault}} for fault in faults]
    return replies(*given)


def body(kept: Object) -> Object:
    return mapping(kept.get("body"))
