"""What a person watches while models work: calls, tokens, tools; few lines off a terminal."""

import asyncio
import datetime as dt
import io
from collections.abc import Callable, Sequence
from itertools import count

from rich.console import Console

from leadhand.cli.live import LiveTree, PlainLines
from leadhand.contracts.event import (
    Event,
    ModelCalled,
    PlanAccepted,
    PlanProposed,
    TaskCancelled,
    TaskDispatched,
    ToolCalled,
)
from leadhand.testing import run_virtual
from tests.plans import plan, task

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def events() -> list[Event]:
    """A run of one task whose model called a tool, and is asked again after two failed calls."""
    seq = count(1)

    def made(kind: Callable[..., Event], **fields: object) -> Event:
        return kind(seq=next(seq), at=NOW, elapsed_s=1.0, run_id="r", **fields)

    of_task = {"task_id": "a", "attempt": 1}
    failed = {"error": "the model is overloaded: HTTP 529", "retry_in_s": 2.0}
    model = {"role": "worker", "model": "openai:m", "duration_s": 0.5, **of_task}
    tool = {"worker": "worker", "tool": "search_files", "arguments": "{}", "output": "x"}
    return [
        made(PlanProposed, plan=plan(task("a")), by="planner"),
        made(PlanAccepted),
        made(TaskDispatched, worker="worker", **of_task),
        made(ModelCalled, input_tokens=1_200, output_tokens=80, **model),
        made(ToolCalled, output_chars=1, sha256="0", duration_s=0.1, **tool, **of_task),
        made(ModelCalled, **model, **failed),
        made(ModelCalled, **model, **failed),
    ]


def tree_after(number: int, more: Sequence[Event] = ()) -> str:
    """The tree as it stands after so many events, and then some more."""
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    with LiveTree(console, "team t") as tree:
        for event in [*events()[:number], *more]:
            tree(event)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_tree_shows_what_a_running_task_does_and_has_used() -> None:
    assert "running: using its tools · 1 request, 1.3k tokens" in tree_after(4)
    assert "running: called search_files · 1 request, 1.3k tokens" in tree_after(5)
    assert "asks again in 2.0 s: the model is overloaded" in tree_after(6)
    assert "0/1 tasks · 3 requests, 1.3k tokens" in tree_after(7)


def test_the_tree_counts_what_is_done_and_tells_the_rest_apart() -> None:
    stopped = [
        TaskCancelled(
            seq=8, at=NOW, elapsed_s=1.0, run_id="r", task_id="a", attempt=1, reason="interrupted"
        )
    ]
    assert "0/1 tasks · 1 cancelled · " in tree_after(7, stopped)


def test_f37_the_cursor_waits_in_a_line_of_its_own() -> None:
    """F37: what the terminal itself writes there, such as `^C`, makes no full line too long."""
    console = Console(file=io.StringIO(), width=40, force_terminal=True, color_system=None)
    assert isinstance(console.file, io.StringIO)
    with LiveTree(console, "team t") as tree:
        for event in events():
            tree(event)
        console.file.truncate(0)
    frame = console.file.getvalue().replace("\x1b[?25h", "").rstrip("\x00")
    assert frame.rsplit("\n", 2)[1:] == ["", ""], "an empty line, and the one after the tree"


def test_plain_lines_say_now_and_then_that_a_quiet_run_goes_on() -> None:
    console = Console(file=io.StringIO(), width=200)
    lines = PlainLines(console)

    async def waiting() -> None:
        for event in events():
            lines(event)
        await asyncio.sleep(95)

    run_virtual(waiting())
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines()[2:] == [
        "still at work: 1 task running, 31 s",
        "still at work: 1 task running, 61 s",
        "still at work: 1 task running, 91 s",
    ]


def test_plain_lines_stay_few_and_say_a_failure_once() -> None:
    console = Console(file=io.StringIO(), width=200)
    lines = PlainLines(console)
    for event in events():
        lines(event)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "plan: 1 task for 1 worker",
        "openai:m: asks again in 2.0 s: the model is overloaded: HTTP 529",
    ]
