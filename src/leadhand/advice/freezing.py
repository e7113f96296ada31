"""A run's plan as its team's template: the plan that was accepted first, for any request. Pure.

Later changes of that plan (amendments, splits, refined intents) answered what happened in that one
run, so they are not part of it; a run of the template can still be changed in the same ways.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from leadhand.advice.facts import RunFacts, places, shape
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.task import Limits, Task, literal
from leadhand.contracts.team import TaskTemplate, Team

REQUEST = "{request}"
_VARIES = "(see the request)"
"""Stands for the words of an intent that differ between requests."""
MIN_SHARED_WORDS = 3
"""Words that the intents of a task must share at their ends to be kept around the request."""
MIN_REQUEST_CHARS = 8
"""A shorter request is not looked for in an intent: it may be a word of any text."""


class Frozen(NamedTuple):
    """A template, or why there can be none."""

    template: tuple[TaskTemplate, ...]
    problems: tuple[str, ...]
    """Why the plan can't be a template; empty if it can."""
    notes: tuple[str, ...]
    """What the template does not keep, and what it was made from."""


def freeze(run: RunFacts, team: Team, others: Sequence[RunFacts]) -> Frozen:
    """The plan of `run`, which has one, as a template of `team`.

    An intent mentions its request. The intents of the same task in `others`, runs of the team whose
    plan has the same shape, show which part of it: there it refers to `{request}`.
    """
    alike = [
        other
        for other in others
        if other.run_id != run.run_id
        and (other.planned_by, other.rounds) == (run.planned_by, 0)
        and other.plan is not None
        and run.plan is not None
        and shape(other.plan) == shape(run.plan)
    ]
    rows = [_in_order(one) for one in (run, *alike)]
    requests = [_line(one.request) for one in (run, *alike)]
    by_id = {column[0].id: column for column in zip(*rows, strict=True)}
    columns = [by_id[task.id] for task in run.tasks]
    entries = [_entry(column, requests, team) for column in columns]
    notes = _notes(run, team, requests)
    return Frozen(tuple(entries), tuple(_problems(run, columns)), tuple(notes))


def _in_order(run: RunFacts) -> list[Task]:
    """The tasks in an order that plans of one shape share."""
    place = places(run.tasks)
    return sorted(run.tasks, key=lambda task: place[task.id])


def _entry(column: Sequence[Task], requests: Sequence[str], team: Team) -> TaskTemplate:
    task = column[0]
    worker = team.worker(task.worker)
    intents = [_placed(one.intent, request) for one, request in zip(column, requests, strict=True)]
    described = worker.description if worker is not None else ""
    return TaskTemplate(
        task.id,
        task.worker,
        _intent(intents, described, varied=len({*requests}) > 1),
        depends_on=task.depends_on,
        payload=task.payload,
        done_when=_line(task.done_when),
        tolerates_missing=task.tolerates_missing,
        limits=Limits(timeout_s=task.limits.timeout_s),
    )


def _intent(intents: Sequence[str], described: str, *, varied: bool) -> str:
    """The intent for any request, by the intents that were written for some.

    One text for different requests needs no request. Otherwise the words that all share at the
    beginning and the end stay, and refer to the request for what is between them; if they share too
    few, the worker's description introduces the request.
    """
    first = intents[0]
    if not varied:
        placed = REQUEST in first.replace(literal(REQUEST), "")
        return first if placed else f"{_ended(first)} The request: {REQUEST}"
    if len({*intents}) == 1:
        return first
    words = [intent.split() for intent in intents]
    before = _shared(words)
    after = _shared([one[len(before) :][::-1] for one in words])[::-1]
    if len(before) + len(after) >= MIN_SHARED_WORDS and REQUEST not in {*before, *after}:
        return f"{_ended(' '.join([*before, _VARIES, *after]))} The request: {REQUEST}"
    return f"{literal(_line(described)).rstrip('.') or 'Do your part of the request'}: {REQUEST}"


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", "!", ":")) else f"{text}."


def _placed(intent: str, request: str) -> str:
    """The intent with a placeholder for its request."""
    line, request = literal(_line(intent)), literal(request)
    if len(request) < MIN_REQUEST_CHARS:
        return REQUEST if line.casefold() == request.casefold() else line
    return re.sub(rf"(?<!\w){re.escape(request)}(?!\w)", lambda _: REQUEST, line, flags=re.I)


def _shared(words: Sequence[Sequence[str]]) -> list[str]:
    """The words with which all begin."""
    rows = takewhile(lambda row: len({*row}) == 1, zip(*words, strict=False))
    return [row[0] for row in rows]


def _line(text: str) -> str:
    return " ".join(text.split())


def _problems(run: RunFacts, columns: Sequence[Sequence[Task]]) -> Iterator[str]:
    if run.planned_by == "template":
        yield "its plan is the team's template already"
    if run.rounds > 1:
        yield f"it was planned in {run.rounds} rounds, each by the results of those before"
    if run.plan is not None and run.plan.workers:
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
    if run.amendments:
        yield "the run amended its plan later: the template is the plan as it was accepted first"
    if run.plan is not None and run.plan.instruction:
        yield f"not kept: the instruction for the synthesizer, {_line(run.plan.instruction)!r}"
    for task in run.tasks:
        if lost := task.limits.model_dump(exclude_none=True, exclude={"timeout_s"}):
            shown = ", ".join(f"{name} {value}" for name, value in lost.items())
            yield f"not kept: limits of task {task.id!r} ({shown})"
    routes = team.routes or team.router is not None or team.trained_router is not None
    if routes and KINDS[team.planner.kind].routes_first:
        yield "routes and routers choose no worker for a request any more, as the template decides"
