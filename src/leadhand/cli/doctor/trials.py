"""Tries a model: plain text, a tool call, a schema, the context length.

The only module of this command that imports what calls models. Each trial is a request or more.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.tools import ToolDefinition

from leadhand.cli.doctor.command import Check
from leadhand.contracts.team import ModelSpec, model_name
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.errors import LeadhandError, ModelError
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.connections import Connections
from leadhand.models.defaults import PROVIDERS
from leadhand.models.listing import ListingError, list_models
from leadhand.models.structured import answer_in, arguments_of, first_message, object_schema

TIMEOUT_S = 60.0
"""How long one trial may take."""
LISTING_TIMEOUT_S = 5.0
CONTEXT_TOKENS = (4_000, 16_000, 64_000, 128_000)
"""The prompts of the context trial, the shortest first."""
ENOUGH_TOKENS = 16_000
"""A shorter context is too short for most tasks with tools."""

_REQUESTER = Requester("doctor")
_INSTRUCTIONS = "You are being tested by a program. Answer briefly and exactly as asked."
_ADD = ToolDefinition(
    name="add",
    description="The sum of two whole numbers.",
    parameters_json_schema=object_schema(a={"type": "integer"}, b={"type": "integer"}),
)
_FORM = ToolDefinition(
    name="final_answer",
    description="Give your answer.",
    parameters_json_schema=object_schema(
        city={"type": "string"},
        country={"type": "string"},
        confidence={"type": "integer", "minimum": 0, "maximum": 100},
    ),
)


async def trials_of(spec: ModelSpec) -> list[Check]:
    """Four trials of one model, as a run would call it; only the first if it does not answer.

    Raises `InputError` for a bad name.
    """
    async with Connections() as connections:
        recorder = Recorder("doctor", MemoryJournal(), clock=SystemClock())
        subject = _Subject(Caller(connections, recorder), spec, connections.to(spec).model)
        first = await _held("plain answer", subject.plain)
        if not first.passed:
            return [first]
        return [
            first,
            await _held("tool call", subject.tool),
            await _held("answer in a form", subject.form),
            await _held("context length", subject.context),
        ]


async def _held(name: str, trial: Callable[[], Awaitable[Check]]) -> Check:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await trial()
    except TimeoutError:
        fix = "use a faster model, or a faster machine"
        return Check(name, False, f"no answer within {TIMEOUT_S:g} s", fix)
    except LeadhandError as error:
        return Check(name, False, str(error), _fix_for(str(error)))


def _fix_for(said: str) -> str:
    if "check" in said:
        return ""  # it says so itself
    if "could not be reached" in said:
        return "check that the server runs, its address (such as OPENAI_BASE_URL) and your network"
    return "try another model with --model"


class _Subject(NamedTuple):
    """The model on trial."""

    caller: Caller
    spec: ModelSpec
    model: Model

    async def plain(self) -> Check:
        """A plain question."""
        request = CallRequest(_INSTRUCTIONS)
        answer = answer_in(await self._ask("Say the word: ready", request), request)
        if answer.problem is not None:
            return Check("plain answer", False, "it sent no text", "try another model with --model")
        return Check("plain answer", True, f"{len(answer.text):,} characters")

    async def tool(self) -> Check:
        """A question that needs a tool."""
        asked = "What is 20417 plus 3586? Use the tool `add`; do not reckon yourself."
        response = await self._ask(asked, CallRequest(_INSTRUCTIONS, tools=[_ADD]))
        wrong = _wrong_call(response)
        if wrong is None:
            return Check("tool call", True, "called with valid arguments")
        fix = "workers with tools need it: use a model, and a server, that support tool calls"
        return Check("tool call", False, wrong, fix)

    async def form(self) -> Check:
        """An answer with given fields."""
        request = CallRequest(_INSTRUCTIONS, output=_FORM)
        answer = answer_in(await self._ask("Which city is the Eiffel Tower in?", request), request)
        data = answer.data
        if data is None:
            wrong = "it answered in words, without the form"
        elif missing := [name for name in ("city", "country", "confidence") if name not in data]:
            wrong = f"its answer lacks {', '.join(missing)}"
        elif not isinstance(data["confidence"], int):
            wrong = "its `confidence` is not a whole number"
        else:
            return Check("answer in a form", True, "every field there")
        fix = "plans and typed answers need it: use a model that supports structured output"
        return Check("answer in a form", False, wrong, fix)

    async def context(self) -> Check:
        """The context length, as pydantic-ai or the server states it, else measured."""
        known = self.model.context_window
        if known is not None:
            return _context(known, f"{known:,} tokens, as its maker says")
        told = await self._listed_context()
        if told is not None:
            return _context(told, f"{told:,} tokens, as its server says")
        return await self._measured()

    async def _listed_context(self) -> int | None:
        url, key = self.model.base_url, _key(model_name(self.spec))
        try:
            models = await list_models(url, key=key, timeout_s=LISTING_TIMEOUT_S) if url else []
        except ListingError:
            return None
        return next((m.context_tokens for m in models if m.id == self.model.model_name), None)

    async def _measured(self) -> Check:
        fits, why = 0, ""
        for tokens in CONTEXT_TOKENS:
            # Every common tokenizer makes one token of a short common word.
            filler = "Read this and answer only with the word ready.\n" + "one two " * (tokens // 2)
            try:
                response = await self._ask(filler, CallRequest(_INSTRUCTIONS))
            except ModelError as error:
                why = f"; {tokens:,} failed: {error}"
                break
            seen = response.usage.input_tokens
            # Some servers cut a long request silently; their token count shows it.
            if 0 < seen < tokens // 2:
                why = f"; of {tokens:,} it read {seen:,} and said nothing"
                fits = max(fits, seen)
                break
            fits = tokens
        return _context(fits, f"at least {fits:,} tokens{why}")

    async def _ask(self, text: str, request: CallRequest) -> ModelResponse:
        messages: list[ModelMessage] = [first_message(text, request)]
        response, _ = await self.caller.ask(
            _REQUESTER, messages, request=request, models=[self.spec]
        )
        return response


def _wrong_call(response: ModelResponse) -> str | None:
    """What is wrong with the call of `add` in a response; None if nothing is."""
    call = next(iter(response.tool_calls), None)
    if call is None:
        return "it answered in words and called no tool"
    arguments = arguments_of(call)
    if call.tool_name != _ADD.name or isinstance(arguments, str):
        return f"it called {call.tool_name!r} in a way that can't be read"
    if not all(isinstance(arguments.get(name), int) for name in ("a", "b")):
        return "it called the tool with arguments that it does not take"
    return None


def _context(tokens: int, said: str) -> Check:
    if tokens >= ENOUGH_TOKENS:
        return Check("context length", True, said)
    fix = (
        f"tasks with tools need {ENOUGH_TOKENS:,} or more: start the server with a longer context "
        "(Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size)"
    )
    return Check("context length", False, said, fix)


def _key(spec: str) -> str | None:
    """The key of a model, which its endpoint needs for its list of models too."""
    provider = spec.partition(":")[0].removesuffix("-chat").removesuffix("-responses")
    keys = (os.environ.get(row.variable) for row in PROVIDERS if row.provider == provider)
    return next((key for key in keys if key), None)
