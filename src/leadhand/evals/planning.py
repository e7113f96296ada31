"""Scores of routing and plans: who gets a request, and how a plan compares with a gold graph. Pure.

Tasks are matched by worker and by the words of their intents, the most similar pairs first.
Dependencies that follow from others don't count.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from rapidfuzz import fuzz

from leadhand.contracts import events
from leadhand.contracts.task import Plan, Task
from leadhand.evals.cases import ExpectedPlan, ExpectedRouting, GoldTask
from leadhand.evals.trials import CaseScore, Trial
from leadhand.plans.graph import dependants, descendants, remaining_path

ALIKE = 55.0
"""The similarity of two intents, 0 to 100, from which they can be the same task."""
GOLD_F1 = 0.8
"""The F1 of tasks and of dependencies from which a case passes."""
OVERLAP = 90.0
"""The similarity of two intents in one plan from which the tasks overlap."""


PlanNode = Task | GoldTask


class GraphMatch(NamedTuple):
    nodes: float
    edges: float
    """F1 of the dependencies between matched tasks."""
    pairs: Mapping[str, str]
    """The task of the plan for each gold task that has one."""


def compared(gold: Sequence[PlanNode], found: Sequence[PlanNode]) -> GraphMatch:
    rated: list[tuple[float, int, int, int]] = []
    for i, one in enumerate(gold):
        for j, other in enumerate(found):
            if (alike := similarity(one, other)) >= ALIKE:
                # Of the same words, those with as many dependencies; then the first ones.
                rated.append((-alike, abs(len(one.depends_on) - len(other.depends_on)), i, j))
    pairs: dict[str, str] = {}
    for _, _, i, j in sorted(rated):
        if gold[i].id not in pairs and found[j].id not in pairs.values():
            pairs[gold[i].id] = found[j].id
    wanted = {(pairs.get(a, ""), pairs.get(b, "")) for a, b in direct_edges(gold)}
    given = direct_edges(found)
    edges = _f1(len(wanted & given), len(direct_edges(gold)), len(given))
    return GraphMatch(_f1(len(pairs), len(gold), len(found)), edges, pairs)


def similarity(gold: PlanNode, found: PlanNode) -> float:
    """How likely it is that both are the same task, 0 to 100."""
    if gold.worker and found.worker and gold.worker != found.worker:
        return 0.0
    if not gold.intent:
        return 100.0 if gold.worker else 0.0
    return fuzz.token_set_ratio(gold.intent.casefold(), found.intent.casefold())


def direct_edges(tasks: Sequence[PlanNode]) -> set[tuple[str, str]]:
    """The dependencies, first task first, without those that follow from others."""
    ids, after = {task.id for task in tasks}, dependants(tasks)
    return {
        (before, task.id)
        for task in tasks
        for before in {*task.depends_on} & ids - {task.id}
        if not any(
            task.id in descendants(after, other)
            for other in after[before]
            if other not in (task.id, before)
        )
    }


def depth(tasks: Sequence[PlanNode]) -> int:
    """The tasks on the longest chain; all of them if they form a cycle."""
    length = remaining_path(tasks)
    return len(tasks) if len(length) < len(tasks) else int(max(length.values(), default=0))


def routing_scores(expected: ExpectedRouting, trial: Trial) -> Iterator[CaseScore]:
    given = workers_of(trial)
    first = given[0] if given else None
    to = f"it went to {first!r}" if first else "no worker got it"
    name = "routing.abstained" if expected.primary is None else "routing.primary"
    right = first == expected.primary
    wanted = f" and not to {expected.primary!r}" if expected.primary and first else ""
    yield CaseScore(name=name, value=float(right), why="" if right else f"{to}{wanted}")
    if expected.secondary is not None:
        others, want = {*given[1:]}, {*expected.secondary}
        value = _f1(len(others & want), len(want), len(others))
        why = "" if value == 1 else f"also {sorted(others) or 'no worker'}, not {sorted(want)}"
        yield CaseScore(name="routing.secondary", value=value, why=why)


def workers_of(trial: Trial) -> list[str]:
    return [*dict.fromkeys(task.worker for task in trial.plan.tasks)] if trial.plan else []


def plan_scores(expected: ExpectedPlan, trial: Trial) -> Iterator[CaseScore]:
    plan = trial.plan
    rejected = [
        event
        for event in trial.own
        if isinstance(event, events.PlanRejected) and event.task_id is None
    ]
    proposed = [event for event in trial.own if isinstance(event, events.PlanProposed)]
    stood_in = next((one.why for one in proposed if one.by == "template" and one.why), "")
    why = "; ".join(rejected[0].problems[:3]) if rejected else stood_in
    valid = plan is not None and not stood_in
    yield CaseScore(name="plan.valid_at_once", value=float(valid and not rejected), why=why, bar=0)
    yield CaseScore(name="plan.valid", value=float(valid), why="" if valid else why or "no plan")
    if plan is None:
        return
    if asked_planner(trial):
        yield _clear(plan)
    if expected.tasks:
        found = compared(expected.tasks, plan.tasks)
        lost = [one.id for one in expected.tasks if one.id not in found.pairs]
        extra = [one.id for one in plan.tasks if one.id not in found.pairs.values()]
        why = f"no task for {lost}, and for no gold task {extra}" if lost or extra else ""
        yield CaseScore(name="plan.nodes", value=found.nodes, why=why, bar=GOLD_F1)
        given = ", ".join(f"{one} -> {after}" for one, after in sorted(direct_edges(plan.tasks)))
        why = "" if found.edges == 1 else f"its dependencies are {given or 'none'}"
        yield CaseScore(name="plan.edges", value=found.edges, why=why, bar=GOLD_F1)
        limit, now = depth(expected.tasks), depth(plan.tasks)
        why = f"its longest chain has {now} tasks and could have {limit}" if now > limit else ""
        yield CaseScore(name="plan.parallelism", value=min(1.0, limit / max(now, 1)), why=why)


def asked_planner(trial: Trial) -> bool:
    return any(isinstance(one, events.ModelCalled) and one.role == "planner" for one in trial.own)


def _clear(plan: Plan) -> CaseScore:
    """The share of tasks that don't do the work of another one. No plan has vague tasks."""
    same: dict[str, str] = {}
    for one, other in combinations(plan.tasks, 2):
        alike = fuzz.token_sort_ratio(one.intent.casefold(), other.intent.casefold())
        if alike >= OVERLAP and (one.artifacts, one.payload) == (other.artifacts, other.payload):
            same.setdefault(other.id, one.id)
    why = "; ".join(f"task {id!r} overlaps with {one!r}" for id, one in [*same.items()][:3])
    return CaseScore(name="plan.clear", value=1 - len(same) / max(1, len(plan.tasks)), why=why)


class PlanShape(NamedTuple):
    """What a plan is without the request: two plans of the same shape do the same."""

    request: str
    tasks: tuple[tuple[str, str], ...]
    """The worker of each task, and its intent without the words of the request."""


def shape_of(trial: Trial) -> PlanShape | None:
    """The shape of a plan that a model wrote; None without one."""
    plan, request = trial.plan, trial.case.request
    if plan is None or not asked_planner(trial):
        return None
    said = {*request.casefold().split()}
    rows = [
        (task.worker, " ".join(w for w in task.intent.casefold().split() if w not in said))
        for task in plan.tasks
    ]
    return PlanShape(request, tuple(sorted(rows)))


def distinct_score(mine: PlanShape, others: Sequence[PlanShape]) -> CaseScore:
    for other in others:
        alike = fuzz.token_sort_ratio(mine.request.casefold(), other.request.casefold())
        if alike < ALIKE and mine.tasks == other.tasks:
            why = f"it is the same plan as for {other.request!r:.80}"
            return CaseScore(name="plan.distinct", value=0.0, why=why)
    return CaseScore(name="plan.distinct", value=1.0)


def _f1(hits: int, wanted: int, given: int) -> float:
    return 2 * hits / (wanted + given) if wanted + given else 1.0
