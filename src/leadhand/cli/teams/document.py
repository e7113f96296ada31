"""A team as JSON data, under the names that a team's files use: `leadhand teams show --json`."""

from collections.abc import Mapping
from dataclasses import asdict

from leadhand.contracts.ladder import Retry
from leadhand.contracts.team import Role, Team, Worker, WorkerFactory, model_name, tool_name
from leadhand.contracts.tools import is_read_only
from leadhand.plans.payloads import DeclaredType, outline


def document(team: Team) -> dict[str, object]:
    """Everything that defines a team."""
    return {
        "name": team.name,
        "description": team.description,
        "models": {
            tier: [model_name(spec) for spec in specs] for tier, specs in team.tiers.items()
        },
        "workers": [_worker(worker) for worker in team.workers],
        "planner": _planner(team),
        "early_start": team.early_start,
        "synthesizer": {
            "strategy": team.synthesis,
            **_role(team.synthesizer),
            "plain": team.synthesizer.plain,
        },
        "output": _schema(team.output),
        "judge": _role(team.judge),
        "same_subject": team.same_subject,
        "critic": None if team.critic is None else _role(team.critic),
        "limits": team.limits.model_dump(exclude_none=True),
        "ladder": {
            "max_attempts": team.retry.max_attempts,
            "backoff_s": team.retry.backoff_s,
            **asdict(team.ladder),
        },
        "rates": {name: asdict(rate) for name, rate in team.rates.items()},
        "contact": team.contact,
        "max_depth": team.max_depth,
        "routes": [
            _fields(route, "worker", "words", "pattern", "labels", "secondary", "also")
            for route in team.routes
        ],
        "router": None if team.router is None else _role(team.router),
        "trained_router": None
        if team.trained_router is None
        else {"workers": [*team.trained_router.workers]},
        "shared_tools": team.shared_tools,
        "worker_factory": _factory(team.worker_factory),
    }


def _planner(team: Team) -> dict[str, object]:
    entries = ("id", "worker", "intent", "depends_on", "for_each", "payload", "done_when")
    template = [
        _fields(entry, *entries, "tolerates_missing")
        | {"limits": entry.limits.model_dump(exclude_none=True)}
        for entry in team.template
    ]
    return {
        **_fields(team.planner, "kind", "max_rounds", "max_levels"),
        **_role(team.planner),
        "template": template,
        "synthesis": team.template_synthesis,
    }


def name_of(thing: object) -> str:
    """`module:name` of a function; the name of another object, or of its type."""
    if isinstance(thing, str):
        return thing
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if isinstance(module, str) and isinstance(name, str):
        return f"{module}:{name}"
    return tool_name(thing) or type(thing).__qualname__


def schema_line(declared: object) -> str:
    """The form of a worker's input or output on one line: `Order {id: integer}`."""
    schema = DeclaredType(declared).schema
    fields = outline(schema)
    if isinstance(declared, Mapping):
        return fields
    name = name_of(declared) if isinstance(declared, type) else str(declared)
    return f"{name} {fields}" if "properties" in schema or "$ref" in schema else name


def _worker(worker: Worker) -> dict[str, object]:
    return {
        "name": worker.name,
        "description": worker.description,
        "tools": [name_of(tool) for tool in worker.tools],
        "tier": worker.tier,
        "model": None if worker.model is None else model_name(worker.model),
        "settings": dict(worker.settings),
        "input": _schema(worker.input),
        "output": _schema(worker.output),
        **_fields(worker, "plain", "min_confidence", "max_tool_calls", "max_output_mb", "fallback"),
        "retry": _retry(worker.retry),
        "read_only": is_read_only(worker),
        **_fields(worker, "isolate", "concurrency"),
        "limits": worker.limits.model_dump(exclude_none=True),
        "offline": None if worker.offline is None else name_of(worker.offline),
        "offline_s": worker.offline_s,
        "run": None if worker.run is None else name_of(worker.run),
        **_fields(worker, "role", "max_queue"),
        "team": None if worker.team is None else document(worker.team),
        "instructions": worker.instructions,
    }


def _fields(thing: object, *names: str) -> dict[str, object]:
    """Fields that are data already."""
    return {name: getattr(thing, name) for name in names}


def _retry(retry: bool | Retry) -> object:
    if isinstance(retry, bool):
        return retry
    names = None if retry.on is None else [kind.__qualname__ for kind in retry.on]
    return {"on": names, "attempts": retry.attempts}


def _role(role: Role) -> dict[str, object]:
    return {
        "tier": role.tier,
        "model": None if role.model is None else model_name(role.model),
        "settings": dict(role.settings),
        "instructions": role.instructions,
    }


def _factory(factory: WorkerFactory | None) -> dict[str, object] | None:
    if factory is None:
        return None
    return {
        "tools": [name_of(tool) for tool in factory.tools],
        **_fields(factory, "shared_tools", "tiers", "max_workers"),
    }


def _schema(output: object) -> object:
    """A declared input or output as a JSON Schema; None for text or anything."""
    return None if output is None else DeclaredType(output).schema
