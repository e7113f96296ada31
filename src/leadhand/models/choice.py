"""Chooses the models of a team, on the command line and for a `Team(model="auto")` in Python.

Says what it found and why. Calls no model, spends nothing and imports nothing slow.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from leadhand.contracts.team import ModelSpec, Team, Tier, Worker, model_name
from leadhand.errors import InputError
from leadhand.models.defaults import keyed
from leadhand.models.detection import LOCAL_SERVERS, LocalServer, local_model
from leadhand.plans.nesting import all_teams, with_inherited_models

NO_MODEL = "none"
"""The value of `--model` and `LEADHAND_MODEL` for no model."""
VARIABLE = "LEADHAND_MODEL"
LOCAL_MODELS = "LEADHAND_LOCAL_MODELS"
"""The environment variable that is 0 where no model server of this machine may be found."""
AUTO = "auto"
"""The value of a team's `model` to look for models in Python as the command line does."""
LISTING_TIMEOUT_S = 10.0
"""How long the endpoint at OPENAI_BASE_URL has to list its models."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    team: Team
    why: str
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables to set so that the models can be reached."""


async def choose(
    team: Team,
    *,
    model: str | None,
    no_model: bool,
    environ: Mapping[str, str],
    servers: Sequence[LocalServer] = LOCAL_SERVERS,
) -> ModelChoice:
    """The team with the models asked for, its own, or those available. Raises `InputError` for
    contradictions, or if an endpoint lists no models."""
    if no_model and model is not None:
        raise InputError("--model and --no-model exclude each other: give one of them")
    if no_model:
        return ModelChoice(_stripped(team), "no model, from --no-model: engine deterministic")
    if is_auto(team):
        team = with_changed_models(team, lambda spec: None if spec == AUTO else spec)
    secret = any(one.confidential for one in all_teams(team))
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        _check_address(variable, environ.get(variable, "").strip())
    asked = (("--model", model), (VARIABLE, environ.get(VARIABLE) or None))
    for origin, name in asked:
        if name is not None:
            choice = _named(team, name, origin, environ)
            why = f"{choice.why}; team {team.name} is confidential" if secret else choice.why
            return dataclasses.replace(choice, why=why)
    if secret:
        choice = await _local(_stripped(team), environ, servers)
        unasked = "no hosted model without --model or LEADHAND_MODEL"
        found = "no model found: engine deterministic" if choice is None else choice.why
        why = f"team {team.name} is confidential, {unasked}; {found}"
        return dataclasses.replace(choice or ModelChoice(_stripped(team), ""), why=why)
    if team.tiers:
        own = _addressed(team, environ)
        return ModelChoice(own, f"{_tiers_line(own)}, from team {team.name}")
    return await _at_hand(team, environ, servers)


def is_auto(team: Team) -> bool:
    """Whether `team`, or a team nested in it, asks to look for models."""
    return any(one.model == AUTO for one in all_teams(team))


async def resolve_auto(
    team: Team, environ: Mapping[str, str], servers: Sequence[LocalServer] = LOCAL_SERVERS
) -> ModelChoice:
    """The team and its nested teams, without `auto`. Raises `InputError` for wrong settings."""
    if team.model == AUTO:
        return await choose(team, model=None, no_model=False, environ=environ, servers=servers)
    workers: list[Worker] = []
    why, beside = "", dict[str, str]()
    for worker in team.workers:
        if worker.team is not None and is_auto(worker.team):
            secret = team.confidential or worker.team.confidential
            inner = dataclasses.replace(worker.team, confidential=secret)
            inner = await resolve_auto(inner, environ, servers)
            why, beside = inner.why, {**beside, **inner.environ}
            worker = dataclasses.replace(worker, team=inner.team)
        workers.append(worker)
    return ModelChoice(dataclasses.replace(team, workers=tuple(workers)), why, beside)


def _check_address(variable: str, address: str) -> None:
    """Raises `InputError` if `address` is not an HTTP URL; an empty one counts as unset."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        usable = usable and parts.port != 0  # raises for a port that is no port
    except ValueError:
        usable = False
    if address and not usable:
        raise InputError(
            f"{variable} is not an http or https address: write one like http://127.0.0.1:8000/v1"
        )


def models_by_role(team: Team) -> dict[str, str]:
    """The model of each role and worker, `function` for functions; empty without models. Names
    in nested teams are paths: `legal/planner`."""
    used = _roles(with_inherited_models(team))
    if all(spec is None for spec in used.values()):
        return {}
    return {name: "function" if spec is None else model_name(spec) for name, spec in used.items()}


def _roles(team: Team) -> dict[str, ModelSpec]:
    used = {name: next(iter(team.models_of(role)), None) for name, role in team.roles.items()}
    if team.synthesizer.run is not None:
        used["synthesizer"] = None
    for worker in team.workers:
        name = f"{worker.name} (worker)" if worker.name in used else worker.name
        if worker.team is not None:
            inner = _roles(worker.team)
            used |= {f"{worker.name}/{role}": spec for role, spec in inner.items()}
        else:
            used[name] = team.model_of(worker) if worker.run is None else None
    return used


def models_of(team: Team) -> list[ModelSpec]:
    """The distinct models of a team and its nested teams, those of the tiers first."""
    named = [spec for specs in team.tiers.values() for spec in specs]
    named += [role.model for role in team.roles.values()]
    for worker in team.workers:
        named += [worker.model] if worker.team is None else models_of(worker.team)
    once: list[ModelSpec] = []
    for spec in named:
        if spec is not None and spec not in once:
            once.append(spec)
    return once


def _named(team: Team, name: str, origin: str, environ: Mapping[str, str]) -> ModelChoice:
    name = name.strip()
    if not name:
        raise InputError(f"{origin} names no model: give provider:model, or {NO_MODEL}")
    if name == NO_MODEL:
        return ModelChoice(_stripped(team), f"no model, from {origin}: engine deterministic")
    spec = _address(name, environ)
    chosen = dataclasses.replace(_stripped(team), model=spec)
    return ModelChoice(chosen, f"{model_name(spec)} for every role, from {origin}")


async def _at_hand(
    team: Team, environ: Mapping[str, str], servers: Sequence[LocalServer]
) -> ModelChoice:
    base_url = environ.get("OPENAI_BASE_URL", "").strip()
    if base_url:
        spec = await _first_listed(base_url, environ.get("OPENAI_API_KEY"))
        chosen = dataclasses.replace(_addressed(team, environ), model=spec)
        return ModelChoice(chosen, f"{spec} for every role, the first model at OPENAI_BASE_URL")
    rows = keyed(environ)
    usable = next((row for row in rows if row.installed), None)
    if usable is not None:
        models: Mapping[Tier, Sequence[ModelSpec]]
        models = {tier: (spec,) for tier, spec in usable.tiers.items()}
        chosen = dataclasses.replace(team, models=models)
        return ModelChoice(chosen, f"{_tiers_line(chosen)}, because {usable.variable} is set")
    local = await _local(team, environ, servers)
    if local is not None:
        return local
    if rows:
        lacking = f'{rows[0].variable} is set, but needs "pydantic-ai-slim[{rows[0].extra}]"'
        return ModelChoice(team, f"no model found ({lacking} installed): engine deterministic")
    return ModelChoice(team, "no model found: engine deterministic")


async def _local(
    team: Team, environ: Mapping[str, str], servers: Sequence[LocalServer]
) -> ModelChoice | None:
    """The team with the model of a server on this machine, if one answers."""
    local = await local_model(servers) if environ.get(LOCAL_MODELS) != "0" else None
    if local is None:
        return None
    where = f"{local.server.name} on port {local.server.port}"
    return ModelChoice(
        dataclasses.replace(team, model=local.spec),
        f"{local.spec} for every role, found at {where}; --no-model or {LOCAL_MODELS}=0 if it "
        "should not be used",
        {local.server.variable: local.server.base_url},
    )


async def _first_listed(base_url: str, key: str | None) -> str:
    # For weight alone: without OPENAI_BASE_URL no HTTP client is needed.
    from leadhand.models.listing import ListingError, list_models

    try:
        models = await list_models(base_url, key=key, timeout_s=LISTING_TIMEOUT_S)
    except ListingError as error:
        raise InputError(
            f"no model is named, and OPENAI_BASE_URL ({_without_secrets(base_url)}) lists none: "
            f"{error}; give --model NAME, or --no-model"
        ) from error
    if not models:
        raise InputError("OPENAI_BASE_URL lists no model: give --model NAME, or --no-model")
    return f"openai-chat:{models[0].id}"


def _without_secrets(url: str) -> str:
    """The address without parts that may contain a password or a key."""
    scheme, _, rest = url.partition("://")
    place = rest.partition("?")[0].partition("#")[0]
    return f"{scheme}://{place.rpartition('@')[2]}"


def _stripped(team: Team) -> Team:
    return with_changed_models(team, lambda _: None)


def _addressed(team: Team, environ: Mapping[str, str]) -> Team:
    """The team with bare names changed to `openai-chat:name` if OPENAI_BASE_URL is set."""
    return with_changed_models(team, lambda spec: _address(spec, environ))


def with_changed_models(team: Team, change: Callable[[ModelSpec], ModelSpec]) -> Team:
    """The team and its nested teams with every model changed; None removes it."""
    tiers = {tier: [change(spec) for spec in specs] for tier, specs in team.models.items()}
    return dataclasses.replace(
        team,
        model=change(team.model),
        models={tier: tuple(specs) for tier, specs in tiers.items() if None not in specs},
        **{
            name: dataclasses.replace(role, model=change(role.model))
            for name, role in team.roles.items()
        },
        workers=tuple(
            dataclasses.replace(
                worker,
                model=change(worker.model),
                team=with_changed_models(worker.team, change) if worker.team else None,
            )
            for worker in team.workers
        ),
    )


def _address(spec: ModelSpec, environ: Mapping[str, str]) -> ModelSpec:
    bare = isinstance(spec, str) and ":" not in spec
    return f"openai-chat:{spec}" if bare and environ.get("OPENAI_BASE_URL", "").strip() else spec


def _tiers_line(team: Team) -> str:
    first = {tier: model_name(specs[0]) for tier, specs in team.tiers.items()}
    if len(set(first.values())) == 1:
        return f"{first['standard']} for every tier"
    return ", ".join(f"{spec} ({tier})" for tier, spec in first.items())
