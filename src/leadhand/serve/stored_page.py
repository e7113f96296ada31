"""A stored run as one self-contained HTML file: `leadhand trace RUN --format html`."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from leadhand.contracts.events import Event, ModelCalled, ToolCalled
from leadhand.page.document import document
from leadhand.serve.run_records import RunRecord
from leadhand.serve.run_views import Document, run_document
from leadhand.serve.task_views import task_document

MAX_TASKS = 2_000
"""Tasks whose details are in the file; of more, those that did not complete come first."""


def stored_page(events: Sequence[Event], *, held: bool, most: int = MAX_TASKS) -> Iterator[str]:
    """The file in pieces; `held`: whether a process works on the run now; `most` tasks in full."""
    record = RunRecord()
    record.add(events)
    calls: dict[str, list[Event]] = {}
    for event in events:
        if isinstance(event, ModelCalled | ToolCalled) and event.task_id is not None:
            calls.setdefault(event.task_id, []).append(event)
    run = run_document(record, held=held, operator=True, replies=False)
    tasks: dict[str, JsonValue] = {
        path: task_document(record.history, calls.get(path, ()), None, path, operator=True)
        for path in _paths(run, most)
    }
    return document(run, tasks)


def _paths(run: Document, most: int) -> Sequence[str]:
    rows = run["tasks"]
    assert isinstance(rows, list)
    tasks = [row for row in rows if isinstance(row, dict)]
    if len(tasks) > most:
        tasks.sort(key=lambda row: row["status"] == "completed")
    return [str(row["path"]) for row in tasks[:most]]
