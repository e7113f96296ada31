"""Workers that a plan describes: what is wrong with them, and the team that has them. Pure. They
never get more than the team's catalogue grants."""

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Set

from pydantic import JsonValue

from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import SUBPLANNER, TIERS, Tier
from leadhand.contracts.task import Plan, PlannedWorker
from leadhand.contracts.team import Team, Worker
from leadhand.contracts.tools import sharing_problems
from leadhand.contracts.worker import MAX_TOOLS, READY_MADE_TOOLS, WorkerFactory, granted_name
from leadhand.plans.payloads import is_too_deep, schema_mistakes

MAX_DESCRIPTION_CHARS = 300
MAX_INSTRUCTIONS_CHARS = 8_000
MAX_OUTPUT_CHARS = 10_000
"""The longest schema of an output, as JSON."""
_NAME = re.compile(r"[^\W_][\w-]{0,49}")
_RESERVED = frozenset(
    [
        *("answer", "critic", "judge", "none", "person", "planner", "previous", "router", "scorer"),
        *("supervisor", "synthesis", "synthesizer", "team", "you", SUBPLANNER),
    ]
)
"""Names of roles, and words that mean something in place of a worker's or a task's name."""
_UNSAFE = frozenset(("pattern", "patternProperties"))
"""Keywords with which a schema can make its check endless, as references can."""
_NO_REFERENCES = frozenset(("$schema", "$comment", "$defs"))
"""The keywords with $ that refer to nothing."""
_DATA = frozenset(("const", "default", "enum", "example", "examples"))
"""Keywords whose values are data."""


def with_planned_workers(team: Team, plan: Plan) -> Team:
    """What is wrong with a description is left out, so that the rest of the plan can be checked."""
    factory = team.worker_factory
    if factory is None or not plan.workers:
        return team
    return dataclasses.replace(
        team,
        workers=(
            *team.workers,
            *(
                Worker(
                    one.name,
                    one.description,
                    instructions=one.instructions,
                    tools=tuple(
                        factory.catalogue[name]
                        for name in dict.fromkeys(one.tools or ())
                        if name in factory.catalogue
                    ),
                    tier=_tier(one, factory, team),
                    output=one.output if isinstance(one.output, Mapping) else None,
                )
                for one in plan.workers
                if _NAME.fullmatch(one.name)
            ),
        ),
        shared_tools=(*team.shared_tools, *factory.shared_tools),
        worker_factory=None,
    )


def _tier(one: PlannedWorker, factory: WorkerFactory, team: Team) -> Tier | None:
    """The tier that it starts with: its own, else the team's usual one if that is allowed."""
    if one.tier in TIERS:
        return one.tier
    usual = team.limits.tier or "standard"
    return None if usual in factory.tiers else factory.tiers[0]


def with_chosen_tools(plan: Plan, team: Team) -> Plan:
    factory = team.worker_factory
    if factory is None or all(one.tools is not None for one in plan.workers):
        return plan
    chosen = (
        one
        if one.tools is not None
        else one.model_copy(update={"tools": factory.tools_for(one.description)})
        for one in plan.workers
    )
    return plan.model_copy(update={"workers": tuple(chosen)})


def missing_tools(plan: Plan, team: Team) -> Set[str]:
    factory = team.worker_factory
    granted = {name for one in plan.workers for name in one.tools or ()}
    return granted - (factory.catalogue.keys() if factory is not None else set[str]())


def too_many_workers(count: int, team: Team) -> str | None:
    factory = team.worker_factory
    if factory is None or count <= factory.max_workers:
        return None
    return (
        f"the plan describes {count:,} workers and may describe {factory.max_workers}: give one "
        "worker several tasks, or merge workers"
    )


def planned_worker_problems(plan: Plan, team: Team, whole: Team) -> Iterator[str]:
    """What is wrong with described workers, with how to fix it. `whole` is `team` with them."""
    factory = team.worker_factory
    if not plan.workers:
        return
    if factory is None:
        yield (
            f"the plan describes workers, and team {team.name!r} has no `worker_factory` to make "
            "them: leave out `workers`, or give the team one"
        )
        return
    yield from _names(plan, team)
    for one in plan.workers:
        for problem in _problems(one, factory):
            yield f"worker {_label(one.name)} {problem}"
    made = {one.name for one in plan.workers}
    for task in plan.tasks:
        tier = task.limits.tier
        if tier is not None and task.worker in made and tier not in factory.tiers:
            allowed = ", ".join(factory.tiers)
            yield f"task {task.id!r} asks for the tier {tier!r}: {task.worker!r} may have {allowed}"
    yield from sharing_problems(whole)


def unused_workers(plan: Plan) -> Iterator[str]:
    used = {task.worker for task in plan.tasks}
    for one in plan.workers:
        if one.name not in used:
            yield f"worker {_label(one.name)} has no task: give it one, or leave it out"


def _names(plan: Plan, team: Team) -> Iterator[str]:
    declared = {worker.name.casefold() for worker in team.workers}
    seen: set[str] = set()
    for one in plan.workers:
        name, label = one.name.casefold(), _label(one.name)
        if not _NAME.fullmatch(one.name):
            yield (
                f"a worker can't be called {label}: use up to 50 letters, digits, - and _, "
                "beginning with a letter or digit"
            )
        elif name in declared:
            yield f"worker {label} is in the team already: take it out of `workers`, its tasks stay"
        elif name in _RESERVED:
            yield f"a worker can't be called {label}, which is reserved: choose another name"
        elif name in seen:
            yield f"more than one worker is called {label}: give each its own name"
        seen.add(name)


def _problems(one: PlannedWorker, factory: WorkerFactory) -> Iterator[str]:
    for what, text, most in (
        ("description", one.description, MAX_DESCRIPTION_CHARS),
        ("instructions", one.instructions, MAX_INSTRUCTIONS_CHARS),
    ):
        if not text.strip():
            yield f"has no {what}: say what it does, and for what it is not"
        elif len(text) > most:
            yield f"has {what} of {len(text):,} characters and may have {most:,}: shorten it"
    tools = one.tools or ()
    if len(tools) > MAX_TOOLS:
        yield f"has {len(tools):,} tools and may have {MAX_TOOLS}: give it those that it needs"
    for name in dict.fromkeys(tools[: MAX_TOOLS + 1]):
        if name not in factory.catalogue:
            known = ", ".join(factory.catalogue) or "none"
            yield f"has the tool {_label(name)}, which is not in the catalogue: there are {known}"
    if one.tier is not None and one.tier not in factory.tiers:
        yield f"has the tier {_label(one.tier)}: it may have {', '.join(factory.tiers)}"
    for problem in _output_problems(one.output):
        yield f"has an output that can't be used: {problem}"


def _output_problems(output: JsonValue) -> Iterator[str]:
    if output is None:
        return
    if not isinstance(output, dict):
        yield "it must be a JSON Schema as an object, or null for text"
    elif is_too_deep(output) or len(json.dumps(output)) > MAX_OUTPUT_CHARS:
        yield f"its JSON Schema is longer than {MAX_OUTPUT_CHARS:,} characters: simplify it"
    elif unsafe := sorted({*_unsafe(output)}):
        yield f"leave out {' and '.join(unsafe)}, which workers made for a plan may not use"
    else:
        yield from (problem for _, problem in schema_mistakes(output))


def _unsafe(schema: JsonValue) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _unsafe(one)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        refers = key.startswith("$") and key not in _NO_REFERENCES
        if refers or key in _UNSAFE or (key == "$schema" and not isinstance(value, str)):
            yield f"`{key}`"
        elif key in ("properties", "$defs", "dependentSchemas") and isinstance(value, dict):
            for one in value.values():
                yield from _unsafe(one)
        elif key not in _DATA:
            yield from _unsafe(value)


def _label(name: str) -> str:
    """A name that a model may have chosen, legible and short."""
    return repr(name) if len(name) <= 60 else f"{name[:60]!r}..."


def factory_problems(team: Team) -> Iterator[str]:
    factory = team.worker_factory
    if factory is None:
        return
    kind = team.planner.kind
    if not KINDS[kind].writes_whole_plans:
        yield (
            f"planner kind {kind!r} makes no workers for its plans: use `ahead` or `recursive`, or "
            "leave out `worker_factory`"
        )
    if not team.workers and (team.router or team.trained_router) is not None:
        yield "the router has no worker to choose: leave it out, or add workers to the team"
    if team.planner.plain:
        yield "the planner is plain and can't describe workers: leave out `worker_factory`"
    names = [granted_name(tool) for tool in factory.tools]
    for tool, name in zip(factory.tools, names, strict=True):
        if name is None:
            yield (
                f"the worker factory can't grant a {type(tool).__name__} by name: give it an `id`"
            )
    for name in sorted({name for name in names if name is not None and names.count(name) > 1}):
        yield f"the worker factory has more than one tool called {name!r}: rename one"
    for name in factory.tools:
        if isinstance(name, str) and name not in READY_MADE_TOOLS:
            known = ", ".join(READY_MADE_TOOLS)
            yield f"the worker factory has no ready-made tool {name!r}: there are {known}"
    for name in factory.shared_tools:
        if name not in factory.catalogue:
            yield f"the worker factory shares {name!r}, which is not in its catalogue"
