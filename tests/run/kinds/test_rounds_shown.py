"""Rounds are shown wherever a run is: live, in `show`, on the page, in the log and in spans."""

import io
import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from leadhand import Reply, Supervisor
from leadhand.cli import main
from leadhand.cli.live.lines import PlainLines
from leadhand.cli.live.tree import LiveTree
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.events import Event, dump, parse
from leadhand.contracts.people import Question
from leadhand.testing import VirtualClock, run_virtual
from leadhand.trace.logs import Logs
from leadhand.trace.overview import overview
from leadhand.trace.run_history import RunHistory
from tests.handles import replied
from tests.page.stored import stored_run
from tests.run.kinds.test_stepwise import DONE, Steps, find, ran, start, team

CONTROL = re.compile(r"\x1b\[[?\d;]*[A-Za-z]|\r")


@pytest.fixture(name="events", scope="module")
def _events() -> Sequence[Event]:
    steps = Steps([start(find("x"), find("y")), start(find("z", "x", worker="b")), DONE])
    _, events = ran(steps)
    return events


def test_the_live_tree_says_what_each_round_starts_and_why(events: Sequence[Event]) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with LiveTree(console, "metals") as tree:
        for event in events:
            tree(event)
    head, *rows = CONTROL.sub("", out.getvalue()).rpartition("metals")[2].splitlines()
    assert "round 3" in head
    assert [row.split()[:2] for row in rows[:3]] == [["✓", "x"], ["✓", "y"], ["✓", "z"]]
    assert "round 2 starts z: to know more" in rows
    assert "round 3, and the planner is done: it is all there" in rows


def test_plain_lines_say_what_each_round_starts_and_why(events: Sequence[Event]) -> None:
    out = io.StringIO()
    lines = PlainLines(Console(file=out, width=100))
    for event in events:
        lines(event)
    assert "round 2 starts z: to know more" in out.getvalue()
    assert "round 3, and the planner is done: it is all there" in out.getvalue()


def test_show_page_and_document_have_the_rounds(events: Sequence[Event]) -> None:
    history = RunHistory.of(parse(dump(event)) for event in events)
    told = "\n".join(text.plain for _, text in history_lines(history, held=False))
    assert "round 2 starts z: to know more" in told
    assert re.search(r"z completed · b · round 2", told)
    assert re.search(
        r"revision 1, 2 tasks, by steps, accepted .*\n1 task added in rounds 2 to 3\n", told
    )
    notices = str(stored_run(events)["notices"])
    assert "'said': 'round 2 starts z', 'why': 'to know more'" in notices
    document = overview(history, held=False)
    assert isinstance(document["tasks"], list)
    assert [one["round"] for one in document["tasks"] if isinstance(one, dict)] == [1, 1, 2]


def test_a_round_that_a_person_refused_is_not_shown_as_started() -> None:
    replies = [Reply(verdict="approved"), Reply(verdict="refused")]

    async def ask(question: Question) -> Reply:
        return replies.pop(0)

    events: list[Event] = []
    steps = Steps([start(find("x")), start(find("y"))])
    asked = Supervisor(team(), planner=steps, approve=["plan"], person=ask, clock=VirtualClock())
    run_virtual(asked.run("Compare", listener=events.append))
    history = RunHistory.of(events)
    told = "\n".join(text.plain for _, text in history_lines(history, held=False))
    assert "round 2 asks to start y: to know more" in told
    assert "Round 2 adds y: to know more. Is the plan to be amended like this?" in told


@pytest.mark.wall_clock
async def test_the_question_about_a_round_says_what_is_done_and_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = Steps([start(find("x")), start(find("y", "x"))])
    by = Supervisor(team(), planner=steps, home=tmp_path, approve=["plan"])
    await by.run("Compare", run_id="r")
    await replied(by, "r", Reply(verdict="approved"))
    await by.close()
    monkeypatch.setattr(sys, "argv", ["leadhand", "answer", "r", "--home", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    asked = capsys.readouterr().out
    assert "● x  a  completed" in asked
    assert "● y  a  new" in asked


def test_the_log_has_a_line_for_each_decision(
    events: Sequence[Event], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="leadhand.run")
    logs = Logs()
    for event in events:
        logs(event)
    told = [record.getMessage() for record in caplog.records if "round " in record.getMessage()]
    assert [line.partition(": ")[2] for line in told] == [
        "round 1",
        "round 2 starts z",
        "round 3, and the planner is done",
    ]
