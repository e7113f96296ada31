"""A task of a run as JSON: its attempts with what they were given and called, and why what came
next was decided. Pure."""

from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from leadhand.contracts.events import Event, ModelCalled, TaskDispatched, ToolCalled
from leadhand.contracts.task import NO_LIMITS
from leadhand.contracts.team import Team, Worker
from leadhand.engine.handoffs import handoff
from leadhand.page.document import document
from leadhand.page.markdown import render
from leadhand.serve.documents import run_document, task_entry
from leadhand.serve.run_records import RunRecord
from leadhand.state.fold import RunState, apply
from leadhand.trace.overview import Document, attempt_facts
from leadhand.trace.run_history import RunHistory, TaskHistory

MAX_CHARS = 20_000
"""A longer text is cut; the whole is a blob."""
_SHOWN_CHARS = 4_000
MAX_TASKS = 2_000
"""Tasks whose details are in a file; of more, those that did not complete come first."""


def task_document(
    history: RunHistory, log: Sequence[Event], team: Team | None, path: str, *, operator: bool
) -> Document | None:
    """None: there is no such task. Without a `team` there are no handoffs."""
    found = _place(history, path)
    if found is None:
        return None
    within, task = found
    parent = path.removesuffix(task.id).rstrip("/")
    out = task_entry(within, task, parent, operator=operator)
    out["critical"] = not parent and task.id in history.critical_path
    if not operator:
        return out
    given = dict(_handoffs(log, team, path)) if team is not None else {}
    attempts: list[JsonValue] = []
    for one in task.attempts:
        calls: list[JsonValue] = [
            _call(call)
            for call in log
            if isinstance(call, ModelCalled | ToolCalled)
            and (call.task_id, call.attempt) == (path, one.number)
        ]
        more: Document = {"calls": calls, "handoff": given.get(one.number)}
        attempts.append(attempt_facts(one) | more)
    more = {"before": to_jsonable_python(task.before), "result": None}
    if (result := within.task_state(task.id).result) is not None:
        markup = {"output_html": render(result.output)} if isinstance(result.output, str) else {}
        more["result"] = {**result.model_dump(mode="json"), **markup}
    return {**out, **more, "attempts": attempts}


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
    shown: Document = {"type": call.type, "error": call.error}
    shown |= {"took_s": call.duration_s, "at_s": call.elapsed_s}
    if isinstance(call, ToolCalled):
        return shown | {"tool": call.tool, "arguments": call.arguments, "result": call.output}
    spent = ("model", "input_tokens", "output_tokens", "cost_usd")
    used = {name: getattr(call, name) for name in spent}
    return shown | used | {"response": to_jsonable_python(call.response)}


def shortened(value: JsonValue, place: str, whole: dict[str, str]) -> JsonValue:
    """A task's document with long texts cut, and beside each, as `NAME_blob`, its id, by which
    `whole` then has it: the task's path, quoted, and the place in its document."""
    match value:
        case dict():
            out = {key: shortened(one, f"{place}/{key}", whole) for key, one in value.items()}
            ids = {f"{key}_blob": f"{place}/{key}" for key in value}
            return out | {name: id for name, id in ids.items() if id in whole}
        case list():
            return [shortened(one, f"{place}/{n}", whole) for n, one in enumerate(value)]
        case str() if len(value) > MAX_CHARS:
            whole[place] = value
            return f"{value[:_SHOWN_CHARS]}\n[cut: {len(value):,} characters in all]"
        case _:
            return value


def stored_page(events: Sequence[Event], *, held: bool, most: int = MAX_TASKS) -> Iterator[str]:
    """A stored run as one self-contained HTML file, in pieces; `held`: whether a process works on
    the run now; `most` tasks in full."""
    record = RunRecord.of(events)
    calls: dict[str, list[Event]] = {}
    for event in events:
        if isinstance(event, ModelCalled | ToolCalled) and event.task_id is not None:
            calls.setdefault(event.task_id, []).append(event)
    run = run_document(record, held=held, operator=True, replies=False)
    rows = cast("list[Document]", run["tasks"])
    if len(rows) > most:
        rows = sorted(rows, key=lambda row: row["status"] == "completed")
    tasks: dict[str, JsonValue] = {
        path: task_document(record.history, calls.get(path, ()), None, path, operator=True)
        for path in (str(row["path"]) for row in rows[:most])
    }
    return document(run, tasks)
