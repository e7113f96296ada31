"""The story of a run: every attempt, decision and cost of it, whoever did the work."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from leadhand import Supervisor, Task, Team, Worker
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.events import (
    ApprovalGiven,
    ApprovalRequested,
    Event,
    ModelCalled,
    RunFinished,
    RunStarted,
    RunWaiting,
    TaskCompleted,
    TaskDispatched,
    dump,
    parse,
)
from leadhand.contracts.outcome import Usage
from leadhand.contracts.task import Plan
from leadhand.journal import open_store
from leadhand.state.fold import fold
from leadhand.state.times import metrics
from leadhand.testing import ScriptedModel, VirtualClock, run_virtual
from leadhand.trace.run_history import RunHistory
from tests.handles import resumed
from tests.nested_teams import DESK, LEGAL, clause, law, office
from tests.page.stored import stored_run
from tests.stored import store_of
from tests.trace import runs


def decisions(history: RunHistory, id: str) -> list[list[str]]:
    """What was decided after each attempt at a task."""
    return [[step.said for step in attempt.steps] for attempt in history.tasks[id].attempts]


def ends(history: RunHistory, id: str) -> list[tuple[str, str]]:
    """Who made each attempt at a task, and how it ended."""
    return [(attempt.worker, attempt.end) for attempt in history.tasks[id].attempts]


def test_every_attempt_has_who_made_it_how_it_ended_and_what_was_decided() -> None:
    history = RunHistory.of(runs.trouble().log())
    assert ends(history, "fails") == [
        ("first", "failed"), ("first", "failed"), ("second", "completed"),
    ]  # fmt: skip
    moved = [["intent refined"], ["reassigned to second"]]
    assert decisions(history, "fails") == [*moved, []]
    assert decisions(history, "never") == [*moved, ["given up"]]
    assert decisions(history, "unsure") == [
        ["tier raised from standard to strong"],
        ["second opinion of second"],
        ["of two results the second was taken, of second"],
    ]
    assert decisions(history, "big") == [["tried again after 0 s"], ["split into big.1, big.2"]]
    assert (history.tasks["lost"].attempts, history.task_status("lost")) == ([], "skipped")
    assert history.tasks["plain"].is_notable is False
    (refined,) = history.tasks["fails"].attempts[0].steps
    assert refined.changed == ("work on part fails", "Look in the table `orders`.")
    assert history.tasks["never"].attempts[0].kind == "error"


def test_parts_follow_the_task_that_they_are_parts_of() -> None:
    history = RunHistory.of(runs.trouble().log())
    assert [task.id for task in history.ordered_tasks()][:4] == ["fails", "big", "big.1", "big.2"]
    assert history.task_status("big") == "split"
    assert history.tasks["big"].parts == ("big.1", "big.2")
    assert history.tasks["big.2"].part_of == "big"


def test_the_work_on_a_split_task_counts_as_if_it_had_been_done_one_after_the_other() -> None:
    state = fold(runs.trouble().log())
    for task in (*state.tasks.values(), *state.retired.values()):
        task.worked_s = 1.0
    assert list(state.retired) == ["big"]
    assert metrics(state, 5.0).sequential_s == state.planning_s + 9.0


def test_a_nested_run_is_a_story_within_the_attempt_that_a_team_made() -> None:
    answer, events = runs.nested()
    history = RunHistory.of(events)
    outer = history.last_attempt("t1")
    assert outer is not None
    assert outer.nested is not None
    assert ends(outer.nested, "writer") == [("writer", "failed")]
    assert outer.nested.plans[-1].what == "accepted"
    assert outer.usage.requests == history.tasks["t1"].attempts[0].usage.requests == 2
    assert history.run_status(held=False) == answer.status == "partial"


def test_who_used_what_adds_up_to_what_the_run_used() -> None:
    for _, events in (runs.nested(), runs.flow()):
        history = RunHistory.of(events)
        for field in ("role", "worker", "model"):
            shares = history.usage_by(field)
            total = Usage(model="a:b", requests=2, input_tokens=70, output_tokens=9, cost_usd=0.5)
            assert sum(share.requests for share in shares.values()) == total.requests
            assert sum(share.input_tokens for share in shares.values()) == total.input_tokens
    assert list(RunHistory.of(runs.nested()[1]).usage_by("worker")) == ["legal/writer"]
    assert list(RunHistory.of(runs.flow()[1]).usage_by("worker")) == ["bad"]


def test_a_history_built_event_by_event_equals_one_built_at_once() -> None:
    """And it is the same from the JSON of the events, at every length of the log."""
    _, events = runs.nested()
    growing = RunHistory()
    for number, event in enumerate(events, 1):
        growing.add(event)
        fresh = RunHistory.of(parse(dump(one)) for one in events[:number])
        assert fresh.state == growing.state
        assert [told(one) for one in fresh.tasks.values()] == [
            told(one) for one in growing.tasks.values()
        ]


def told(task: object) -> str:
    """A task's history in words, but for the objects within it."""
    return repr(task).partition("nested=")[0]


def test_an_open_question_makes_a_run_wait_and_an_answer_closes_it() -> None:
    *events, finished = runs.flow()[1]
    assert isinstance(finished, RunFinished)
    answer = finished.answer
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    asked = ApprovalRequested(
        seq=90, at=at, elapsed_s=9.0, run_id="run-1", task_id="e", question="Which archive?"
    )
    given = ApprovalGiven(
        seq=91,
        at=at,
        elapsed_s=99.0,
        run_id="run-1",
        task_id="e",
        verdict="answered",
        text="The old one.",
        by="eva",
    )
    history = RunHistory.of([*events, asked])
    assert history.run_status(held=False) == "interrupted", "it died while it asked"
    waiting = RunWaiting(seq=91, at=at, elapsed_s=9.0, run_id="run-1", answer=answer)
    assert RunHistory.of([*events, asked, waiting]).run_status(held=True) == "waiting"
    assert isinstance(events[0], RunStarted)
    before = replace(events[0], fingerprint="")
    assert RunHistory.of([before, *events[1:], asked]).run_status(held=False) == "waiting"
    assert history.run_status(held=True) == "running"
    assert [(one.task_id, one.question) for one in history.open_questions] == [
        ("e", "Which archive?")
    ]
    history.add(given)
    assert history.open_questions == ()
    first = history.questions[0]
    assert (first.text, first.by, first.answered_s) == (
        "The old one.", "eva", 99.0,
    )  # fmt: skip
    assert history.run_status(held=False) == "interrupted"


def test_a_question_of_a_nested_run_is_named_by_the_whole_way_to_its_task() -> None:
    events = runs.nested()[1]
    inside = next(event for event in events if event.within and isinstance(event, TaskDispatched))
    asked = ApprovalRequested(
        seq=inside.seq + 1,
        at=inside.at,
        elapsed_s=inside.elapsed_s,
        run_id=inside.run_id,
        within=inside.within,
        task_id="t1/reader",
        question="Which clause?",
    )
    history = RunHistory.of([*events[: inside.seq], asked])
    assert [(one.task_id, one.question) for one in history.open_questions] == [
        ("t1/reader", "Which clause?")
    ]


def test_f29_what_was_in_flight_when_its_process_ended_is_told_as_interrupted(
    tmp_path: Path,
) -> None:
    """A nested run is cut in its middle, kept, and resumed by the real supervisor."""
    team, plan = office(law(reader=clause, writer=clause)), Plan(goal="Why?", tasks=(LEGAL, DESK))
    _, events = runs.ran(team, plan)
    cut = next(
        place
        for place, event in enumerate(events, 1)
        if event.within and isinstance(event, TaskCompleted)
    )
    kept(tmp_path, events[:cut])
    assert RunHistory.of(events[:cut]).run_status(held=False) == "interrupted"

    supervisor = Supervisor(team, home=tmp_path)
    answer = asyncio.run(resumed(supervisor, "run-1"))
    history = RunHistory.of(store_of(supervisor).events("run-1"))
    asyncio.run(supervisor.close())
    assert answer.status == "complete" == history.run_status(held=False)
    assert [end for _, end in ends(history, "t1")] == ["interrupted", "completed"]
    assert [step.said for step in history.notices] == ["resumed"]
    last = history.last_attempt("t1")
    assert last is not None
    assert last.nested is not None
    assert all(history.task_status(id) == "completed" for id in ("t1", "t2"))
    assert all(last.nested.task_status(id) == "completed" for id in ("reader", "writer"))


def test_tasks_that_a_nested_run_finished_before_it_was_resumed_are_shown_once(
    tmp_path: Path,
) -> None:
    team, plan = office(law(reader=clause, writer=clause)), Plan(goal="Why?", tasks=(LEGAL, DESK))
    _, events = runs.ran(team, plan)
    done = [n for n, event in enumerate(events, 1) if event.within and event.type.endswith("ted")]
    kept(tmp_path, events[: done[-1]])
    supervisor = Supervisor(team, home=tmp_path)
    asyncio.run(resumed(supervisor, "run-1"))
    later = store_of(supervisor).events("run-1")
    asyncio.run(supervisor.close())
    lines = [line.plain for _, line in history_lines(RunHistory.of(later), held=False)]
    for id in ("reader", "writer"):
        assert sum(line.startswith(f"✓ {id} completed") for line in lines) == 1, lines
    rows = stored_run(later)["tasks"]
    assert isinstance(rows, list)
    paths = [row["path"] for row in rows if isinstance(row, dict)]
    assert len(paths) == len({*map(str, paths)}) == 4


def kept(home: Path, events: Sequence[Event]) -> None:
    """The events in a journal of their own, as a process that was killed then had left them."""
    journal = open_store(home)

    async def write() -> None:
        with journal.hold(events[0].run_id):
            for event in events:
                journal.append(replace(event))
            await journal.commit()

    asyncio.run(write())
    journal.close()


def test_an_attempt_has_when_its_model_was_not_asked_because_it_had_refused() -> None:
    refused = {"reply": {"misbehave": {"429": 3}}, "times": 1}
    model = ScriptedModel(script=[refused], latency_ms=500)
    worker = Worker("desk", "Answers", instructions="Answer.", plain=True)
    team = Team("desk", model=model.model, workers=[worker])
    plan = Plan(goal="How long?", tasks=(Task(id="a", worker="desk", intent="Say how long."),))
    _, log = runs.ran(team, plan, run=run_virtual, clock=VirtualClock())
    (attempt,) = RunHistory.of(log).tasks["a"].attempts
    ((start_s, end_s),) = attempt.waits
    first, second = (one for one in log if isinstance(one, ModelCalled))
    assert start_s == pytest.approx(first.elapsed_s)
    assert end_s == pytest.approx(second.elapsed_s - second.duration_s)
    assert 3 <= end_s - start_s < 10
