"""A team as JSON data, under the names that a team's files use: `leadhand teams show --json`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import cast

from leadhand.contracts.ladder import Retry
from leadhand.contracts.task import Limits
from leadhand.contracts.team import Role, Team, Worker, model_name
from leadhand.contracts.tools import is_read_only, tool_name
from leadhand.plans.payloads import DeclaredType, outline

Data = dict[str, object]


def document(team: Team) -> Data:
    return {
        **_fields(team, "name description"),
        "models": {tier: [*map(model_name, specs)] for tier, specs in team.tiers.items()},
        "workers": [worker_document(worker) for worker in team.workers],
        "planner": {
            **_fields(team.planner, "kind max_rounds max_levels run"),
            **_role(team.planner),
            "template": [
                _fields(entry, "id worker intent depends_on for_each payload done_when")
                | _fields(entry, "tolerates_missing limits")
                for entry in team.template
            ],
            "synthesis": team.template_synthesis,
        },
        "early_start": team.early_start,
        "synthesizer": {
            "strategy": team.synthesis,
            **_role(team.synthesizer),
            **_fields(team.synthesizer, "plain run"),
        },
        "output": _schema(team.output),
        "judge": _role(team.judge),
        "same_subject": team.same_subject,
        "critic": None if team.critic is None else _role(team.critic),
        "limits": team.limits.model_dump(exclude_none=True),
        "ladder": {**_fields(team.retry, "max_attempts backoff_s"), **asdict(team.ladder)},
        "rates": {name: asdict(rate) for name, rate in team.rates.items()},
        "answers": dict(team.answers),
        **_fields(team, "contact max_depth"),
        "routes": [
            _fields(route, "worker words pattern labels secondary also") for route in team.routes
        ],
        "router": None if team.router is None else _role(team.router),
        "trained_router": team.trained_router and {"workers": [*team.trained_router.workers]},
        **_fields(
            team, "shared_tools report confidential requester_approves expires_s needs gives"
        ),
        "worker_factory": team.worker_factory
        and {
            "tools": [*map(name_of, team.worker_factory.tools)],
            **_fields(team.worker_factory, "shared_tools tiers max_workers"),
        },
    }


def worker_document(worker: Worker) -> Data:
    return {
        **_fields(worker, "name description"),
        "tools": [*map(name_of, worker.tools)],
        "tier": worker.tier,
        "model": None if worker.model is None else model_name(worker.model),
        "settings": {**worker.settings},
        "input": _schema(worker.input),
        "output": _schema(worker.output),
        **_fields(worker, "plain min_confidence max_tool_calls max_output_mb fallback retry"),
        "read_only": is_read_only(worker),
        **_fields(
            worker,
            "isolate concurrency limits offline draft offline_s run role max_queue expires_s",
        ),
        "team": worker.team and document(worker.team),
        "instructions": worker.instructions,
    }


def name_of(thing: object) -> str:
    """`module:name` of a function; the name of another object, or of its type."""
    if isinstance(thing, str):
        return thing
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if isinstance(module, str) and isinstance(name, str):
        return f"{module}:{name}"
    return tool_name(thing) or type(thing).__qualname__


def schema_line(declared: object) -> str | None:
    """None: any."""
    if declared is None:
        return None
    schema = DeclaredType(declared).schema
    fields = outline(schema)
    if isinstance(declared, Mapping):
        return fields
    name = name_of(declared) if isinstance(declared, type) else str(declared)
    return f"{name} {fields}" if "properties" in schema or "$ref" in schema else name


def _role(role: Role) -> Data:
    model = None if role.model is None else model_name(role.model)
    return {"tier": role.tier, "model": model, **_fields(role, "settings instructions")}


def _schema(declared: object) -> object:
    return None if declared is None else DeclaredType(declared).schema


def _fields(thing: object, names: str) -> Data:
    """Functions by their names."""
    return {name: _data(getattr(thing, name)) for name in names.split()}


def _data(value: object) -> object:
    match value:
        case None | bool() | int() | float() | str() | Sequence():
            return cast("object", value)
        case Retry():
            names = None if value.on is None else [kind.__qualname__ for kind in value.on]
            return {"on": names, "attempts": value.attempts}
        case Limits():
            return value.model_dump(exclude_none=True)
        case Mapping():
            return {**cast("Data", value)}
        case _:
            return name_of(value)
