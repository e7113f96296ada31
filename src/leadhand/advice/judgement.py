"""What to change in a team, judged from its definition and its runs. Pure.

Each piece of advice says what it was computed from; what could not be judged is named as well.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Literal

from leadhand.advice.observed import Given, ObservedRun
from leadhand.advice.overlap import MIN_TASKS, Overlap, overlap
from leadhand.advice.shapes import shape
from leadhand.contracts.team import Team, Worker, uses_model
from leadhand.contracts.tools import tools_of
from leadhand.untrusted.cutting import cut

AdviceKind = Literal[
    "same_plan", "one_worker", "unused_worker", "overlap", "always_fails", "unused_tool"
]
MIN_RUNS = 10
"""Runs before a plan counts as always the same, or a worker as never used."""
MIN_ATTEMPTS = 5
"""Attempts of a worker, in at least two runs, before it counts as one that always fails."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The runs that something was computed from."""

    runs: int
    first: datetime | None
    """When the first of them started; None without runs."""
    last: datetime | None

    @classmethod
    def of(cls, runs: Sequence[ObservedRun]) -> "Basis":
        """The basis of these runs."""
        at = sorted(run.started_at for run in runs)
        return cls(len(at), at[0] if at else None, at[-1] if at else None)


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to change, and why."""

    kind: AdviceKind
    about: tuple[str, ...]
    """The workers that it is about; for `unused_tool` the worker and its tools."""
    found: str
    """What the runs show, with the numbers."""
    do: str
    """What to do about it."""
    basis: Basis
    examples: tuple[Given, ...] = ()
    """Tasks that show it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """All advice about a team."""

    team: str
    basis: Basis
    left_out: Mapping[str, int]
    """Runs that do not count, by the reason."""
    advice: tuple[Advice, ...]
    unjudged: tuple[str, ...]
    """What was not judged, and why."""


def judge(team: Team, runs: Sequence[ObservedRun], left_out: Mapping[str, int]) -> Judgement:
    """What the runs of `team`, the oldest first, say about it."""
    one_worker = [*_one_worker(team, runs)]
    advice = (
        *one_worker,
        *(() if one_worker else _same_plan(team, runs)),
        *(() if one_worker else _unused_workers(team, runs)),
        *(_overlapping(one, runs) for one in _overlaps(team, runs)),
        *_failing(runs),
        *_unused_tools(team, runs),
    )
    return Judgement(
        team.name, Basis.of(runs), dict(left_out), advice, tuple(_unjudged(team, runs))
    )


def _planned(runs: Sequence[ObservedRun]) -> list[ObservedRun]:
    """The runs whose whole plan a model wrote."""
    return [run for run in runs if run.by_model]


def _plans_by_model(team: Team) -> bool:
    """Whether a model may plan the next request."""
    if team.planner.kind in (None, "routed") and any(route.is_default for route in team.routes):
        return False
    return team.planner.kind != "template"


def _one_worker(team: Team, runs: Sequence[ObservedRun]) -> Iterator[Advice]:
    planned = _planned(runs)
    used = {worker for run in runs for worker in run.workers}
    if len(planned) < MIN_RUNS or len(used) != 1 or not _plans_by_model(team):
        return
    (name,) = used
    worker = team.worker(name)
    if worker is None or worker.input is not None:
        return  # made for a plan; or without a plan there is no payload
    sizes = sorted(len(run.plan.tasks) for run in planned)
    each = "1 task" if sizes[-1] == 1 else f"{sizes[0]} to {sizes[-1]} tasks"
    found = f"{name!r} does everything, in each of {len(runs):,} runs; a plan has {each}"
    do = (
        f"use {name!r} alone: a route without conditions (`routes: [{{worker: {name}}}]`, and no "
        f"kind of `planner`) gives it each request, and saves {_calls(planned)}"
    )
    if sizes[-1] > 1:
        do += "; it then works on all of a request in one task, not on parts side by side"
    others = tuple(worker.name for worker in team.workers if worker.name != name)
    if others:
        do += f"; never used: {', '.join(others)}"
    yield Advice("one_worker", (name, *others), found, do, Basis.of(runs))


def _same_plan(team: Team, runs: Sequence[ObservedRun]) -> Iterator[Advice]:
    planned = _planned(runs)
    shapes = {shape(run.plan) for run in planned}
    if len(planned) < MIN_RUNS or len(shapes) != 1 or not _plans_by_model(team):
        return
    (same,) = shapes
    workers = tuple(task.worker for task in same.tasks)
    if not all(map(team.worker, workers)):
        return  # a template has no workers that are made for a plan
    edges = sum(len(task.after) for task in same.tasks)
    order = "no dependencies" if not edges else f"{edges:,} of the same dependencies"
    found = (
        f"the plan is always the same: all {len(planned):,} plans that a model wrote have "
        f"{len(workers):,} tasks for {', '.join(workers)}, with {order}"
    )
    amended = sum(run.amendments > 0 for run in planned)
    found += f"; {amended:,} of these runs amended it" if amended else ""
    do = (
        f"`leadhand teams freeze {planned[-1].run_id} --into DIR` makes it the team's template, "
        f"and saves {_calls(planned)}"
    )
    yield Advice("same_plan", tuple(dict.fromkeys(workers)), found, do, Basis.of(planned))


def _calls(runs: Sequence[ObservedRun]) -> str:
    """What planning took in these runs."""
    calls = sum(run.planner_calls for run in runs)
    tokens = sum(run.planner_tokens for run in runs)
    return f"the planner's calls: {calls:,} with {tokens:,} tokens in {len(runs):,} runs"


def _unused_workers(team: Team, runs: Sequence[ObservedRun]) -> Iterator[Advice]:
    if len(runs) < MIN_RUNS:
        return
    used = {worker for run in runs for worker in run.workers}
    for worker in team.workers:
        if worker.name in used:
            continue
        found = f"{worker.name!r} was never used: no task and no attempt in {len(runs):,} runs"
        behind = _stands_by(worker, team)
        do = (
            f"it stands by for {', '.join(behind)}: keep it if such a reserve is wanted"
            if behind
            else "remove it, or say in its description what only it does"
        )
        yield Advice("unused_worker", (worker.name,), found, do, Basis.of(runs))


def _stands_by(worker: Worker, team: Team) -> list[str]:
    """The workers that this one takes over from."""
    behind = [one.name for one in team.workers if one.fallback == worker.name]
    behind += [route.worker for route in team.routes if route.secondary == worker.name]
    if worker.role is not None:
        behind += [o.name for o in team.workers if o.role == worker.role and o is not worker]
    return [*dict.fromkeys(behind)]


def _given(runs: Sequence[ObservedRun]) -> dict[str, list[Given]]:
    """What each worker was given by choice: a template or a person deals out tasks by rule."""
    given: dict[str, list[Given]] = {}
    for run in runs:
        several = len(run.plan.tasks) > 1
        if run.planned_by in ("template", "person") or (run.planned_by == "router" and several):
            continue
        for one in run.given:
            given.setdefault(one.worker, []).append(one)
    return given


def _overlaps(team: Team, runs: Sequence[ObservedRun]) -> Iterator[Overlap]:
    given = _given(runs)
    for first, second in combinations(team.workers, 2):
        declared = first.role is not None and first.role == second.role
        if declared or first.fallback == second.name or second.fallback == first.name:
            continue
        found = overlap(given.get(first.name, ()), given.get(second.name, ()))
        if found is not None:
            yield found


def _overlapping(found: Overlap, runs: Sequence[ObservedRun]) -> Advice:
    first, second = found.workers
    return Advice(
        "overlap",
        found.workers,
        f"{first!r} and {second!r} are given the same kind of task: {found.confused:.0%} of "
        f"{sum(found.tasks):,} tasks are at least as like one of the other's as any of their own "
        f"(median similarity {found.similarity:.2f} of 1)",
        "make them one worker, or say in each description what only it does",
        Basis.of(runs),
        found.examples,
    )


def _failing(runs: Sequence[ObservedRun]) -> Iterator[Advice]:
    ends: dict[str, list[tuple[ObservedRun, str | None]]] = {}
    for run in runs:
        for end in run.ends:
            ends.setdefault(end.worker, []).append((run, end.error))
    for name, ended in ends.items():
        among = [*{run.run_id: run for run, _ in ended}.values()]
        errors = [error for _, error in ended if error is not None]
        if len(ended) < MIN_ATTEMPTS or len(among) < 2 or len(errors) < len(ended):
            continue
        common, count = Counter(errors).most_common(1)[0]
        found = (
            f"{name!r} always fails: none of {len(ended):,} attempts in {len(among):,} runs gave "
            f"a result; {count:,} times: {cut(' '.join(common.split()), 200)}"
        )
        yield Advice("always_fails", (name,), found, "fix or remove it", Basis.of(among))


def _unused_tools(team: Team, runs: Sequence[ObservedRun]) -> Iterator[Advice]:
    for worker in team.workers:
        named = [tool.name for tool in tools_of(worker) if tool.name is not None]
        with_it = [run for run in runs if run.model_attempts[worker.name]]
        attempts = sum(run.model_attempts[worker.name] for run in with_it)
        if attempts < MIN_RUNS:
            continue
        called = {tool for run in runs for who, tool in run.tool_calls if who == worker.name}
        unused = tuple(name for name in named if _own_name(name) not in called)
        if unused:
            which = " and ".join(map(repr, unused))
            found = f"{worker.name!r} never called {which} in {attempts:,} attempts with a model"
            do = "take it from the worker" if len(unused) == 1 else "take them from the worker"
            about = (worker.name, *unused)
            yield Advice("unused_tool", about, found, do, Basis.of(with_it))


def _own_name(tool: str) -> str:
    """`module:function` as the model and the log call it."""
    return tool.rpartition(":")[2]


def _unjudged(team: Team, runs: Sequence[ObservedRun]) -> Iterator[str]:
    count = len(runs)
    planned = len(_planned(runs))
    if count < MIN_RUNS:
        yield f"workers that are never used: that takes {MIN_RUNS} runs, and there are {count}"
    if not _plans_by_model(team):
        yield "whether the plan is always the same: no model plans for this team"
    elif planned < MIN_RUNS:
        yield (
            f"whether the plan is always the same, or one worker does everything: that takes "
            f"{MIN_RUNS} plans that a model wrote ahead, and there are {planned}"
        )
    given = _given(runs)
    few = [one.name for one in team.workers if len(given.get(one.name, ())) < MIN_TASKS]
    if len(team.workers) > 1 and few:
        yield (
            f"whether {', '.join(few)} overlap with others: that takes {MIN_TASKS} tasks each that "
            "a model or a router gave them"
        )
    ends = Counter(end.worker for run in runs for end in run.ends)
    idle = [one.name for one in team.workers if 0 < ends[one.name] < MIN_ATTEMPTS]
    if idle:
        yield f"whether {', '.join(idle)} always fail: that takes {MIN_ATTEMPTS} attempts each"
    attempts = Counter[str]()
    for run in runs:
        attempts.update(run.model_attempts)
    tools = [one.name for one in team.workers if one.tools and attempts[one.name] < MIN_RUNS]
    if tools:
        yield (f"the tools of {', '.join(tools)}: that takes {MIN_RUNS} attempts each with a model")
    if team.worker_factory is not None:
        yield "workers made for a plan: `leadhand teams save` keeps them, for later runs to judge"
    if any(worker.run is not None and uses_model(worker) for worker in team.workers):
        yield "the tools of agents: only their own libraries know them"
    if any(tool.name is None for worker in team.workers for tool in tools_of(worker)):
        yield "toolsets: their tools are known only when they are used"
    if any(worker.team is not None for worker in team.workers):
        yield "the inside of nested teams: only runs of their own are judged, not nested ones"
    yield "the answers: whether they are right, and would be with fewer workers"
