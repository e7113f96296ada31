"""A run's plan as its team's template: the plan that was accepted first, for any request. Pure.
Later changes of it answered what happened in that run."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from leadhand.advice.facts import RunFacts, shape, shapes
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.task import Limits, Task, literal
from leadhand.contracts.team import TaskTemplate, Team
from leadhand.errors import InputError
from leadhand.plans.team_checks import team_problems

REQUEST = "{request}"
MIN_REQUEST_CHARS = 8
"""A shorter request may be a word of any text."""


def freeze(run: RunFacts, team: Team, others: Sequence[RunFacts]) -> tuple[Team, list[str]]:
    """`team` with the plan of `run` as its template, and notes on what that was made from.

    If intents of the same task in `others`, of one shape, differ by more than the request, the
    worker's description takes their place. Raises `InputError` with every reason why the plan can't
    be a template.
    """
    own = (run.planned_by, 0, shape(run.plan))
    alike = [run]
    alike += [
        other
        for other in others
        if other.run_id != run.run_id and (other.planned_by, other.rounds, shape(other.plan)) == own
    ]
    columns = {tasks[0].id: tasks for tasks in zip(*map(_in_order, alike), strict=True)}
    requests = [_line(one.request) for one in alike]
    frozen = dataclasses.replace(
        team,
        planner=dataclasses.replace(team.planner, kind="template", run=None),
        template=tuple(_entry(columns[task.id], requests, team) for task in run.plan.tasks),
        template_synthesis=run.plan.synthesis,
    )
    problems = [*_problems(run, columns.values()), *team_problems(frozen, model_at_hand=True)]
    if problems:
        raise InputError(f"run {run.run_id!r} can't be frozen: {'; '.join(problems)}")
    return frozen, [*_notes(run, team, requests)]


def _in_order(run: RunFacts) -> list[Task]:
    """The tasks in an order that plans of one shape share."""
    place = shapes(run.plan.tasks)
    return sorted(run.plan.tasks, key=lambda task: place[task.id])


def _entry(tasks: Sequence[Task], requests: Sequence[str], team: Team) -> TaskTemplate:
    task, worker = tasks[0], team.worker(tasks[0].worker)
    intents = [*map(_placed, tasks, requests)]
    intent, varied = intents[0], len({*requests}) > 1
    if varied and len({*intents}) > 1:
        described = _line(worker.description).rstrip(".") if worker is not None else ""
        intent = f"{literal(described) or 'Do your part of the request'}: {REQUEST}"
    elif not varied and REQUEST not in intent.replace(literal(REQUEST), ""):
        intent += f"{'' if intent.endswith(('.', '?', '!', ':')) else '.'} The request: {REQUEST}"
    return TaskTemplate(
        task.id,
        task.worker,
        intent,
        depends_on=task.depends_on,
        payload=task.payload,
        done_when=_line(task.done_when),
        tolerates_missing=task.tolerates_missing,
        limits=Limits(timeout_s=task.limits.timeout_s),
    )


def _placed(task: Task, request: str) -> str:
    """The intent with a placeholder for its request."""
    line, request = literal(_line(task.intent)), literal(request)
    if len(request) < MIN_REQUEST_CHARS:
        return REQUEST if line.casefold() == request.casefold() else line
    return re.sub(rf"(?<!\w){re.escape(request)}(?!\w)", lambda _: REQUEST, line, flags=re.I)


def _line(text: str) -> str:
    return " ".join(text.split())


def _problems(run: RunFacts, columns: Iterable[Sequence[Task]]) -> Iterator[str]:
    if run.planned_by == "template":
        yield "its plan is the team's template already"
    if run.rounds > 1:
        yield f"it was planned in {run.rounds} rounds, each by the results of those before"
    if run.plan.workers:
        yield f"its plan describes workers: save them first, `leadhand teams save {run.run_id} DIR`"
    for task, *others in columns:
        if task.artifacts:
            yield f"task {task.id!r} works on artifacts of that run, and a template names none"
        if any(one.payload != task.payload for one in others):
            yield f"the payload of task {task.id!r} differs between runs; a template's is fixed"


def _notes(run: RunFacts, team: Team, requests: Sequence[str]) -> Iterator[str]:
    if (different := len({*requests})) > 1:
        yield f"intents are made from {len(requests):,} runs with {different:,} requests"
    else:
        yield (
            "no other run has the same plan for another request: take out of intents and payloads "
            "what only this request is about"
        )
    if run.amended:
        yield "the run amended its plan later: the template is the plan as it was accepted first"
    if run.plan.instruction:
        yield f"not kept: the instruction for the synthesizer, {_line(run.plan.instruction)!r}"
    for task in run.plan.tasks:
        if lost := task.limits.model_dump(exclude_none=True, exclude={"timeout_s"}):
            shown = ", ".join(f"{name} {value}" for name, value in lost.items())
            yield f"not kept: limits of task {task.id!r} ({shown})"
    routes = team.routes or team.router is not None or team.trained_router is not None
    if routes and KINDS[team.planner.kind].routes_first:
        yield "routes and routers choose no worker for a request any more, as the template decides"
