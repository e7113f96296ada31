"""Rows of the live tree: one for each task, or for each worker if there are too many tasks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from leadhand.cli.live.notices import Notice
from leadhand.cli.views.marks import MARKS
from leadhand.cli.views.terminal import sentence
from leadhand.contracts.outcome import Usage
from leadhand.state.fold import RunState, TaskState
from leadhand.tools.text import counted

MAX_ROWS = 40
"""Tasks shown one by one; of a larger plan there is a row for each worker."""
WIDE = 110
"""Terminals this wide have a column for a task's intent; on others it follows the status."""
_MAX_SHARE = {0: 1 / 3, 1: 1 / 5, 2: 1 / 5, 4: 1 / 4}
"""The largest share of the width for the columns besides the status."""

Row = tuple[Text, Text, Text, Text, Text]
"""Task, worker, time, status, and intent."""

_MARKS = {
    **MARKS,
    "waiting": ("?", "yellow"),
    "doubtful": ("✓", "yellow"),
    "split": ("÷", "cyan"),
    "dropped": ("-", "dim"),
}


@dataclass(slots=True)
class TaskActivity:
    """What the live view knows of tasks besides their state, by their full path."""

    doing: dict[str, str] = field(default_factory=dict[str, str])
    """The last activity of each."""
    decided: dict[str, Notice] = field(default_factory=dict[str, Notice])
    """The last decision about each that did not complete."""
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids of the parts of each that was split."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Makes the rows of a run, or of a nested run, at `now_s`."""

    state: RunState
    seen: TaskActivity
    now_s: float
    way: str = ""
    """Goes before the ids of a nested run's tasks."""

    def all(self) -> Iterator[Row]:
        """A row for each task or each worker, in plan order."""
        if shows_each_task(self.state):
            yield from self._by_round()
        else:
            yield from _workers(self.state.tasks.values())

    def _by_round(self) -> Iterator[Row]:
        """The tasks; those of a stepwise planner below the round that started them."""
        rounds, ids = self.state.rounds, self._top()
        if len(rounds) < 2:
            yield from self._tasks(ids, "")
            return
        for number, reason in enumerate(rounds, 1):
            started = [id for id in ids if self._find(id).round == number]
            head = Text(f"round {number}", style="bold")
            yield head, Text(), Text(), Text(sentence(reason), style="dim"), Text()
            yield from self._tasks(started, "")

    def _find(self, id: str) -> TaskState:
        return self.state.tasks.get(id) or self.state.retired[id]

    def _top(self) -> list[str]:
        """The plan's tasks in its order, also split and dropped ones, then added tasks."""
        state = self.state
        planned = [task.id for task in state.plan.tasks] if state.plan is not None else []
        parts = {part for id in state.retired for part in self._parts(id)}
        ids = dict.fromkeys([*planned, *state.tasks, *state.retired])
        return [id for id in ids if id not in parts]

    def _parts(self, id: str) -> tuple[str, ...]:
        return self.seen.parts.get(f"{self.way}{id}", ())

    def _tasks(self, ids: list[str], stem: str) -> Iterator[Row]:
        """The tasks, with the parts of split ones and the tasks of nested teams below them."""
        for position, id in enumerate(ids, 1):
            last = position == len(ids)
            branch, below = stem + ("└─ " if last else "├─ "), stem + ("   " if last else "│  ")
            task = self.state.tasks.get(id)
            if task is None:
                yield self._retired(self.state.retired[id], branch)
                yield from self._tasks([*self._parts(id)], below)
                continue
            yield self._task(task, branch)
            if (
                task.nested is not None
                and task.status == "running"
                and shows_each_task(task.nested)
            ):
                inner = Rows(task.nested, self.seen, self.now_s, f"{self.way}{id}/")
                yield from inner._tasks(inner._top(), below)

    def _task(self, task: TaskState, branch: str) -> Row:
        id = f"{self.way}{task.id}"
        decided = self.seen.decided.get(id)
        notes: list[str] = [f"attempt {task.attempts}"] if task.attempts > 1 else []
        kind, word, said = task.status, task.status.replace("_", " "), task.why or ""
        if task.id in self.state.questions:
            kind, word, said = "waiting", "waits for a person", ""
        elif task.status in ("pending", "running"):
            notes += [decided.said] if decided is not None else []
            said = decided.why if decided is not None else ""
            if task.status == "running":
                said = self.seen.doing.get(id, "")
        elif task.status == "completed" and task.error:
            kind = "doubtful"
        mark, style = _MARKS[kind]
        status = f"{word} ({', '.join(notes)})" if notes else word
        used = f" · {short_usage(task.usage)}" if task.usage.requests else ""
        told = sentence(status) + (f": {sentence(said)}" if said else "")
        return self._cells(task, branch, (mark, style), Text.assemble((told, style), (used, "dim")))

    def _cells(self, task: TaskState, branch: str, mark: tuple[str, str], told: Text) -> Row:
        took = f"{task.busy_s:.1f} s" if task.attempts else ""
        if task.status == "running":
            took = f"{self.now_s - task.dispatched_s:.1f} s"
        return (
            Text.assemble((branch, "dim"), mark, " ", sentence(task.id)),
            Text(sentence(task.worker) if task.worker != task.id else "", style="dim"),
            Text(took, justify="right"),
            told,
            Text(sentence(task.task.intent), style="dim"),
        )

    def _retired(self, task: TaskState, branch: str) -> Row:
        decided = self.seen.decided.get(f"{self.way}{task.id}")
        split = bool(self._parts(task.id))
        said = f"dropped: {task.error or 'the plan was revised'}"
        if split:
            said = f"split: {decided.why}" if decided is not None else "split"
        mark = _MARKS["split" if split else "dropped"]
        return self._cells(task, branch, mark, Text(sentence(said), style="dim"))


def table(rows: Sequence[Row], width: int) -> Table:
    """The rows as lines of a table without its empty columns; the status gets the space that the
    others leave."""
    if width < WIDE:
        rows = [(*row[:3], _joined(row[3], row[4]), Text()) for row in rows]
    laid_out = Table.grid(padding=(0, 2, 0, 0), expand=True)
    # The status comes last: it changes, and nothing else should move with it.
    shown = [n for n in (0, 1, 4, 2, 3) if n == 3 or any(row[n] for row in rows)]
    for n in shown:
        most, ratio = _MAX_SHARE.get(n), None if n in _MAX_SHARE else 1
        max_width = int(width * most) if most else None
        laid_out.add_column(no_wrap=True, overflow="ellipsis", max_width=max_width, ratio=ratio)
    for row in rows:
        laid_out.add_row(*(row[n] for n in shown))
    return laid_out


def _joined(standing: Text, intent: Text) -> Text:
    """The status of a task, and its intent as far as there is room."""
    return Text(" · ", "dim").join([standing, intent]) if intent else standing


def shows_each_task(state: RunState) -> bool:
    """Whether the tasks of a run are few enough to be shown one by one."""
    return len(state.tasks) + len(state.retired) <= MAX_ROWS


def short_usage(usage: Usage) -> str:
    """The calls and tokens of a task or run."""
    tokens = usage.input_tokens + usage.output_tokens
    shown = f"{tokens / 1000:.1f}k" if tokens >= 1_000 else str(tokens)
    return f"{counted(usage.requests, 'request')}, {shown} tokens"


def _workers(tasks: Iterable[TaskState]) -> Iterator[Row]:
    by_worker: dict[str, Counter[str]] = {}
    for task in tasks:
        by_worker.setdefault(task.worker, Counter())[task.status] += 1
    for position, (worker, counts) in enumerate(by_worker.items(), 1):
        total = counts.total()
        done, ended = counts["completed"], total - counts["pending"] - counts["running"]
        branch = "└─ " if position == len(by_worker) else "├─ "
        kind = "completed" if done == total else "failed" if ended == total else "running"
        mark, style = _MARKS[kind]
        rest = ", ".join(
            f"{n} {status.replace('_', ' ')}" for status, n in counts.items() if status != "pending"
        )
        yield (
            Text.assemble((branch, "dim"), (mark, style), " ", sentence(worker)),
            Text(""),
            Text(f"{done}/{total}", justify="right"),
            Text(rest, style="dim"),
            Text(),
        )
