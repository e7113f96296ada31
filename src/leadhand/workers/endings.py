"""How a model ends its work: `final_answer`, `escalate`, or one answer with both's fields."""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic_ai.tools import ToolDefinition
from pydantic_core import to_json

from leadhand.contracts.outcome import (
    IMPACT_KINDS,
    Escalated,
    EscalationReason,
    PlanImpact,
    Result,
    Usage,
)
from leadhand.models.forecast import BYTES_A_TOKEN
from leadhand.models.prompts import joined, prompt
from leadhand.models.request import PLAN_TOKENS, CallRequest
from leadhand.models.structured import BadAnswer, StructuredAnswer

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# These definitions are sent with every task, and a test limits them to 200 tokens: clear names cost
# less than descriptions.
_REASONS = ("out_of_scope", "ambiguous_input", "low_confidence")
_NO = "no"
_PACKAGE = "leadhand.workers"
ESCALATE = ToolDefinition(
    name="escalate",
    description="If unable.",
    parameters_json_schema={
        "type": "object",
        "properties": {
            "reason": {"enum": [*_REASONS]},
            "message": {"type": "string"},
            "partial": {},
        },
    },
)

_TEXT: dict[str, JsonValue] = {"type": "string"}
_MAX_PROBLEMS = 10


class _Ending(BaseModel):
    """The arguments of `final_answer`. The declared type of `answer` is checked separately."""

    model_config = ConfigDict(extra="ignore")

    answer: JsonValue
    summary: str = ""
    confidence: float | None = None
    evidence: tuple[str, ...] = ()
    plan_impact: JsonValue = None
    impact_reason: str = ""


class _Escalation(BaseModel):
    model_config = ConfigDict(extra="ignore")

    reason: EscalationReason
    message: str
    partial: JsonValue = None


class FinalAnswer:
    def __init__(self, output: object = None) -> None:
        """`output` is a type, a JSON Schema as a mapping, or None for text."""
        self._adapter: TypeAdapter[object] | None = None
        self._validator: Validator | None = None
        schema = dict(_TEXT)
        if isinstance(output, Mapping):
            # Imported here because most workers declare no schema.
            from jsonschema import validators

            schema = dict(cast("Mapping[str, JsonValue]", output))
            self._validator = validators.validator_for(schema)(schema)
        elif output is not None and output is not str:
            self._adapter = TypeAdapter(cast("type[object]", output))
            schema = cast("dict[str, JsonValue]", self._adapter.json_schema())
        self._shown = "" if schema == _TEXT else f"The schema of `answer`: {json.dumps(schema)}"
        self.definition = _definition(schema)
        self.alone = _definition(schema, escalate={"type": "string", "enum": [_NO, *_REASONS]})
        """The same for a model that can't call `escalate`: it says so here, before it answers."""

    @property
    def is_text(self) -> bool:
        return self._adapter is None and self._validator is None

    def asked_for(
        self,
        request: CallRequest,
        tools: Sequence[ToolDefinition],
        *,
        tokens: float,
        first: bool = False,
    ) -> CallRequest:
        """`request` with the ways to end. The answer may take `tokens`."""
        uses_words = first and self.is_text and bool(tools)
        said = [prompt(_PACKAGE, "in_text" if tools else "alone")]
        if tools and not uses_words:
            said.append(prompt(_PACKAGE, "in_text_answer"))
        if not uses_words:  # a small model fills in the fields that it sees, and calls no tools
            said += [prompt(_PACKAGE, "fields"), self._shown if tools else ""]
        most = min(tokens, request.max_bytes / BYTES_A_TOKEN, PLAN_TOKENS)
        return replace(
            request,
            tools=[*tools, ESCALATE],
            output=self.definition,
            tokens=max(round(most), 1),
            words=self.is_text,
            alone=None if tools else self.alone,
            in_text=joined(*said),
        )

    def result(self, answer: StructuredAnswer, usage: Usage) -> Result:
        """The result in a model's answer. Raises `BadAnswer` with every problem."""
        if answer.data is None:
            if self.is_text:
                return Result(output=answer.text, usage=usage)
            raise BadAnswer("Answer by calling `final_answer` with all of its fields.")
        if answer.call is None and "answer" not in answer.data:
            if self.is_text:
                return Result(output=answer.text, usage=usage)  # JSON that was meant as text
            answer = StructuredAnswer({"answer": cast("JsonValue", answer.data)}, answer.text)
        try:
            ending = _Ending.model_validate(answer.data)
        except ValidationError as error:
            raise BadAnswer(_problems(error, "final_answer")) from error
        return Result(
            output=self._output(ending.answer),
            summary=ending.summary,
            confidence=_percent(ending.confidence),
            evidence=ending.evidence,
            usage=usage,
            plan_impact=_impact(ending),
        )

    def _output(self, given: JsonValue) -> JsonValue:
        if self._adapter is not None:
            try:
                # As JSON: strict types accept dates and enums only from JSON.
                valid = self._adapter.validate_json(to_json(given))
            except ValidationError as error:
                raise BadAnswer(_problems(error, "final_answer.answer")) from error
            return cast("JsonValue", self._adapter.dump_python(valid, mode="json"))
        if self._validator is not None:
            wrong = [
                f"- {'.'.join(['answer', *map(str, error.absolute_path)])}: {error.message}"
                for error in self._validator.iter_errors(given)
            ]
            if wrong:
                raise BadAnswer(_problem_list("final_answer", wrong))
            return given
        if given is None or given == "":
            raise BadAnswer("`answer` is empty. Put your answer in it, or escalate.")
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def final_answer(output: object) -> FinalAnswer:
    """Made once for each type."""
    try:
        hash(output)
    except TypeError:  # a JSON Schema, which is quick
        return FinalAnswer(output)
    return _final_answer_of(output)


@functools.lru_cache(maxsize=256)
def _final_answer_of(output: object) -> FinalAnswer:
    return FinalAnswer(output)


def escalation(data: Mapping[str, JsonValue], usage: Usage) -> Escalated:
    """The outcome of a call of `escalate`. Raises `BadAnswer`."""
    try:
        given = _Escalation.model_validate(dict(data))
    except ValidationError as error:
        raise BadAnswer(_problems(error, "escalate")) from error
    has_partial = given.partial is not None and given.partial != ""
    return Escalated(
        reason=given.reason,
        message=given.message,
        partial=Result(output=given.partial, usage=usage) if has_partial else None,
    )


def escalation_in(answer: StructuredAnswer, usage: Usage) -> Escalated | None:
    """The escalation in an answer that says so in its `escalate`; None if it does not."""
    data = answer.data or {}
    if answer.call is not None or data.get("escalate") not in _REASONS:
        return None
    message = str(data.get("summary") or data.get("answer") or data["escalate"])
    given: dict[str, JsonValue] = {"reason": data["escalate"], "message": message}
    return escalation({**given, "partial": data.get("answer")}, usage)


def _definition(schema: dict[str, JsonValue], **before: JsonValue) -> ToolDefinition:
    schema = dict(schema)
    # `$ref`s start at the root, which is now the tool's schema.
    shared = {name: schema.pop(name) for name in ("$defs", "definitions") if name in schema}
    parameters: dict[str, object] = {
        "type": "object",
        "properties": {
            **before,
            "answer": schema,
            "summary": {"type": "string"},
            "confidence": {"type": "integer", "maximum": 100},
            "evidence": {"type": "array", "items": {"type": "string"}},
            "plan_impact": {"type": "string", "enum": ["none", *IMPACT_KINDS]},
        },
        "required": [*before, "answer", "summary", "confidence", "evidence", "plan_impact"],
        "additionalProperties": False,
    }
    return ToolDefinition(
        name="final_answer",
        description="",
        parameters_json_schema={**parameters, **shared},
        kind="output",
    )


def _impact(ending: _Ending) -> PlanImpact | None:
    """The impact that the model chose explicitly; any other value means none."""
    reason = ending.impact_reason.strip() or ending.summary.strip()
    if not reason or ending.plan_impact not in IMPACT_KINDS:
        return None
    return PlanImpact(kind=ending.plan_impact, reason=reason)


def _percent(confidence: float | None) -> int | None:
    if confidence is None:
        return None
    # Some models answer with a fraction of one.
    scaled = confidence * 100 if 0 < confidence < 1 else confidence
    return round(min(max(scaled, 0), 100))


def _problems(error: ValidationError, where: str) -> str:
    rows = error.errors(include_url=False, include_input=False, include_context=False)
    return _problem_list(
        where, [f"- {'.'.join(map(str, row['loc'])) or 'arguments'}: {row['msg']}" for row in rows]
    )


def _problem_list(where: str, problems: list[str]) -> str:
    lines = "\n".join(problems[:_MAX_PROBLEMS])
    return f"`{where}` was not accepted. Fix this and call it again:\n{lines}"
