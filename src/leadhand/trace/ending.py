"""How a run stands at its end, from its state alone: what there is, and what is missing. Pure."""

import functools
from collections.abc import Iterator, Sequence

from leadhand.contracts.answer import FOUND, MISSING, Gap, Status
from leadhand.contracts.team import Team
from leadhand.markdown import code, prose
from leadhand.ports import TaskResult
from leadhand.state import RunState

_prose = functools.lru_cache(maxsize=256)(prose)
"""A run that is stopped says the same of every task that it had not begun."""


def results_of(state: RunState) -> list[TaskResult]:
    """What a synthesizer is given: every task, in plan order."""
    return [
        TaskResult(task.task, task.worker, task.status, task.result, task.error)
        for task in state.tasks.values()
    ]


def gaps_of(state: RunState, team: Team) -> Iterator[Gap]:
    """What the answer lacks: tasks without a result, and what nested teams' answers lack."""
    for id, task in state.tasks.items():
        worker = team.worker(task.worker)
        if task.status != "completed":
            yield Gap(task_id=id, why=task.error or task.status)
        elif worker is not None and worker.team is not None and task.nested is not None:
            inner = task.nested.answer
            for gap in inner.gaps if inner is not None else ():
                yield Gap(task_id=f"{id}/{gap.task_id}", why=gap.why)


def status_of(state: RunState, gaps: Sequence[Gap], *, cancelled: bool) -> Status:
    """The status of the answer of a run that ends like this."""
    if not gaps and state.plan is not None:
        return "complete"
    if cancelled:
        return "cancelled"
    done = any(task.status == "completed" for task in state.tasks.values())
    return "partial" if done else "failed"


def confidence_of(confidence: int | None, state: RunState) -> int | None:
    """What is left of a synthesis' confidence where tasks are missing: their share is taken off.

    The synthesizer can't know what the missing results would have changed. With three of four
    tasks completed, 80 becomes 60.
    """
    if confidence is None or not state.tasks:
        return confidence
    done = sum(task.status == "completed" for task in state.tasks.values())
    return round(confidence * done / len(state.tasks))


def missing_part(gaps: Sequence[Gap]) -> str:
    """The part of an answer's text that lists its gaps; empty where it has none."""
    if not gaps:
        return ""
    return f"{MISSING}\n\n" + "\n".join(f"- {_line(gap)}" for gap in gaps)


def _line(gap: Gap) -> str:
    """A gap in one line of Markdown. What a worker said of it, and a task's name, stay text."""
    id, why = (" ".join(text.split()) for text in (gap.task_id, gap.why))
    return f"{code(id)}: {_prose(why)}"


def with_gaps(text: str, gaps: Sequence[Gap]) -> str:
    """An answer's text, and before it what is missing: nobody can leave or read past that."""
    if not gaps:
        return text
    missing = missing_part(gaps)
    return f"{missing}\n\n{FOUND}\n\n{text}" if text.strip() else missing


def without_gaps(text: str, gaps: Sequence[Gap]) -> str:
    """The text that `with_gaps` was given."""
    missing = missing_part(gaps)
    if not missing or not text.startswith(missing):
        return text
    return text.removeprefix(missing).lstrip("\n").removeprefix(f"{FOUND}\n\n")
