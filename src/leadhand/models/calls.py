"""Calls to models: the one place where models are called and every call is recorded.

A call waits if the model asks for it, is repeated if the connection was lost, and then goes to the
tier's next model. None of this counts as an attempt of a task.
"""

import asyncio
import itertools
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

from pydantic import JsonValue
from pydantic_ai.messages import InstructionPart, ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts import events
from leadhand.contracts.events.task import CALL_CANCELLED
from leadhand.contracts.outcome import Usage
from leadhand.contracts.team import ModelSpec
from leadhand.engine.recorder import Recorder
from leadhand.engine.stopwatch import ExcludedTime
from leadhand.engine.turns import turn
from leadhand.errors import ModelError
from leadhand.models.admission import CallReservation
from leadhand.models.connections import Connection, Connections
from leadhand.models.exchange import CUT_OFF, CallListener, PieceListener, exchange
from leadhand.models.failures import Failure
from leadhand.models.gate import pause_s
from leadhand.models.ledger import Account
from leadhand.models.replay import Replay, dump_response, request_hash
from leadhand.models.usage import usage_of
from leadhand.models.writing import Writing, text_listener

MAX_TRIES = 4
"""Calls to one model for one answer, including the first."""
PATIENCE_SHARE = 1 / 3
"""The share of the deadline for which a planner keeps trying: without a plan there is no work."""
MAX_PATIENCE_S = 300.0
"""The most that it does."""
MAX_MALFORMED = 2
"""How many of them may return something that is not a response."""
MAX_OUTPUT_BYTES = 1_000_000
"""The default limit for an answer, and for the arguments of a tool call."""

_log = logging.getLogger("leadhand")

_OVERLOADED = Failure(
    "overloaded", "the model is overloaded: it asked to wait too often", unbilled=True
)
_CANCELLED = Failure("unreachable", CALL_CANCELLED)


@dataclass(frozen=True, slots=True)
class Requester:
    """The role or attempt on whose behalf a model is called, for the log."""

    role: str
    task_id: str | None = None
    attempt: int | None = None
    shown: bool = False
    """Whether those who read what models write may see this."""
    patient_until_s: float = -math.inf
    """Until when, in the event loop's time, it asks more than `MAX_TRIES` times if the model is
    overloaded or loses calls."""


@dataclass(frozen=True)
class CallRequest:
    """A request without its messages; it can be reused for many calls."""

    instructions: str
    """The system prompt. It comes first and stays the same, so that providers' caches work."""
    tools: Sequence[ToolDefinition] = ()
    output: ToolDefinition | None = None
    """The schema of the answer, as an output tool; the model's profile decides whether it is sent
    as a tool, as native JSON or in the prompt. None: plain text."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    max_bytes: int = MAX_OUTPUT_BYTES
    """Limit for the answer, and for the arguments of a tool call."""

    @cached_property
    def model_settings(self) -> ModelSettings | None:
        return cast("ModelSettings", dict(self.settings)) if self.settings else None

    @cached_property
    def parameters(self) -> ModelRequestParameters:
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
    requester: Requester
    messages: list[ModelMessage]
    settings: ModelSettings | None
    parameters: ModelRequestParameters
    hash: str
    follow: "Callable[[], PieceListener] | None" = None


class Caller:
    def __init__(
        self, connections: Connections, recorder: Recorder, *, account: Account | None = None
    ) -> None:
        """`account` is what the run may spend; None: unlimited."""
        self._connections = connections
        self._account = account
        self._replay = Replay(recorder.past)
        self._without_usage: set[str] = set()
        self.recorder = recorder

    def nested(self, recorder: Recorder, account: Account | None) -> "Caller":
        """The caller of a nested run, which shares the connections and records its own calls."""
        caller = Caller(self._connections, recorder, account=account)
        caller._without_usage = self._without_usage
        return caller

    def planning(self, role: str) -> Requester:
        """The requester of a role that plans, from now on."""
        limit_s, now_s = self.recorder.state.deadline_s, asyncio.get_running_loop().time()
        share_s = math.inf if limit_s is None else PATIENCE_SHARE * limit_s
        until_s = now_s + min(share_s, MAX_PATIENCE_S)
        return Requester(role, shown=True, patient_until_s=until_s)

    def model(self, spec: ModelSpec) -> Model:
        """The pydantic-ai model of `spec`. Raises `InputError` if it can't be connected."""
        return self._connections.to(spec).model

    async def ask(
        self,
        requester: Requester,
        messages: list[ModelMessage],
        *,
        request: CallRequest,
        models: Sequence[ModelSpec],
        follow: Callable[[], PieceListener] | None = None,
    ) -> tuple[ModelResponse, Usage]:
        """The response of the first of `models` that answers, and its usage.

        If the run sent the same request before it was resumed, the recorded response is returned.
        `follow` makes a listener for each answer, which hears it as it is written if the model can
        stream. It may hear an answer that is then lost, and not hear the one that follows.

        Raises `ModelError` if none answers, `BudgetUsedUp` if the budget is too small for the call,
        and `InputError` for a model that can't be connected.
        """
        hash = request_hash(messages, request.parameters)
        if (
            kept := self._replay.take(requester.role, requester.task_id, requester.attempt, hash)
        ) is not None:
            return kept
        question = _Question(
            requester, messages, request.model_settings, request.parameters, hash, follow
        )
        failure: Failure | None = None
        for place, spec in enumerate(models, start=1):
            until_s = requester.patient_until_s if place == len(models) else -math.inf
            connection = await self._connections.open(spec)
            answer = await self._ask_one(question, connection, patient_until_s=until_s)
            if not isinstance(answer, Failure):
                return answer
            failure = answer
        if failure is None:
            raise ModelError("the team has no model: give it one", transient=False)
        raise ModelError(failure.message, transient=failure.transient)

    async def forward(
        self,
        requester: Requester,
        messages: list[ModelMessage],
        *,
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        model: ModelSpec,
    ) -> ModelResponse:
        """The response to a request of another loop. Raises `ModelError` if there is none."""
        hash = request_hash(messages, parameters)
        if (
            kept := self._replay.take(requester.role, requester.task_id, requester.attempt, hash)
        ) is not None:
            return kept[0]
        question = _Question(requester, messages, settings, parameters, hash)
        answer = await self._ask_one(question, await self._connections.open(model))
        if isinstance(answer, Failure):
            raise ModelError(answer.message, transient=answer.transient)
        return answer[0]

    # Long because the steps of one try share its reservation, its clocks and its place in the gate.
    async def _ask_one(
        self, question: _Question, connection: Connection, *, patient_until_s: float = -math.inf
    ) -> tuple[ModelResponse, Usage] | Failure:
        requester = question.requester
        came, since_s = connection.gate.round, asyncio.get_running_loop().time()
        failure = _OVERLOADED
        malformed = 0
        writing = self._writing(question, connection)
        watch = self._watch(question, connection, writing)
        paused_s = 0.0
        for number in itertools.count(1):
            reservation = CallReservation(
                connection, self._account, question.messages, question.settings, question.parameters
            )
            try:
                with ExcludedTime() as queue:
                    await turn()
                    await reservation.admit(requester.role)
                    place = await connection.gate.enter(since=came, patient_until_s=patient_until_s)
                queued_s = paused_s + queue.elapsed_s
                if place is None:
                    break
                started_s = asyncio.get_running_loop().time()
                reservation.sent()
                try:
                    answer = await exchange(
                        connection,
                        place,
                        question.messages,
                        question.settings,
                        question.parameters,
                        watch=watch,
                    )
                except asyncio.CancelledError:
                    self._failed(requester, connection, _CANCELLED, started_s, queued_s)
                    raise
                if writing is not None and watch is not None:
                    writing.drop() if isinstance(answer, Failure) else writing.end()
                if not isinstance(answer, Failure):
                    answer = (
                        answer,
                        self._answered(question, connection, answer, started_s, queued_s),
                    )
                    reservation.answered(answer[1])
                elif answer.usage is not None:
                    reservation.answered(answer.usage)
                elif answer.kind not in ("malformed", "too_large") and answer is not CUT_OFF:
                    reservation.refused()
            finally:
                reservation.settle()
            if not isinstance(answer, Failure):
                await self.recorder.commit()
                return answer
            failure = answer
            malformed += failure.kind == "malformed"
            transient = failure.transient or (watch is not None and "stream" in failure.message)
            watch = None  # the stream may have caused the failure
            wait_s = self._wait_s(connection, failure, number)
            in_time = asyncio.get_running_loop().time() + wait_s < patient_until_s
            more = number < MAX_TRIES or (in_time and not failure.absent)
            again = transient and malformed < MAX_MALFORMED and more
            self._failed(
                requester,
                connection,
                failure,
                started_s,
                queued_s,
                retry_in_s=wait_s if again else None,
            )
            await self.recorder.commit()
            if not again:
                break
            with ExcludedTime() as pause:
                await asyncio.sleep(wait_s)
                if failure.kind != "overloaded":  # otherwise it waits because of the model's limit
                    pause.took(wait_s, wait_s)
            paused_s = pause.elapsed_s if failure.kind == "overloaded" else 0.0
        if patient_until_s > since_s and failure.transient:
            message = f"{failure.message} (tried for {_since(since_s):.3g} s)"
            failure = replace(failure, message=message)
        return failure

    def _watch(
        self, question: _Question, connection: Connection, writing: Writing | None
    ) -> CallListener | None:
        """Hears an answer as it is written, to show it or for its `follow`; None: neither."""
        follow = question.follow() if question.follow is not None else None
        if follow is None or not connection.can_stream:
            return writing.hear if writing is not None else None

        def hear(part: int, piece: str, tool: str | None) -> None:
            follow(part, piece)
            if writing is not None:
                writing.hear(part, piece, tool)

        return hear

    def _writing(self, question: _Question, connection: Connection) -> Writing | None:
        """Shows an answer as it is written; None if no one reads it."""
        requester, forms = question.requester, question.parameters.output_tools
        listener = text_listener(requester.role) if requester.shown else None
        if listener is None or not connection.can_stream:
            return None
        task_id = f"{self.recorder.path}{requester.task_id or ''}".rstrip("/") or None
        form = forms[0].name if forms else None
        return Writing(listener, role=requester.role, task_id=task_id, form=form)

    def _wait_s(self, connection: Connection, failure: Failure, number: int) -> float:
        """Seconds until the next try: the longer of this call's pause and the gate's."""
        own_s = pause_s(failure.retry_after_s, number, self._connections.jitter())
        return max(own_s, connection.gate.closed_s)

    def _answered(
        self,
        question: _Question,
        connection: Connection,
        response: ModelResponse,
        started_s: float,
        queued_s: float,
    ) -> Usage:
        requester = question.requester
        usage = usage_of(connection.name, response, _since(started_s))
        said = usage.input_tokens or usage.output_tokens
        if not said and connection.name not in self._without_usage:
            self._without_usage.add(connection.name)
            _log.warning(
                "%s does not say what its answers use: tokens and cost are unknown", connection.name
            )
        self.recorder.record(
            events.ModelCalled(
                **self.recorder.stamp(),
                role=requester.role,
                model=connection.name,
                task_id=requester.task_id,
                attempt=requester.attempt,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost_usd=usage.cost_usd,
                duration_s=usage.duration_s,
                queued_s=queued_s,
                request=question.hash,
                response=dump_response(response),
            )
        )
        return usage

    def _failed(
        self,
        requester: Requester,
        connection: Connection,
        failure: Failure,
        started_s: float,
        queued_s: float,
        *,
        retry_in_s: float | None = None,
    ) -> None:
        used = failure.usage or Usage()
        self.recorder.record(
            events.ModelCalled(
                **self.recorder.stamp(),
                role=requester.role,
                model=connection.name,
                task_id=requester.task_id,
                attempt=requester.attempt,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cost_usd=0.0 if failure.unbilled else used.cost_usd,
                duration_s=_since(started_s),
                queued_s=queued_s,
                error=failure.message,
                retry_in_s=retry_in_s,
            )
        )


def _since(started_s: float) -> float:
    return asyncio.get_running_loop().time() - started_s
