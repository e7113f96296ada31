"""Proposals: the schema in which a model writes a plan, and its conversion to a `Plan`. No checks.

The schema has only what a model decides. Fields that a model adds are ignored, and null is unset.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import EarlierRun, Plan, PlannedWorker, Task
from leadhand.contracts.team import TIERS, Team, Tier, Worker, WorkerFactory
from leadhand.models.prompts import joined
from leadhand.models.structured import (
    BadAnswer,
    StructuredAnswer,
    object_in,
    object_schema,
    output_tool,
)
from leadhand.planners.earlier_runs import artifacts_field
from leadhand.plans.checks import MAX_TASKS, Problem, too_many_tasks
from leadhand.plans.payloads import DeclaredType, compact_schema
from leadhand.plans.planned_workers import too_many_workers

Strategy = Literal["merge", "select", "reduce"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""The synthesis strategies that a planner may choose from, if it does so unasked."""

MAX_TOLD = 50

# Models write task ids as 1, 2, 3 as often as "1", "2", "3".
_Id = Annotated[str, Field(min_length=1, max_length=200, coerce_numbers_to_str=True)]
# A dependency or tool named twice is harmless and not worth a repair.
_Needs = Annotated[tuple[_Id, ...], AfterValidator(lambda ids: tuple(dict.fromkeys(ids)))]
_Names = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(dict.fromkeys(names)))]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        given = cast("Mapping[str, object]", data)
        return {key: value for key, value in given.items() if value is not None}


def _is_bound(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


class _Limits(_Form):
    timeout_s: float | None = None
    max_steps: int | None = None
    max_tokens: int | None = None
    tier: Tier | None = None

    @model_validator(mode="before")
    @classmethod
    def _drop_fillers(cls, data: object) -> object:
        """Drop invalid limits, because models fill in 0, or a tier that does not exist."""
        if not isinstance(data, Mapping):
            return {}
        given = cast("Mapping[str, object]", data)
        bounds = {key: one for key, one in given.items() if _is_bound(one)}
        return bounds | ({"tier": given["tier"]} if given.get("tier") in TIERS else {})


class _Task(_Form):
    id: _Id
    worker: str
    intent: str
    depends_on: _Needs = ()
    payload: JsonValue = None
    done_when: str = ""
    tolerates_missing: bool = False
    artifacts: _Needs = ()
    limits: _Limits = _Limits()
    break_down: bool = False

    def task(self, *, with_artifacts: bool, may_break_down: bool) -> Task:
        dropped = {"break_down"} if with_artifacts else {"break_down", "artifacts"}
        fields = self.model_dump(exclude=dropped)
        if self.break_down and may_break_down:
            fields["worker"] = SUBPLANNER
        return Task(**fields)


def _schema_in(output: object) -> object:
    """A schema that was written as text, as a mapping; an empty one is none."""
    return (object_in(output) or output if isinstance(output, str) else output) or None


class _Worker(_Form):
    name: Annotated[str, AfterValidator(str.strip)]
    description: str = ""
    instructions: str = ""
    tools: _Names = ()
    tier: str | None = None
    output: Annotated[JsonValue, BeforeValidator(_schema_in)] = None


class _Proposal(_Form):
    tasks: tuple[_Task, ...]
    workers: tuple[_Worker, ...] = ()
    synthesis: Strategy | None = None
    instruction: str = ""


def _nullable(**schema: JsonValue) -> JsonValue:
    return {"anyOf": [schema, {"type": "null"}]}


_LIMITS = _nullable(
    **object_schema(
        timeout_s=_nullable(type="number"),
        max_steps=_nullable(type="integer"),
        max_tokens=_nullable(type="integer"),
        tier=_nullable(type="string", enum=list(TIERS)),
    )
)


def roster(workers: Iterable[Worker]) -> str:
    """The workers that a planner chooses from, one line each: what they do, and their payload."""
    return "\n".join(
        f"- `{worker.name}`: {' '.join(worker.description.split())}{_takes(worker)}"
        for worker in workers
    )


def _takes(worker: Worker) -> str:
    if worker.input is None:
        return ""
    schema = compact_schema(DeclaredType(worker.input).schema)
    return f" Its `payload` follows this schema: {schema}"


def task_fields(team: Team, after: Sequence[EarlierRun] = ()) -> dict[str, JsonValue]:
    """All are required: only then do providers enforce the enum."""
    text: JsonValue = {"type": "string"}
    fields: dict[str, JsonValue] = {
        "id": text,
        "intent": text,  # before the worker, so that models choose one for it
        "worker": {"type": "string", "enum": [worker.name for worker in team.workers]},
        "depends_on": {"type": "array", "items": text},
        "done_when": _nullable(type="string"),
        "tolerates_missing": {"type": "boolean"},
        **artifacts_field(after),
        "limits": _LIMITS,
    }
    if any(worker.input is not None for worker in team.workers):
        fields["payload"] = {"description": "Follows the worker's schema; null if it has none."}
    if team.subplanner is not None:
        fields["break_down"] = {"type": "boolean"}
    return fields


def catalogue(factory: WorkerFactory) -> str:
    """The tools that a described worker may have, one line each, and how many workers."""
    lines = [f"- `{name}`: {said}".rstrip(": ") for name, said in factory.descriptions.items()]
    tools = "\n".join(lines) or "There are none."
    shared = ", ".join(f"`{name}`" for name in factory.shared_tools)
    return joined(
        f"At most {factory.max_workers}. Their tools:",
        tools,
        f"Several workers may have {shared}." if shared else "",
    )


def _worker_fields(factory: WorkerFactory) -> dict[str, JsonValue]:
    text: JsonValue = {"type": "string"}
    tools: JsonValue = {"type": "array", "items": {"type": "string", "enum": [*factory.catalogue]}}
    return {
        "name": text,
        "description": text,
        "instructions": text,
        **({"tools": tools} if factory.catalogue else {}),
        "tier": _nullable(type="string", enum=[*factory.tiers]),
        # As text, because providers enforce no schema with a property of any form.
        "output": _nullable(type="string", description="A JSON Schema, as JSON; null for text."),
    }


def form(
    team: Team,
    after: Sequence[EarlierRun] = (),
    *,
    factory: WorkerFactory | None = None,
    limits: bool = True,
) -> ToolDefinition:
    """The tool for `team` whose arguments are the proposed plan; with a `factory`, with workers
    before the tasks that name them."""
    tasks, workers = task_fields(team, after), dict[str, JsonValue]()
    if not limits:
        del tasks["limits"]
    if factory is not None:
        text: JsonValue = {"type": "string"}
        tasks["worker"] = {"anyOf": [tasks["worker"], text]} if team.workers else text
        described = object_schema(**_worker_fields(factory))
        workers["workers"] = {"type": "array", "items": described}
    return output_tool(
        "propose_plan",
        "Propose the whole plan.",
        **workers,
        tasks={"type": "array", "items": object_schema(**tasks), "minItems": 1},
    )


def data_in(answer: StructuredAnswer, what: str) -> dict[str, JsonValue]:
    """Sent as a call or as text. Raises `BadAnswer`."""
    data = answer.data if answer.data is not None else object_in(answer.text)
    if data is None:
        raise BadAnswer(f"This is not a {what}. Give the whole {what} in the required form.")
    return data


def plan_in(data: Mapping[str, JsonValue], goal: str, team: Team, *, with_artifacts: bool) -> Plan:
    """The plan as in `proposed`. Raises `BadAnswer` if it can't be parsed."""
    plan = proposed(data, goal, team, with_artifacts=with_artifacts)
    if not isinstance(plan, Plan):
        raise BadAnswer("; ".join(shortened([problem.message for problem in plan])))
    return plan


def proposed(
    data: Mapping[str, JsonValue], goal: str, team: Team, *, with_artifacts: bool = False
) -> Plan | tuple[Problem, ...]:
    """The plan that `data` proposes, or why it can't be parsed.

    Its size is checked first. Tasks keep `artifacts` and are broken down only if the schema had
    these fields.
    """
    oversized = tuple(_oversized(data, team))
    if oversized:
        return oversized
    try:
        proposal = _Proposal.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        return tuple(
            Problem("invalid_plan", message)
            for message in shortened([f"{_place(one['loc'])}: {one['msg']}" for one in found])
        )
    described = proposal.workers if team.worker_factory is not None else ()
    breaks_down = team.subplanner is not None
    tasks = [
        task.task(with_artifacts=with_artifacts, may_break_down=breaks_down)
        for task in proposal.tasks
    ]
    return Plan(
        goal=goal,
        tasks=with_task_ids(tasks),
        # Models are asked for neither this nor an instruction, because they fill them in by habit.
        # They can't override the team's own strategy, such as `last`.
        synthesis=(team.synthesis in STRATEGIES and proposal.synthesis) or team.synthesis,
        instruction=proposal.instruction,
        workers=tuple(PlannedWorker(**worker.model_dump()) for worker in described),
    )


def with_task_ids(tasks: Sequence[Task], known: Sequence[Task] = ()) -> tuple[Task, ...]:
    """`tasks` whose dependencies name tasks where models wrote the name of a worker that has one
    task: among these, else among the `known` ones."""
    ids = {task.id for task in (*tasks, *known)}
    new, old = _ids_by_worker(tasks), _ids_by_worker(known)

    def id_for(name: str, waits: Task) -> str:
        named = [id for id in new.get(name, ()) if id != waits.id] or old.get(name, [])
        return named[0] if name not in ids and len(named) == 1 else name

    return tuple(
        task
        if ids.issuperset(task.depends_on)
        else task.model_copy(
            update={"depends_on": tuple(dict.fromkeys(id_for(n, task) for n in task.depends_on))}
        )
        for task in tasks
    )


def without_needs(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], str]:
    """The only task of a plan without its dependencies, as there is nothing to wait for, and what
    was removed; `tasks` and nothing if there are more, or it has none."""
    if len(tasks) != 1 or not tasks[0].depends_on:
        return tuple(tasks), ""
    named = " and ".join(map(repr, tasks[0].depends_on))
    said = f"{tasks[0].id!r} is the only task, and depends on {named}: code removed that"
    return (tasks[0].model_copy(update={"depends_on": ()}),), said


def _ids_by_worker(tasks: Sequence[Task]) -> Mapping[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for task in tasks:
        found[task.worker].append(task.id)
    return found


def proposed_task(data: JsonValue, team: Team, *, with_artifacts: bool = False) -> Task | None:
    """A task of an unfinished plan, as `proposed` would have it; None if it can't be parsed."""
    try:
        task = _Task.model_validate(data)
    except ValidationError:
        return None
    return task.task(with_artifacts=with_artifacts, may_break_down=team.subplanner is not None)


def _oversized(data: Mapping[str, JsonValue], team: Team) -> Iterator[Problem]:
    most, tasks, workers = MAX_TASKS["model"], data.get("tasks"), data.get("workers")
    if isinstance(workers, list) and (found := too_many_workers(len(workers), team)):
        yield Problem("too_many_workers", found)
    if not isinstance(tasks, list):
        return
    if len(tasks) > most:
        yield too_many_tasks(len(tasks), "model")
        return
    for number, task in enumerate(tasks):
        needs = task.get("depends_on") if isinstance(task, dict) else None
        if isinstance(needs, list) and len(needs) > most:
            message = f"tasks[{number}].depends_on: it names {len(needs):,} tasks; give each once"
            yield Problem("invalid_plan", message)


def shortened(problems: Sequence[str]) -> list[str]:
    more = len(problems) - MAX_TOLD
    return [*problems[:MAX_TOLD], *([f"and {more:,} more problems"] if more > 0 else [])]


def _place(path: tuple[int | str, ...]) -> str:
    """A path in a proposal, such as `tasks[0].intent`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
