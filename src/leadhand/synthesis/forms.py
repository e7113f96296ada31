"""The output schemas of synthesizer, judge and critic, and how their answers are read."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, JsonValue, StringConstraints
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.answer import Conflict, CritiquePoint
from leadhand.models.structured import (
    BadAnswer,
    StructuredAnswer,
    object_schema,
    output_tool,
    read_form,
)
from leadhand.plans.payloads import DeclaredType

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Contradiction(BaseModel):
    task_ids: list[str]
    about: str
    resolution: str | None = None
    taken: list[str] = []
    why: str = ""


class Merged(BaseModel):
    answer: _Text
    output: JsonValue = None
    confidence: float | None = None
    contradictions: list[Contradiction] = []


class BestResult(BaseModel):
    choice: str
    why: str = ""
    confidence: float | None = None


class Judgement(BaseModel):
    why: _Text
    contradict: bool = True
    winners: list[str] = []
    resolution: str | None = None
    misrouted: list[str] = []
    confidence: float | None = None


class _Critique(BaseModel):
    points: list[CritiquePoint]


_TEXT: dict[str, JsonValue] = {"type": "string"}
_TEXT_OR_NULL: dict[str, JsonValue] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_CONFIDENCE: dict[str, JsonValue] = {
    "anyOf": [{"type": "integer", "minimum": 0, "maximum": 100}, {"type": "null"}],
    "description": "How sure you are, 0 to 100.",
}


_CONTRADICTION = object_schema(
    task_ids={"type": "array", "items": _TEXT, "description": "The tasks that disagree."},
    about={"type": "string", "description": "What they disagree on, in one sentence."},
    resolution={
        **_TEXT_OR_NULL,
        "description": "What to take as right; null if the results don't settle it.",
    },
    taken={"type": "array", "items": _TEXT, "description": "The tasks that are right, if any."},
    why={"type": "string", "description": "What supports it, or why it stays open."},
)


def merged_form(output: DeclaredType | None = None) -> ToolDefinition:
    """The form of an answer, with data of the type `output` if there is one."""
    schema = dict(output.schema) if output is not None else {}
    # `$ref`s start at the root, which is now the tool's schema.
    shared = {name: schema.pop(name) for name in ("$defs", "definitions") if name in schema}
    typed: dict[str, JsonValue] = {"output": schema} if output is not None else {}
    tool = output_tool(
        "final_answer",
        "Give the answer, and every contradiction between results.",
        answer={"type": "string", "description": "Markdown that cites tasks by their ids."},
        **typed,
        confidence=_CONFIDENCE,
        contradictions={"type": "array", "items": _CONTRADICTION},
    )
    return replace(tool, parameters_json_schema={**tool.parameters_json_schema, **shared})


def choice_form(task_ids: Sequence[str]) -> ToolDefinition:
    return output_tool(
        "choose",
        "Name the task with the best result.",
        choice={"type": "string", "enum": list(task_ids)},
        why={"type": "string", "description": "What makes it better, in one sentence."},
        confidence=_CONFIDENCE,
    )


def judgement_form(task_ids: Sequence[str], *, with_fields: bool = False) -> ToolDefinition:
    """`with_fields`: the judge knows what their workers are for."""
    named: JsonValue = {"type": "string", "enum": list(task_ids)}
    misrouted: JsonValue = {
        "type": "array",
        "items": named,
        "description": "The tasks whose expert is the wrong one for this text, if any.",
    }
    return output_tool(
        "judge",
        "Give your judgement on the contradiction.",
        why={"type": "string", "description": "Why they differ, and what decides it."},
        contradict={"type": "boolean", "description": "False if all can be right."},
        winners={"type": "array", "items": named, "description": "The tasks that are right."},
        resolution={**_TEXT_OR_NULL, "description": "What to take as right, or null."},
        **({"misrouted": misrouted} if with_fields else {}),
        confidence=_CONFIDENCE,
    )


def critique_form() -> ToolDefinition:
    point = object_schema(
        point={"type": "string", "description": "One fault, and how to fix it."},
        severity={"type": "string", "enum": ["must", "should"]},
        where={"type": "string", "description": "The few words of the draft that it is about."},
    )
    return output_tool(
        "critique",
        "Give your points against the draft; none if it can be given as it is.",
        points={"type": "array", "items": point},
    )


def read_merged(answer: StructuredAnswer) -> Merged:
    """Plain text is an answer too. Raises `BadAnswer`."""
    if answer.data is None:
        return Merged(answer=answer.text)
    return read_form(Merged, answer, otherwise="")


def check_output(merged: Merged, output: DeclaredType) -> None:
    """Raises `BadAnswer` if the data of an answer is not of the type `output`."""
    problems = output.problems(merged.output)
    if problems:
        raise BadAnswer(
            "Give the whole answer again by calling `final_answer`; its `output` does not have the "
            f"right form. {'; '.join(problems)}."
        )


def read_choice(answer: StructuredAnswer, task_ids: Collection[str]) -> BestResult:
    """Raises `BadAnswer` for a choice not in `task_ids`."""
    how = "Choose by calling `choose` with the id of one task."
    chosen = read_form(BestResult, answer, otherwise=how)
    if chosen.choice not in task_ids:
        raise BadAnswer(f"{chosen.choice!r} is not one of the tasks: {', '.join(task_ids)}.")
    return chosen


def read_judgement(answer: StructuredAnswer, task_ids: Collection[str]) -> Judgement:
    """Raises `BadAnswer`."""
    how = "Give your judgement by calling `judge`."
    judged = read_form(Judgement, answer, otherwise=how)
    unknown = [id for id in (*judged.winners, *judged.misrouted) if id not in task_ids]
    if unknown:
        raise BadAnswer(f"{unknown[0]!r} is not one of the tasks: {', '.join(task_ids)}.")
    if judged.contradict and set(judged.winners) == set(task_ids):
        raise BadAnswer(
            "If the results contradict each other, not all of `winners` can be right: name those "
            "that are, or none, or set `contradict` to false."
        )
    if judged.contradict and judged.winners and not (judged.resolution or "").strip():
        raise BadAnswer("Say in `resolution` what to take as right, or leave `winners` empty.")
    return judged


def read_critique(answer: StructuredAnswer) -> tuple[CritiquePoint, ...]:
    """Raises `BadAnswer`."""
    how = "Give your points by calling `critique`, with an empty list if you have none."
    critique = read_form(_Critique, answer, otherwise=how)
    return tuple(point for point in critique.points if point.point.strip())


def conflicts(contradictions: Sequence[Contradiction], *, given: Collection[str]) -> list[Conflict]:
    found: list[Conflict] = []
    for one in contradictions:
        ids = _known(one.task_ids, given)
        if len(ids) >= 2:
            found.append(
                Conflict(
                    task_ids=ids,
                    about=one.about,
                    resolution=one.resolution,
                    why=one.why,
                    taken=_known(one.taken, ids),
                )
            )
    return found


def _known(ids: Sequence[str], given: Collection[str]) -> tuple[str, ...]:
    named = (id if id in given else id.strip("[] ") for id in ids)
    return tuple(dict.fromkeys(id for id in named if id in given))


def percent(confidence: float | None) -> int | None:
    """A model's confidence, rounded and limited to 0 to 100."""
    if confidence is None or not math.isfinite(confidence):
        return None
    # Some models return a fraction of one in spite of the prompt.
    scaled = confidence * 100 if 0 < confidence < 1 else confidence
    return round(min(max(scaled, 0), 100))
