"""The forms in which a model ends its work: `final_answer` in the declared type, or `escalate`."""

import json
from collections.abc import Mapping
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
from leadhand.models.structured import StructuredAnswer, Unfit

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# What is said here is sent with every task, and held to 200 tokens by a test: names that explain
# themselves cost less than descriptions.
ESCALATE = ToolDefinition(
    name="escalate",
    description="If unable.",
    parameters_json_schema={
        "type": "object",
        "properties": {
            "reason": {"enum": ["out_of_scope", "ambiguous_input", "low_confidence"]},
            "message": {"type": "string"},
            "partial": {},
        },
    },
)

_TEXT: dict[str, JsonValue] = {"type": "string"}
_MAX_PROBLEMS = 10


class _Ending(BaseModel):
    """What `final_answer` takes; the declared type is checked apart."""

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


class Form:
    """The `final_answer` of one worker: its definition, and what an answer in it amounts to."""

    def __init__(self, output: object = None) -> None:
        """`output` is a type, a JSON Schema as a mapping, or none for text."""
        self._adapter: TypeAdapter[object] | None = None
        self._validator: Validator | None = None
        schema = dict(_TEXT)
        if isinstance(output, Mapping):
            # Imported where a schema is given: most workers declare a type, or nothing.
            from jsonschema import validators

            schema = dict(cast("Mapping[str, JsonValue]", output))
            self._validator = validators.validator_for(schema)(schema)
        elif output is not None and output is not str:
            self._adapter = TypeAdapter(cast("type[object]", output))
            schema = cast("dict[str, JsonValue]", self._adapter.json_schema())
        self.definition = _definition(schema)

    @property
    def is_text(self) -> bool:
        """Whether any text will do as an answer."""
        return self._adapter is None and self._validator is None

    def result(self, answer: StructuredAnswer, usage: Usage) -> Result:
        """The result that an answer stands for. Raises `Unfit` with all that is wrong with it."""
        if answer.data is None:
            if self.is_text:
                return Result(output=answer.text, usage=usage)
            raise Unfit("Answer by calling `final_answer` with every field that it asks for.")
        if answer.call is None and "answer" not in answer.data:
            if self.is_text:
                return Result(output=answer.text, usage=usage)  # JSON that was meant as text
            answer = StructuredAnswer({"answer": cast("JsonValue", answer.data)}, answer.text)
        try:
            ending = _Ending.model_validate(answer.data)
        except ValidationError as error:
            raise Unfit(_problems(error, "final_answer")) from error
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
                # As JSON: a strict type takes a date or an enum only from there.
                valid = self._adapter.validate_json(to_json(given))
            except ValidationError as error:
                raise Unfit(_problems(error, "final_answer.answer")) from error
            return cast("JsonValue", self._adapter.dump_python(valid, mode="json"))
        if self._validator is not None:
            wrong = [
                f"- {'.'.join(['answer', *map(str, error.absolute_path)])}: {error.message}"
                for error in self._validator.iter_errors(given)
            ]
            if wrong:
                raise Unfit(_told("final_answer", wrong))
            return given
        if given is None or given == "":
            raise Unfit("`answer` is empty. Give your answer in it, or escalate.")
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def escalation(data: Mapping[str, JsonValue], usage: Usage) -> Escalated:
    """The outcome that the arguments of `escalate` stand for. Raises `Unfit`."""
    try:
        given = _Escalation.model_validate(dict(data))
    except ValidationError as error:
        raise Unfit(_problems(error, "escalate")) from error
    has_partial = given.partial is not None and given.partial != ""
    return Escalated(
        reason=given.reason,
        message=given.message,
        # Without a partial the usage still has to reach the books.
        partial=Result(output=given.partial, usage=usage) if has_partial else None,
    )


def _definition(schema: dict[str, JsonValue]) -> ToolDefinition:
    schema = dict(schema)
    # References start at the root, and that is the form now.
    shared = {name: schema.pop(name) for name in ("$defs", "definitions") if name in schema}
    parameters: dict[str, object] = {
        "type": "object",
        "properties": {
            "answer": schema,
            "summary": {"type": "string"},
            "confidence": {"type": "integer", "maximum": 100},
            "evidence": {"type": "array", "items": {"type": "string"}},
            "plan_impact": {"type": "string", "enum": ["none", *IMPACT_KINDS]},
        },
        "required": ["answer", "summary", "confidence", "evidence", "plan_impact"],
        "additionalProperties": False,
    }
    return ToolDefinition(
        name="final_answer",
        description="",
        parameters_json_schema={**parameters, **shared},
        kind="output",
    )


def _impact(ending: _Ending) -> PlanImpact | None:
    """The explicit choice of an impact; whatever else is in the field means none."""
    reason = ending.impact_reason.strip() or ending.summary.strip()
    if not reason or ending.plan_impact not in IMPACT_KINDS:
        return None
    return PlanImpact(kind=ending.plan_impact, reason=reason)


def _percent(confidence: float | None) -> int | None:
    if confidence is None:
        return None
    # Some models give a share of one, whatever they are asked for.
    scaled = confidence * 100 if 0 < confidence < 1 else confidence
    return round(min(max(scaled, 0), 100))


def _problems(error: ValidationError, where: str) -> str:
    rows = error.errors(include_url=False, include_input=False, include_context=False)
    return _told(
        where,
        [f"- {'.'.join(map(str, row['loc'])) or 'arguments'}: {row['msg']}" for row in rows],
    )


def _told(where: str, problems: list[str]) -> str:
    lines = "\n".join(problems[:_MAX_PROBLEMS])
    return f"`{where}` can't be taken as it is. Mend this and call it again:\n{lines}"
