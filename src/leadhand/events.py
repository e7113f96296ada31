"""The events of a run, one class each: what `Run.events` and listeners give, and what is public."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue
from pydantic.main import IncEx
from pydantic_core import to_jsonable_python

from leadhand.contracts.answer import DOUBT, FOUND_HEADING, MISSING_HEADING, REQUEST_GAP
from leadhand.contracts.events import Event as Event
from leadhand.contracts.events import RunEvent as RunEvent
from leadhand.contracts.events import TaskEvent as TaskEvent
from leadhand.contracts.events import dump as dump
from leadhand.contracts.events import nested as nested
from leadhand.contracts.events import parse as parse
from leadhand.contracts.events import unnested as unnested
from leadhand.contracts.events.run import *  # noqa: F403
from leadhand.contracts.events.run import RunFinished as RunFinished
from leadhand.contracts.events.task import *  # noqa: F403

_REASONS = re.compile(
    rf"#*{MISSING_HEADING}\n\n(?:.+(?:\n|\Z))+\n*(?:#*{FOUND_HEADING}\n\n)?|Incomplete: .*"
    rf"|\s*(?:{re.escape(DOUBT)}|\*accepted at low confidence: ).*\*"
    r"|(?m:^\*.+; (?:code did the work|the team's template is the plan)\.\*\n*)"
)
_Parts = Mapping[str, IncEx | bool]
_TASK: _Parts = dict.fromkeys(("id", "worker", "depends_on"), True)
_TASKS: _Parts = {"__all__": _TASK}
_END: _Parts = dict.fromkeys(("status", "ended_by", "engine", "confidence", "contact"), True)
PUBLIC: _Parts = {
    **dict.fromkeys(("seq", "at", "elapsed_s", "run_id", "type", "within"), True),
    **dict.fromkeys(("team", "engine", "deadline_s", "goes_on", "again", "revision"), True),
    **dict.fromkeys(("task_id", "attempt", "worker", "workers", "tool", "role", "round"), True),
    **dict.fromkeys(("dropped", "blame", "delay_s", "kind", "final", "taken", "verdict"), True),
    **dict.fromkeys(("tasks", "added", "changed", "parts"), _TASKS),
    "second_opinion": True,
    "task": _TASK,
    "plan": {"tasks": _TASKS},
    "answer": {**_END, "gaps": {"__all__": {"task_id": True}}},
}
"""The fields of events that end users may see, or which parts; what is not listed is private."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of what a model is writing, as `Run.events(deltas=True)` gives it.

    It has no `seq`, is not stored, and is only read in the process of the run. Secrets in it are
    redacted, and control characters and workflow commands escaped.
    """

    task_id: str | None
    """With its path as in `legal/draft`; of a nested run's planner or synthesizer, that team's
    task. None: the run's own."""
    role: str
    """`worker`, `planner`, `synthesizer`, ...; a planner writes JSON."""
    text: str
    """Follows the text before of the same `task_id` and `role`."""
    reset: bool = False
    """Whether that text begins again with this piece: the answer was lost, or pieces were
    dropped because they were not read in time."""
    type: Literal["text_delta"] = "text_delta"
    """Tells it from an event."""


def public(event: Event | TextDelta) -> dict[str, JsonValue]:
    """What end users may see of an event, as JSON: how far the run is, and at its end the answer.

    Requests, instructions, intents, arguments, results, reasons, errors and settings are private.
    Of gaps and doubts there are only the tasks, and what is wrong with the request; of a nested
    team's answer how it ended; of what models write the final answer. Everything else is an empty
    object.
    """
    if isinstance(event, TextDelta):
        final = event.task_id is None and event.role == "synthesizer"
        return {"type": event.type, "text": event.text, "reset": event.reset} if final else {}
    shown = to_jsonable_python(event, include=PUBLIC)
    if isinstance(event, RunFinished) and not event.within:
        text = event.answer.answer
        if event.answer.gaps:  # before the rest, the text says why there are gaps
            text = text.partition(f"\n\n{FOUND_HEADING}\n\n")[2]
        shown["answer"] |= {"answer": _told(text), "output": _told(event.answer.output)}
        for gap, one in zip(event.answer.gaps, shown["answer"]["gaps"], strict=True):
            if gap.task_id == REQUEST_GAP:
                one["why"] = gap.why
    return shown


def _told(value: JsonValue) -> JsonValue:
    """A value without the reasons of gaps, which texts of nested teams have too."""
    match value:
        case str():
            return _REASONS.sub("", value)
        case list():
            return [_told(one) for one in value]
        case dict():
            return {key: _told(one) for key, one in value.items()}
        case _:
            return value
