"""A pydantic-ai `Agent` as a worker, with its own model, tools and output type."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import NoneType
from typing import Any, Protocol, cast, get_args, get_origin

from pydantic_ai.agent import AbstractAgent
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, UserError
from pydantic_ai.messages import (
    INVALID_JSON_KEY,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, RunContext, ToolDenied

from leadhand.contracts.outcome import (
    Escalated,
    Failed,
    Handoff,
    Outcome,
    PausedAttempt,
    tool_context,
)
from leadhand.contracts.people import CallReply
from leadhand.contracts.team import DepsFunction, ModelSpec, Worker
from leadhand.contracts.tools import ToolContext
from leadhand.engine.failures import failure_of
from leadhand.errors import BudgetUsedUp, InputError, ModelError
from leadhand.models.calls import Caller, Requester
from leadhand.models.failures import request_failure
from leadhand.untrusted.fence import Fence
from leadhand.workers import briefing
from leadhand.workers.conversation import (
    CHANGED,
    Conversation,
    PendingCall,
    StoredConversation,
    ToolboxState,
    not_made,
    refusal,
)
from leadhand.workers.idempotency import PARAMETER, for_model, key, takes_key, without_key
from leadhand.workers.open_toolsets import RunToolsets, ToolsNotStarted, servers_in
from leadhand.workers.output import outcome_of
from leadhand.workers.texts import KeptText
from leadhand.workers.tool_log import ToolLog


class _Result(Protocol):
    @property
    def output(self) -> object: ...

    def all_messages(self) -> list[ModelMessage]: ...


class AgentWorker:
    """Its model calls are recorded and limited like any others."""

    def __init__(
        self,
        agent: AbstractAgent[object, object],
        caller: Caller,
        fence: Fence,
        *,
        toolsets: RunToolsets,
        deps: DepsFunction | None,
        retry_on: Collection[str] | None,
        max_calls: int,
    ) -> None:
        """`deps` gives the agent's dependencies. `retry_on` names its tools' transient
        exceptions, as in `failure_of`; `max_calls` limits the tool calls of a response."""
        self._toolsets = toolsets
        self._deps = deps
        self._retry_on = retry_on
        self._agent = agent
        self._max_calls = max_calls
        self._caller = caller
        self._fence = fence

    async def run(self, handoff: Handoff) -> Outcome:
        requester = Requester("worker", handoff.task_id, handoff.attempt, shown=True)
        try:
            paused = handoff.paused
            kept = StoredConversation.of(paused) if paused is not None else None
            async with self._toolsets.use(servers_in(*self._agent.toolsets), handoff.to_agent):
                result = await self._agent.run(
                    briefing.opening(handoff, self._fence) if kept is None else None,
                    message_history=kept.model_messages if kept is not None else None,
                    deferred_tool_results=_results(kept, paused) if kept and paused else None,
                    model=self._watched(requester, handoff.key),
                    deps=await self._deps_for(handoff),
                )
        except ToolsNotStarted as error:
            return error.failure
        except BudgetUsedUp as error:
            return Failed(kind="budget", message=str(error))
        except ModelError as error:
            return Failed(kind="error", message=str(error), transient=error.transient)
        except (AgentRunError, UserError) as error:
            # A model's error gets here from an agent that calls another agent itself.
            transient = isinstance(error, ModelAPIError) and request_failure(error).transient
            message = f"the agent failed: {error}"
            return Failed(kind="error", message=message, transient=transient)
        except Exception as error:
            return failure_of(error, on=self._retry_on)
        output = cast("_Result", result).output
        if kept is not None and paused is not None:
            self._record_approved(handoff, kept, paused, cast("_Result", result).all_messages())
        if isinstance(output, DeferredToolRequests):
            if not output.calls:
                messages = cast("_Result", result).all_messages()
                return _pause(handoff, messages, output.approvals)
            waiting = [*output.approvals, *output.calls]
            names = ", ".join(call.tool_name for call in waiting)
            message = f"the agent needs a person for {names}"
            return Escalated(reason="ambiguous_input", message=message)
        return outcome_of(output)

    def _record_approved(
        self,
        handoff: Handoff,
        kept: StoredConversation,
        paused: PausedAttempt,
        messages: Sequence[ModelMessage],
    ) -> None:
        log = ToolLog(self._caller.recorder, handoff)
        now_s = asyncio.get_running_loop().time()
        replies = {
            part.tool_call_id: part
            for message in messages
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        }
        for call in kept.pending_calls(paused):
            if not (paused.replies or {}).get(call.key, CallReply(approved=False)).approved:
                continue
            part = replies.get(call.part.tool_call_id)
            if call.changed:
                log.unmade(call, CHANGED, now_s)
            elif part is None:
                log.unmade(call, "the agent did not make it", now_s)
            elif part.outcome == "retried":
                log.unmade(call, part.model_response_str(), now_s)
            else:
                output = KeptText.of(part.model_response_str())
                log.record(call.part, call.arguments, output, None, now_s, approved=call.key)

    async def _deps_for(self, handoff: Handoff) -> object:
        if self._deps is not None:
            given = self._deps(handoff)
            return await given if inspect.isawaitable(given) else given
        kind = self._agent.deps_type
        if (get_origin(kind) or kind) is ToolContext:
            return tool_context(handoff)
        if kind in (None, NoneType, object, Any) or NoneType in get_args(kind):
            return None
        name = getattr(kind, "__name__", kind)
        raise UserError(
            f"its `deps_type` is {name}: give worker {handoff.to_agent!r} `deps`, a function that "
            "returns them, such as `deps=lambda handoff: handoff.run_context`"
        )

    def _watched(self, requester: Requester, task_key: str) -> Model | None:
        model = self._agent.model
        if model is None:
            return None
        return _RecordedModel(model, self._caller, requester, task_key, self._max_calls)


def _pause(
    handoff: Handoff, messages: list[ModelMessage], calls: Sequence[ToolCallPart]
) -> Escalated:
    """The outcome of an agent's run that waits for an approval of `calls`."""
    said, pending = Conversation(handoff.to_agent), list[PendingCall]()
    said.messages = messages
    for call in calls:
        arguments = call.args_as_dict()
        # The provider's id tells apart calls with the same arguments.
        task = f"{handoff.key}/{call.tool_call_id}"
        own = arguments.get(PARAMETER) or key(task, call.tool_name, arguments, occurrence=1)
        pending.append(PendingCall(call, own, without_key(arguments)))
    return said.pause(pending, step=0, toolbox=ToolboxState())


def _results(kept: StoredConversation, paused: PausedAttempt) -> DeferredToolResults:
    """What the agent is told about the calls that it waits for."""
    results = DeferredToolResults()
    for call in kept.pending_calls(paused):
        reply = (paused.replies or {}).get(call.key, CallReply(approved=False))
        decided: bool | ToolDenied = True
        if not reply.approved or call.changed:
            decided = ToolDenied(not_made(CHANGED) if reply.approved else refusal(reply.reason))
        results.approvals[call.part.tool_call_id] = decided
    return results


class _RecordedModel(WrapperModel):
    """Requests go through our caller, and tools that take idempotency keys get them."""

    def __init__(
        self, spec: ModelSpec, caller: Caller, requester: Requester, task_key: str, max_calls: int
    ) -> None:
        super().__init__(caller.model(spec))
        self._max_calls = max_calls
        self._task_key = task_key
        self._spec = spec
        self._caller = caller
        self._requester = requester

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Without tool calls beyond the worker's limit, which the agent would run."""
        tools = model_request_parameters.function_tools
        keyed = {tool.name for tool in tools if takes_key(tool)}
        response = await self._caller.forward(
            self._requester,
            _without_keys(messages, keyed),
            settings=model_settings,
            parameters=replace(
                model_request_parameters, function_tools=[for_model(tool) for tool in tools]
            ),
            model=self._spec,
        )
        beyond = [id(call) for call in response.tool_calls[self._max_calls :]]
        if not beyond and not keyed:
            return response
        kept = [part for part in response.parts if id(part) not in beyond]
        return replace(response, parts=_with_keys(kept, keyed, messages, self._task_key))

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[object] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The wrapped model's response as a stream, for agents that ask for one."""
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(
            response, model_request_parameters=model_request_parameters, replay_events=True
        )


def _without_keys(messages: list[ModelMessage], keyed: Collection[str]) -> list[ModelMessage]:
    """The messages as the model may see them: without the keys of the calls of `keyed` tools."""
    if not keyed:
        return messages
    return [
        replace(
            message,
            parts=[
                replace(part, args=without_key(part.args_as_dict()))
                if isinstance(part, ToolCallPart)
                and part.tool_name in keyed
                and PARAMETER in part.args_as_dict()
                else part
                for part in message.parts
            ],
        )
        if isinstance(message, ModelResponse)
        else message
        for message in messages
    ]


def _with_keys(
    parts: Sequence[ModelResponsePart],
    keyed: Collection[str],
    messages: Sequence[ModelMessage],
    task_key: str,
) -> list[ModelResponsePart]:
    """The parts of a response, with a key in each call of the `keyed` tools."""
    calls = [
        part
        for message in messages
        if isinstance(message, ModelResponse)
        for part in message.tool_calls
        if part.tool_name in keyed
    ]
    seen = [(part.tool_name, without_key(part.args_as_dict())) for part in calls]
    made: list[ModelResponsePart] = []
    for part in parts:
        if isinstance(part, ToolCallPart) and part.tool_name in keyed:
            arguments = without_key(part.args_as_dict())
            if INVALID_JSON_KEY in arguments:  # the agent tells the model what is wrong
                made.append(part)
                continue
            seen.append((part.tool_name, arguments))
            own = key(task_key, *seen[-1], occurrence=seen.count(seen[-1]))
            made.append(replace(part, args={**arguments, PARAMETER: own}))
        else:
            made.append(part)
    return made


def as_agent(worker: Worker) -> AbstractAgent[object, object]:
    """The agent in a worker's `run`. Raises `InputError` for anything else."""
    if isinstance(worker.run, AbstractAgent):
        return cast("AbstractAgent[object, object]", worker.run)
    kind = type(worker.run).__name__
    raise InputError(f"worker {worker.name!r}: `run` is {kind}, neither a function nor an Agent")
