"""The progress of a run as plain lines on stderr: for logs and pipes."""

import asyncio
import contextlib
import re
from collections.abc import Collection, Iterable, Iterator

from rich.console import Console
from rich.text import Text

from leadhand.cli.live.notices import WatchedRun, asked, short_usage, waits
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts import events
from leadhand.state.fold import RunState, find_task
from leadhand.tools.text import counted

QUIET_S = 30.0
"""After this long without a line, a line says that the run is still at work."""
_BREAKS = re.compile(r"\s*[\t\n\v\f\r]\s*")
"""Line ends and tabs, with the blanks around them."""


class PlainLines:
    def __init__(
        self,
        console: Console,
        *,
        past: Iterable[events.Event] = (),
        how_to_answer: str | None = None,
        replied: Collection[str | None] = (),
    ) -> None:
        """`past` are the events of a resumed run; `replied` are the tasks, or `None` for the
        plan, whose questions have a reply."""
        self._console = console
        self._replied = replied
        self._run = WatchedRun(how_to_answer)
        for event in past:
            self._run.add(event)
        self._told: set[str] = set()
        """The errors of calls that were printed: in an outage all calls give the same."""
        self._clock: asyncio.AbstractEventLoop | None = None
        self._zero = self._said_s = 0.0

    def __call__(self, event: events.Event) -> None:
        """Print the lines about an event."""
        notice = self._run.add(event)
        if self._clock is None:
            with contextlib.suppress(RuntimeError):  # no loop: the events are shown after the run
                self._clock = asyncio.get_running_loop()
                self._said_s = self._clock.time()
                self._zero = self._said_s - event.elapsed_s
                self._clock.call_later(QUIET_S, self._remind, self._clock)
        for line in filter(None, (notice, *self._lines(event))):
            self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(Text(safe(_BREAKS.sub(" ", line))), soft_wrap=True)
        self._said_s = self._clock.time() if self._clock is not None else 0.0

    def _remind(self, clock: asyncio.AbstractEventLoop) -> None:
        """Say that the run is still at work if no line was printed lately, and look again."""
        state = self._run.state
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
        if isinstance(event, events.AttemptEnd | events.TaskSkipped):
            if getattr(event, "final", True):
                yield self._ended(event.task_id)
            return
        match event:
            case events.PlanAccepted():
                yield self._planned(event.within)
            case events.ApprovalRequested():
                yield asked(event.task_id, event.question)
                if any(task.status == "running" for task in self._run.state.tasks.values()):
                    yield self._run.how_to_answer
            case events.RunResumed():
                yield from (line for id, line in self._run.questions() if id not in self._replied)
            case events.ModelCalled() if event.error is not None and event.error not in self._told:
                self._told.add(event.error)
                yield f"{event.model}: {waits(event)}"
            case _:
                pass

    def _planned(self, within: tuple[str, ...]) -> str:
        _, around = find_task(self._run.state, "/".join(within))
        run = self._run.state if around is None else around.nested or RunState()
        workers = [*dict.fromkeys(task.worker for task in run.tasks.values())]
        because = "template, because " if run.planned_by == "template" else ""
        why = f" ({because}{sentence(run.proposed_why)})" if run.proposed_why else ""
        routed = f", {' and '.join(workers)}" if why and run.planned_by != "template" else ""
        line = f"{counted(len(run.tasks), 'task')} for {counted(len(workers), 'worker')}"
        return "/".join([*within, f"plan: {line}{routed}{why}"])

    def _ended(self, id: str) -> str:
        _, task = find_task(self._run.state, id)
        if task is None:
            return ""
        reason = task.why or (task.result.draft_only if task.result is not None else None)
        why = f": {reason}" if reason else ""
        took = f" in {task.busy_s:.1f} s" if task.attempts else ""
        took += f", {task.attempts} attempts" if task.attempts > 1 else ""
        took += f", {short_usage(task.usage)}" if task.usage.requests else ""
        return f"{id}: {task.status.replace('_', ' ')}{took}{why}"
