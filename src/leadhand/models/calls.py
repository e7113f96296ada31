"""Calls to models: the one place where a model is asked, and every call is written down.

A call waits where the model asks for it, is made again where it was lost on the way, and goes to
the tier's next model after that. None of this is an attempt of the task that it is for.
"""

import asyncio
import dataclasses
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from pydantic import JsonValue
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.event import ModelCalled
from leadhand.contracts.outcome import Usage
from leadhand.contracts.team import ModelSpec
from leadhand.errors import ModelError
from leadhand.models.admission import Bill, admitted
from leadhand.models.connections import Connection, Connections
from leadhand.models.failures import Failure, failure_of
from leadhand.models.gate import Ending, Place, pause_s
from leadhand.models.ledger import Account
from leadhand.models.replay import Replay, request_hash, written
from leadhand.models.usage import usage_of
from leadhand.recorder import Recorder

MAX_TRIES = 4
"""Calls to one model for one answer, counting the first."""
MAX_MALFORMED = 2
"""Of these, those that may end in something that is no answer."""
CALL_TIMEOUT_S = 300.0
"""How long one call may take from its first byte to its last, however slowly they drip."""

T = TypeVar("T")

_SURROGATE = re.compile("[\ud800-\udfff]")
_OVERLOADED = Failure(
    "overloaded", "the model is overloaded: it made everyone wait too often", unbilled=True
)
_CUT_OFF = Failure("unreachable", "the model could not be reached: its answer ended midway")
_CANCELLED = Failure("unreachable", "the call was cancelled before it was answered")


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf a model is asked, for the log."""

    role: str
    task_id: str | None = None
    attempt: int | None = None


@dataclass(frozen=True)
class Request:
    """What a model is asked, besides the conversation so far; one will do for many calls."""

    instructions: str
    """The system prompt. It comes first and stays the same, so that providers' caches work."""
    tools: Sequence[ToolDefinition] = ()
    output: ToolDefinition | None = None
    """The form of the answer, as the tool that takes it; the model's profile decides whether it is
    asked for as a tool, as native JSON or in words. None: plain text."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @cached_property
    def model_settings(self) -> ModelSettings | None:
        """The settings as pydantic-ai takes them."""
        return cast("ModelSettings", dict(self.settings)) if self.settings else None

    @cached_property
    def parameters(self) -> ModelRequestParameters:
        """All the rest as pydantic-ai takes it."""
        instructions = [InstructionPart(self.instructions)] if self.instructions else None
        output = self.output
        if output is None:
            return ModelRequestParameters(
                function_tools=list(self.tools), instruction_parts=instructions
            )
        return ModelRequestParameters(
            function_tools=list(self.tools),
            output_mode="auto",
            output_tools=[output],
            output_object=OutputObjectDefinition(
                output.parameters_json_schema, output.name, output.description
            ),
            allow_text_output=False,
            instruction_parts=instructions,
        )


@dataclass(frozen=True, slots=True)
class _Question:
    """A request as a pydantic-ai model takes it."""

    asker: Asker
    messages: list[ModelMessage]
    settings: ModelSettings | None
    parameters: ModelRequestParameters
    hash: str
    """Of all that is asked."""


class Caller:
    """Asks the models of one run."""

    def __init__(
        self, connections: Connections, recorder: Recorder, *, account: Account | None = None
    ) -> None:
        """`account` is what the run may spend; without one there is no bound."""
        self._connections = connections
        self._account = account
        self._replay = Replay(recorder.past)
        self.recorder = recorder

    def nested(self, recorder: Recorder, account: Account | None) -> "Caller":
        """The caller of a run inside the run: over the same connections, in its own name."""
        return Caller(self._connections, recorder, account=account)

    def model(self, spec: ModelSpec) -> Model:
        """The model itself, for what has to name it. Raises `InputError` where there is none."""
        return self._connections.to(spec).model

    async def ask(
        self,
        asker: Asker,
        messages: list[ModelMessage],
        *,
        request: Request,
        models: Sequence[ModelSpec],
    ) -> tuple[ModelResponse, Usage]:
        """The answer of the first of `models` that gives one, and what it used.

        Where the run had asked the very same before it was resumed, that is the answer.

        Raises `ModelError` where none does, its kind `BudgetUsedUp` where the budget does not
        reach for the call, and `InputError` for a model that can't be connected.
        """
        hash = request_hash(messages, request.parameters)
        if (kept := self._replay.take(asker.role, asker.task_id, asker.attempt, hash)) is not None:
            return kept
        question = _Question(asker, messages, request.model_settings, request.parameters, hash)
        failure: Failure | None = None
        for spec in models:
            answer = await self._ask_one(question, await self._connections.open(spec))
            if not isinstance(answer, Failure):
                return answer
            failure = answer
        if failure is None:
            raise ModelError("there is no model to ask: give the team one", transient=False)
        raise ModelError(failure.message, transient=failure.passing)

    async def pass_on(
        self,
        asker: Asker,
        messages: list[ModelMessage],
        *,
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        model: ModelSpec,
    ) -> ModelResponse:
        """The answer to a request that another loop, pydantic-ai's own say, put together.

        Raises `ModelError` where none comes.
        """
        hash = request_hash(messages, parameters)
        if (kept := self._replay.take(asker.role, asker.task_id, asker.attempt, hash)) is not None:
            return kept[0]
        question = _Question(asker, messages, settings, parameters, hash)
        answer = await self._ask_one(question, await self._connections.open(model))
        if isinstance(answer, Failure):
            raise ModelError(answer.message, transient=answer.passing)
        return answer[0]

    async def _ask_one(
        self, question: _Question, connection: Connection
    ) -> tuple[ModelResponse, Usage] | Failure:
        asker = question.asker
        came = connection.gate.round
        failure = _OVERLOADED
        malformed = 0
        for number in range(1, MAX_TRIES + 1):
            async with self._admitted(question, connection) as bill:
                place = await connection.gate.enter(since=came)
                if place is None:
                    break
                started_s = asyncio.get_running_loop().time()
                bill.sent()
                try:
                    answer = await _once(question, connection, place)
                except asyncio.CancelledError:
                    self._failed(asker, connection, _CANCELLED, started_s, None)
                    raise
                if not isinstance(answer, Failure):
                    answer = answer, self._answered(question, connection, answer, started_s)
                    bill.answered(answer[1])
                elif answer.kind != "malformed" and answer is not _CUT_OFF:
                    bill.refused()
            if not isinstance(answer, Failure):
                await self.recorder.commit()
                return answer
            failure = answer
            malformed += failure.kind == "malformed"
            again = failure.passing and number < MAX_TRIES and malformed < MAX_MALFORMED
            wait_s = self._wait_s(connection, failure, number)
            self._failed(asker, connection, failure, started_s, wait_s if again else None)
            await self.recorder.commit()
            if not again:
                break
            await asyncio.sleep(wait_s)
        return failure

    def _admitted(
        self, question: _Question, connection: Connection
    ) -> AbstractAsyncContextManager[Bill]:
        return admitted(
            connection,
            self._account,
            question.asker.role,
            question.messages,
            question.settings,
            question.parameters,
        )

    def _wait_s(self, connection: Connection, failure: Failure, number: int) -> float:
        """Seconds until the next try: this call's own, or everyone's where that is longer."""
        own_s = pause_s(failure.retry_after_s, number, self._connections.jitter())
        return max(own_s, connection.gate.closed_s)

    def _answered(
        self, question: _Question, connection: Connection, response: ModelResponse, started_s: float
    ) -> Usage:
        asker = question.asker
        usage = usage_of(connection.name, response, _since(started_s))
        self.recorder.record(
            ModelCalled(
                **self.recorder.stamp(),
                role=asker.role,
                model=connection.name,
                task_id=asker.task_id,
                attempt=asker.attempt,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost_usd=usage.cost_usd,
                duration_s=usage.duration_s,
                request=question.hash,
                response=written(response),
            )
        )
        return usage

    def _failed(
        self,
        asker: Asker,
        connection: Connection,
        failure: Failure,
        started_s: float,
        wait_s: float | None,
    ) -> None:
        self.recorder.record(
            ModelCalled(
                **self.recorder.stamp(),
                role=asker.role,
                model=connection.name,
                task_id=asker.task_id,
                attempt=asker.attempt,
                cost_usd=0.0 if failure.unbilled else None,
                duration_s=_since(started_s),
                error=failure.message,
                retry_in_s=wait_s,
            )
        )


async def _once(
    question: _Question, connection: Connection, place: Place
) -> ModelResponse | Failure:
    """What one call gives. Its place at the gate is given back whatever becomes of it."""
    ending: Ending = "lost"
    asked_s: float | None = None
    try:
        async with asyncio.timeout(CALL_TIMEOUT_S):
            response = await connection.model.request(
                question.messages, question.settings, question.parameters
            )
        if not _is_whole(response):
            return _CUT_OFF
        ending = "answered"
        return legible(response)
    except Exception as error:
        failure = failure_of(error)
        if failure.kind == "overloaded":
            ending, asked_s = "refused", failure.retry_after_s
        return failure
    finally:
        connection.gate.leave(place, ending, asked_s=asked_s)


def _since(started_s: float) -> float:
    return asyncio.get_running_loop().time() - started_s


def _is_whole(response: ModelResponse) -> bool:
    """Whether an answer came to its end. Anthropic's may come as a stream, which can end anywhere
    without an error; then nobody said why it ended."""
    return response.provider_name != "anthropic" or "finish_reason" in (
        response.provider_details or {}
    )


def legible(response: ModelResponse) -> ModelResponse:
    """`response` itself, or where it holds lone surrogates, which UTF-8 can't, one without them."""
    parts = [_legible_part(part) for part in response.parts]
    if all(new is old for new, old in zip(parts, response.parts, strict=True)):
        return response
    return dataclasses.replace(response, parts=parts)


def _legible_part(part: ModelResponsePart) -> ModelResponsePart:
    if isinstance(part, TextPart | ThinkingPart):
        content = _mended(part.content)
        return part if content == part.content else dataclasses.replace(part, content=content)
    if isinstance(part, ToolCallPart):
        mended = {"tool_name": _mended(part.tool_name), "args": _mended(part.args)}
        same = mended == {"tool_name": part.tool_name, "args": part.args}
        return part if same else dataclasses.replace(part, **mended)
    return part


def _mended(value: T) -> T:
    """JSON data without lone surrogates."""
    mended: object = value
    if isinstance(value, str) and not value.isascii():
        mended = _SURROGATE.sub("\ufffd", value)
    elif isinstance(value, dict):
        rows = cast("dict[str, object]", value)
        mended = {_mended(key): _mended(item) for key, item in rows.items()}
    elif isinstance(value, list):
        mended = [_mended(item) for item in cast("list[object]", value)]
    return cast("T", mended)
