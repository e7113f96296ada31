"""A request to a model, without its messages, in each of the ways that it can be put."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

from pydantic import JsonValue
from pydantic_ai.messages import InstructionPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_core import to_json

from leadhand.contracts.role import Answers
from leadhand.models.schemas import with_short_texts

MAX_OUTPUT_BYTES = 1_000_000
"""The default limit for an answer, and for the arguments of a tool call."""
PLAN_TOKENS = 16_000
"""What a plan, or an answer to the user, may take."""
DECISION_TOKENS = 4_000
"""What any other answer in a structure may take."""


@dataclass(frozen=True)
class CallRequest:
    """A request without its messages; it can be reused for many calls."""

    instructions: str
    """The system prompt. It comes first and stays the same, so that providers' caches work."""
    tools: Sequence[ToolDefinition] = ()
    output: ToolDefinition | None = None
    """The schema of the answer, as an output tool; `answers` decides how it is sent. None: text."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    max_bytes: int = MAX_OUTPUT_BYTES
    answers: Answers | None = None
    """The way in which the answer is structured; None: the one that works."""
    tokens: int = DECISION_TOKENS
    """What the answer may need, unless the `settings` have `max_tokens`."""
    words: bool = False
    """Whether an answer in words will do as well."""
    alone: ToolDefinition | None = None
    """The output for a model that can't call `tools` because its answer has a format."""
    in_text: str = ""
    """The text that explains the answer where its schema may not be shown: `alone`, or beside
    tools, where an empty one is the schema."""

    @cached_property
    def model_settings(self) -> ModelSettings | None:
        return cast("ModelSettings", dict(self.settings)) if self.settings else None

    @cached_property
    def size(self) -> int:
        """The characters of the schema, which tell a plan from a short form."""
        return len(to_json(self.output.parameters_json_schema)) if self.output else 0

    @cached_property
    def parameters(self) -> ModelRequestParameters:
        """The request in the way of the model's profile."""
        instructions = [InstructionPart(self.instructions)] if self.instructions else None
        if self.output is None:
            return ModelRequestParameters(
                function_tools=list(self.tools), instruction_parts=instructions
            )
        return ModelRequestParameters(
            function_tools=list(self.tools),
            output_mode="auto",
            output_tools=[self.output],
            output_object=_object(self.output),
            allow_text_output=False,
            instruction_parts=instructions,
        )

    def put(
        self, way: Answers, *, calls_in_format: bool, limits_texts: bool
    ) -> ModelRequestParameters:
        """In one way; `calls_in_format`: whether tools can be called although there is a format;
        `limits_texts`: whether a format may limit the length of texts."""
        asked, output = self.parameters, self.output
        if output is None or way == "tool":
            return replace(asked, output_mode="tool") if output is not None else asked
        if not self.tools or calls_in_format:
            form = _object(output, limits_texts and way == "native")
            return replace(asked, output_mode=way, allow_text_output=True, output_object=form)
        parts = list(asked.instruction_parts or ())
        if self.alone is not None:
            # Not every server shows a model the schema of its answer.
            parts.append(InstructionPart(self.in_text))
            form = _object(self.alone, limits_texts and way == "native")
            in_format = replace(asked, output_mode=way, allow_text_output=True)
            return replace(
                in_format, function_tools=[], output_object=form, instruction_parts=parts
            )
        schema = to_json(output.parameters_json_schema).decode()
        parts.append(InstructionPart(self.in_text or schema))
        return ModelRequestParameters(
            function_tools=asked.function_tools, instruction_parts=parts or None
        )


def _object(output: ToolDefinition, limits_texts: bool = False) -> OutputObjectDefinition:
    schema = output.parameters_json_schema
    schema = with_short_texts(schema) if limits_texts else schema
    return OutputObjectDefinition(schema, output.name, output.description)
