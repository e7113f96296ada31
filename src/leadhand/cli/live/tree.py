"""The progress of a run: a live tree on a terminal, plain lines elsewhere.

Both follow from the run's events and are written to stderr.
"""

import asyncio
import contextlib
import re
import shlex
from collections import Counter, deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from leadhand.cli.live.notices import Notices
from leadhand.cli.live.streamed_text import streaming_line
from leadhand.cli.live.task_rows import Rows, TaskActivity, short_usage, table
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts import events
from leadhand.models.progress import Progress
from leadhand.run.questions import in_a_line
from leadhand.state.fold import RunState, apply, find_task, fold
from leadhand.tools.text import counted

_LAST = 4
"""How many of the latest notices about the run are shown below the tree."""
QUIET_S = 30.0
"""After this long without a line, a line says that the run is still at work."""
_BREAKS = re.compile(r"\s*[\t\n\v\f\r]\s*")
"""Line ends and tabs, with the blanks around them."""
_ENDS = ("final_answer", "escalate")
"""The tools that end a worker's attempt."""
_WITHOUT = ("failed", "timed_out", "escalated", "skipped", "cancelled")
"""The statuses of tasks that ended without a result."""


class LiveTree:
    """A tree of the run that redraws itself on a terminal. The last state stays on the screen."""

    def __init__(
        self,
        console: Console,
        title: str,
        *,
        past: Iterable[events.Event] = (),
        how_to_answer: str | None = None,
    ) -> None:
        """`past` are the events of a resumed run; `how_to_answer` is the command to type."""
        self._how_to_answer = how_to_answer
        self._state = RunState()
        self._title = title
        self._seen = TaskActivity()
        self._notices = Notices()
        self._writing: dict[tuple[str, str], Progress] = {}
        self._latest: deque[str] = deque(maxlen=_LAST)
        self._console = console
        self._clock = console.get_time
        self._zero = self._clock()
        self._live = self._new_live()
        for event in past:
            self(event)
        self._latest.clear()

    def _new_live(self) -> Live:
        return Live(console=self._console, get_renderable=self._page, refresh_per_second=8)

    def __enter__(self) -> "LiveTree":
        self._live.start()
        self._tell_long_command()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        """While the block lasts, the tree is not on the terminal. It is drawn again afterwards."""
        self._live.transient = True
        self._live.stop()
        try:
            yield
        finally:
            # A new one: the old one would draw over the question and the reply.
            self._live = self._new_live()
            self._live.start()

    def __call__(self, event: events.Event) -> None:
        """Take note of an event; the next redraw shows it."""
        apply(self._state, event)
        self._zero = self._clock() - event.elapsed_s
        decided = self._notices.of_task(event)
        if decided is not None:
            self._seen.decided[decided.about] = decided
        notice = self._notices.of_run(event)
        # The tree has a heading for each round that was decided.
        in_tree = isinstance(event, events.RoundDecided) and event.end in (None, "done")
        if notice is not None and not in_tree:
            self._latest.append(str(notice))
        match event:
            case events.TaskDispatched():
                self._seen.doing.pop(event.task_id, None)
            case events.ToolCalled():
                failed = " failed" if event.error else ""
                self._seen.doing[event.task_id] = f"called {event.tool}{failed}, asks its model"
            case events.ModelCalled():
                self._writing.pop((event.role, "/".join(event.within)), None)
                if event.task_id is not None:
                    self._seen.doing[event.task_id] = _waits(event) or _calling(event)
            case events.ApprovalRequested() if self._live.is_started:
                self._tell_long_command()
            case events.TaskSplit():
                self._seen.parts[event.task_id] = tuple(part.id for part in event.parts)
            case _:
                pass

    def _tell_long_command(self) -> None:
        """Print how to answer above the tree if it is too long for it, so that it can be copied."""
        hint = _answering(self._state, self._how_to_answer)
        if cell_len(hint) > self._console.width and any(_questions(self._state)):
            self._console.print(Text(hint, "yellow"), soft_wrap=True)

    def progress(self, progress: Progress) -> None:
        """Take note of what a role is writing; the next redraw shows it."""
        self._writing[progress.role, progress.path.rstrip("/")] = progress

    def _page(self) -> Group:
        """The phase of the run, its questions, its tasks, and the latest notices.

        In this order: a small screen cuts off the end.
        """
        state, now_s = self._state, self._clock() - self._zero
        parts: list[RenderableType] = [self._head()]
        questions = list(_questions(state))
        for id, question in questions:
            mark, who, text = _asked(id, question)
            parts.append(Text.assemble((mark, "bold yellow"), (who, "bold"), text))
        hint = _answering(state, self._how_to_answer)
        if questions and cell_len(hint) <= self._console.width:
            parts.append(Text(hint, "yellow"))
        parts.append(table(list(Rows(state, self._seen, now_s).all()), self._console.width))
        width = self._console.width
        parts += [_one_line(streaming_line(one, width), "cyan") for one in self._writing.values()]
        parts += [_one_line(sentence(text), "dim") for text in self._latest]
        # The cursor waits in a line of its own. After a full line the terminal's `^C` would take a
        # new line, and the next redraw would start a line too low.
        return Group(*parts, Text())

    def _head(self) -> Text:
        state = self._state
        counts = Counter(task.status for task in state.tasks.values())
        parts = [f"{counts['completed']}/{len(state.tasks)} tasks"] if state.tasks else []
        parts += [f"{counts[one]} {one.replace('_', ' ')}" for one in _WITHOUT if counts[one]]
        parts += [f"round {state.round}"] if state.rounds else []
        parts += [] if state.phase in ("working", "finished") else [state.phase]
        parts += [short_usage(state.usage)] if state.usage.requests else []
        return Text.assemble((safe(self._title), "bold"), "  ", (" · ".join(parts), "dim"))


class PlainLines:
    """A line on stderr for each event that a person should know of: for logs and pipes."""

    def __init__(
        self,
        console: Console,
        *,
        past: Iterable[events.Event] = (),
        how_to_answer: str | None = None,
        replied: Collection[str | None] = (),
    ) -> None:
        """`past` are the events of a resumed run; `how_to_answer` is the command to type.

        `replied` are the tasks, or `None` for the plan, whose questions have a reply already.
        """
        self._how_to_answer = how_to_answer
        self._replied = replied
        self._console = console
        self._state = fold(past)
        self._notices = Notices()
        self._told: set[str] = set()
        """The errors of calls that were printed: in an outage all calls give the same."""
        self._clock: asyncio.AbstractEventLoop | None = None
        self._zero = self._said_s = 0.0

    def __call__(self, event: events.Event) -> None:
        """Print the lines about an event."""
        apply(self._state, event)
        if self._clock is None:
            with contextlib.suppress(RuntimeError):  # no loop: the events are shown after the run
                self._clock = asyncio.get_running_loop()
                self._said_s = self._clock.time()
                self._zero = self._said_s - event.elapsed_s
                self._clock.call_later(QUIET_S, self._remind, self._clock)
        for line in self._lines(event):
            self._print(line)

    def _print(self, line: str) -> None:
        line = safe(_BREAKS.sub(" ", line))
        self._console.print(Text(line), soft_wrap=True)
        self._said_s = self._clock.time() if self._clock is not None else 0.0

    def _remind(self, clock: asyncio.AbstractEventLoop) -> None:
        """Say that the run is still at work if no line was printed lately, and check again later.

        The timer ends with the run's event loop.
        """
        state = self._state
        if state.phase == "finished" or state.waiting is not None:
            return
        quiet_s = clock.time() - self._said_s
        if quiet_s >= QUIET_S:
            running = sum(task.status == "running" for task in state.tasks.values())
            doing = f"{counted(running, 'task')} running" if running else state.phase
            if running or not state.questions:
                self._print(f"still at work: {doing}, {clock.time() - self._zero:.0f} s")
            quiet_s = 0.0
        clock.call_later(QUIET_S - quiet_s, self._remind, clock)

    def _lines(self, event: events.Event) -> Iterator[str]:
        notice = self._notices.of_task(event) or self._notices.of_run(event)
        if notice is not None:
            yield str(notice)
        match event:
            case events.PlanAccepted():
                yield self._planned(event.within)
            case events.TaskFailed() | events.TaskEscalated() if event.final:
                yield from self._ended(event.task_id)
            case events.TaskCompleted() | events.TaskSkipped() | events.TaskCancelled():
                yield from self._ended(event.task_id)
            case events.ApprovalRequested():
                yield "".join(_asked(event.task_id, event.question))
                if any(task.status == "running" for task in self._state.tasks.values()):
                    yield _answering(self._state, self._how_to_answer)
            case events.RunResumed():
                for id, question in _questions(self._state):
                    if id not in self._replied:
                        yield "".join(_asked(id, question))
            case events.ModelCalled() if event.error is not None and event.error not in self._told:
                self._told.add(event.error)
                yield f"{event.model}: {_waits(event)}"
            case _:
                pass

    def _planned(self, within: Sequence[str]) -> str:
        _, around = find_task(self._state, "/".join(within))
        run = self._state if around is None else around.nested or RunState()
        tasks, workers = len(run.tasks), [*dict.fromkeys(t.worker for t in run.tasks.values())]
        why = f" ({sentence(run.proposed_why)})" if run.proposed_why else ""
        routed = f", {' and '.join(workers)}" if why and run.planned_by != "template" else ""
        line = f"{counted(tasks, 'task')} for {counted(len(workers), 'worker')}{routed}{why}"
        return "/".join([*within, f"plan: {line}"])

    def _ended(self, id: str) -> Iterator[str]:
        _, task = find_task(self._state, id)
        if task is None:
            return
        why = f": {task.why}" if task.why else ""
        took = f" in {task.busy_s:.1f} s" if task.attempts else ""
        took += f", {task.attempts} attempts" if task.attempts > 1 else ""
        took += f", {short_usage(task.usage)}" if task.usage.requests else ""
        yield f"{id}: {task.status.replace('_', ' ')}{took}{why}"


def _calling(event: events.ModelCalled) -> str:
    """Which tools a worker's model has just called; which role of a nested team has answered."""
    if event.role != "worker":
        return f"its {event.role} has answered"
    response = event.response
    parts = response.get("parts") if isinstance(response, dict) else None
    rows = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    called = Counter(
        str(part["tool_name"]) for part in rows if part.get("part_kind") == "tool-call"
    )
    tools = [name if n == 1 else f"{name} x{n}" for name, n in called.items() if name not in _ENDS]
    if tools:
        return f"calls {', '.join(tools)}"
    return "has its answer" if response is not None else "has asked its model"


def _waits(call: events.ModelCalled) -> str | None:
    """Why and when a model is asked again; None if it answered."""
    if call.error is None:
        return None
    if call.retry_in_s is None:
        return f"no answer: {call.error}"
    return f"asks again in {call.retry_in_s:.1f} s: {call.error}"


def _questions(state: RunState, way: str = "") -> Iterator[tuple[str | None, str]]:
    """The open questions of the run and of nested runs, each with its task; `None`: the plan."""
    for id, question in state.questions.items():
        yield f"{way}{id}" if id is not None else way.rstrip("/") or None, question
    for id, task in state.tasks.items():
        if task.nested is not None:
            yield from _questions(task.nested, f"{way}{id}/")


def _asked(id: str | None, question: str) -> tuple[str, str, str]:
    """The mark, what waits, and the question, which stands alone in a line."""
    who = f"{id} waits for a person" if id is not None else "the plan waits for your approval"
    return "? ", f"{sentence(who)}: ", sentence(in_a_line(question))


def _answering(state: RunState, command: str | None) -> str:
    return f"  to answer: {command or f'leadhand answer {shlex.quote(state.run_id)}'}"


def _one_line(text: str, style: str) -> Text:
    return Text(text, style, no_wrap=True, overflow="ellipsis")
