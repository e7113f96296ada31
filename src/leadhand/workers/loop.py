"""The worker's loop: a model and its tools work on one task until it answers or escalates. Each
step is one model call; the model sees only its instructions and the handoff."""

import math
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequestPart, ModelResponse, UserPromptPart
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.outcome import (
    Completed,
    Escalated,
    Failed,
    FailureKind,
    Handoff,
    Outcome,
    Result,
)
from leadhand.contracts.team import ModelSpec, Tier, Worker
from leadhand.errors import BudgetUsedUp, ModelError
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import (
    MAX_REPAIRS,
    BadAnswer,
    answer_in,
    arguments_of,
    bounded,
    first_message,
    reply,
    with_first_calls,
)
from leadhand.models.text_calls import call_among_words
from leadhand.untrusted.fence import Fence
from leadhand.workers import briefing
from leadhand.workers.conversation import Conversation, StoredConversation
from leadhand.workers.endings import ESCALATE, escalation, escalation_in, final_answer
from leadhand.workers.open_toolsets import RunToolsets, ToolsNotStarted
from leadhand.workers.output import outcome_of
from leadhand.workers.toolbox import NeedsPerson, RepeatedCalls, Toolbox
from leadhand.workers.toolsets import Toolset
from leadhand.workers.wrappers import completed_or_escalated

MAX_REFUSED_CALLS = 100
"""Refused tool calls of one response that stay in the conversation. Each costs time and tokens."""
_TOO_EARLY = "This was not taken, because you called tools beside it: look at their results first."
DEFAULT_STEPS = 10


class ModelWorker:
    def __init__(
        self,
        worker: Worker,
        models: Mapping[Tier, Sequence[ModelSpec]],
        *,
        toolset: Toolset,
        toolsets: RunToolsets,
        caller: Caller,
        fence: Fence,
    ) -> None:
        """`models` are the team's, by tier; `toolset` is opened with the run's `toolsets`."""
        self.worker = worker
        self.toolset, self.toolsets = toolset, toolsets
        self.caller = caller
        self.fence = fence
        self.form = final_answer(worker.output)
        self.instructions = briefing.instructions(worker)
        # Without tools there is rarely a second call that could read the cache.
        cache = {"cache": True} if worker.tools else {}
        self.settings = {**cache, **worker.settings}
        self.max_bytes = int(worker.max_output_mb * 1_000_000)
        self.plain_request = CallRequest(
            self.instructions, settings=self.settings, max_bytes=self.max_bytes
        )
        self._models: dict[str, Sequence[ModelSpec]] = {**models}

    async def run(self, handoff: Handoff, draft: Result | None = None) -> Outcome:
        attempt = _Attempt(self, handoff, self._models_for(handoff), draft)
        return outcome_of(await self._outcome(attempt))

    async def _outcome(self, attempt: "_Attempt") -> Outcome:
        try:
            return await (attempt.plain() if self.worker.plain else attempt.work())
        except BudgetUsedUp as error:
            return attempt.failed("budget", str(error))
        except ModelError as error:
            return attempt.failed("error", str(error), transient=error.transient)
        except BadAnswer as error:
            return attempt.failed("invalid_output", error.why)
        except UserError as error:
            return attempt.failed("tool_error", f"its tools can't be used: {error}")
        except ToolsNotStarted as error:
            return error.failure
        except RepeatedCalls as error:
            return attempt.failed("step_limit", str(error))
        except NeedsPerson as error:
            return Escalated(reason="ambiguous_input", message=str(error))

    def _models_for(self, handoff: Handoff) -> Sequence[ModelSpec]:
        if self.worker.model is not None:
            return (self.worker.model,)
        return self._models.get(handoff.limits.tier or "standard") or self._models["standard"]


class _Attempt:
    def __init__(
        self,
        runner: ModelWorker,
        handoff: Handoff,
        models: Sequence[ModelSpec],
        draft: Result | None,
    ) -> None:
        self._runner = runner
        self._worker = runner.worker
        self._handoff = handoff
        self._models = models
        self._draft = draft
        self._requester = Requester("worker", handoff.task_id, handoff.attempt, shown=True)
        self._said = Conversation(self._worker.name)
        self._instructions = runner.instructions
        self._requested_calls = 0
        """Tool calls in the last response, including those that were dropped."""

    async def plain(self) -> Outcome:
        request = self._runner.plain_request
        response = await self._ask(request)
        text = answer_in(response, request).readable().text
        return Completed(result=Result(output=text, usage=self._said.usage))

    async def work(self) -> Outcome:
        limits = self._handoff.limits
        max_steps = limits.max_steps or DEFAULT_STEPS
        async with AsyncExitStack() as stack:
            toolbox = await self._toolbox(stack)
            self._instructions = joined(self._runner.instructions, await toolbox.instructions())
            first = await self._continue(toolbox) + 1
            for step in range(first, max_steps + 1):
                if step == max_steps > 1:
                    self._tell([UserPromptPart(prompt("leadhand.workers", "last_step"))])
                request = self._request(await toolbox.definitions(step), first=step == 1)
                response = await self._ask(request)
                after = self._outcome_or_replies(response, request)
                if isinstance(after, Completed | Escalated | Failed):
                    return after
                used = self._said.usage.input_tokens + self._said.usage.output_tokens
                if limits.max_tokens is not None and used >= limits.max_tokens:
                    message = f"{used:,} tokens used of {limits.max_tokens:,}"
                    return self.failed("step_limit", message)
                if step == max_steps:
                    break  # the model would not see what its tools return
                calls = [call for call in response.tool_calls if not self._is_final(call.tool_name)]
                self._tell([*after, *await toolbox.answer(calls, made=self._requested_calls)])
                if toolbox.pending:
                    return self._said.pause(toolbox.pending, step=step, toolbox=toolbox.state())
        return self.failed("step_limit", f"no answer within {max_steps} steps")

    def failed(self, kind: FailureKind, message: str, *, transient: bool = False) -> Failed:
        """The failure, with the model's last text as its partial result."""
        form = None if self._worker.plain else self._runner.form.definition
        partial = self._said.partial_result(form)
        return Failed(kind=kind, message=message, partial=partial, transient=transient)

    def _request(self, tools: Sequence[ToolDefinition], *, first: bool) -> CallRequest:
        runner, said = self._runner, self._said.usage
        left = (self._handoff.limits.max_tokens or math.inf) - said.input_tokens
        request = CallRequest(
            self._instructions, settings=runner.settings, max_bytes=runner.max_bytes
        )
        tokens = left - said.output_tokens
        return runner.form.asked_for(request, tools, tokens=tokens, first=first)

    async def _toolbox(self, stack: AsyncExitStack) -> Toolbox:
        runner, caller = self._runner, self._runner.caller
        toolbox = Toolbox(
            runner.toolset,
            self._handoff,
            caller.recorder,
            runner.fence,
            self._worker,
            model=caller.model(self._models[0]),
            messages=self._said.messages,
        )
        return await toolbox.open(stack, runner.toolsets)

    async def _continue(self, toolbox: Toolbox) -> int:
        """The steps before the attempt was paused, whose pending calls have their replies now."""
        paused = self._handoff.paused
        kept = StoredConversation.of(paused) if paused is not None else None
        if paused is None or kept is None:
            return 0
        self._said.restore(kept)
        toolbox.restore(kept.toolbox)
        await toolbox.definitions(kept.step)
        self._tell(await toolbox.finish(kept.pending_calls(paused), paused.replies or {}))
        return kept.step

    async def _ask(self, request: CallRequest) -> ModelResponse:
        if not self._said.messages:
            fence, material = self._runner.fence, self._worker.material
            text = briefing.opening(self._handoff, fence, material=material, draft=self._draft)
            self._said.messages.append(first_message(text, request))
        response, usage = await self._runner.caller.ask(
            self._requester, self._said.messages, request=request, models=self._models
        )
        self._requested_calls = len(response.tool_calls)
        response = with_first_calls(response, self._worker.max_tool_calls + MAX_REFUSED_CALLS)
        # Otherwise unchanged: thinking signatures and the like must be sent back as they came.
        self._said.messages.append(bounded(response, max_bytes=request.max_bytes))
        self._said.usage = self._said.usage.plus(usage)
        return response

    def _tell(self, parts: list[ModelRequestPart]) -> None:
        self._said.tell(parts, instructions=self._instructions)

    def _is_final(self, name: str) -> bool:
        return name in (ESCALATE.name, self._runner.form.definition.name)

    def _outcome_or_replies(
        self, response: ModelResponse, request: CallRequest
    ) -> Outcome | list[ModelRequestPart]:
        """The outcome if the model ends here, else replies to its failed attempts to end."""
        final_calls = [call for call in response.tool_calls if self._is_final(call.tool_name)]
        if response.tool_calls and not final_calls:
            return []
        only_escalates = {call.tool_name for call in final_calls} == {ESCALATE.name}
        if only_escalates and len(final_calls) < len(response.tool_calls):
            return [reply(call, _TOO_EARLY) for call in final_calls]
        try:
            offered = [tool.name for tool in request.tools]
            if wrong := call_among_words(response, offered, self._said.messages):
                raise BadAnswer(wrong)
            for call in final_calls:
                if call.tool_name == ESCALATE.name:
                    arguments = arguments_of(call, max_bytes=request.max_bytes)
                    if isinstance(arguments, str):
                        raise BadAnswer(arguments)
                    return escalation(arguments, self._said.usage)
            answer = answer_in(response, request).readable()
            if (unable := escalation_in(answer, self._said.usage)) is not None:
                return unable
            result = self._runner.form.result(answer, self._said.usage)
            return completed_or_escalated(result, self._worker.min_confidence)
        except BadAnswer as unfit:
            self._said.repairs += 1
            if self._said.repairs > MAX_REPAIRS:
                return self.failed("invalid_output", unfit.why)
            return [reply(call, str(unfit)) for call in final_calls] or [UserPromptPart(str(unfit))]
