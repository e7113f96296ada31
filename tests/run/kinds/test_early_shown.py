"""Tasks that start before there is a plan are shown wherever a run is, then and afterwards."""

import io
import logging
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from leadhand import Handoff, Worker
from leadhand.cli.live.lines import PlainLines
from leadhand.cli.live.tree import LiveTree
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.events import (
    Event,
    PlanRejected,
    TaskCompleted,
    TaskDispatched,
    TaskPlanned,
)
from leadhand.journal.summaries import StoredSummary
from leadhand.state.fold import fold
from leadhand.state.times import critical_chain, metrics
from leadhand.teams.loader import load
from leadhand.trace.logs import Logs
from leadhand.trace.overview import overview
from leadhand.trace.run_history import RunHistory
from tests.page.stored import stored_run
from tests.run.kinds.test_early_start import ask, model, task, team, works, writes

CONTROL = re.compile(r"\x1b\[[?\d;]*[A-Za-z]|\r")


async def _works(handoff: Handoff) -> str:
    return await works(handoff)


@pytest.fixture(name="events", scope="module")
def _events() -> Sequence[Event]:
    unsound = [task("same"), task("gone"), task("x", "nowhere")]
    reader = Worker("reader", "Reads", run=_works, read_only=True)
    _, log = ask(team(model(writes(*unsound), writes(task("same"), task("w"))), reader))
    return log


def _until(events: Sequence[Event]) -> Sequence[Event]:
    """The log while the planner writes: up to the end of the first task."""
    return events[: next(e.seq for e in events if isinstance(e, TaskCompleted))]


def _tree(events: Sequence[Event]) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with LiveTree(console, "metals", past=events):
        pass
    return CONTROL.sub("", out.getvalue())


def test_the_live_tree_has_them_while_the_planner_writes(events: Sequence[Event]) -> None:
    head, *rows = _tree(_until(events)).splitlines()
    assert head.startswith("metals  1/2 tasks · planning")
    assert [row.split()[1] for row in rows[:2]] == ["same", "gone"]
    assert "running" in rows[1]
    assert "dropped: the plan was revised" in _tree(events)


def test_show_page_and_document_have_them_before_and_after(events: Sequence[Event]) -> None:
    for log in (_until(events), events):
        history = RunHistory.of(log)
        told = "\n".join(text.plain for _, text in history_lines(history, held=True))
        assert "same completed · reader · started early · 1.0 s" in told
        assert "'id': 'same'" in str(stored_run(log, held=True)["tasks"])
        assert overview(history, held=True)["tasks"]
    told = "\n".join(text.plain for _, text in history_lines(RunHistory.of(events), held=False))
    assert "gone dropped" in told
    assert "the plan does not have it" in told


def test_lines_and_log_say_that_a_task_started_early(
    events: Sequence[Event], caplog: pytest.LogCaptureFixture
) -> None:
    out = io.StringIO()
    lines = PlainLines(Console(file=out, width=200))
    caplog.set_level(logging.INFO, logger="leadhand.run")
    logs = Logs()
    for event in events:
        lines(event)
        logs(event)
    assert out.getvalue().index("same: completed") < out.getvalue().index("plan: 2 tasks")
    told = [record.getMessage() for record in caplog.records]
    assert any("task same planned for reader, before the plan is complete" in one for one in told)


def test_a_list_counts_only_what_the_plan_has(events: Sequence[Event]) -> None:
    writing = StoredSummary.of(_until(events))
    assert (writing.tasks, writing.completed) == (2, 1)
    whole = StoredSummary.of(events)
    assert (whole.tasks, whole.completed) == (2, 2)


def test_the_longest_chain_begins_when_its_first_task_was_written(events: Sequence[Event]) -> None:
    state = fold(events)
    planned = next(e.elapsed_s for e in events if isinstance(e, TaskPlanned))
    assert state.tasks["same"].planned_s == pytest.approx(planned, abs=0.01)
    # The planner wrote longer than the early tasks worked: the last task had to wait for it.
    assert [part.task_id for part in critical_chain(state)] == ["w"]
    early = fold(event for event in _until(events))
    now_s = _until(events)[-1].elapsed_s
    assert metrics(early, now_s).critical_path_s == pytest.approx(now_s, abs=0.01)
    rejected = next(e for e in events if isinstance(e, PlanRejected))
    gone = next(e for e in events if isinstance(e, TaskDispatched) and e.task_id == "gone")
    assert gone.seq < rejected.seq
    whole = fold(events)
    answer = whole.answer
    assert answer is not None
    assert answer.metrics.sequential_s > whole.planning_s + 3  # three tasks of a second each


def test_a_folder_declares_it(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text("early_start: true\n")
    (tmp_path / "workers").mkdir()
    front = "---\ndescription: Reads\nread_only: true\ntools: [read_file]\n---\nRead.\n"
    (tmp_path / "workers" / "reader.md").write_text(front)
    loaded = load(tmp_path)
    assert loaded.early_start
    assert loaded.workers[0].read_only is True
