"""What to change in a team, judged from its definition and its runs. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from leadhand.advice.facts import RunFacts, shape
from leadhand.advice.overlap import MIN_TASKS, overlaps
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
_MAX_NAMED = 5
"""Findings of one kind that are named; more are counted."""
_MAX_CHARS = 120
"""Of an error or an intent."""
_DESCRIBE = "say in each description what only it does"


class Advice(NamedTuple):
    kind: str
    """`one_worker, same_plan, unused_worker, overlap, always_fails` or `unused_tool`."""
    about: Sequence[str]
    """The workers that it is about; for `unused_tool` as `worker: tool`."""
    found: str
    do: str


def judge(team: Team, runs: Sequence[RunFacts]) -> list[Advice]:
    """At most a line of each kind. `runs` are ordered, the oldest first."""
    used = {task.worker for run in runs for task in run.tasks}
    used |= {attempt.worker for run in runs for attempt in run.attempts}
    planner = [*_unneeded_planner(team, runs, used)]
    only_one = any(advice.kind == "one_worker" for advice in planner)
    return [
        *planner,
        *(() if only_one else _unused_workers(team, runs, used)),
        *_overlap(team, runs),
        *_always_fails(runs, used),
        *_unused_tools(team, runs),
    ]


def _unneeded_planner(team: Team, runs: Sequence[RunFacts], used: set[str]) -> Iterator[Advice]:
    kind = KINDS[team.planner.kind]
    planned = [run for run in runs if run.planned_by == "planner" and not run.rounds]
    routed = kind.routes_first and any(route.is_default for route in team.routes)
    if len(planned) < MIN_RUNS or routed or not kind.by_model:
        return  # there are few, or no model would plan the next
    calls = [call for run in planned for call in run.planning]
    tokens = sum(call.input_tokens + call.output_tokens for call in calls)
    saves = (
        f"saves the planner's calls: {len(calls):,} with {tokens:,} tokens in {len(planned):,} runs"
    )
    worker = team.worker(min(used)) if len(used) == 1 else None
    workers = [task.worker for task in planned[-1].plan.tasks]
    # A worker that was made for a plan is not in the team; without a plan there is no payload.
    if worker is not None and worker.input is None:
        name, most = worker.name, max(len(run.plan.tasks) for run in planned)
        others = [other.name for other in team.workers if other is not worker]
        found = (
            f"{name!r} does everything, in each of {len(runs):,} runs; a plan has "
            f"{'1 task' if most == 1 else f'at most {most:,} tasks'}"
        )
        unused = f"; never used: {_named(others)}" if others else ""
        do = (
            f"use {name!r} alone: a route without conditions (`routes: [{{worker: {name}}}]`, and "
            f"no kind of `planner`) gives it each request, and {saves}{unused}"
        )
        yield Advice("one_worker", (name, *others), found, do)
    elif all(map(team.worker, workers)) and len({shape(run.plan) for run in planned}) == 1:
        found = (
            f"the plan is always the same: all {len(planned):,} plans that a model wrote have "
            f"{len(workers):,} tasks for {', '.join(workers)}, with the same dependencies"
        )
        freeze = f"`leadhand teams freeze {planned[-1].run_id} --into DIR`"
        do = f"{freeze} makes it the team's template, and {saves}"
        yield Advice("same_plan", [*dict.fromkeys(workers)], found, do)


def _unused_workers(team: Team, runs: Sequence[RunFacts], used: set[str]) -> Iterator[Advice]:
    stand_by = {worker.fallback for worker in team.workers}
    stand_by |= {route.secondary for route in team.routes}
    unused = [one.name for one in team.workers if one.name not in used | stand_by]
    if unused and len(runs) >= MIN_RUNS:
        found = f"never used, no task and no attempt in {len(runs):,} runs: {_named(unused)}"
        yield Advice("unused_worker", unused, found, f"remove them, or {_DESCRIBE}")


def _overlap(team: Team, runs: Sequence[RunFacts]) -> Iterator[Advice]:
    if pairs := overlaps(team, runs):
        alike = " and ".join(repr(intent[:_MAX_CHARS]) for intent in pairs[0].intents)
        shown = _named([f"{' and '.join(one.workers)} ({one.alike:.0%} alike)" for one in pairs])
        about = [*dict.fromkeys(name for pair in pairs for name in pair.workers)]
        found = f"these are given the same kind of task, such as {alike}: {shown}"
        yield Advice("overlap", about, found, f"make them one worker, or {_DESCRIBE}")


def _always_fails(runs: Sequence[RunFacts], used: set[str]) -> Iterator[Advice]:
    failing: dict[str, str] = {}
    for name in sorted(used):
        own = [(one, run.run_id) for run in runs for one in run.attempts if one.worker == name]
        errors = [
            " ".join(one.message.split())
            for one, _ in own
            if one.end == "escalated"
            or (one.end == "failed" and one.kind not in ("budget", "cancelled"))
        ]
        succeeded = any(one.end == "completed" for one, _ in own)
        if not succeeded and len(errors) >= MIN_ATTEMPTS and len({run_id for _, run_id in own}) > 1:
            ((error, _),) = Counter(sorted(errors)).most_common(1)
            cut = error[:_MAX_CHARS]
            failing[name] = f"{name} (none of {len(errors):,} attempts gave a result: {cut})"
    if failing:
        found = f"always fail: {_named([*failing.values()])}"
        yield Advice("always_fails", [*failing], found, "fix or remove")


def _unused_tools(team: Team, runs: Sequence[RunFacts]) -> Iterator[Advice]:
    attempts = [one for run in runs for one in run.attempts]
    called = {(one.worker, tool) for one in attempts for tool in one.tools}
    asked = Counter(one.worker for one in attempts if one.model is not None)
    unused = [
        f"{worker.name}: {tool.name}"
        for worker in team.workers
        if asked[worker.name] >= MIN_RUNS
        for tool in tools_of(worker)
        # The log and the model call `module:function` by its own name.
        if tool.name and (worker.name, tool.name.rpartition(":")[2]) not in called
    ]
    if unused:
        found = f"tools that were never called, in {MIN_RUNS} or more attempts with a model"
        yield Advice(
            "unused_tool", unused, f"{found}: {_named(unused)}", "take them from these workers"
        )


def _named(findings: Sequence[str]) -> str:
    more = len(findings) - _MAX_NAMED
    return ", ".join(findings[:_MAX_NAMED]) + (f", and {more:,} more" if more > 0 else "")
