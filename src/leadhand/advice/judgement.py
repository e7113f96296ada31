"""What to change in a team, judged from its definition and its runs. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
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
MAX_NAMED = 5
"""Findings of one kind that are named; more are counted."""
MAX_ERROR_CHARS = 120
MAX_INTENT_CHARS = 100


class Advice(NamedTuple):
    kind: str
    """`one_worker, same_plan, unused_worker, overlap, always_fails` or `unused_tool`."""
    about: Sequence[str]
    """The workers that it is about; for `unused_tool` as `worker: tool`."""
    found: str
    do: str


def judge(team: Team, runs: Sequence[RunFacts]) -> list[Advice]:
    """`runs` are ordered, the oldest first."""
    used = {name for run in runs for name in run.workers}
    advice = [*_unneeded_planner(team, runs, used)]
    only = "say in each description what only it does"
    if len(runs) >= MIN_RUNS and "one_worker" not in (one.kind for one in advice):
        behind = {w.fallback for w in team.workers} | {route.secondary for route in team.routes}
        unused = [w.name for w in team.workers if w.name not in used | behind]
        found = f"never used, no task and no attempt in {len(runs):,} runs"
        advice += _of_all("unused_worker", unused, found, unused, f"remove them, or {only}")
    if pairs := overlaps(team, runs):
        alike = " and ".join(f"{text[:MAX_INTENT_CHARS]!r}" for text in pairs[0].intents)
        found = f"these are given the same kind of task, such as {alike}"
        shown = [
            f"{' and '.join(pair.workers)} ({pair.confused:.0%} of their tasks are at least as "
            "like one of the other's)"
            for pair in pairs
        ]
        about = [*dict.fromkeys(name for pair in pairs for name in pair.workers)]
        advice += _of_all("overlap", about, found, shown, f"make them one worker, or {only}")
    failing = _failing(runs)
    tools = _unused_tools(team, runs)
    found = f"tools that were never called, in {MIN_RUNS} or more attempts with a model"
    return [
        *advice,
        *_of_all("always_fails", [*failing], "always fail", [*failing.values()], "fix or remove"),
        *_of_all("unused_tool", tools, found, tools, "take them from these workers"),
    ]


def _of_all(
    kind: str, about: Sequence[str], found: str, findings: Sequence[str], do: str
) -> Iterator[Advice]:
    more = len(findings) - MAX_NAMED
    named = ", ".join(findings[:MAX_NAMED]) + (f", and {more:,} more" if more > 0 else "")
    if findings:
        yield Advice(kind, about, f"{found}: {named}", do)


def _unneeded_planner(team: Team, runs: Sequence[RunFacts], used: Set[str]) -> Iterator[Advice]:
    kind = KINDS[team.planner.kind]
    planned = [run for run in runs if run.planned_by == "planner" and not run.rounds]
    routed = kind.routes_first and any(route.is_default for route in team.routes)
    if len(planned) < MIN_RUNS or routed or not kind.by_model:
        return  # there are few, or no model would plan the next
    calls = [tokens for run in planned for tokens in run.planner_calls]
    saved = (
        f"saves the planner's calls: {len(calls):,} with {sum(calls):,} tokens in "
        f"{len(planned):,} runs"
    )
    worker = team.worker(min(used)) if len(used) == 1 else None
    workers = [task.worker for task in planned[-1].plan.tasks]
    same = len({shape(run.plan) for run in planned}) == 1
    # A worker that was made for a plan is not in the team; without a plan there is no payload.
    if worker is not None and worker.input is None:
        name, most = worker.name, max(len(run.plan.tasks) for run in planned)
        others = [other.name for other in team.workers if other is not worker]
        found = (
            f"{name!r} does everything, in each of {len(runs):,} runs; a plan has "
            f"{'1 task' if most == 1 else f'at most {most:,} tasks'}"
        )
        do = (
            f"use {name!r} alone: a route without conditions (`routes: [{{worker: {name}}}]`, and "
            f"no kind of `planner`) gives it each request, and {saved}"
            f"{'; never used: ' if others else ''}{', '.join(others)}"
        )
        yield Advice("one_worker", (name, *others), found, do)
    elif same and all(map(team.worker, workers)):
        found = (
            f"the plan is always the same: all {len(planned):,} plans that a model wrote have "
            f"{len(workers):,} tasks for {', '.join(workers)}, with the same dependencies"
        )
        freeze = f"`leadhand teams freeze {planned[-1].run_id} --into DIR`"
        do = f"{freeze} makes it the team's template, and {saved}"
        yield Advice("same_plan", [*dict.fromkeys(workers)], found, do)


def _failing(runs: Sequence[RunFacts]) -> Mapping[str, str]:
    attempts = [(one, run.run_id) for run in runs for one in run.attempts]
    succeeded = {one.worker for one, _ in attempts if one.end == "completed"}
    errors: dict[str, list[tuple[str, str]]] = {}
    for one, run_id in attempts:
        failed = one.end == "failed" and one.kind not in ("budget", "cancelled")
        if one.worker not in succeeded and (failed or one.end == "escalated"):
            errors.setdefault(one.worker, []).append((" ".join(one.message.split()), run_id))
    failing: dict[str, str] = {}
    for name, own in sorted(errors.items()):
        if len(own) >= MIN_ATTEMPTS and len({run_id for _, run_id in own}) > 1:
            ((message, _),) = Counter(sorted(said for said, _ in own)).most_common(1)
            cut = message[:MAX_ERROR_CHARS]
            failing[name] = f"{name} (none of {len(own):,} attempts gave a result: {cut})"
    return failing


def _unused_tools(team: Team, runs: Sequence[RunFacts]) -> list[str]:
    attempts = [one for run in runs for one in run.attempts]
    called = {(one.worker, tool) for one in attempts for tool in one.tools}
    asked = Counter(one.worker for one in attempts if one.model is not None)
    return [
        f"{worker.name}: {tool.name}"
        for worker in team.workers
        if asked[worker.name] >= MIN_RUNS
        for tool in tools_of(worker)
        # The log and the model call `module:function` by its own name.
        if tool.name and (worker.name, tool.name.rpartition(":")[2]) not in called
    ]
