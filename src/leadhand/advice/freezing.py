"""A run's plan as its team's template: the plan that was accepted first, for any request. Pure.

Later changes of that plan (amendments, splits, refined intents) answered what happened in that one
run, so they are not part of it; a run of the template can still be changed in the same ways.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from leadhand.advice.observed import ObservedRun
from leadhand.advice.shapes import ordered, shape
from leadhand.contracts.task import Limits, Task
from leadhand.contracts.team import TaskTemplate, Team

REQUEST = "{request}"
_VARIES = "(see the request)"
"""Stands for the words of an intent that differ between requests."""
MIN_SHARED_WORDS = 3
"""Words that the intents of a task must share at their ends to be kept around the request."""
MIN_REQUEST_CHARS = 8
"""A shorter request is not looked for in an intent: it may be a word of any text."""
_PLACEHOLDER = re.compile(r"\{(request|batch|count|batches|names)\}")


@dataclass(frozen=True, slots=True)
class Frozen:
    """A template, or why there can be none."""

    template: tuple[TaskTemplate, ...]
    synthesis: str
    problems: tuple[str, ...]
    """Why the plan can't be a template; empty if it can."""
    notes: tuple[str, ...]
    """What the template does not keep, and what it was made from."""


def freeze(run: ObservedRun, team: Team, others: Sequence[ObservedRun]) -> Frozen:
    """The plan of `run` as a template of `team`.

    An intent mentions its request. The intents of the same task in `others`, runs of the team, show
    which part of it: there it refers to `{request}`. Runs whose plan has another shape, or was not
    made by the same planner, are not used.
    """
    same = [
        one
        for one in others
        if one.run_id != run.run_id
        and one.planned_by == run.planned_by
        and not one.rounds
        and shape(one.plan) == shape(run.plan)
    ]
    rows = [[(one.request, task) for task in ordered(one.plan)] for one in (run, *same)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    by_id = {column[0][1].id: column for column in columns}
    place = {task.id: number for number, task in enumerate(run.plan.tasks)}
    ids = sorted(by_id, key=lambda id: place[id])
    return Frozen(
        tuple(_entry(by_id[id], team) for id in ids),
        run.plan.synthesis,
        tuple(_problems(run, [by_id[id] for id in ids])),
        tuple(_notes(run, team, same)),
    )


def _entry(column: Sequence[tuple[str, Task]], team: Team) -> TaskTemplate:
    task = column[0][1]
    described = next((w.description for w in team.workers if w.name == task.worker), "")
    return TaskTemplate(
        task.id,
        task.worker,
        _intent([(request, one.intent) for request, one in column], described),
        depends_on=task.depends_on,
        payload=task.payload,
        done_when=_line(task.done_when),
        tolerates_missing=task.tolerates_missing,
        limits=Limits(timeout_s=task.limits.timeout_s),
    )


def _intent(written: Sequence[tuple[str, str]], described: str) -> str:
    """The intent for any request, by the intents that were written for some.

    One text for different requests needs no request. Otherwise the words that all share at the
    beginning and the end stay, and refer to the request for what is between them; if they share too
    few, the worker's description introduces the request.
    """
    intents = [_with_placeholder(intent, request) for request, intent in written]
    first = intents[0]
    if len({_line(request) for request, _ in written}) == 1:
        return first if REQUEST in first else _with_request(first)
    if len({*intents}) == 1:
        return first
    words = [one.split() for one in intents]
    before = _shared(words)
    after = _shared([one[len(before) :][::-1] for one in words])[::-1]
    if len(before) + len(after) >= MIN_SHARED_WORDS and REQUEST not in {*before, *after}:
        return _with_request(" ".join([*before, _VARIES, *after]))
    return f"{_line(described).rstrip('.') or 'Do your part of the request'}: {REQUEST}"


def _with_request(intent: str) -> str:
    end = "" if intent.endswith((".", "?", "!", ":")) else "."
    return f"{intent}{end} The request: {REQUEST}"


def _with_placeholder(intent: str, request: str) -> str:
    line, asked = _line(intent), _line(request)
    if len(asked) < MIN_REQUEST_CHARS:
        return REQUEST if line.casefold() == asked.casefold() else line
    return re.sub(rf"(?<!\w){re.escape(asked)}(?!\w)", lambda _: REQUEST, line, flags=re.I)


def _shared(words: Sequence[Sequence[str]]) -> list[str]:
    """The words with which all begin."""
    rows = takewhile(lambda row: len({*row}) == 1, zip(*words, strict=False))
    return [row[0] for row in rows]


def _line(text: str) -> str:
    return " ".join(text.split())


def _problems(run: ObservedRun, columns: Sequence[list[tuple[str, Task]]]) -> Iterator[str]:
    if run.planned_by == "template":
        yield "its plan is the team's template already"
    if run.rounds > 1:
        yield (
            f"it was planned in {run.rounds} rounds, each by the results of those before: that is "
            "no plan for other requests"
        )
    if run.plan.workers:
        yield (
            "its plan describes workers, which a template can't: save them first, with `leadhand "
            f"teams save {run.run_id} DIR`"
        )
    for column in columns:
        task = column[0][1]
        if task.artifacts:
            yield (
                f"task {task.id!r} works on artifacts of that run ({', '.join(task.artifacts[:2])}"
                f"{', ...' if len(task.artifacts) > 2 else ''}), and a template names none"
            )
        if any(one.payload != task.payload for _, one in column):
            yield (
                f"the payload of task {task.id!r} differs between runs, and that of a template is "
                "always the same"
            )
        if _PLACEHOLDER.search(f"{task.intent} {task.done_when}"):
            yield f"task {task.id!r} contains a placeholder of templates, such as {{request}}"


def _notes(run: ObservedRun, team: Team, same: Sequence[ObservedRun]) -> Iterator[str]:
    requests = {_line(one.request) for one in (run, *same)}
    if len(requests) > 1:
        yield f"intents are made from {len(same) + 1:,} runs with {len(requests):,} requests"
    else:
        yield (
            "no other run has the same plan for another request: the intents are those of this "
            "run, so take out what only its request is about"
        )
        if any(task.payload is not None for task in run.plan.tasks):
            yield "payloads are those of this run: check that they fit any request"
    if run.amendments:
        yield "the run amended its plan later: the template is the plan as it was accepted first"
    if run.plan.instruction:
        yield f"not kept: the instruction for the synthesizer, {_line(run.plan.instruction)!r}"
    for task in run.plan.tasks:
        lost = task.limits.model_dump(exclude_none=True, exclude={"timeout_s"})
        if lost:
            shown = ", ".join(f"{name} {value}" for name, value in lost.items())
            yield f"not kept: limits of task {task.id!r} ({shown})"
    routes = team.routes or team.router is not None or team.trained_router is not None
    if routes and team.planner.kind in (None, "routed"):
        yield "routes and routers choose no worker for a request any more, as the template decides"
