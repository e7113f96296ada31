"""What a person watches while a run goes on: a live tree on a terminal, plain lines elsewhere.

Both are folds of the run's events and are written to stderr; neither can change the run.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from leadhand.cli.terminal import safe
from leadhand.cli.words import counted
from leadhand.contracts.event import (
    Event,
    ModelCalled,
    PlanAccepted,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
    TaskReassigned,
    TaskRetried,
    TaskSkipped,
    ToolCalled,
    WorkerStuck,
)
from leadhand.contracts.outcome import Usage
from leadhand.state import RunState, TaskState, apply, find

MAX_ROWS = 20
"""Tasks shown one by one; of a larger plan there is a row for each worker."""

_MARKS: dict[str, tuple[str, str]] = {
    "pending": ("·", "dim"),
    "running": ("●", "cyan"),
    "completed": ("✓", "green"),
    "escalated": ("▲", "yellow"),
    "failed": ("✗", "red"),
    "timed_out": ("✗", "red"),
    "cancelled": ("✗", "yellow"),
    "skipped": ("-", "yellow"),
}


class LiveTree:
    """A tree of the run on a terminal that redraws itself; the last state stays on the screen."""

    def __init__(self, console: Console, title: str) -> None:
        self._state = RunState()
        self._title = title
        self._doing: dict[str, str] = {}
        """What each task was seen to do last."""
        self._console = console
        self._clock = console.get_time
        self._zero = self._clock()
        self._live = Live(
            console=console, get_renderable=self._tree, refresh_per_second=8, transient=False
        )

    def __enter__(self) -> "LiveTree":
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()
        self._console.print()

    def __call__(self, event: Event) -> None:
        """Take note of an event; the next redraw shows it."""
        apply(self._state, event)
        self._zero = self._clock() - event.elapsed_s
        match event:
            case TaskDispatched():
                self._doing.pop(event.task_id, None)
            case ToolCalled():
                failed = " failed" if event.error else ""
                self._doing[event.task_id] = f"called {event.tool}{failed}"
            case ModelCalled() if event.task_id is not None:
                self._doing[event.task_id] = _waits(event) or "using its tools"
            case _:
                pass

    def _rows(
        self, state: RunState, now_s: float, way: str = "", stem: str = ""
    ) -> Iterator[tuple[Text, ...]]:
        """A row for each task, and below those that a team does now one for each of its own."""
        tasks = list(state.tasks.values())
        for position, task in enumerate(tasks, 1):
            last = position == len(tasks)
            id = f"{way}{task.task.id}"
            branch = stem + ("└─ " if last else "├─ ")
            yield _task_row(task, now_s, self._doing.get(id, ""), branch)
            if task.nested is not None and task.status == "running":
                below = stem + ("   " if last else "│  ")
                if len(task.nested.tasks) <= MAX_ROWS:
                    yield from self._rows(task.nested, now_s, f"{id}/", below)

    def _tree(self) -> Table:
        now_s = self._clock() - self._zero
        tasks = list(self._state.tasks.values())
        table = Table.grid(padding=(0, 2))
        table.title = None
        done = sum(task.ended for task in tasks)
        head = Text(safe(self._title), style="bold")
        parts = [f"{done}/{len(tasks)} tasks"] if tasks else []
        parts += [] if self._state.phase in ("working", "finished") else [self._state.phase]
        parts += [_used(self._state.usage)] if self._state.usage.requests else []
        table.add_row(head, "", "", Text(" · ".join(parts), style="dim"))
        if len(tasks) <= MAX_ROWS:
            for row in self._rows(self._state, now_s):
                table.add_row(*row)
        else:
            for row in _worker_rows(tasks):
                table.add_row(*row)
        return table


def _run_of(state: RunState, within: Sequence[str]) -> RunState:
    """The nested run that does the last of these tasks, each within the one before."""
    for id in within:
        state = state.tasks[id].nested or RunState()
    return state


def _used(usage: Usage) -> str:
    """The calls and tokens of a task or run, in a few words."""
    tokens = usage.input_tokens + usage.output_tokens
    shown = f"{tokens / 1000:.1f}k" if tokens >= 1_000 else str(tokens)
    return f"{counted(usage.requests, 'request')}, {shown} tokens"


def _waits(call: ModelCalled) -> str | None:
    """Why a model is asked again and when; none where it answered."""
    if call.error is None:
        return None
    if call.retry_in_s is None:
        return f"no answer: {call.error}"
    return f"asks again in {call.retry_in_s:.1f} s: {call.error}"


def _task_row(task: TaskState, now_s: float, doing: str, branch: str) -> tuple[Text, ...]:
    mark, style = _MARKS[task.status]
    name = Text.assemble((branch, "dim"), (mark, style), " ", safe(task.task.id))
    again = f" (attempt {task.attempts})" if task.attempts > 1 else ""
    if task.status == "running":
        took_s: float | None = now_s - task.dispatched_s
    else:
        took_s = task.busy_s if task.attempts else None
    if task.status == "running":
        said = safe(doing)
    else:
        said = safe(task.error) if task.error and task.status != "completed" else ""
    used = Text(f" · {_used(task.usage)}" if task.usage.requests else "", style="dim")
    return (
        name,
        Text(safe(task.worker), style="dim") if task.worker != task.task.id else Text(""),
        Text(f"{took_s:.1f} s" if took_s is not None else "", justify="right"),
        Text.assemble(
            (task.status.replace("_", " ") + again + (f": {said}" if said else ""), style), used
        ),
    )


def _worker_rows(tasks: list[TaskState]) -> list[tuple[Text, ...]]:
    by_worker: dict[str, Counter[str]] = {}
    for task in tasks:
        by_worker.setdefault(task.worker, Counter())[task.status] += 1
    rows: list[tuple[Text, ...]] = []
    for position, (worker, counts) in enumerate(by_worker.items(), 1):
        total = counts.total()
        ended = total - counts["pending"] - counts["running"]
        branch = "└─ " if position == len(by_worker) else "├─ "
        mark, style = _MARKS["completed" if ended == total else "running"]
        rest = ", ".join(
            f"{n} {status.replace('_', ' ')}" for status, n in counts.items() if status != "pending"
        )
        rows.append(
            (
                Text.assemble((branch, "dim"), (mark, style), " ", safe(worker)),
                Text(""),
                Text(f"{ended}/{total}", justify="right"),
                Text(rest, style="dim"),
            )
        )
    return rows


class PlainLines:
    """One line on stderr for the plan and for each task that ends: for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state = RunState()
        self._told: set[str] = set()
        """What was said of calls that failed: in an outage all of them say the same."""

    def __call__(self, event: Event) -> None:
        """Print the line of an event, where it has one."""
        apply(self._state, event)
        line = self._line(event)
        if line:
            self._console.print(Text(safe(line)), soft_wrap=True)

    def _line(self, event: Event) -> str | None:
        match event:
            case PlanAccepted():
                planned = _run_of(self._state, event.within).tasks.values()
                workers = counted(len({task.worker for task in planned}), "worker")
                who = "/".join([*event.within, "plan"])
                return f"{who}: {counted(len(planned), 'task')} for {workers}"
            case TaskCompleted():
                return self._ended(event.task_id)
            case TaskFailed() | TaskEscalated() if event.final:
                return self._ended(event.task_id)
            case TaskSkipped():
                return self._ended(event.task_id)
            case TaskCancelled():
                return self._ended(event.task_id)
            case TaskRetried():
                return f"{event.task_id}: again in {event.delay_s:g} s: {event.reason}"
            case TaskReassigned():
                return f"{event.task_id}: to {event.worker}: {event.reason}"
            case WorkerStuck():
                return event.message
            case ModelCalled() if event.error is not None and event.error not in self._told:
                self._told.add(event.error)
                return f"{event.model}: {_waits(event)}"
            case _:
                return None

    def _ended(self, id: str) -> str | None:
        _, task = find(self._state, id)
        if task is None:
            return None
        why = f": {task.error}" if task.error else ""
        took = f" in {task.busy_s:.1f} s" if task.attempts else ""
        return f"{id}: {task.status.replace('_', ' ')}{took}{why}"
