"""What a person watches while models work: calls, tokens, tools; few lines off a terminal."""

import asyncio
import datetime as dt
import io
from collections.abc import Callable, Sequence
from itertools import count

import pytest
from rich.console import Console

from leadhand.cli.live.lines import PlainLines
from leadhand.cli.live.tree import LiveTree
from leadhand.contracts.events import (
    Event,
    ModelCalled,
    PlanAccepted,
    PlanProposed,
    TaskCancelled,
    TaskDispatched,
    ToolCalled,
    nested,
)
from leadhand.contracts.task import Task
from leadhand.events import TextDelta
from tests.plans.samples import plan, task

CALL = {"part_kind": "tool-call", "tool_name": "search_files", "args": "{}"}
SAID = {"parts": [{"part_kind": "text", "content": "hm"}, CALL, CALL]}
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
        made(ModelCalled, input_tokens=1_200, output_tokens=80, response=SAID, **model),
        made(ToolCalled, output_chars=1, sha256="0", duration_s=0.1, **tool, **of_task),
        made(ModelCalled, **model, **failed),
        made(ModelCalled, **model, **failed),
    ]


def tree_after(number: int, more: Sequence[Event] = (), *, width: int = 100) -> str:
    """The tree as it stands after so many events, and then some more."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    with LiveTree(console, "team t") as tree:
        for event in [*events()[:number], *more]:
            tree(event)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_tree_shows_what_a_running_task_does_and_has_used() -> None:
    assert "running: calls search_files x2 · 1 request, 1.3k tokens" in tree_after(4)
    assert "running: called search_files, asks its model · 1 request" in tree_after(5)
    assert "asks again in 2.0 s: the model is overloaded" in tree_after(6)
    assert "0/1 tasks · 3 requests, 1.3k tokens" in tree_after(7)


def test_a_task_s_intent_follows_its_status() -> None:
    for width in (80, 120):
        assert "worker  0.0 s  running · work on part a" in tree_after(3, width=width)


def tree_of_tasks(count: int, *, width: int = 100) -> list[str]:
    """The rows of a plan of so many tasks of which none has begun."""
    tasks = [task(f"t{number}") for number in range(count)]
    console = Console(
        file=io.StringIO(), width=width, height=60, force_terminal=True, color_system=None
    )
    with LiveTree(console, "team t", past=made_plan(*tasks)):
        pass
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue().rpartition("team t")[2]
    return [line for line in shown.splitlines()[1:] if "worker" in line]


def made_plan(*tasks: Task) -> list[Event]:
    stamp = {"at": NOW, "elapsed_s": 0.0, "run_id": "r"}
    proposed = PlanProposed(seq=1, plan=plan(*tasks), by="planner", **stamp)  # pyright: ignore[reportArgumentType]
    accepted: Event = PlanAccepted(seq=2, **stamp)  # pyright: ignore[reportArgumentType]
    return [proposed, accepted]


@pytest.mark.parametrize("width", [80, 130, 200])
def test_up_to_forty_tasks_have_a_row_each_that_says_what_it_is_for(width: int) -> None:
    rows = tree_of_tasks(40, width=width)
    assert len(rows) == 40
    assert all(f"work on part t{number}" in row for number, row in enumerate(rows))
    assert all(len(row) <= width for row in rows)
    assert len(tree_of_tasks(41, width=width)) == 1


def tree_with(*given: TextDelta | Event) -> str:
    """What stands at the end of the tree after these."""
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None)
    with LiveTree(console, "team t") as tree:
        for one in given:
            if isinstance(one, TextDelta):
                shows = tree.reads(one.role)
                assert shows is not None
                shows(one)
            else:
                tree(one)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().rpartition("team t")[2]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            '{"tasks": [{"id": "a", "worker": "billing"}, {"id": "b", "worker": "letters"}, {"id',
            "legal/planning: 2 tasks so far (billing, letters)",
        ),
        (
            '```json\n{"tasks": [{"worker": "x"}, {"worker": "bil',
            "legal/planning: 1 task so far (x)",
        ),
        ("First I would look at it", "legal/planner writes: …First I would look at it"),
    ],
)
def test_a_plan_that_is_being_written_is_one_plain_line(text: str, line: str) -> None:
    shown = tree_with(TextDelta("legal", "planner", text))
    assert line in [one.strip() for one in shown.splitlines()]
    assert '"' not in shown


def test_a_plan_without_a_task_so_far_is_only_the_phase() -> None:
    begun = '{"reason": "Her charges", "tasks": [{"id": "a", "intent": "Loo'
    assert tree_with(TextDelta(None, "planner", begun)) == tree_with()


def test_the_newest_lines_of_the_answer_are_shown_as_they_are_written() -> None:
    """F34"""
    written = [TextDelta(None, "synthesizer", f"line {n}\n") for n in range(40)]
    shown = tree_with(*written, TextDelta(None, "synthesizer", "word " * 15 + "\x1b[31mred end"))
    lines = [line.rstrip() for line in shown.splitlines()]
    assert lines[lines.index("writes the answer:") + 1] == "line 34"
    assert any(line.endswith("\\x1b[31mred end") for line in lines)
    assert "line 39" not in tree_with(*written, TextDelta(None, "synthesizer", "new", reset=True))


def test_the_answer_of_a_nested_team_is_shown_by_its_end() -> None:
    shown = tree_with(TextDelta("legal", "synthesizer", "word " * 500 + "the end"))
    (line,) = [line for line in shown.splitlines() if "legal/synthesizer writes: …" in line]
    assert line.rstrip().endswith("the end")
    assert len(line) <= 60


def test_what_was_written_leaves_the_tree_with_the_call_s_end() -> None:
    called = ModelCalled(
        seq=1, at=NOW, elapsed_s=1.0, run_id="r", role="planner", model="m", duration_s=1.0
    )
    plan = '{"tasks": [{"worker": "billing"'
    assert "so far" not in tree_with(TextDelta(None, "planner", plan), called)
    begun = [*events()[:3], TextDelta("a", "planner", plan)]
    assert "a/planning: 1 task so far (billing)" in tree_with(*begun)
    inner = tree_with(*begun, nested(called, "a"))
    assert "a/planning" not in inner


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


async def test_plain_lines_say_now_and_then_that_a_quiet_run_goes_on() -> None:
    console = Console(file=io.StringIO(), width=200)
    lines = PlainLines(console)
    for event in events():
        lines(event)
    await asyncio.sleep(95)
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


def test_plain_lines_name_the_way_that_is_next_and_why_the_template_is_the_plan() -> None:
    console = Console(file=io.StringIO(), width=200)
    lines = PlainLines(console)
    stamp = {"at": NOW, "elapsed_s": 0.0, "run_id": "r"}
    why, error = "the model gave no plan", "it answered in words as `tool`, so `native` is tried"
    call = {"role": "planner", "model": "openai:m", "duration_s": 0.5, "task_id": None}
    lines(ModelCalled(seq=1, error=error, retry_in_s=0.0, attempt=None, **call, **stamp))  # pyright: ignore[reportArgumentType]
    lines(PlanProposed(seq=2, plan=plan(task("a")), by="template", why=why, **stamp))  # pyright: ignore[reportArgumentType]
    lines(PlanAccepted(seq=3, **stamp))  # pyright: ignore[reportArgumentType]
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        f"openai:m: asks again in another way: {error}",
        "plan: 1 task for 1 worker (template, because the model gave no plan)",
    ]
