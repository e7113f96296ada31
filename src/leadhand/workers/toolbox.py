"""Runs the tool calls of a worker's model: checked, concurrently, and within limits. Errors are
text that says how to call the tool right; output is fenced, and cut into pages."""

import asyncio
import inspect
import json
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import cast

from pydantic import JsonValue
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequestPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_ai.usage import RunUsage
from pydantic_core import to_json
from rapidfuzz import process

from leadhand.contracts.outcome import Handoff, tool_context
from leadhand.contracts.people import CallReply
from leadhand.contracts.team import Worker
from leadhand.contracts.tools import ToolContext
from leadhand.engine.recorder import Recorder
from leadhand.models.prompts import joined
from leadhand.models.structured import MAX_REPAIRS, BadAnswer, arguments_of, reply
from leadhand.untrusted.cutting import cut
from leadhand.untrusted.fence import Fence
from leadhand.workers.conversation import CHANGED, PendingCall, ToolboxState, refusal
from leadhand.workers.function import is_being_cancelled
from leadhand.workers.idempotency import PARAMETER, for_model, key, takes_key, without_key
from leadhand.workers.open_toolsets import RunToolsets
from leadhand.workers.texts import READ_MORE, KeptText, ReadableTexts
from leadhand.workers.tool_log import LOGGED_CHARS, ToolLog, error_reply, is_rich, unwrapped
from leadhand.workers.toolsets import Toolset, opened

REFUSE_AT_REPEAT = 3
"""The tool is not run for the third call with the same arguments, nor for later ones."""
FAIL_AT_REPEAT = 6
"""The sixth call with the same arguments fails the attempt."""

_Answer = Coroutine[object, object, ToolReturnPart | None]


class NeedsPerson(Exception):
    """A call that a person has to make; the message has its arguments."""


class RepeatedCalls(Exception):
    """The model keeps making the same call."""


class Toolbox:
    """Is opened first."""

    def __init__(
        self,
        toolset: Toolset,
        handoff: Handoff,
        recorder: Recorder,
        fence: Fence,
        worker: Worker,
        *,
        model: Model,
        messages: list[ModelMessage],
    ) -> None:
        self._max_calls = worker.max_tool_calls
        self._max_bytes = int(worker.max_output_mb * 1_000_000)
        self._toolset: AbstractToolset[ToolContext] = toolset
        # Most workers have no tools, and asking an empty toolset costs as much as any other.
        self._is_empty = not toolset.toolsets
        self._context = RunContext(
            deps=tool_context(handoff),
            model=model,
            usage=RunUsage(),
            prompt=handoff.intent,
            messages=messages,
        )
        self._handoff = handoff
        self._log = ToolLog(recorder, handoff)
        self._tools: Mapping[str, ToolsetTool[ToolContext]] = {}
        self._calls: Counter[tuple[str, str]] = Counter()
        self._made = 0
        self._unreadable = 0
        self._texts = ReadableTexts(fence, handoff.inputs)
        self._refused: dict[tuple[str, str], str] = {}
        """Calls that a person refused in this attempt, each with the reason."""
        self._changed: set[str] = set()
        """The keys of approved calls that have to be approved again."""
        self.pending: list[PendingCall] = []
        """Calls that `answer` did not make, because they need an approval."""

    async def open(self, stack: AsyncExitStack, run: RunToolsets) -> "Toolbox":
        """Open its toolsets, with those of the `run`. Raises `ToolsNotStarted`."""
        self._toolset = await opened(
            self._toolset, run, self._context, stack, by=self._handoff.to_agent
        )
        return self

    async def instructions(self) -> str:
        if self._is_empty:
            return ""
        found = await self._toolset.get_instructions(self._context)
        parts = [found] if found is None or isinstance(found, str | InstructionPart) else found
        return joined(*(p if isinstance(p, str) else p.content for p in parts if p is not None))

    async def definitions(self, step: int) -> list[ToolDefinition]:
        """The tools that the model is offered in this step, without the ways to end."""
        if not self._is_empty:
            self._context = replace(self._context, run_step=step)
            self._toolset = await self._toolset.for_run_step(self._context)
            self._tools = await self._toolset.get_tools(self._context)
        offered = [for_model(tool.tool_def) for tool in self._tools.values()]
        if self._texts.any_long and READ_MORE.name not in self._tools:
            offered.append(READ_MORE)
        return offered

    async def answer(
        self, calls: Sequence[ToolCallPart], *, made: int | None = None
    ) -> list[ToolReturnPart]:
        """The replies to `calls`, in order, except to those that need an approval, which are
        `pending`.

        Calls run concurrently unless a tool is sequential. `made` is how many the model made; calls
        beyond the limit are refused, and the first of these is logged. Raises `NeedsPerson`,
        `RepeatedCalls`, and `BadAnswer` when arguments are unreadable for the third time.
        """
        calls, beyond = calls[: self._max_calls], calls[self._max_calls :]
        given = [arguments_of(call, max_bytes=self._max_bytes) for call in calls]
        unreadable = next((problem for problem in given if isinstance(problem, str)), None)
        if unreadable is not None:
            self._unreadable += 1
            if self._unreadable > MAX_REPAIRS:
                raise BadAnswer(unreadable)
        self.pending = []
        answers = (self._answer(*one) for one in zip(calls, given, strict=True))
        given_back = [part for part in await self._run(calls, answers) if part is not None]
        # Concurrent calls ask in any order.
        order = {call.tool_call_id: place for place, call in enumerate(calls)}
        self.pending.sort(key=lambda one: order[one.part.tool_call_id])
        return given_back + self._beyond(beyond, made or len(calls) + len(beyond))

    async def finish(
        self, calls: Sequence[PendingCall], replies: Mapping[str, CallReply]
    ) -> list[ModelRequestPart]:
        """Make the approved calls, unless their arguments have changed; returns the replies."""
        refused = CallReply(approved=False)
        decided = [(call, replies.get(call.key, refused)) for call in calls]
        answers = (self._finish(*one) for one in decided)
        parts = await self._run([call.part for call in calls], answers)
        notes = [
            UserPromptPart(f"A person approved {call.part.tool_name} and says: {reply.reason}")
            for call, reply in decided
            if reply.approved and reply.reason
        ]
        return [*(part for part in parts if part is not None), *notes]

    async def _finish(self, call: PendingCall, reply: CallReply) -> ToolReturnPart | None:
        started_s = asyncio.get_running_loop().time()
        tool = self._tools.get(call.part.tool_name)
        if not reply.approved:
            self._refused[_same(call.part.tool_name, call.arguments)] = reply.reason
            return self._log.decline(call.part, call.arguments, refusal(reply.reason), started_s)
        if tool is None:
            return self._log.unmade(call, self._unknown(call.part.tool_name), started_s)
        if call.changed:
            self._changed.add(call.key)
            return self._log.unmade(call, CHANGED, started_s)
        return await self._make(tool, call, approved=True)

    def state(self) -> ToolboxState:
        return ToolboxState(
            calls=tuple((*same, times) for same, times in self._calls.items()),
            refused=tuple((*same, why) for same, why in self._refused.items()),
            changed=tuple(self._changed),
            made=self._made,
            unreadable=self._unreadable,
            texts=self._texts.kept(),
        )

    def restore(self, state: ToolboxState) -> None:
        self._calls.update({(tool, given): times for tool, given, times in state.calls})
        self._refused = {(tool, given): why for tool, given, why in state.refused}
        self._changed = {*state.changed}
        self._made, self._unreadable = state.made, state.unreadable
        self._texts.restore(state.texts)

    async def _run(
        self, calls: Sequence[ToolCallPart], answers: Iterable[_Answer]
    ) -> list[ToolReturnPart | None]:
        alone = any(
            (tool := self._tools.get(call.tool_name)) is not None and tool.tool_def.sequential
            for call in calls
        )
        if alone or len(calls) == 1:
            return [await answer for answer in answers]
        return await _all(answers)

    def _beyond(self, calls: Sequence[ToolCallPart], made: int) -> list[ToolReturnPart]:
        if not calls:
            return []
        # Short: there may be a hundred, and each goes back to the model.
        problem = f"Refused: only the first {self._max_calls} of {made:,} tool calls are run."
        error = f"{problem} ({made - self._max_calls:,} refused)"
        now_s = asyncio.get_running_loop().time()
        self._log.record(calls[0], calls[0].args, KeptText.of(""), error, now_s)
        return [cast("ToolReturnPart", reply(call, problem)) for call in calls]

    async def _answer(
        self, call: ToolCallPart, arguments: dict[str, JsonValue] | str
    ) -> ToolReturnPart | None:
        started_s = asyncio.get_running_loop().time()
        if isinstance(arguments, str):
            return self._log.decline(call, call.args, arguments, started_s)
        tool = self._tools.get(call.tool_name)
        if tool is not None and takes_key(tool.tool_def):
            arguments = without_key(arguments)
        problem = self._refusal(call.tool_name, arguments)
        if problem is not None:
            return self._log.decline(call, arguments, problem, started_s)
        if tool is None:
            return self._read_more(call, arguments, started_s)
        made = self._calls[_same(call.tool_name, arguments)]
        call_key = key(self._handoff.key, call.tool_name, arguments, occurrence=made)
        if call_key in self._handoff.refused:
            why = refusal(self._handoff.refused[call_key])
            return self._log.decline(call, arguments, why, started_s)
        approved = call_key in self._handoff.allowed and call_key not in self._changed
        return await self._make(tool, PendingCall(call, call_key, arguments), approved=approved)

    async def _make(
        self, tool: ToolsetTool[ToolContext], made: PendingCall, *, approved: bool
    ) -> ToolReturnPart | None:
        """Make a call under its key; `None` if it needs an approval first."""
        started_s = asyncio.get_running_loop().time()
        call, arguments = made.part, made.arguments
        key_ = made.key if approved else None
        self._made += 1
        source = f"{call.tool_name}-{self._made}"
        is_valid = False
        try:
            context, given = await self._checked(tool, made, approved=approved)
            is_valid = True
            async with asyncio.timeout(tool.tool_def.timeout):
                value = cast(
                    "object", await self._toolset.call_tool(call.tool_name, given, context, tool)
                )
        except CallDeferred as error:
            shown = cut(json.dumps(arguments, ensure_ascii=False), LOGGED_CHARS)
            raise NeedsPerson(f"{call.tool_name} needs a person: {shown}") from error
        except ApprovalRequired:
            if approved:
                return self._log.unmade(made, "the tool asks for an approval again", started_s)
            self.pending.append(made)
            return None
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                raise
            return self._log.decline(call, arguments, error_reply(error), started_s)
        except BaseException as error:
            if approved and not is_valid:
                return self._log.unmade(made, error_reply(error), started_s)
            return self._log.decline(call, arguments, error_reply(error), started_s, approved=key_)
        output = unwrapped(value)
        parts = cast("list[object]", output) if isinstance(output, list) else [output]
        if any(is_rich(part) for part in parts):
            # Images and the like go to the model as the toolset made them.
            kept = KeptText.of(f"({', '.join(type(part).__name__ for part in parts)})")
            shown = [
                part if is_rich(part) else self._texts.keep(f"{source}.{number}", part)
                for number, part in enumerate(parts, start=1)
            ]
        else:
            shown = self._texts.keep(source, cast("object", output))
            kept = self._texts[source]
        self._log.record(call, arguments, kept, None, started_s, approved=key_)
        return ToolReturnPart(call.tool_name, shown, call.tool_call_id)

    def _refusal(self, name: str, arguments: Mapping[str, JsonValue]) -> str | None:
        if name not in self._tools and name != READ_MORE.name:
            return self._unknown(name)
        same = _same(name, arguments)
        if same in self._refused:
            return refusal(self._refused[same])
        self._calls[same] += 1
        if self._calls[same] >= FAIL_AT_REPEAT:
            raise RepeatedCalls(
                f"{name} was called {self._calls[same]} times with the same arguments"
            )
        if self._calls[same] >= REFUSE_AT_REPEAT:
            return (
                f"You already made this very call {self._calls[same] - 1} times. Use what it gave, "
                "try something else, or end."
            )
        return None

    def _unknown(self, name: str) -> str:
        known = [*self._tools, READ_MORE.name]
        near = process.extractOne(name, known, score_cutoff=60)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        return f"There is no tool {name!r}. {hint}The tools are: {', '.join(known)}."

    async def _checked(
        self, tool: ToolsetTool[ToolContext], made: PendingCall, *, approved: bool
    ) -> tuple[RunContext[ToolContext], dict[str, object]]:
        """The context and the arguments of a call that can be made. Raises what prevents it."""
        if tool.tool_def.kind == "external":
            raise CallDeferred
        call, arguments = made.part, made.arguments
        if takes_key(tool.tool_def):
            arguments = {**arguments, PARAMETER: made.key}
        own = replace(self._context.deps, idempotency_key=made.key, approved=approved)
        context = replace(
            self._context,
            deps=own,
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            tool_call_approved=approved,
        )
        # As JSON: strict types accept dates and the like only from JSON.
        valid: object = tool.args_validator.validate_json(
            to_json(arguments), context=context.validation_context
        )
        given = cast("dict[str, object]", valid)
        if tool.args_validator_func is not None:
            checked: object = tool.args_validator_func(context, **given)
            if inspect.isawaitable(checked):
                await checked
        if tool.tool_def.kind == "unapproved" and not approved:
            raise ApprovalRequired
        return context, given

    def _read_more(
        self, call: ToolCallPart, arguments: Mapping[str, JsonValue], started_s: float
    ) -> ToolReturnPart:
        shown = self._texts.read_on(arguments.get("source"), arguments.get("offset", 0))
        if shown is None:
            known = ", ".join(self._texts) or "none yet"
            problem = f"`source` must be one of: {known}; `offset` must lie in its text, from 0."
            return self._log.decline(call, arguments, problem, started_s)
        self._log.record(call, arguments, KeptText.of(shown), None, started_s)
        return ToolReturnPart(call.tool_name, shown, call.tool_call_id)


async def _all(answers: Iterable[_Answer]) -> list[ToolReturnPart | None]:
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer) for answer in answers]
    except* (NeedsPerson, RepeatedCalls) as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _same(name: str, arguments: Mapping[str, JsonValue]) -> tuple[str, str]:
    return name, json.dumps(arguments, sort_keys=True)
