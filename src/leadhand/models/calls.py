"""The one place where models are called and every call is recorded.

A call waits if the model asks for it, is repeated if the connection was lost, and then goes to the
tier's next model. None of this counts as an attempt of a task.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from leadhand.contracts import events
from leadhand.contracts.events.task import CALL_CANCELLED
from leadhand.contracts.outcome import NO_USAGE, Usage
from leadhand.contracts.team import ModelSpec
from leadhand.engine.recorder import EventStamp, Recorder
from leadhand.engine.stopwatch import ExcludedTime
from leadhand.engine.turns import turn
from leadhand.errors import ModelError
from leadhand.models.admission import CallReservation
from leadhand.models.asking import Asking
from leadhand.models.connections import Connection, Connections
from leadhand.models.exchange import CUT_OFF, CallListener, PieceListener, exchange
from leadhand.models.failures import Failure
from leadhand.models.gate import GatePass, pause_s
from leadhand.models.ledger import Account
from leadhand.models.listing import learn_context
from leadhand.models.replay import Replay, dump_response, request_hash
from leadhand.models.request import CallRequest
from leadhand.models.text_calls import with_calls
from leadhand.models.usage import is_known, usage_of
from leadhand.models.writing import Writing, text_listener

MAX_TRIES = 4
"""Calls to one model for one answer, including the first."""
MAX_MALFORMED = 2
"""How many of these calls may return something that is not a response."""
PATIENCE_SHARE = 1 / 3
"""The share of the deadline for which a planner keeps trying: without a plan there is no work."""
MAX_PATIENCE_S = 300.0

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
    """Until then, in the loop's time, an overloaded or lost call is tried more than `MAX_TRIES`
    times."""


class _CallStamp(EventStamp):
    role: str
    model: str
    task_id: str | None
    attempt: int | None
    input_tokens: int
    output_tokens: int
    queued_s: float


@dataclass(frozen=True, slots=True)
class _Question:
    requester: Requester
    messages: list[ModelMessage]
    settings: ModelSettings | None
    parameters: ModelRequestParameters
    hash: str
    request: CallRequest | None = None
    """None: it is sent as another loop made it."""
    follow: "Callable[[], PieceListener] | None" = None

    def read(self, response: ModelResponse) -> ModelResponse:
        if self.request is None or not self.parameters.tool_defs:
            return response
        return with_calls(response, self.parameters.tool_defs, self.messages)


class Caller:
    """Calls models for one run, and records each call."""

    def __init__(
        self, connections: Connections, recorder: Recorder, *, account: Account | None = None
    ) -> None:
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

    def planning_requester(self, role: str) -> Requester:
        """The requester of a role that plans, from now on."""
        limit_s, now_s = self.recorder.state.deadline_s, asyncio.get_running_loop().time()
        share_s = math.inf if limit_s is None else PATIENCE_SHARE * limit_s
        until_s = now_s + min(share_s, MAX_PATIENCE_S)
        return Requester(role, shown=True, patient_until_s=until_s)

    def model(self, spec: ModelSpec) -> Model:
        """Raises `InputError` if it can't be connected."""
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

        It may be recorded, if the run sent the same request before it was resumed. `follow` makes a
        listener for each answer, which hears it as it is written, if the model can stream, and even
        if it is then lost. Raises `ModelError` if none answers, `BudgetUsedUp`, and `InputError`
        for a model that can't be connected.
        """
        parameters = request.parameters
        hash = request_hash(messages, parameters)
        question = _Question(
            requester, messages, request.model_settings, parameters, hash, request, follow
        )
        if (
            kept := self._replay.take(requester.role, requester.task_id, requester.attempt, hash)
        ) is not None:
            return question.read(kept[0]), kept[1]
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
        """The response to a request of another loop. Raises `ModelError`."""
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
        came, since_s = connection.gate.round, asyncio.get_running_loop().time()
        asking = Asking(question.request, connection, question.parameters, question.settings)
        if connection.streams and question.request is not None and question.request.output:
            await learn_context(connection.model, connection.habits)
        if (failure := asking.too_long(question.messages)) is not None:
            return failure
        failure, number, malformed, spent = _OVERLOADED, 1, 0, NO_USAGE
        paused_s = 0.0
        while True:
            writing = self._writing(question, connection) if asking.streams else None
            watch = self._watch(question, connection, writing) if asking.streams else None
            reservation = CallReservation(
                connection, self._account, question.messages, question.settings, question.parameters
            )
            try:
                with ExcludedTime() as queue:
                    await turn()
                    await reservation.admit(question.requester.role)
                    gate_pass = await connection.gate.enter(
                        since=came, patient_until_s=patient_until_s
                    )
                queued_s = paused_s + queue.elapsed_s
                if gate_pass is None:
                    break
                started_s = asyncio.get_running_loop().time()
                try:
                    answer = await self._exchanged(
                        question, asking, reservation, gate_pass, watch, writing, queued_s
                    )
                except asyncio.CancelledError:
                    self._failed(question, connection, _CANCELLED, started_s, queued_s)
                    raise
                if writing is not None and isinstance(answer, Failure):
                    writing.drop()
            finally:
                reservation.settle()
            if not isinstance(answer, Failure):
                await self.recorder.commit()
                return answer[0], spent.plus(answer[1])
            failure, differently = answer, asking.asks_differently(answer)
            spent = spent if failure.usage is None else spent.plus(failure.usage)
            malformed += failure.kind == "malformed"
            streamed = watch is not None or asking.end is not None
            transient = failure.transient or (streamed and "stream" in failure.message)
            if not differently:
                asking.streams = False  # the stream may have caused the failure
            wait_s = 0.0 if differently else self._wait_s(connection, failure, number)
            in_time = asyncio.get_running_loop().time() + wait_s < patient_until_s
            more = number < MAX_TRIES or (in_time and not failure.absent)
            again = differently or (transient and malformed < MAX_MALFORMED and more)
            retry_in_s = wait_s if again else None
            self._failed(question, connection, failure, started_s, queued_s, retry_in_s=retry_in_s)
            await self.recorder.commit()
            if not again:
                break
            number += not differently
            with ExcludedTime() as pause:
                await asyncio.sleep(wait_s)
                if failure.kind != "overloaded":  # otherwise it waits because of the model's limit
                    pause.took(wait_s, wait_s)
            paused_s = pause.elapsed_s if failure.kind == "overloaded" else 0.0
        if patient_until_s > since_s and failure.transient:
            message = f"{failure.message} (tried for {_since(since_s):.3g} s)"
            failure = replace(failure, message=message)
        return failure

    async def _exchanged(
        self,
        question: _Question,
        asking: Asking,
        reservation: CallReservation,
        gate_pass: GatePass,
        watch: CallListener | None,
        writing: Writing | None,
        queued_s: float,
    ) -> tuple[ModelResponse, Usage] | Failure:
        """The result of one try. A response that counts is recorded."""
        started_s, connection = asyncio.get_running_loop().time(), asking.connection
        reservation.sent()
        parameters, settings = asking.sent(question.messages, reservation.tokens_left)
        end = asking.end
        response = await exchange(
            connection, gate_pass, question.messages, settings, parameters, watch=watch, end=end
        )
        if isinstance(response, Failure):
            if response.usage is not None:
                reservation.answered(response.usage)
            elif (
                response.kind not in ("malformed", "too_large", "slow") and response is not CUT_OFF
            ):
                reservation.refused()
            return response
        estimated = end is not None and (end.cut or not is_known(response.usage))
        if estimated:
            response = asking.with_estimate(response, question.messages)
        usage = usage_of(connection.name, response, _since(started_s))
        reservation.answered(usage)
        read = question.read(response)
        unfit = asking.again(read, usage)
        if unfit is not None:
            return replace(unfit, estimated=estimated)
        if writing is not None:
            writing.end()  # before those who read it learn that the answer is there
        self._answered(question, connection, response, usage, queued_s, estimated=estimated)
        return read, usage

    def _watch(
        self, question: _Question, connection: Connection, writing: Writing | None
    ) -> CallListener | None:
        """Hears an answer as it is written, to show it or for its `follow`."""
        follow = question.follow() if question.follow is not None else None
        if follow is None or not connection.can_stream:
            return writing.hear if writing is not None else None

        def hear(part: int, piece: str, tool: str | None) -> None:
            follow(part, piece)
            if writing is not None:
                writing.hear(part, piece, tool)

        return hear

    def _writing(self, question: _Question, connection: Connection) -> Writing | None:
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
        usage: Usage,
        queued_s: float,
        *,
        estimated: bool,
    ) -> None:
        said = usage.input_tokens or usage.output_tokens
        if not said and connection.name not in self._without_usage:
            self._without_usage.add(connection.name)
            _log.warning(
                "%s does not say what its answers use: tokens and cost are unknown", connection.name
            )
        self.recorder.record(
            events.ModelCalled(
                **self._stamp(question, connection, usage, queued_s),
                cost_usd=usage.cost_usd,
                duration_s=usage.duration_s,
                estimated=estimated,
                request=question.hash,
                response=dump_response(response),
            )
        )

    def _failed(
        self,
        question: _Question,
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
                **self._stamp(question, connection, used, queued_s),
                cost_usd=0.0 if failure.unbilled else used.cost_usd,
                duration_s=_since(started_s),
                error=failure.message,
                estimated=failure.estimated,
                retry_in_s=retry_in_s,
            )
        )

    def _stamp(
        self, question: _Question, connection: Connection, usage: Usage, queued_s: float
    ) -> _CallStamp:
        requester = question.requester
        return {
            **self.recorder.stamp(),
            "role": requester.role,
            "model": connection.name,
            "task_id": requester.task_id,
            "attempt": requester.attempt,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "queued_s": queued_s,
        }


def _since(started_s: float) -> float:
    return asyncio.get_running_loop().time() - started_s
