"""What a run found and what is missing, from its state alone. Pure."""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from leadhand.contracts.answer import (
    FOUND_HEADING,
    MISSING_HEADING,
    Answer,
    Conflict,
    Engine,
    Gap,
    Status,
)
from leadhand.contracts.outcome import TaskResult
from leadhand.contracts.people import EXPIRY
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Task
from leadhand.state.fold import RunState, TaskState
from leadhand.untrusted.cutting import cut_line
from leadhand.untrusted.markdown import code, prose

if TYPE_CHECKING:
    from leadhand.contracts.team import Team

MAX_WHAT_CHARS = 160
MAX_MISSING = 50
"""Gaps that one task's result may add; how many more there are is one gap."""
MAX_MISSING_CHARS = 500
MAX_SIDES_CHARS = 2_000
"""The same for a contradiction, which names each of its sides."""
_prose = functools.lru_cache(maxsize=256)(prose)
"""A run that is stopped gives every task that had not started the same reason."""


def results_of(state: RunState) -> list[TaskResult]:
    """The tasks and their results as a synthesizer gets them, in plan order."""
    return [
        TaskResult(one.task, one.worker, one.status, one.result, one.error, _ends(one) or ())
        for one in state.tasks.values()
    ]


def leaves_of(state: RunState, above: Task | None = None) -> Iterator[TaskResult]:
    """The results of all levels of a recursive run, with their paths and all dependencies."""
    for one in results_of(state):
        task, below = one.task, state.tasks[one.task.id].nested
        if above is not None:
            inputs = {
                "id": f"{above.id}/{task.id}",
                "depends_on": (*above.depends_on, *(f"{above.id}/{id}" for id in task.depends_on)),
                "artifacts": (*above.artifacts, *task.artifacts),
            }
            task = task.model_copy(update=inputs)
        if task.worker == SUBPLANNER and below is not None:
            yield from leaves_of(below, task)
        else:
            yield replace(one, task=task)


def _ends(task: TaskState) -> tuple[JsonValue, ...] | None:
    """What the last tasks of the nested run returned whose text is the result; None: no such run"""
    run, result = task.nested, task.result
    if run is None or run.answer is None or result is None or result.output != run.answer.answer:
        return None
    needed = {id for one in run.tasks.values() for id in one.task.depends_on}
    found: list[JsonValue] = []
    for one in (one for id, one in run.tasks.items() if id not in needed):
        inner, output = _ends(one), one.result.output if one.result is not None else None
        found += (output,) if inner is None else inner
    return tuple(found)


def gaps_of(state: RunState, team: "Team | None") -> Iterator[Gap]:
    """What is missing, and what was accepted at low confidence.

    Without a `team` the last nested run of a task counts, whichever worker completed it.
    """
    for id, task in state.tasks.items():
        if task.status != "completed":
            yield Gap(
                task_id=id,
                why=_with_expiry(task, with_last_call(state, task.why or task.status, id)),
                what=cut_line(task.task.intent, MAX_WHAT_CHARS),
            )
            yield from _not_done(id, task.not_done)
        elif task.error is not None:
            yield Gap(task_id=id, why=task.error)
        inner = _nested_answer(task, team) if task.status == "completed" else None
        if task.status == "completed" and inner is None:
            yield from _not_done_below(id, task)
        if inner is not None:
            told_below = [*_contradictions(inner.conflicts)]  # told here, with their path
            for gap in inner.gaps:
                if gap not in told_below:
                    yield gap.model_copy(update={"task_id": f"{id}/{gap.task_id}"})
        if task.result is not None and task.result.missing:
            yield from _not_done(id, task.result.missing)
    for id, why in state.unamended.items():
        yield Gap(task_id=id, why=cut_line(why, MAX_MISSING_CHARS))
    yield from _contradictions(conflicts_of(state, team))
    if state.rounds and state.rounds_open:
        yield Gap(task_id="plan", why="the run ended before the planner was done")
    elif state.rounds_end not in (None, "done"):
        yield Gap(task_id="plan", why=cut_line(state.rounds_why, MAX_MISSING_CHARS))
    yield from _without_model(state)


def conflicts_of(state: RunState, team: "Team | None") -> tuple[Conflict, ...]:
    found = [*state.conflicts]
    for id, task in state.tasks.items():
        inner = _nested_answer(task, team)
        for one in inner.conflicts if inner is not None else ():
            paths = {
                name: tuple(f"{id}/{path}" for path in getattr(one, name))
                for name in ("task_ids", "taken", "misrouted")
            }
            found.append(one.model_copy(update=paths))
    return tuple(found)


def with_last_call(state: RunState, why: str, task_id: str | None) -> str:
    """`why`, and what the endpoint of the model said last, if nothing came from it in time."""
    said = state.call_errors.get(task_id)
    stopped = task_id is None or state.tasks[task_id].status == "cancelled"
    return f"{why}; the last call: {said}" if said and stopped and said not in why else why


def _with_expiry(task: TaskState, why: str) -> str:
    reply = task.reply
    return f"{why}; {reply.text}" if reply is not None and reply.by == EXPIRY else why


def _nested_answer(task: TaskState, team: "Team | None") -> Answer | None:
    if task.nested is None:
        return None
    worker = team.worker(task.worker) if team is not None else None
    nested = team is None or (worker is not None and worker.team is not None)
    return task.nested.answer if nested else None


def _contradictions(conflicts: Iterable[Conflict]) -> Iterator[Gap]:
    """What no one resolved: results of tasks that ask the same, or two results of one task."""
    for one in conflicts:
        if one.kind == "contradiction" and one.resolution is None:
            several = f"{' and '.join(one.task_ids)} ask the same and contradict each other"
            said = several if len(one.task_ids) > 1 else "its two results contradict each other"
            why = f" ({one.why})" if one.why else ""
            yield Gap(
                task_id=next(iter(one.task_ids), "synthesis"),
                why=cut_line(f"{said}: {one.about}{why}", MAX_SIDES_CHARS),
            )


def _not_done(id: str, missing: Sequence[str]) -> Iterator[Gap]:
    lines = list(
        dict.fromkeys(cut_line(line, MAX_MISSING_CHARS) for line in missing if line.strip())
    )
    for line in lines[:MAX_MISSING]:
        yield Gap(task_id=id, why=line)
    if len(lines) > MAX_MISSING:
        yield Gap(task_id=id, why=f"{len(lines) - MAX_MISSING:,} more that are not listed here")


def _not_done_below(id: str, task: TaskState) -> Iterator[Gap]:
    """What a person decided on in a nested run whose result another worker's replaced."""
    for name, inner in task.nested.tasks.items() if task.nested is not None else ():
        yield from _not_done(f"{id}/{name}", inner.not_done)
        yield from _not_done_below(f"{id}/{name}", inner)


def _without_model(state: RunState) -> Iterator[Gap]:
    """What code did because no model was available, by the reason."""
    done: dict[str, list[str]] = {}
    for id, task in state.tasks.items():
        why = task.result.without_model if task.result is not None else None
        if why is not None and task.status == "completed":
            done.setdefault(why, []).append(id)
    for why, ids in done.items():
        shown = ", ".join(ids[:5]) + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")
        yield Gap(task_id="model", why=f"{_one_line(why)}; without a model code did {shown}")


def engine_of(state: RunState, gaps: Sequence[Gap]) -> Engine:
    """`model` if output of a model was used: its plan, a decision, a result, or the text."""
    unused = {"worker"}  # their results say what made them
    if state.proposed_by == "template":
        unused |= {"planner", "router"}
    if any(gap.task_id == "synthesis" for gap in gaps):
        unused.add("synthesizer")
    tasks = (*state.tasks.values(), *state.retired.values())
    nested = (task.nested.answer for task in tasks if task.nested is not None)
    by_model = (
        *(answer.engine == "model" for answer in nested if answer is not None),
        *(
            task.result.usage.requests > 0
            or (task.called and task.result.without_model is task.result.draft_only is None)
            for task in tasks
            if task.nested is None and task.result
        ),
    )
    return "model" if state.answered - unused or any(by_model) else "deterministic"


def status_of(state: RunState, gaps: Sequence[Gap], *, cancelled: bool) -> Status:
    if not gaps and state.plan is not None:
        return "complete"
    if cancelled:
        return "cancelled"
    done = any(task.status == "completed" for task in state.tasks.values())
    return "partial" if done else "failed"


def confidence_of(confidence: int | None, state: RunState) -> int | None:
    """Lowered by the share of missing tasks: with three of four, 80 becomes 60."""
    if confidence is None or not state.tasks:
        return confidence
    done = sum(task.status == "completed" for task in state.tasks.values())
    return round(confidence * done / len(state.tasks))


def reason(gap: Gap, shown: Callable[[str], str]) -> str:
    """Why there is a gap; `shown` makes one safe line of untrusted text."""
    why = shown(gap.why)
    if not gap.what:
        return why
    stop = "" if why.endswith((".", "!", "?", "…")) else "."
    return f"{why}{stop} It was to: {shown(gap.what)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shown(text: str) -> str:
    return _prose(_one_line(text))


def with_gaps(text: str, gaps: Sequence[Gap], *, contact: str | None = None) -> str:
    """An answer's text with its gaps before it, where no reader overlooks them, then `contact`."""
    if gaps:
        lines = (f"- {code(_one_line(gap.task_id))}: {reason(gap, _shown)}" for gap in gaps)
        missing = "\n".join((f"{MISSING_HEADING}\n", *lines))
        text = f"{missing}\n\n{FOUND_HEADING}\n\n{text}" if text.strip() else missing
    return text if contact is None else f"{text}\n\n{contact}"


def without_gaps(text: str, gaps: Sequence[Gap], *, contact: str | None = None) -> str:
    """The text before `with_gaps`, of this version of leadhand or another."""
    if contact is not None:
        text = text.removesuffix(f"\n\n{contact}")
    lead, heading, _ = text.partition(f"{MISSING_HEADING}\n\n")
    if not gaps or not heading or "\n" in lead.removesuffix("\n\n"):
        return text
    # The list of gaps has no empty line, so the first heading after one is ours.
    return lead + text.partition(f"\n\n{FOUND_HEADING}\n\n")[2]
