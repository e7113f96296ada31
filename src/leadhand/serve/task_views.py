"""A task of a run as JSON: its attempts with what they were given and called, and why what came
next was decided. Pure."""

import base64
import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from leadhand.contracts.events import Event, ModelCalled, TaskDispatched, ToolCalled
from leadhand.contracts.task import NO_LIMITS
from leadhand.contracts.team import Team, Worker
from leadhand.engine.handoffs import handoff
from leadhand.page.markdown import render
from leadhand.serve.run_views import Document, attempt_entry, task_entry
from leadhand.state.fold import RunState, apply
from leadhand.trace.run_history import RunHistory, TaskHistory

MAX_CHARS = 20_000
"""A longer text is cut; the whole is a blob."""
_SHOWN_CHARS = 4_000


def task_document(
    history: RunHistory, log: Sequence[Event], team: Team | None, path: str, *, operator: bool
) -> Document | None:
    """None: there is no such task. Without a `team` there are no handoffs."""
    found = _place(history, path)
    if found is None:
        return None
    within, task = found
    parent = path.removesuffix(task.id).rstrip("/") or None
    out = task_entry(within, task, path, parent, operator=operator)
    out["critical"] = not parent and task.id in history.critical_path
    if not operator:
        return out
    result = within.task_state(task.id).result
    out["result"] = None if result is None else result.model_dump(mode="json")
    if result is not None and isinstance(result.output, str):
        cast("Document", out["result"])["output_html"] = render(result.output)
    out["before"] = cast("JsonValue", [dataclasses.asdict(step) for step in task.before])
    given = dict(_handoffs(log, team, path)) if team is not None else {}
    calls = [one for one in log if isinstance(one, ModelCalled | ToolCalled)]
    attempts = [
        attempt_entry(one, operator=True)
        | {
            "message": one.message,
            "traceback": one.traceback or None,
            "steps": cast("JsonValue", [dataclasses.asdict(step) for step in one.steps]),
            "handoff": given.get(one.number),
            "calls": [
                _call(call) for call in calls if call.task_id == path and call.attempt == one.number
            ],
        }
        for one in task.attempts
    ]
    return out | {"attempts": cast("JsonValue", attempts)}


def _place(history: RunHistory, path: str) -> tuple[RunHistory, TaskHistory] | None:
    """A task and the run or nested run that has it."""
    if path in history.tasks:
        return history, history.tasks[path]
    for id, task in history.tasks.items():
        inner = task.attempts[-1].nested if task.attempts else None
        if inner is not None and path.startswith(f"{id}/"):
            return _place(inner, path.removeprefix(f"{id}/"))
    return None


def _handoffs(log: Sequence[Event], team: Team, path: str) -> Iterator[tuple[int, JsonValue]]:
    """What each attempt was given, by its number: as it followed from the events before it."""
    state = RunState()
    for event in log:
        if isinstance(event, TaskDispatched) and event.task_id == path:
            inner: RunState | None = state
            for id in event.within:
                inner = inner.tasks[id].nested if inner is not None and id in inner.tasks else None
            id = path.removeprefix("".join(f"{one}/" for one in event.within))
            worker = next((one for one in _workers(team) if one.name == event.worker), None)
            if inner is not None and worker is not None and id in inner.tasks:
                given = handoff(inner, inner.tasks[id], worker, NO_LIMITS)
                kept = {"intent", "payload", "context", "inputs", "artifacts", "done_when"}
                yield event.attempt, given.model_dump(mode="json", include=kept)
        apply(state, event)


def _workers(team: Team) -> Iterator[Worker]:
    for worker in team.workers:
        yield worker
        if worker.team is not None:
            yield from _workers(worker.team)


def _call(call: ModelCalled | ToolCalled) -> Document:
    if isinstance(call, ToolCalled):
        shown: Document = {"tool": call.tool, "arguments": call.arguments, "result": call.output}
    else:
        used = ("model", "input_tokens", "output_tokens", "cost_usd", "queued_s")
        shown = {name: getattr(call, name) for name in used}
        shown["response"] = cast("JsonValue", to_jsonable_python(call.response))
    shown |= {"type": call.type, "error": call.error, "took_s": call.duration_s}
    return shown | {"at_s": call.elapsed_s}


def shortened(value: JsonValue, path: str, place: str = "") -> JsonValue:
    """A task's document with long texts cut, and beside each, as `NAME_blob`, the id of the whole.

    `path` is the task's, `place` that of `value` in its document.
    """
    match value:
        case dict():
            out = {key: shortened(one, path, f"{place}/{key}") for key, one in value.items()}
            for key, one in value.items():
                if isinstance(one, str) and len(one) > MAX_CHARS:
                    out[f"{key}_blob"] = blob_id(path, f"{place}/{key}")
            return out
        case list():
            return [shortened(one, path, f"{place}/{n}") for n, one in enumerate(value)]
        case str() if len(value) > MAX_CHARS:
            return f"{value[:_SHOWN_CHARS]}\n[cut: {len(value):,} characters in all]"
        case _:
            return value


def blob_id(path: str, place: str) -> str:
    return base64.urlsafe_b64encode(f"{path}\0{place}".encode()).decode().rstrip("=")


def blob_place(id: str) -> tuple[str, str]:
    """The task's path and the place that an id names; empty if it is none."""
    try:
        text = base64.urlsafe_b64decode(id + "=" * (-len(id) % 4)).decode()
    except ValueError:
        return "", ""
    path, _, place = text.partition("\0")
    return path, place


def value_at(document: JsonValue, place: str) -> JsonValue:
    """None: there is nothing."""
    for part in place.split("/")[1:]:
        match document:
            case dict():
                document = document.get(part)
            case list() if re.fullmatch("[0-9]{1,9}", part) and int(part) < len(document):
                document = document[int(part)]
            case _:
                return None
    return document
