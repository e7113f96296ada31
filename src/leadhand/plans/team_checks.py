"""Validates teams: every problem at once, each with how to fix it. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from types import FunctionType
from typing import cast

from pydantic import PydanticUserError, TypeAdapter

from leadhand.contracts.data import type_name
from leadhand.contracts.planner_kinds import KINDS, PlannerKind
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.team import Team, Worker
from leadhand.contracts.tools import sharing_problems
from leadhand.contracts.worker import ForeignAgent
from leadhand.plans import graph
from leadhand.plans.checks import STRATEGIES, instead
from leadhand.plans.nesting import nested_teams, nesting_problems, with_inherited_models
from leadhand.plans.planned_workers import factory_problems
from leadhand.plans.routes import pattern_problem
from leadhand.plans.signatures import handoff_problem, role_problem

_FACTORY = "the worker factory"


def team_problems(team: Team, *, model_at_hand: bool = False) -> tuple[str, ...]:
    """Every problem that prevents a team from working, each with how to fix it.

    With `model_at_hand` the team need not name a model, and its functions are not checked, because
    its loader did.
    """
    endless = nesting_problems(team)
    if endless:
        return endless
    late = () if model_at_hand else (*signature_problems(team), *_idle(team))
    return (*_team_problems(team), *late)


def team_warnings(team: Team) -> Iterator[str]:
    """What has no effect in a team without problems and its nested teams."""
    for path, one in (
        ((), team),
        *((nested.path[1:], nested.team) for nested in nested_teams(team)),
    ):
        role = one.planner
        # Without a kind, the planner may be code that decides in rounds.
        if role.kind is not None:
            given = [one.name for one in fields(role) if getattr(role, one.name) != one.default]
            where = f"in team {'/'.join(path)!r}: " if path else ""
            yield from (f"{where}{text}" for _, text in unused_settings(role.kind, given))


def unused_settings(kind: PlannerKind | None, given: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each of the settings `given` to a planner that its kind does not have, and what to do."""
    for name, only in ((name, kind) for kind in KINDS for name in KINDS[kind].settings):
        if name in given and kind != only:
            own = f"is `{kind}`" if kind is not None else "has no kind"
            yield (
                name,
                f"`{name}` has no effect: it is for a `{only}` planner, and this one {own}: leave "
                f"it out, or make the planner's kind `{only}`",
            )


def signature_problems(team: Team) -> Iterator[str]:
    """Problems of functions, in nested teams too."""
    for worker in team.workers:
        for key, function in (("run", worker.run), ("offline", worker.offline)):
            if callable(function) and (misfit := handoff_problem(function)):
                yield f"`{key}` of worker {worker.name!r} does not take a handoff: {misfit}"
        if worker.team is not None:
            yield from (
                f"in team {worker.team.name!r}: {one}" for one in signature_problems(worker.team)
            )


def synthesis_problems(team: Team, *, own: bool = False) -> Iterator[str]:
    """Strategies that synthesizers of the team and its nested teams don't know. An `own`
    synthesizer may know others; nested teams have none."""
    own = own or team.synthesizer.run is not None
    for name in (team.synthesis, team.template_synthesis):
        if name is not None and name not in STRATEGIES and not own:
            yield (
                f"there is no synthesis {name!r}: {instead(name, list(STRATEGIES))}; for one of "
                "your own give the Supervisor its `synthesizer`"
            )
    for worker in team.workers:
        if worker.team is not None:
            inner = worker.team
            yield from (f"in team {inner.name!r}: {one}" for one in synthesis_problems(inner))


def without_model(team: Team) -> tuple[str, ...]:
    """The workers that need a model and have none; nested ones as `legal/reader`."""
    return tuple(_without_model(with_inherited_models(team), ""))


def _without_model(team: Team, path: str) -> Iterator[str]:
    if team.worker_factory is not None and not team.workers and not team.tiers:
        yield f"{path}{_FACTORY}"  # without a model, a team without workers has none
    for worker in team.workers:
        if worker.team is not None:
            yield from _without_model(worker.team, f"{path}{worker.name}/")
        elif worker.run is None and worker.offline is None and not (team.tiers or worker.model):
            yield f"{path}{worker.name}"


def _idle(team: Team) -> Iterator[str]:
    names = [repr(name) for name in without_model(team)]
    if names:
        many = len(names) > 1
        who = (
            f"workers {', '.join(names[:-1])} and {names[-1]} need"
            if many
            else f"worker {names[0]} needs"
        )
        yield (
            f'{who} a model, and there is none: name one (`model="provider:name"`), have leadhand '
            'look for one (`model="auto"`), or write code that does the work without one '
            "(`offline=function`)"
        )


def _team_problems(team: Team) -> Iterator[str]:
    if not team.workers and team.worker_factory is None:
        yield "it has no workers: add at least one"
    yield from factory_problems(team)
    elsewhere = [role.model for role in team.roles.values()]
    elsewhere += [spec for specs in team.models.values() for spec in specs]
    elsewhere += [worker.model for worker in team.workers]
    if "auto" in [spec for spec in elsewhere if isinstance(spec, str)]:
        yield "only a team's `model` can be `auto`: name the models of tiers, roles and workers"
    if team.output is not None and team.synthesizer.plain:
        yield (
            "the synthesizer is plain, so the team can't declare an output: leave out one or the "
            "other"
        )
    yield from _role_problems(team)
    problem = _form_problem(team.output)
    if problem is not None:
        yield f"the output of the team can't be used: {problem}"
    names = [worker.name for worker in team.workers]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"more than one worker is called {name!r}: give each its own name"
    if SUBPLANNER in names:
        yield (
            f"a worker is called {SUBPLANNER!r}, the name for tasks that a recursive planner "
            "breaks down: give it another name"
        )
    for worker in team.workers:
        yield from _worker_problems(worker, names)
    for name in (name for group in team.same_subject for name in group if name not in names):
        yield (f"`same_subject` has {name!r}, who is not in the team: {instead(name, names)}")
    yield from _early_start(team)
    yield from _routes(team, names)
    yield from sharing_problems(_with_catalogue(team))
    yield from _template_problems(team, names)


def _role_problems(team: Team) -> Iterator[str]:
    for name, role in team.roles.items():
        if role.run is None:
            continue
        if name not in ("planner", "synthesizer"):
            yield f"the {name} can't be code: leave out its `run`"
        elif problem := role_problem(name, role.run):
            yield f"`run` of the {name} can't be used: {problem}"
    if team.planner.run is not None and team.planner.kind is not None:
        yield f"the planner is code and has the kind `{team.planner.kind}`: leave out one of them"
    if team.synthesizer.run is not None and team.critic is not None:
        yield "the synthesizer is code, which no critic can send back: leave out one of them"


def _worker_problems(worker: Worker, names: list[str]) -> Iterator[str]:
    if worker.plain and (worker.tools or worker.output is not None):
        yield (
            f"worker {worker.name!r} is plain and so can have neither tools nor a declared "
            "output: leave out one or the other"
        )
    for what, declared in (("input", worker.input), ("output", worker.output)):
        problem = _form_problem(declared)
        if problem is not None:
            yield f"the {what} of worker {worker.name!r} can't be used: {problem}"
    if worker.team is not None:
        if worker.run is not None or worker.offline is not None:
            yield (
                f"worker {worker.name!r} has a team and a function: its team does the work, "
                "leave out `run` and `offline`"
            )
        inner = worker.team
        yield from (f"in team {inner.name!r}: {problem}" for problem in _team_problems(inner))
    if worker.draft is not None and worker.offline is not worker.draft:
        yield f"worker {worker.name!r} has `draft`, which is its offline code: leave out `offline`"
    if worker.draft is not None and (worker.run or worker.team or worker.isolate == "process"):
        yield (
            f"worker {worker.name!r} has `draft`, to which the team's model adds: leave out `run`, "
            "`agent`, `team` and `isolate`"
        )
    if worker.agent is not None and not isinstance(worker.run, ForeignAgent):
        yield f"worker {worker.name!r} has an agent and a function: leave out `agent` or `run`"
    if worker.agent is not None and worker.isolate == "process":
        yield f"the agent of worker {worker.name!r} can't run in a process: leave out `isolate`"
    if worker.deps is not None and (worker.run is None or callable(worker.run)):
        yield f"worker {worker.name!r} has `deps`, which are for a pydantic-ai Agent in `run`"
    if worker.fallback == worker.name:
        yield f"worker {worker.name!r} is its own fallback: name another, or none"
    elif worker.fallback is not None and worker.fallback not in names:
        yield (
            f"worker {worker.name!r} falls back to {worker.fallback!r}, who is not in the "
            f"team: {instead(worker.fallback, names)}"
        )


def _template_problems(team: Team, names: list[str]) -> Iterator[str]:
    entries = {entry.id for entry in team.template}
    for entry in team.template:
        if entry.worker not in names:
            yield (
                f"template entry {entry.id!r} is for {entry.worker!r}, who is not in the team: "
                f"{instead(entry.worker, names)}"
            )
        for needed in entry.depends_on:
            if needed not in entries:
                yield f"template entry {entry.id!r} depends on {needed!r}, which is not an entry"
    path = graph.cycle({entry.id: entry.depends_on for entry in team.template})
    if path is not None:
        yield (
            f"these template entries wait for each other: {' -> '.join(path)}: remove one of these "
            "dependencies"
        )


def _with_catalogue(team: Team) -> Team:
    """`team` with a worker that has all tools of its worker factory, as made ones may have."""
    factory = team.worker_factory
    if factory is None:
        return team
    maker = Worker(_FACTORY, "Makes workers", tools=factory.tools)
    shared = (*team.shared_tools, *factory.shared_tools)
    return replace(team, workers=(*team.workers, maker), shared_tools=shared)


def _early_start(team: Team) -> Iterator[str]:
    if not team.early_start:
        return
    if not KINDS[team.planner.kind].writes_whole_plans:
        yield (
            "`early_start` needs a planner that writes the whole plan at once, and this one is "
            f"{team.planner.kind}: leave it out, or make the planner's kind `ahead`"
        )
    if team.worker_factory is not None:
        yield (
            "`early_start` and `worker_factory` don't combine: a plan that makes workers has to be "
            "complete before any task starts; leave out one or the other"
        )


def _form_problem(output: object) -> str | None:
    if output is None or isinstance(output, Mapping):
        return None
    no_type = (
        f"{output!r:.60} is not a data type: give one, such as `list[str]`, a pydantic model or a "
        "dataclass, or a JSON Schema as a mapping"
    )
    if isinstance(output, str | FunctionType):  # the name of a type, and the type of a call
        return no_type
    try:
        TypeAdapter(cast("type[object]", output))
    except PydanticUserError as error:
        if error.code == "typed-dict-version":
            return f"{type_name(output)} is a `typing.TypedDict`: use `typing_extensions.TypedDict`"
        return no_type
    except Exception as error:  # the type's own code builds the schema and may raise anything
        return f"{type(error).__name__}: {error}"
    return None


def _routes(team: Team, names: list[str]) -> Iterator[str]:
    for number, route in enumerate(team.routes, start=1):
        for name in (route.worker, route.secondary, *route.also):
            if name is not None and name not in names:
                yield (
                    f"route {number} leads to {name!r}, who is not in the team: "
                    f"{instead(name, names)}"
                )
        if route.worker in (route.secondary, *route.also):
            instead_of = "leave it out of `secondary` and `also`"
            yield f"route {number} names {route.worker!r} more than once: {instead_of}"
        if route.is_default and number < len(team.routes):
            yield f"route {number} takes everything, so those after it never apply: put it last"
        if route.pattern is not None and (problem := pattern_problem(route.pattern)):
            yield f"the pattern of route {number} can't be used: {problem}"
    for name in team.trained_router.workers if team.trained_router is not None else ():
        if name not in names:
            yield (
                f"the trained router knows {name!r}, who is not in the team: "
                f"{instead(name, names)}; if it was renamed or removed, train the router again"
            )
