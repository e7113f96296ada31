"""Validates plans: every problem at once, each with how to fix it. Pure."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan, Task, names_earlier
from leadhand.contracts.team import Team
from leadhand.contracts.tools import tools_of
from leadhand.plans import graph
from leadhand.plans.payloads import MAX_LEVELS, DeclaredType, is_too_deep
from leadhand.plans.planned_workers import (
    planned_worker_problems,
    too_many_workers,
    unused_workers,
    with_planned_workers,
)

Author = Literal["person", "model"]

STRATEGIES = ("merge", "select", "reduce", "last")
"""The strategies of leadhand's own synthesizers."""

MAX_TASKS: dict[Author, int] = {"model": 200, "person": 100_000}
MAX_EDGES = 1_000_000
_MAX_NAMED = 10
"""So many tasks are named that another one may depend on."""

_STOCK = re.compile(
    r"(please )?((analy[sz]e|process|handle|check|review|research|do|perform|complete|execute|solve"
    r"|investigate|work on|look at|take care of|help with|deal with)"
    r"( (the|this|that|all|your|it|given|provided|user'?s?|relevant|necessary|required))*"
    r"( (data|information|info|input|request|task|question|problem|topic|issue|work|content|step"
    r"|query|things?|stuff|everything))?"
    r"( (as needed|if needed|accordingly|appropriately))?|continue|next step|to ?do|tbd)"
)

_NOT_A_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Problem:
    code: str
    """Stable name of the kind of problem, for example `unknown_worker`."""
    message: str
    """What is wrong, where, and how to fix it; one line."""
    task_id: str | None = None
    severity: Literal["error", "warning"] = "error"


def errors_in(problems: Iterable[Problem]) -> list[Problem]:
    """The problems that prevent the plan from running; the others are warnings."""
    return [problem for problem in problems if problem.severity == "error"]


def check(
    plan: Plan,
    team: Team,
    *,
    author: Author = "person",
    request: str | None = None,
    earlier: Collection[str] = (),
) -> tuple[Problem, ...]:
    """Every problem of `plan` for `team`, with the workers that the plan describes.

    `earlier` are the names of earlier results that tasks may work on. If the plan is too large,
    nothing else is checked, so that refusing it is cheap. A vague intent and an unused worker are
    errors in a model's plan and warnings in a person's. O(tasks + edges).
    """
    oversized = tuple(_size(plan, team, author))
    if oversized:
        return oversized
    declared = team
    if plan.workers:
        team = with_planned_workers(team, plan)
    ids = {task.id for task in plan.tasks}
    return (
        *(_described(plan, declared, team, author) if plan.workers else ()),
        *_duplicates(plan),
        *_paths(plan, team),
        *_workers(plan, team),
        *_payloads(plan, team),
        *_edges(plan, ids),
        *_earlier(plan, earlier),
        *_cycle(plan),
        *_synthesis(plan, team),
        *_intents(plan, author, request if request is not None else plan.goal),
    )


def _size(plan: Plan, team: Team, author: Author) -> Iterator[Problem]:
    if not plan.tasks:
        yield Problem("empty_plan", "the plan has no tasks: add at least one")
    if plan.workers and (found := too_many_workers(len(plan.workers), team)):
        yield Problem("too_many_workers", found)
    if len(plan.tasks) > MAX_TASKS[author]:
        yield too_many_tasks(len(plan.tasks), author)
    edges = sum(len(task.depends_on) for task in plan.tasks)
    if edges > MAX_EDGES:
        yield Problem(
            "too_many_edges",
            f"the plan has {edges:,} dependencies and may have {MAX_EDGES:,}: "
            "let tasks depend only on results that they use",
        )


def too_many_tasks(count: int, author: Author) -> Problem:
    return Problem(
        "too_many_tasks",
        f"the plan has {count:,} tasks and a {author}'s may have {MAX_TASKS[author]:,}: merge "
        "tasks or split the request",
    )


def _described(plan: Plan, declared: Team, team: Team, author: Author) -> Iterator[Problem]:
    for found in planned_worker_problems(plan, declared, team):
        yield Problem("invalid_worker", found)
    if not declared.tiers:
        why = "the workers that the plan describes need a model, and there is none: name one"
        yield Problem("no_model", why)
    # A person may drop the last task of a worker from a plan that runs.
    severity = "error" if author == "model" else "warning"
    for found in unused_workers(plan):
        yield Problem("unused_worker", found, severity=severity)


def _synthesis(plan: Plan, team: Team) -> Iterator[Problem]:
    if plan.synthesis not in (*STRATEGIES, team.synthesis, team.template_synthesis):
        yield Problem(
            "unknown_synthesis",
            f"there is no synthesis {plan.synthesis!r}: {instead(plan.synthesis, list(STRATEGIES))}"
            "; name one of your own in the team as well",
        )


def _duplicates(plan: Plan) -> Iterator[Problem]:
    seen: set[str] = set()
    named: set[str] = set()
    for task in plan.tasks:
        if task.id in seen and task.id not in named:
            named.add(task.id)
            yield Problem(
                "duplicate_id",
                f"more than one task has the id {task.id!r}: give each its own",
                task.id,
            )
        seen.add(task.id)


def _paths(plan: Plan, team: Team) -> Iterator[Problem]:
    """Tasks that have the path of a task of a nested run: calls, questions and gaps go by paths."""
    nested = {worker.name for worker in team.all_workers if worker.team is not None}
    around = {task.id for task in plan.tasks if task.worker in nested}
    for task in plan.tasks if around else ():
        places = (at for at, sign in enumerate(task.id) if sign == "/")
        outer = next((task.id[:at] for at in places if task.id[:at] in around), None)
        if outer is not None:
            yield Problem(
                "ambiguous_id",
                f"task {task.id!r} has an id like a part of task {outer!r}, which has a plan of "
                "its own: give it another id",
                task.id,
            )


def _workers(plan: Plan, team: Team) -> Iterator[Problem]:
    found = {one.name: [*tools_of(one)] if one.tools else [] for one in team.all_workers}
    tools = {name: frozenset(t.name for t in all if t.name) for name, all in found.items()}
    # The tools of some toolsets are known only when they are used.
    open_ended = {name for name, all in found.items() if any(t.name is None for t in all)}
    for task in plan.tasks:
        has = tools.get(task.worker)
        if has is None and task.worker == SUBPLANNER:
            why = "the team's planner is not `recursive`"
            if KINDS[team.planner.kind].breaks_down:
                why = "no deeper plan is allowed (`max_levels` of the planner)"
            message = f"task {task.id!r} can't be broken down: {why}; give it to a worker"
            yield Problem("too_deep", message, task.id)
        elif has is None:
            yield Problem(
                "unknown_worker",
                f"task {task.id!r} is for {task.worker!r}, who is not in team {team.name!r}: "
                f"{instead(task.worker, list(tools))}",
                task.id,
            )
        elif task.tools and task.worker not in open_ended:
            for tool in task.tools:
                if tool not in has:
                    yield Problem(
                        "tool_out_of_reach",
                        f"task {task.id!r} needs the tool {tool!r}, which worker {task.worker!r} "
                        f"does not have: {_whose(tool, tools)}",
                        task.id,
                    )


def _payloads(plan: Plan, team: Team) -> Iterator[Problem]:
    forms = {w.name: DeclaredType(w.input) for w in team.workers if w.input is not None}
    for task in plan.tasks:
        if task.payload is not None and is_too_deep(task.payload):
            yield Problem(
                "invalid_payload",
                f"the payload of task {task.id!r} is nested more than {MAX_LEVELS} levels deep: "
                "flatten it",
                task.id,
            )
            continue
        form = forms.get(task.worker)
        for problem in form.problems(task.payload) if form is not None else ():
            yield Problem(
                "invalid_payload",
                f"task {task.id!r} has no payload that worker {task.worker!r} takes: {problem}",
                task.id,
            )


def instead(name: str, known: list[str]) -> str:
    """What to write instead of an unknown name: the nearest of `known`, and what there is."""
    # Imported here because most plans and teams have no wrong name.
    from rapidfuzz import process

    near = process.extractOne(name, known, score_cutoff=70)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}it has {', '.join(known[:10])}" + (" and more" if len(known) > 10 else "")


def _whose(tool: str, tools: dict[str, frozenset[str]]) -> str:
    owners = [name for name, owned in tools.items() if tool in owned]
    if owners:
        return f"give the task to {' or '.join(owners)}"
    return "no worker of the team has it; leave it out"


def _edges(plan: Plan, ids: set[str]) -> Iterator[Problem]:
    first = [task.id for task in plan.tasks[: _MAX_NAMED + 1]]
    for task in plan.tasks:
        needs = task.depends_on
        if not needs:
            continue
        if len(needs) > 1 and len(set(needs)) < len(needs):
            yield Problem(
                "duplicate_dependency",
                f"task {task.id!r} names a dependency twice: name each once",
                task.id,
            )
        for needed in needs:
            if needed == task.id:
                yield Problem(
                    "self_dependency",
                    f"task {task.id!r} depends on itself: remove {needed!r} from its depends_on",
                    task.id,
                )
            elif needed not in ids:
                named = [id for id in first if id != task.id][:_MAX_NAMED]
                others = f"; the plan has {', '.join(named)}" if named else ""
                others += " and more" if len(ids) > _MAX_NAMED + 1 else ""
                yield Problem(
                    "unknown_dependency",
                    f"task {task.id!r} depends on {needed!r}, which is not in the plan: "
                    f"remove it from `depends_on`, or add a task with that id{others}",
                    task.id,
                )


def _earlier(plan: Plan, earlier: Collection[str]) -> Iterator[Problem]:
    for task in plan.tasks:
        for name in task.artifacts:
            if not names_earlier(name) or name in earlier:
                continue
            if earlier:
                yield Problem(
                    "unknown_artifact",
                    f"task {task.id!r} is to work on {name!r}, which no earlier run left: "
                    f"{instead(name, list(earlier))}",
                    task.id,
                )
            else:
                yield Problem(
                    "unknown_artifact",
                    f"task {task.id!r} is to work on {name!r}, which is a result of an earlier run "
                    "only if this run follows one",
                    task.id,
                    "warning",
                )


def _cycle(plan: Plan) -> Iterator[Problem]:
    needs: dict[str, tuple[str, ...]] = {}
    for task in plan.tasks:
        needs[task.id] = (*needs.get(task.id, ()), *task.depends_on)
    path = graph.cycle(needs)
    if path is not None:
        shown = path if len(path) <= 12 else [*path[:6], "...", *path[-5:]]
        yield Problem(
            "cycle",
            f"these {len(path) - 1} tasks wait for each other: {' -> '.join(shown)}: "
            "remove one of these dependencies",
            path[0],
        )


def _intents(plan: Plan, author: Author, request: str) -> Iterator[Problem]:
    asked = _plain(request)
    severity = "error" if author == "model" else "warning"
    for task in plan.tasks:
        why = _vague(task, asked, alone=len(plan.tasks) == 1)
        if why:
            yield Problem(
                "vague_intent",
                f"the intent of task {task.id!r} {why}: say what to look at, what to find out or "
                "make, and how to tell that it is done",
                task.id,
                severity,
            )


def _vague(task: Task, asked: str, *, alone: bool) -> str | None:
    intent = _plain(task.intent)
    if not intent:
        return "is empty"
    # Only a short intent can be a stock phrase: the pattern is slow on long ones.
    if len(intent) <= 80 and _STOCK.fullmatch(intent):
        return f"({task.intent.strip()!r}) says nothing about this task"
    if not alone and intent == asked:
        return "only repeats the request"
    return None


def without_punctuation(text: str) -> str:
    """`text` as it compares to others: whatever case, blanks, punctuation, invisible characters."""
    text = unicodedata.normalize("NFKC", text).casefold()
    shown = "".join(one for one in text if unicodedata.category(one) != "Cf")
    return _NOT_A_WORD.sub(" ", shown).strip()


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(" \t\r\n.!?:").split())
