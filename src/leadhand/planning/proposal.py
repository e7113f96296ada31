"""Proposals: the form in which a model writes a plan, and the plan that it makes. No checks.

The form asks for the little that a model decides; everything else of a task is left as it is.
What a model adds to the form is passed over, and null is the same as nothing.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)
from pydantic_ai.tools import ToolDefinition
from pydantic_core import from_json

from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.validation import Problem

Strategy = Literal["merge", "select", "reduce"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""The ways to make one answer of results that a planner may choose from."""

# Models count tasks 1, 2, 3 as often as "1", "2", "3".
_Id = Annotated[str, Field(min_length=1, max_length=200, coerce_numbers_to_str=True)]
# Naming a dependency twice is a slip that means nothing: it isn't worth a repair.
_Needs = Annotated[tuple[_Id, ...], AfterValidator(lambda ids: tuple(dict.fromkeys(ids)))]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        given = cast("Mapping[str, object]", data)
        return {key: value for key, value in given.items() if value is not None}


class _Task(_Form):
    id: _Id
    worker: str
    intent: str
    depends_on: _Needs = ()
    done_when: str = ""
    tolerates_missing: bool = False


class _Proposal(_Form):
    tasks: tuple[_Task, ...]
    synthesis: Strategy = "merge"
    instruction: str = ""


def form(team: Team) -> ToolDefinition:
    """What a plan for `team` is proposed with: the tool whose arguments are the plan."""
    text: JsonValue = {"type": "string"}
    task: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "id": text,
            "worker": {"type": "string", "enum": [worker.name for worker in team.workers]},
            "intent": text,
            "depends_on": {"type": "array", "items": text},
            "done_when": text,
            "tolerates_missing": {"type": "boolean"},
        },
        # All of them, though we ask for less: only then do providers hold a model to the enum.
        "required": list(_Task.model_fields),
        "additionalProperties": False,
    }
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "tasks": {"type": "array", "items": task},
            "synthesis": {"type": "string", "enum": list(STRATEGIES)},
            "instruction": text,
        },
        "required": ["tasks", "synthesis", "instruction"],
        "additionalProperties": False,
    }
    return ToolDefinition(
        name="propose_plan",
        description="Propose the whole plan.",
        parameters_json_schema=schema,
        kind="output",
    )


def object_in(text: str) -> dict[str, JsonValue] | None:
    """The JSON object in `text`, whatever is said or fenced around it. Half a one is none."""
    try:
        data: object = from_json(text[text.find("{") : text.rfind("}") + 1], allow_inf_nan=False)
    except ValueError:
        return None
    return cast("dict[str, JsonValue]", data) if isinstance(data, dict) else None


def proposed(data: Mapping[str, JsonValue], goal: str, team: Team) -> Plan | tuple[Problem, ...]:
    """The plan that `data` proposes, or everything that keeps it from being read as one."""
    try:
        proposal = _Proposal.model_validate(data)
    except ValidationError as error:
        return tuple(
            Problem("invalid_plan", f"{_place(found['loc'])}: {found['msg']}")
            for found in error.errors(include_url=False, include_input=False)
        )
    return Plan(
        goal=goal,
        tasks=tuple(Task(**task.model_dump()) for task in proposal.tasks),
        # A strategy of the team's own, such as `findings`, is not a model's to choose; `last` is
        # how code does without one.
        synthesis=proposal.synthesis if team.synthesis in (*STRATEGIES, "last") else team.synthesis,
        instruction=proposal.instruction,
    )


def _place(path: tuple[int | str, ...]) -> str:
    """Where in a proposal something is, as in `tasks[0].intent`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
