"""The events of a run, one class each: what `stream` and listeners give, and what is public."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from leadhand.contracts.answer import FOUND_HEADING, Answer
from leadhand.contracts.events import *  # noqa: F403
from leadhand.contracts.events import Event

_ALWAYS = "seq at elapsed_s run_id type within task_id attempt"
_ANSWER = "answer.status answer.ended_by answer.engine answer.confidence answer.gaps.task_id"
PUBLIC: Mapping[str, str] = {
    "run_started": "team engine deadline_s",
    "run_resumed": "deadline_s goes_on again",
    "plan_proposed": "plan.tasks.id plan.tasks.worker plan.tasks.depends_on",
    "plan_accepted": "approved",
    "plan_amended": "revision dropped added.id added.worker added.depends_on "
    "changed.id changed.worker changed.depends_on",
    "round_decided": "round tasks.id tasks.worker tasks.depends_on",
    "approval_given": "verdict",
    "task_planned": "task.id task.worker task.depends_on",
    "task_dispatched": "worker",
    "task_escalated": "reason final",
    "task_failed": "kind final",
    "task_retried": "delay_s",
    "task_reassigned": "worker second_opinion",
    "task_split": "parts.id parts.worker parts.depends_on",
    "task_skipped": "blame",
    "opinion_judged": "workers taken",
    "model_called": "role",
    "tool_called": "worker tool",
    "critique_given": "round verdict",
    "run_waiting": _ANSWER,
    "run_finished": f"{_ANSWER} answer.answer answer.output answer.contact",
}
"""By type of event, the fields that end users may see; what is not listed is private."""


def public(event: Event) -> dict[str, JsonValue]:
    """What end users may see of an event, as JSON: how far the run is, and at its end the answer.

    Nothing that is written for or by planners, workers, tools and people who are asked: requests,
    instructions, intents, arguments, results, reasons, errors. Nor the program's settings. Of gaps
    there are only the tasks, and of a nested team's answer only how it ended.
    """
    fields = f"{_ALWAYS} {PUBLIC.get(event.type, '')}".split()
    if event.within:
        fields = [one for one in fields if one not in ("answer.answer", "answer.output")]
    return _record(event, fields)


def _record(given: object, fields: Iterable[str]) -> dict[str, JsonValue]:
    by_name: dict[str, list[str]] = {}
    for field in fields:
        name, _, rest = field.partition(".")
        by_name.setdefault(name, []).append(rest)
    return {
        name: _shown(_value(given, name), [one for one in parts if one])
        for name, parts in by_name.items()
        if hasattr(given, name)
    }


def _shown(value: object, fields: Sequence[str]) -> JsonValue:
    if not fields or value is None:
        return to_jsonable_python(value)
    if isinstance(value, tuple):
        return [_record(one, fields) for one in cast("tuple[object, ...]", value)]
    return _record(value, fields)


def _value(given: object, name: str) -> object:
    if isinstance(given, Answer) and name == "answer" and given.gaps:
        # Before the rest, the text says why there are gaps.
        return given.answer.partition(f"\n\n{FOUND_HEADING}\n\n")[2]
    return getattr(given, name)
