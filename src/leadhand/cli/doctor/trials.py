"""Tries a model: plain text, a tool call, a schema, the context length."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.tools import ToolDefinition

from leadhand.cli.doctor.command import Check
from leadhand.contracts.role import Answers
from leadhand.contracts.task import Plan
from leadhand.contracts.team import ModelSpec, Team, Worker
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.errors import LeadhandError, ModelError
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.connections import Connection, Connections
from leadhand.models.forecast import BYTES_A_TOKEN
from leadhand.models.habits import VARIABLE, answers_of
from leadhand.models.listing import learn_context
from leadhand.models.structured import answer_in, arguments_of, first_message, object_schema
from leadhand.models.text_calls import IN_TEXT
from leadhand.planners.proposal import form, proposed
from leadhand.plans.checks import check, errors_in
from leadhand.tools.text import counted

TIMEOUT_S = 60.0
MAX_ANSWER_TOKENS = 400
"""The limit of an answer in a form, which needs a tenth of it."""
_FEW_TOKENS = 5
"""Of so few the speed tells nothing."""
ENOUGH_TOKENS = 16_000
"""A shorter context is too short for most tasks with tools."""
_NEEDED = f"tasks with tools need {ENOUGH_TOKENS:,} or more"

_OTHER_MODEL = "try another model with --model"
_FASTER = "use a faster model, or a faster machine"
_FIXES = {
    "check": "",  # the error says it itself
    "could not be reached": (
        "check that the server runs, its address (such as OPENAI_BASE_URL) and your network"
    ),
    "without end": "use a model that ends its answers",
    "slow": _FASTER,
    "within": _FASTER,
}
"""By words of an error, the first that it has."""

_REQUESTER = Requester("doctor")
_INSTRUCTIONS = "You are being tested by a program. Answer briefly and exactly as asked."
_ADD = ToolDefinition(
    name="add",
    description="The sum of two whole numbers.",
    parameters_json_schema=object_schema(a={"type": "integer"}, b={"type": "integer"}),
)
_TEAM = Team("trial", workers=[Worker("finder", "Finds facts"), Worker("writer", "Writes texts")])
_FORM = form(_TEAM)
"""As large as forms are: a model that ends a short one may write a plan without end."""
_PLAN = (
    "Don't answer the question: plan it, as one of the `tasks`, with a short `id`, the `intent`, "
    "the `worker` (`finder` or `writer`), `depends_on` ([]), `done_when` (null), "
    "`tolerates_missing` (false) and `limits` (null). Which city is the Eiffel Tower in?"
)


async def trials_of(spec: ModelSpec, home: Path) -> list[Check]:
    """Four trials of one model, as a run would call it; only the first if it does not answer.
    `home` keeps how it answers in a form. Raises `InputError` for a bad name or way."""
    async with Connections(home=home, answers=answers_of({}, os.environ)) as connections:
        recorder = Recorder("doctor", MemoryJournal(), clock=SystemClock())
        subject = _Subject(Caller(connections, recorder), spec, connections.to(spec))
        first = await _held("plain answer", subject.plain)
        if not first.passed:
            return [first]
        return [
            first,
            await _held("tool call", subject.tool),
            await _held("answer in a form", subject.form),
            await _held("context length", subject.context),
        ]


class _TooSlow(ModelError):
    def __init__(self, tokens: int, rate: float) -> None:
        self.endless = tokens >= MAX_ANSWER_TOKENS // 2
        why = "it wrote without end" if self.endless else "it is slow"
        why += f": {counted(tokens, 'token')} in {TIMEOUT_S:g} s, {rate:.1f} a second"
        super().__init__(why if tokens else f"no answer within {TIMEOUT_S:g} s", transient=False)


async def _held(name: str, trial: Callable[[], Awaitable[Check]]) -> Check:
    try:
        return await trial()
    except LeadhandError as error:
        fixes = (fix for words, fix in _FIXES.items() if words in str(error))
        return Check(name, False, str(error), next(fixes, _OTHER_MODEL))


@dataclass
class _Subject:
    caller: Caller
    spec: ModelSpec
    connection: Connection
    chars: int = 0
    pieces: int = 0
    began_s: float = 0.0

    def _speed(self) -> tuple[int, float]:
        """Tokens, and tokens a second."""
        tokens = max(self.chars // BYTES_A_TOKEN, self.pieces)
        taken_s = asyncio.get_running_loop().time() - self.began_s
        return tokens, tokens / max(taken_s, 0.001)

    async def plain(self) -> Check:
        request = CallRequest(_INSTRUCTIONS)
        answer = answer_in(await self._ask("Say the word: ready", request), request)
        if answer.problem is not None:
            return Check("plain answer", False, "it sent no text", _OTHER_MODEL)
        tokens, rate = self._speed()
        speed = f", {rate:.0f} tokens a second" if tokens > _FEW_TOKENS else ""
        return Check("plain answer", True, f"{len(answer.text):,} characters{speed}")

    async def tool(self) -> Check:
        asked = "What is 20417 plus 3586? Use the tool `add`; do not reckon yourself."
        response = await self._ask(asked, CallRequest(_INSTRUCTIONS, tools=[_ADD]))
        wrong = _wrong_call(response)
        if wrong is None:
            in_text = response.tool_calls[0].tool_call_id.startswith(IN_TEXT)
            found = "called with valid arguments" + (", as text" if in_text else "")
            return Check("tool call", True, found)
        fix = "workers with tools need it: use a model, and a server, that support tool calls"
        return Check("tool call", False, wrong, fix)

    async def form(self) -> Check:
        """A plan, in the first way that works."""
        failed: list[str] = []
        for way in self.connection.habits.ways:
            wrong = await self._wrong_form(way)
            if wrong is None:
                self.connection.habits.succeeded(way, CallRequest("", output=_FORM).size)
                set_it = f"; {VARIABLE}={way} saves finding that out" if failed else ""
                found = "; ".join([f"a plan, as `{way}`", *failed])
                return Check("answer in a form", True, found + set_it)
            failed.append(f"as `{way}` {wrong}")
        fix = "plans and typed answers need it: use a model that supports structured output"
        return Check("answer in a form", False, "; ".join(failed), fix)

    async def _wrong_form(self, way: Answers) -> str | None:
        settings = {"max_tokens": MAX_ANSWER_TOKENS}
        request = CallRequest(_INSTRUCTIONS, output=_FORM, answers=way, settings=settings)
        try:
            response = await self._ask(_PLAN, request)
        except _TooSlow as error:
            if error.endless:
                return str(error)
            raise
        if response.finish_reason == "length":
            return f"it wrote without end, at {self._speed()[1]:.0f} tokens a second"
        data = answer_in(response, request).data
        if data is None:
            return "it answered in words, without the form"
        plan = proposed(data, _PLAN, _TEAM)
        found = check(plan, _TEAM, author="model") if isinstance(plan, Plan) else plan
        return next((f"it is no plan: {one.message}" for one in errors_in(found)), None)

    async def context(self) -> Check:
        """The context length, as the server or pydantic-ai states it."""
        await learn_context(self.connection.model, self.connection.habits)
        by_server, known = self.connection.habits.context_tokens, self.connection.context_tokens
        if known is None:
            found = f"neither its server nor its maker says it; {_NEEDED}"
            return Check("context length", True, found)
        found = f"{known:,} tokens, as its {'server' if by_server else 'maker'} says"
        fix = (
            f"{_NEEDED}: start the server with a longer context (Ollama: OLLAMA_CONTEXT_LENGTH, "
            "llama.cpp: --ctx-size)"
        )
        return Check("context length", known >= ENOUGH_TOKENS, found, fix)

    async def _ask(self, text: str, request: CallRequest) -> ModelResponse:
        self.chars, self.pieces, self.began_s = 0, 0, asyncio.get_running_loop().time()

        def hear(_: int, piece: str) -> None:
            self.chars += len(piece)
            self.pieces += 1

        messages: list[ModelMessage] = [first_message(text, request)]
        try:
            async with asyncio.timeout(TIMEOUT_S):
                response, _ = await self.caller.ask(
                    _REQUESTER, messages, request=request, models=[self.spec], follow=lambda: hear
                )
        except TimeoutError as error:
            raise _TooSlow(*self._speed()) from error
        return response


def _wrong_call(response: ModelResponse) -> str | None:
    call = next(iter(response.tool_calls), None)
    if call is None:
        return "it answered in words and called no tool"
    arguments = arguments_of(call)
    if call.tool_name != _ADD.name or isinstance(arguments, str):
        return f"it called {call.tool_name!r} in a way that can't be read"
    if not all(isinstance(arguments.get(name), int) for name in ("a", "b")):
        return "it called the tool with arguments that it does not take"
    return None
