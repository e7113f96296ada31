"""What to change in a team, judged from its definition and its runs. Pure.

A rule is a function that names all it finds in one piece of advice; `judge` lists the rules.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from leadhand.advice.facts import Fact, RunFacts, shape
from leadhand.advice.overlap import MIN_TASKS, ChosenTask, overlaps
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.team import Team
from leadhand.contracts.tools import tools_of

MIN_RUNS = 10
"""Runs, plans by a model or attempts with a model."""
MIN_ATTEMPTS = 5
"""Attempts of a worker, in at least two runs, before it counts as one that always fails."""
NOT_JUDGED = (
    f"plans and unused workers with fewer than {MIN_RUNS} runs or plans by a model",
    f"overlap of workers with fewer than {MIN_TASKS} chosen tasks",
    f"failures in fewer than {MIN_ATTEMPTS} attempts or two runs",
    f"tools in fewer than {MIN_RUNS} attempts with a model, in agents and in toolsets",
    "nested teams and workers made for a plan",
    "whether the answers are right, and would be with fewer workers",
)
MAX_NAMED = 5
"""Findings of one kind that are named; more are counted."""
MAX_ERROR_CHARS = 120


class Advice(NamedTuple):
    """One thing to change, and why: all findings of one kind."""

    kind: str
    """`one_worker, same_plan, unused_worker, overlap, always_fails` or `unused_tool`."""
    about: Sequence[str]
    """The workers that it is about; for `unused_tool` as `worker: tool`."""
    found: str
    """What the runs show, with the numbers."""
    do: str
    """What to do about it."""
    examples: Sequence[ChosenTask] = ()
    """Tasks that show it."""


def judge(team: Team, runs: Sequence[RunFacts]) -> list[Advice]:
    """What the runs of `team`, the oldest first, say about it."""
    facts = sum((run.facts for run in runs), Counter[Fact]())
    alone = _one_worker(team, runs)
    rules = (
        alone,
        None if alone else _same_plan(team, runs),
        None if alone else _unused_workers(team, runs),
        _overlapping(team, runs),
        _failing(facts, runs),
        _unused_tools(team, facts),
    )
    return [advice for advice in rules if advice is not None]


def _planned(team: Team, runs: Sequence[RunFacts]) -> Sequence[RunFacts]:
    """Those that a model planned ahead; none if there are few, or none would plan the next."""
    kind = KINDS[team.planner.kind]
    default = kind.routes_first and any(route.is_default for route in team.routes)
    planned = [run for run in runs if run.by_model]
    few = len(planned) < MIN_RUNS or default or not kind.by_model
    return () if few else planned


def _one_worker(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    planned = _planned(team, runs)
    names = {name for run in runs for name in run.workers}
    # A worker that was made for a plan is not in the team; without a plan there is no payload.
    worker = team.worker(min(names)) if len(names) == 1 else None
    if not planned or worker is None or worker.input is not None:
        return None
    most = max(len(run.tasks) for run in planned)
    others = [other.name for other in team.workers if other is not worker]
    found = (
        f"{worker.name!r} does everything, in each of {len(runs):,} runs; a plan has "
        f"{'1 task' if most == 1 else f'at most {most:,} tasks'}"
    )
    do = f"use {worker.name!r} alone: a route without conditions (`routes: "
    do += f"[{{worker: {worker.name}}}]`"
    do += f", and no kind of `planner`) gives it each request, and saves {_calls(planned)}"
    do += f"; never used: {', '.join(others)}" if others else ""
    return Advice("one_worker", (worker.name, *others), found, do)


def _same_plan(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    planned = _planned(team, runs)
    shapes = {shape(run.plan) for run in planned if run.plan is not None}
    workers = [task.worker for task in planned[-1].tasks] if planned else []
    # A template has no workers that are made for a plan.
    if len(shapes) != 1 or not all(map(team.worker, workers)):
        return None
    found = (
        f"the plan is always the same: all {len(planned):,} plans that a model wrote have "
        f"{len(workers):,} tasks for {', '.join(workers)}, with the same dependencies"
    )
    do = f"`leadhand teams freeze {planned[-1].run_id} --into DIR` makes it the team's template, "
    do += f"and saves {_calls(planned)}"
    return Advice("same_plan", [*dict.fromkeys(workers)], found, do)


def _calls(runs: Sequence[RunFacts]) -> str:
    calls = [tokens for run in runs for tokens in run.planner_calls]
    return f"the planner's calls: {len(calls):,} with {sum(calls):,} tokens in {len(runs):,} runs"


def _unused_workers(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    used = {name for run in runs for name in run.workers}
    unused = [worker for worker in team.workers if worker.name not in used]
    if len(runs) < MIN_RUNS or not unused:
        return None
    behind = {w.fallback for w in team.workers} | {route.secondary for route in team.routes}
    roles = Counter(worker.role or "" for worker in team.workers)
    reserve = [w.name for w in unused if w.name in behind or (w.role and roles[w.role] > 1)]
    names = [worker.name for worker in unused]
    found = f"never used, no task and no attempt in {len(runs):,} runs: {_named(names)}"
    do = "remove them, or say in each description what only it does"
    do += f"; {', '.join(reserve)} stand by for others: keep what is wanted" if reserve else ""
    return Advice("unused_worker", names, found, do)


def _overlapping(team: Team, runs: Sequence[RunFacts]) -> Advice | None:
    if not (found := overlaps(team, runs)):
        return None
    pairs = [
        f"{' and '.join(pair.workers)} ({pair.confused:.0%} of their tasks are at least as like "
        "one of the other's)"
        for pair in found
    ]
    about = [*dict.fromkeys(name for pair in found for name in pair.workers)]
    text = f"these are given the same kind of task: {_named(pairs)}"
    do = "make them one worker, or say in each description what only it does"
    return Advice("overlap", about, text, do, found[0].examples)


def _failing(facts: Counter[Fact], runs: Sequence[RunFacts]) -> Advice | None:
    failing: dict[str, str] = {}
    errors = Counter({fact: count for fact, count in facts.items() if fact.kind == "error"})
    succeeded = {fact.worker for fact in facts if fact.kind == "result"}
    for name in sorted({fact.worker for fact in errors} - succeeded):
        own = Counter({fact: count for fact, count in errors.items() if fact.worker == name})
        among = sum(not own.keys().isdisjoint(run.facts) for run in runs)
        if own.total() >= MIN_ATTEMPTS and among > 1:
            message = " ".join(own.most_common(1)[0][0].evidence.split())[:MAX_ERROR_CHARS]
            failing[name] = f"{name} (none of {own.total():,} attempts gave a result: {message})"
    found = f"always fail: {_named([*failing.values()])}"
    return Advice("always_fails", [*failing], found, "fix or remove") if failing else None


def _unused_tools(team: Team, facts: Counter[Fact]) -> Advice | None:
    called = {(fact.worker, fact.evidence) for fact in facts if fact.kind == "tool"}
    attempts = Counter(fact.worker for fact in facts if fact.kind == "model")
    unused = [
        f"{worker.name}: {tool.name}"
        for worker in team.workers
        if attempts[worker.name] >= MIN_RUNS
        for tool in tools_of(worker)
        # The log and the model call `module:function` by its own name.
        if tool.name and (worker.name, tool.name.rpartition(":")[2]) not in called
    ]
    found = f"tools that were never called, in {MIN_RUNS} or more attempts with a model: "
    do = "take them from these workers"
    return Advice("unused_tool", unused, found + _named(unused), do) if unused else None


def _named(findings: Sequence[str]) -> str:
    more = len(findings) - MAX_NAMED
    return ", ".join(findings[:MAX_NAMED]) + (f", and {more:,} more" if more > 0 else "")
