"""The tree of nested teams. Pure."""

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    # `leadhand runs` needs no teams, whose import takes longer than the rest of the command.
    from leadhand.contracts.team import Team, Worker


class NestedTeam(NamedTuple):
    team: "Team"
    path: tuple[str, ...]
    """From the outermost team to this one."""


def nested_teams(team: "Team") -> Iterator[NestedTeam]:
    """Outer teams first. The tree must have no `nesting_problems`."""
    for worker in team.workers:
        if worker.team is not None:
            yield NestedTeam(worker.team, (team.name, worker.team.name))
            for inner in nested_teams(worker.team):
                yield NestedTeam(inner.team, (team.name, *inner.path))


def all_teams(team: "Team") -> "list[Team]":
    """The team and those nested in it, outer teams first."""
    return [team, *(nested.team for nested in nested_teams(team))]


def nesting_problems(team: "Team") -> tuple[str, ...]:
    """Cycles in a tree of teams, and teams nested too deep."""
    return tuple(_problems(team, (team,), team.max_depth))


def _problems(team: "Team", path: "tuple[Team, ...]", levels_left: int) -> Iterator[str]:
    for worker in team.workers:
        inner = worker.team
        if inner is None:
            continue
        names = " -> ".join(one.name for one in (*path, inner))
        if any(inner is one for one in path):
            yield f"it contains itself ({names}): take worker {worker.name!r} out of {team.name!r}"
        elif levels_left == 0:
            yield (
                f"teams are nested deeper than {path[0].max_depth} levels ({names}): nest fewer, "
                "or raise `max_depth`"
            )
        else:
            yield from _problems(inner, (*path, inner), levels_left - 1)


def with_inherited_models(team: "Team") -> "Team":
    """A nested team that needs a model and names none gets those of `team`."""
    workers = tuple(_with_models(worker, team) for worker in team.workers)
    if all(new is old for new, old in zip(workers, team.workers, strict=True)):
        return team
    return dataclasses.replace(team, workers=workers)


def _with_models(worker: "Worker", outer: "Team") -> "Worker":
    team = worker.team
    if team is None:
        return worker
    if outer.tiers and not team.tiers and _wants_model(team):
        team = dataclasses.replace(team, model=outer.model, models=outer.models)
    team = with_inherited_models(team)
    return worker if team is worker.team else dataclasses.replace(worker, team=team)


def _wants_model(team: "Team") -> bool:
    return team.worker_factory is not None or any(
        _wants_model(worker.team) if worker.team is not None else worker.run is None
        for worker in team.workers
        if worker.model is None
    )
