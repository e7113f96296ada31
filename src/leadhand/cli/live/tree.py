"""The progress of a run on a terminal: a page that redraws itself on stderr."""

import contextlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence

from pydantic import JsonValue
from pydantic_core import from_json
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from leadhand import events
from leadhand.cli.live.notices import WatchedRun, short_usage, waits
from leadhand.cli.views.terminal import MARKS, safe, safe_block, sentence
from leadhand.models.writing import TextListener
from leadhand.state.fold import RunState, TaskState
from leadhand.tools.text import counted

MAX_ROWS = 40
"""Tasks shown one by one; of a larger plan there is a row for each worker."""
_LAST = 4
"""How many of the latest notices about the run are shown below the tasks."""
_ENDS = ("final_answer", "escalate")
_WITHOUT = ("failed", "timed_out", "escalated", "skipped", "cancelled")
_MARKS = {
    **MARKS,
    "waiting": ("?", "yellow"),
    "doubtful": ("✓", "yellow"),
    "retired": ("-", "dim"),
}
_ANSWER = ("", "synthesizer")
_SHOWN = ("planner", "synthesizer")
_Row = tuple[Text, Text, Text, Text]
"""Task, worker, time, status."""


class LiveTree:
    """The tasks of a run, with nested ones below theirs. The last state stays on screen."""

    def __init__(
        self,
        console: Console,
        title: str,
        *,
        past: Iterable[events.Event] = (),
        how_to_answer: str | None = None,
    ) -> None:
        """`past` are the events of a resumed run; `how_to_answer` is the command to type."""
        self._console = console
        self._title = title
        self._run = WatchedRun(how_to_answer)
        self._doing: dict[str, str] = {}
        """The last activity of each task, or the last decision about it, by its full path."""
        self._split: dict[str, str] = {}
        """Why and into what tasks were split."""
        self._writing: dict[tuple[str, str], str] = {}
        """By the task of its nested team, if any, and its name."""
        self._latest: list[str] = []
        self._zero = console.get_time()
        self._live = self._new_live()
        for event in past:
            self(event)
        self._latest.clear()

    def _new_live(self) -> Live:
        return Live(console=self._console, get_renderable=self._page, refresh_per_second=8)

    def __enter__(self) -> "LiveTree":
        self._live.start()
        self._print_long_command()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        """During the block the tree is not on the terminal."""
        self._live.transient = True
        self._live.stop()
        try:
            yield
        finally:
            # A new one: the old one would draw over the question and the reply.
            self._live = self._new_live()
            self._live.start()

    def __call__(self, event: events.Event) -> None:
        notice = self._run.add(event)
        self._zero = self._console.get_time() - event.elapsed_s
        if notice is not None and isinstance(event, events.TaskDecision):
            self._doing[event.task_id] = notice.removeprefix(f"{event.task_id}: ")
        elif notice is not None:
            self._latest = [*self._latest, notice][-_LAST:]
        match event:
            case events.RunResumed():
                self._doing.clear()
            case events.TaskSplit():
                self._split[event.task_id] = self._doing[event.task_id]
            case events.ToolCalled():
                failed = " failed" if event.error else ""
                self._doing[event.task_id] = f"called {event.tool}{failed}, asks its model"
            case events.ModelCalled():
                self._writing.pop(("/".join(event.within), event.role), None)
                if event.task_id is not None:
                    self._doing[event.task_id] = waits(event) or _calling(event)
            case events.ApprovalRequested() if self._live.is_started:
                self._print_long_command()
            case _:
                pass

    def reads(self, role: str) -> TextListener | None:
        """Takes note of what planners and synthesizers write; workers are too many for that."""
        return self._add_text if role in _SHOWN else None

    def _add_text(self, delta: events.TextDelta) -> None:
        writer = (delta.task_id or "", delta.role)
        before = "" if delta.reset else self._writing.get(writer, "")
        self._writing[writer] = before + delta.text

    def _print_long_command(self) -> None:
        """Print how to answer above the tree if it is too long for it, so that it can be copied."""
        hint = self._run.how_to_answer
        if cell_len(hint) > self._console.width and any(self._run.questions()):
            self._console.print(Text(hint, "yellow"), soft_wrap=True)

    def _page(self) -> Group:
        """The phase, questions, tasks, and latest notices; a small screen cuts off the end."""
        width, hint = self._console.width, self._run.how_to_answer
        parts: list[RenderableType] = [self._head()]
        parts += [Text(sentence(line), "bold yellow") for _, line in self._run.questions()]
        if len(parts) > 1 and cell_len(hint) <= width:
            parts.append(Text(hint, "yellow"))
        parts.append(self._table(width))
        for (task, role), text in self._writing.items():
            parts += (
                self._written(text) if (task, role) == _ANSWER else _doing(task, role, text, width)
            )
        parts += [_one_line(sentence(text), "dim") for text in self._latest]
        # The cursor waits in a line of its own. After a full line the terminal's `^C` would take a
        # new line, and the next redraw would start a line too low.
        return Group(*parts, Text())

    def _written(self, text: str) -> Sequence[Text]:
        """The newest lines of the answer, which is checked and printed once it is complete."""
        most = max(self._console.height // 3, 3)
        newest = safe_block(text[-most * self._console.width :].lstrip("\n"))
        lines = Text(newest, "cyan").wrap(self._console, self._console.width)
        return [Text("writes the answer:", "dim"), *lines[-most:]]

    def _head(self) -> Text:
        state = self._run.state
        counts = Counter(task.status for task in state.tasks.values())
        parts = [f"{counts['completed']}/{len(state.tasks)} tasks"] if state.tasks else []
        parts += [f"{counts[one]} {one.replace('_', ' ')}" for one in _WITHOUT if counts[one]]
        parts += [f"round {state.round}"] if state.rounds else []
        parts += [] if state.phase in ("working", "finished") else [state.phase]
        parts += [short_usage(state.usage)] if state.usage.requests else []
        return Text.assemble((safe(self._title), "bold"), "  ", (" · ".join(parts), "dim"))

    def _table(self, width: int) -> Table:
        # The status comes last: it changes, and nothing else should move with it.
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        for share in (3, 5, 5):
            table.add_column(no_wrap=True, overflow="ellipsis", max_width=width // share)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        for row in self._rows(self._run.state, "", ""):
            table.add_row(*row)
        return table

    def _rows(self, state: RunState, path: str, indent: str) -> Iterator[_Row]:
        """A row for each task in plan order, or for each worker if there are too many tasks."""
        if len(state.tasks) + len(state.retired) > MAX_ROWS:
            yield from _by_worker(state, indent)
            return
        planned = [task.id for task in state.plan.tasks] if state.plan is not None else []
        for id in dict.fromkeys([*planned, *state.tasks, *state.retired]):
            task = state.tasks.get(id) or state.retired[id]
            mark, *words = self._status(state, task, path + id)
            took_s = task.busy_s
            if task.status == "running":
                took_s = self._console.get_time() - self._zero - task.dispatched_s
            used = f" · {short_usage(task.usage)}" if task.usage.requests else ""
            told = sentence(": ".join(filter(None, words)))
            yield (
                Text.assemble(indent, _MARKS[mark], " ", sentence(id)),
                Text(sentence(task.worker) if task.worker != id else "", "dim"),
                Text(f"{took_s:.1f} s" if task.attempts else "", justify="right"),
                Text.assemble(
                    (told, _MARKS[mark][1]), (f"{used} · {sentence(task.task.intent)}", "dim")
                ),
            )
            if task.nested is not None and task.status == "running":
                yield from self._rows(task.nested, f"{path}{id}/", f"{indent}  ")

    def _status(self, state: RunState, task: TaskState, path: str) -> tuple[str, str, str]:
        """The mark of a task, its status, and why it has that or what it does."""
        if task.id in state.retired:
            why = f"dropped: {task.error or 'the plan was revised'}"
            return "retired", "", self._split.get(path, why)
        if task.id in state.questions:
            return "waiting", "waits for a person", ""
        status = task.status.replace("_", " ")
        if task.ended:
            mark = "doubtful" if task.status == "completed" and task.error else task.status
            return mark, status, task.why or ""
        status += f" (attempt {task.attempts})" if task.attempts > 1 else ""
        return task.status, status, self._doing.get(path, "")


def _by_worker(state: RunState, indent: str) -> Iterator[_Row]:
    by_worker: dict[str, Counter[str]] = {}
    for task in state.tasks.values():
        by_worker.setdefault(task.worker, Counter())[task.status] += 1
    for worker, counts in by_worker.items():
        done, total = counts["completed"], counts.total()
        under_way = counts["pending"] + counts["running"]
        mark = _MARKS["completed" if done == total else "running" if under_way else "failed"]
        rest = [f"{n} {status.replace('_', ' ')}" for status, n in counts.items()]
        yield (
            Text.assemble(indent, mark, " ", sentence(worker)),
            Text(),
            Text(f"{done}/{total}", justify="right"),
            Text(", ".join(rest), "dim"),
        )


def _calling(event: events.ModelCalled) -> str:
    """Which tools a worker's model has just called; which role of a nested team has answered."""
    if event.role != "worker":
        return f"its {event.role} has answered"
    response = event.response
    parts = response.get("parts") if isinstance(response, dict) else None
    rows = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    called = Counter(str(row["tool_name"]) for row in rows if row.get("part_kind") == "tool-call")
    tools = [name if n == 1 else f"{name} x{n}" for name, n in called.items() if name not in _ENDS]
    if tools:
        return f"calls {', '.join(tools)}"
    return "has its answer" if response is not None else "has asked its model"


def _doing(task: str, role: str, text: str, width: int) -> Iterator[Text]:
    """What a planner or a synthesizer of a nested team is writing, in one line; nothing of a plan
    without tasks, as the phase is shown already."""
    workers = _planned(text) if role == "planner" else None
    if workers is None:
        start = f"{task}/{role} writes: …".removeprefix("/")
        end = sentence(text[-width:])[-max(width - cell_len(start), 1) :]
        yield _one_line(start + end, "cyan")
    elif workers:
        named = ", ".join(dict.fromkeys(workers))
        said = f"{task}/planning: {counted(len(workers), 'task')} so far ({named})"
        yield _one_line(sentence(said.removeprefix("/")), "cyan")


def _planned(text: str) -> list[str] | None:
    """The workers of the tasks in an unfinished plan; None if the planner writes words."""
    _, sign, rest = text.partition("{")
    try:
        data: JsonValue = from_json(sign + rest, allow_partial=True) if sign else None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        return None
    tasks = data.get("tasks")
    rows = [one for one in tasks if isinstance(one, dict)] if isinstance(tasks, list) else []
    return [str(one["worker"]) for one in rows if "worker" in one]


def _one_line(text: str, style: str) -> Text:
    return Text(text, style, no_wrap=True, overflow="ellipsis")
