"""What to change in a team, judged from its definition and its runs. Pure.

Each piece of advice says what it was computed from; what could not be judged is named as well.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leadhand.advice.facts import GivenTask, RunFacts, shape
from leadhand.advice.overlap import MIN_TASKS, chosen, overlaps
from leadhand.contracts.team import Team, Worker
from leadhand.contracts.tools import tools_of

MIN_RUNS = 10
"""Runs before a plan counts as always the same, or a worker as never used."""
MIN_ATTEMPTS = 5
"""Attempts of a worker, in at least two runs, before it counts as one that always fails."""
MAX_NAMED = 5
"""Findings of one kind that are named; more are counted."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to change, and why: all findings of one kind."""

    kind: str
    """`same_plan, one_worker, unused_worker, overlap, always_fails` or `unused_tool`."""
    about: tuple[str, ...]
    """The workers that it is about; for `unused_tool` as `worker: tool`."""
    found: str
    """What the runs show, with the numbers."""
    do: str
    """What to do about it."""
    examples: tuple[GivenTask, ...] = ()
    """Tasks that show it."""


def judge(team: Team, runs: Sequence[RunFacts]) -> tuple[Advice, ...]:
    """What the runs of `team`, the oldest first, say about it: at most one piece of each kind."""
    alone = _one_worker(team, runs)
    pieces = (
        alone,
        None if alone else _same_plan(team, runs),
        None if alone else _unused_workers(team, runs),
        _overlapping(team, runs),
        _failing(runs),
        _unused_tools(team, runs),
    )
    return tuple(piece for piece in pieces if piece is not None)


def _plans_by_model(team: Team) -> bool:
    """Whether a model may plan the next request."""
    if team.planner.kind in (None, "routed") and any(route.is_default for route in team.routes):
        return False
    return team.planner.kind != "template"


def _one_worker(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    planned = [run for run in runs if run.by_model]
    used = {worker for run in runs for worker in run.workers}
    if len(planned) < MIN_RUNS or len(used) != 1 or not _plans_by_model(team):
        return None
    (name,) = used
    worker = team.worker(name)
    if worker is None or worker.input is not None:
        return None  # made for a plan; or without a plan there is no payload
    most = max(len(run.tasks) for run in planned)
    found = f"{name!r} does everything, in each of {len(runs):,} runs; a plan has "
    found += "1 task" if most == 1 else f"up to {most:,} tasks"
    do = (
        f"use {name!r} alone: a route without conditions (`routes: [{{worker: {name}}}]`, and no "
        f"kind of `planner`) gives it each request, and saves {_calls(planned)}"
    )
    others = tuple(worker.name for worker in team.workers if worker.name != name)
    do += f"; never used: {', '.join(others)}" if others else ""
    return Advice("one_worker", (name, *others), found, do)


def _same_plan(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    planned = [run for run in runs if run.by_model]
    shapes = {shape(run.plan) for run in planned if run.plan is not None}
    if len(planned) < MIN_RUNS or len(shapes) != 1 or not _plans_by_model(team):
        return None
    workers = [task.worker for task in planned[-1].tasks]
    if not all(map(team.worker, workers)):
        return None  # a template has no workers that are made for a plan
    found = (
        f"the plan is always the same: all {len(planned):,} plans that a model wrote have "
        f"{len(workers):,} tasks for {', '.join(workers)}, with the same dependencies"
    )
    do = (
        f"`leadhand teams freeze {planned[-1].run_id} --into DIR` makes it the team's template, "
        f"and saves {_calls(planned)}"
    )
    return Advice("same_plan", tuple(dict.fromkeys(workers)), found, do)


def _calls(runs: Sequence[RunFacts]) -> str:
    """What planning took in these runs."""
    calls = sum(run.planner_calls for run in runs)
    tokens = sum(run.planner_tokens for run in runs)
    return f"the planner's calls: {calls:,} with {tokens:,} tokens in {len(runs):,} runs"


def _unused_workers(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    used = {worker for run in runs for worker in run.workers}
    unused = [worker for worker in team.workers if worker.name not in used]
    if len(runs) < MIN_RUNS or not unused:
        return None
    reserve = [worker.name for worker in unused if _stands_by(worker, team)]
    found = f"never used, no task and no attempt in {len(runs):,} runs: "
    do = "remove them, or say in each description what only it does"
    do += f"; {', '.join(reserve)} stand by for others: keep what is wanted" if reserve else ""
    names = tuple(worker.name for worker in unused)
    return Advice("unused_worker", names, found + _named(names), do)


def _stands_by(worker: Worker, team: Team) -> bool:
    """Whether it takes over from others."""
    behind = {one.fallback for one in team.workers} | {route.secondary for route in team.routes}
    alike = (one.role for one in team.workers if one is not worker)
    return worker.name in behind or (worker.role is not None and worker.role in alike)


def _overlapping(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    if not (found := overlaps(team, runs)):
        return None
    pairs = [
        f"{' and '.join(one.workers)} ({one.confused:.0%} of their tasks are at least as like one "
        "of the other's)"
        for one in found
    ]
    about = tuple(dict.fromkeys(name for one in found for name in one.workers))
    text = f"these are given the same kind of task: {_named(pairs)}"
    do = "make them one worker, or say in each description what only it does"
    return Advice("overlap", about, text, do, found[0].examples)


def _failing(runs: Sequence[RunFacts]) -> Advice | None:
    errors: dict[str, list[str | None]] = {}
    among: dict[str, set[str]] = {}
    for run in runs:
        for worker, error in run.ends:
            errors.setdefault(worker, []).append(error)
            among.setdefault(worker, set()).add(run.run_id)
    failing = {
        worker: Counter(ends).most_common(1)[0][0]
        for worker, ends in errors.items()
        if len(ends) >= MIN_ATTEMPTS and len(among[worker]) > 1 and None not in ends
    }
    if not failing:
        return None
    each = [
        f"{worker} (none of {len(errors[worker]):,} attempts gave a result: "
        f"{' '.join((error or '').split())[:120]})"
        for worker, error in failing.items()
    ]
    return Advice("always_fails", tuple(failing), f"always fail: {_named(each)}", "fix or remove")


def _unused_tools(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    called = {call for run in runs for call in run.tool_calls}
    unused = tuple(
        f"{worker.name}: {tool.name}"
        for worker in team.workers
        if sum(run.attempts(worker.name) for run in runs) >= MIN_RUNS
        for tool in tools_of(worker)
        # The log and the model call `module:function` by its own name.
        if tool.name and (worker.name, tool.name.rpartition(":")[2]) not in called
    )
    if not unused:
        return None
    found = f"tools that were never called, in {MIN_RUNS} or more attempts with a model: "
    return Advice("unused_tool", unused, found + _named(unused), "take them from these workers")


def _named(findings: Sequence[str]) -> str:
    more = len(findings) - MAX_NAMED
    return ", ".join(findings[:MAX_NAMED]) + (f", and {more:,} more" if more > 0 else "")


def unjudged(team: Team, runs: Sequence[RunFacts]) -> Iterator[str]:
    """What was not judged, and why."""
    planned = sum(run.by_model for run in runs)
    if len(runs) < MIN_RUNS:
        yield f"workers that are never used: that takes {MIN_RUNS} runs, and there are {len(runs)}"
    if not _plans_by_model(team):
        yield "whether the plan is always the same: no model plans for this team"
    elif planned < MIN_RUNS:
        yield (
            "whether the plan is always the same, or one worker does everything: that takes "
            f"{MIN_RUNS} plans that a model wrote ahead, and there are {planned}"
        )
    given, ends = chosen(runs), Counter(worker for run in runs for worker, _ in run.ends)
    names = [worker.name for worker in team.workers]
    for count, least, what in (
        ({name: len(given.get(name, ())) for name in names}, MIN_TASKS, "chosen tasks: overlap"),
        (ends, MIN_ATTEMPTS, "attempts: whether they always fail"),
        (
            {worker.name: _attempts(runs, worker) for worker in team.workers},
            MIN_RUNS,
            "attempts with a model: unused tools",
        ),
    ):
        if few := [name for name in names if count[name] < least]:
            yield f"{_named(few)}, with fewer than {least} {what}"
    yield "nested teams, workers made for a plan, and tools inside agents and toolsets"
    yield "whether the answers are right, and would be with fewer workers"


def _attempts(runs: Sequence[RunFacts], worker: Worker) -> int:
    """Attempts with a model; of a worker without tools there is nothing to judge."""
    return sum(run.attempts(worker.name) for run in runs) if worker.tools else MIN_RUNS
