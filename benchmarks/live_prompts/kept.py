"""A model whose exchanges are kept in a file, so that none is asked twice with the same prompt."""

import hashlib
import json
import re
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from pydantic import JsonValue
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from leadhand.models.prompts import prompt
from leadhand.models.replay import dump_response, load_response, texts_of

_MARK = re.compile(r"data-[0-9a-f]{16}")
"""Of a fence, which is new in each run."""


class Row(TypedDict):
    """One exchange of one case."""

    model: str
    case: str
    key: str
    """A hash of all that the request says, its schema included."""
    seconds: float
    response: JsonValue


@dataclass
class Exchange:
    """One exchange of a case."""

    messages: Sequence[ModelMessage]
    parameters: ModelRequestParameters
    problem: str
    """Why it was asked after another one; empty if that is as it should be."""
    seconds: float
    response: ModelResponse


@dataclass
class Exchanges:
    """The exchanges of all cases, in a file with one on each line."""

    file: Path
    by_position: bool = False
    """Whether a case gets its kept responses in their order, whatever its prompts say now."""
    case: str = ""
    """The case that asks now."""
    asked: list[Exchange] = field(default_factory=list[Exchange])
    """Its exchanges."""

    def __post_init__(self) -> None:
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        self.rows: list[Row] = [json.loads(line) for line in lines]

        self.used: list[Row] = []
        """Those of the cases that were asked here, in order."""

    def start(self, case: str) -> None:
        """Begin a case."""
        self.case, self.asked = case, []

    def find(self, key: str) -> Row | None:
        """The kept exchange of this case that comes next, or that is about the same request."""
        mine = [row for row in self.rows if row["case"] == self.case]
        if self.by_position:
            return mine[len(self.asked)]
        return next((row for row in mine if row["key"] == key), None)

    def keep(self, row: Row) -> None:
        """Add an exchange to the file."""
        self.rows.append(row)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


class KeptModel(WrapperModel):
    """Answers from what is kept, else asks the model and keeps its answer."""

    def __init__(self, wrapped: Model, exchanges: Exchanges) -> None:
        super().__init__(wrapped)
        self._exchanges = exchanges

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The model's answer."""
        kept = self._kept(messages, model_request_parameters)
        if kept is not None:
            return kept
        since_s = time.monotonic()
        response = await super().request(messages, model_settings, model_request_parameters)
        return self._keep(messages, model_request_parameters, response, since_s)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[object] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The same, as it is written."""
        kept = self._kept(messages, model_request_parameters)
        if kept is not None:
            yield CompletedStreamedResponse(
                kept, model_request_parameters=model_request_parameters, replay_events=True
            )
            return
        since_s = time.monotonic()
        async with self.wrapped.request_stream(
            messages, model_settings, model_request_parameters, run_context
        ) as stream:
            yield stream
            self._keep(messages, model_request_parameters, stream.get(), since_s)

    def _kept(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse | None:
        row = self._exchanges.find(key_of(messages, parameters))
        if row is None:
            return None
        self._exchanges.used.append(row)
        response = load_response(row["response"])
        self._note(messages, parameters, response, row["seconds"])
        return response

    def _keep(
        self,
        messages: list[ModelMessage],
        parameters: ModelRequestParameters,
        response: ModelResponse,
        since_s: float,
    ) -> ModelResponse:
        seconds = round(time.monotonic() - since_s, 1)
        row = Row(
            model=self.model_name,
            case=self._exchanges.case,
            key=key_of(messages, parameters),
            seconds=seconds,
            response=dump_response(response),
        )
        self._exchanges.keep(row)
        self._exchanges.used.append(row)
        self._note(messages, parameters, response, seconds)
        return response

    def _note(
        self,
        messages: list[ModelMessage],
        parameters: ModelRequestParameters,
        response: ModelResponse,
        seconds: float,
    ) -> None:
        before = self._exchanges.asked[-1].messages if self._exchanges.asked else None
        again = before is not None and [*texts_of(before)] == [*texts_of(messages)]
        problem = f"asked again, as {parameters.output_mode}" if again else problem_in(messages)
        exchange = Exchange([*messages], parameters, problem, seconds, response)
        self._exchanges.asked.append(exchange)


def key_of(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> str:
    """A hash of all that a request says, without what is new in each run."""
    forms = [
        (tool.name, tool.description, tool.parameters_json_schema)
        for tool in (*parameters.function_tools, *parameters.output_tools)
    ]
    said = [
        parameters.output_mode,
        json.dumps(forms),
        *(part.content for part in parameters.instruction_parts or ()),
        *texts_of(messages),
    ]
    text = _MARK.sub("data-", "\0".join(said))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def problem_in(messages: Sequence[ModelMessage]) -> str:
    """What the last message says is wrong with the answer before it; empty if nothing is."""
    last = messages[-1]
    if len(messages) == 1 or not isinstance(last, ModelRequest):
        return ""
    for part in last.parts:
        if isinstance(part, ToolReturnPart) and part.outcome == "failed":
            return str(part.content)
        if isinstance(part, UserPromptPart) and part.content != prompt(
            "leadhand.workers", "last_step"
        ):
            return str(part.content)
    return ""
