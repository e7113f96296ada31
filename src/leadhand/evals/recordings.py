"""Keeps the exchanges with models in a file, and answers from it: `--record` and `--replay`.

A request is known by all that it says, without what is new in each run (the marks of fences, run
ids) and without secrets. A request that the recording does not have is not guessed: what changed is
named.
"""

import json
import os
import re
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import JsonValue
from pydantic_ai import RunContext, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from leadhand.contracts.team import ModelSpec, Team, model_name
from leadhand.errors import InputError
from leadhand.models.choice import models_of, with_changed_models
from leadhand.models.connections import Connections
from leadhand.models.replay import dump_response, load_response, texts_of
from leadhand.redaction import Redactor

_OWN = re.compile(r"(?<=data-)[0-9a-f]{16}|\b(?:eval|run)-\d{8}-\d{6}-[0-9a-f]+[\w-]*")
_MAX_SHOWN = 5


class Asked(NamedTuple):
    """What one request said to whichever model, without what is new in each run and secrets."""

    tools: tuple[str, ...]
    instructions: str
    texts: tuple[str, ...]


class Exchanges:
    """The exchanges of an evaluation, in a file. For one event loop, as an `async with` block."""

    def __init__(self, file: Path, *, replay: bool, goes_on: bool = False) -> None:
        """A recording that `goes_on` keeps what it has. Raises `InputError` if it can't be used."""
        self.replays = replay
        self._redact = Redactor.of(os.environ)
        self._connections = Connections()
        self._responses: defaultdict[Asked, deque[JsonValue]] = defaultdict(deque)
        self._first_model = ""
        self._instructions: dict[str, str] = {}
        self.unknown: dict[str, None] = {}
        """What the recording lacks, and why."""
        try:
            if replay:
                for line in file.read_text(encoding="utf-8").splitlines():
                    row = json.loads(line)
                    said = Asked(tuple(row["tools"]), row["instructions"], tuple(row["texts"]))
                    load_response(row["response"])
                    self._responses[said].append(row["response"])
                    self._first_model = self._first_model or row["model"]
            else:
                file.open("a" if goes_on else "w", encoding="utf-8").close()
        except OSError as error:
            raise InputError(f"can't use the recording {file}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{file} is no recording of `eval --record`") from error
        self._file = file

    async def __aenter__(self) -> Self:
        await self._connections.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connections.__aexit__(None, None, None)

    def team(self, team: Team) -> Team:
        named = {f"worker {one.name!r}": one.instructions for one in team.workers}
        named |= {name: one.instructions for name, one in team.roles.items()}
        self._instructions |= {name: text for name, text in named.items() if text}
        if self.replays and not models_of(team) and self._first_model:
            return replace(team, model=self.model(self._first_model))
        return with_changed_models(team, self.model)

    def model(self, spec: ModelSpec) -> ModelSpec:
        if spec is None:
            return None
        if self.replays:
            name = model_name(spec).rpartition(":")[2]
            return ExchangedModel(FunctionModel(_ask_nothing, model_name=name), self)
        return ExchangedModel(self._connections.to(spec).model, self)

    def save(self, model: str, said: Asked, response: ModelResponse) -> None:
        row = {"model": model, **said._asdict(), "response": dump_response(response)}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(self._redact(json.dumps(row)) + "\n")

    def find(self, said: Asked) -> ModelResponse:
        """The recorded response; each is used once, the last one as often as it is needed.

        Raises `UserError` if there is none, which is not tried again.
        """
        found = self._responses.get(said) or self._asked_in_another_way(said)
        if not found:
            self.unknown[self._difference(said)] = None
            raise UserError("the recording has no answer to this request")
        return load_response(found.popleft() if len(found) > 1 else found[0])

    def _asked_in_another_way(self, said: Asked) -> deque[JsonValue] | None:
        """The responses to the same request as another way to answer puts it: with more
        instructions, or fewer, and without some of the tools."""
        for one, found in self._responses.items():
            short, long = sorted((one.instructions, said.instructions), key=len)
            tools, more = sorted((one.tools, said.tools), key=len)
            longer = len(short) < len(long) and long.startswith(short)
            if one.texts == said.texts and longer and {*tools} <= {*more}:
                return found
        return None

    def said(self, messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> Asked:
        def own(text: str) -> str:
            return _OWN.sub("...", self._redact(text))

        instructions = "\n".join(one.content for one in parameters.instruction_parts or ())
        tools = [tool.name for tool in (*parameters.function_tools, *parameters.output_tools)]
        texts = tuple(own(text) for text in texts_of(messages))
        return Asked(tuple(tools), own(instructions), texts)

    def check(self) -> None:
        """Raises `InputError` that names what the recording lacks."""
        if self.unknown:
            # What follows from a changed prompt is no news.
            changed = [one for one in self.unknown if one.startswith("the prompt of")]
            found = changed or [*self.unknown]
            more = f"; and {len(found) - _MAX_SHOWN} more" if found[_MAX_SHOWN:] else ""
            shown = "; ".join(found[:_MAX_SHOWN])
            raise InputError(f"the recording {self._file} no longer fits: {shown}{more}")

    def _difference(self, said: Asked) -> str:
        known = [name for name, text in self._instructions.items() if text in said.instructions]
        who = next(iter(known), f"the role that calls {' or '.join(said.tools)}")
        alike = [one for one in self._responses if one.tools == said.tools]
        if not alike:
            return f"{who}: no request with the tools {', '.join(said.tools) or 'none'} is in it"
        near = max(alike, key=lambda one: len({*one.texts} & {*said.texts}))
        if all(one.instructions != said.instructions for one in alike):
            moved = _first_difference(near.instructions, said.instructions)
            return f"the prompt of {who} changed: {moved}"
        moved = _first_difference("\n".join(near.texts), "\n".join(said.texts))
        return f"{who} was told something else: {moved}"


def _first_difference(old: str, new: str) -> str:
    before, after = [*old.splitlines(), ""], [*new.splitlines(), ""]
    pairs = zip(before, after, strict=False)
    a, b = next(((a, b) for a, b in pairs if a != b), (before[-1], ""))
    return f"{a[:100]!r} is now {b[:100]!r}"


class ExchangedModel(WrapperModel):
    """A model whose exchanges are kept, or that answers from them, which is no stream."""

    def __init__(self, wrapped: Model, exchanges: Exchanges) -> None:
        super().__init__(wrapped)
        self._exchanges = exchanges

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        said = self._exchanges.said(messages, model_request_parameters)
        if self._exchanges.replays:
            return self._exchanges.find(said)
        response = await super().request(messages, model_settings, model_request_parameters)
        self._exchanges.save(self.model_name, said, response)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[object] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async with super().request_stream(
            messages, model_settings, model_request_parameters, run_context
        ) as stream:
            yield stream
            response = stream.get()
        if response.state == "incomplete":  # it was cut off
            response = replace(response, finish_reason="length")
        said = self._exchanges.said(messages, model_request_parameters)
        self._exchanges.save(self.model_name, said, response)


def _ask_nothing(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    raise AssertionError("a recording answers")
