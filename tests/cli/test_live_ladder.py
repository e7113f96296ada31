"""What a person watches while a run is in trouble: the ladder, the plan, people; in plain words."""

import asyncio
import datetime as dt
import io
import re
from collections.abc import Callable, Sequence

import pytest
from rich.console import Console

from leadhand.cli.live.lines import PlainLines
from leadhand.cli.live.tree import LiveTree
from leadhand.contracts.answer import Conflict, CritiquePoint
from leadhand.contracts.events import (
    ApprovalGiven,
    ApprovalRequested,
    BreakerClosed,
    BreakerOpened,
    ConflictFound,
    ConflictJudged,
    CritiqueGiven,
    Event,
    PlanAccepted,
    PlanAmended,
    PlanProposed,
    PlanRejected,
    RunResumed,
    RunStarted,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskFailed,
    TaskReassigned,
    TaskSplit,
)
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Task
from leadhand.contracts.team import RetryRules, Team, Worker
from tests.engine.remedies import ScriptedRemedies
from tests.engine.scheduling import schedule
from tests.nested_teams import Ran, clause, law, office
from tests.plans.samples import plan, task

CONTROL = re.compile(r"\x1b\[[?\d;]*[A-Za-z]|\r")
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
UNSURE = Escalated(
    reason="low_confidence", message="only 40 % sure", partial=Result(output="42", confidence=40)
)
BY_TASK: dict[str, list[Outcome]] = {
    "locked": [Failed(kind="error", message="the ledger\nis locked", transient=True)],
    "crash": [Failed(kind="tool_error", message="unknown filter \x1b[31m")],
    "law": [Escalated(reason="out_of_scope", message="this is about tax")],
    "sum": [UNSURE, UNSURE],
    "survey": [Escalated(reason="timeout", message="too much for one")],
}
REMEDIES = ScriptedRemedies(
    intent="look for the right filter",
    worker="tax",
    verdict=(True, "it names its sources"),
    parts=[task("a", worker="billing"), task("b", worker="billing")],
)


def follow(handoff: Handoff) -> Outcome:
    outcomes = BY_TASK.get(handoff.task_id, [])
    if handoff.attempt <= len(outcomes):
        return outcomes[handoff.attempt - 1]
    return Completed(result=Result(output=handoff.task_id))


def ladder_of(id: str) -> list[Event]:
    """The events of a real run of that task, which one worker after the other fails at."""
    workers = (Worker("billing", "Bills", fallback="tax"), Worker("tax", "Taxes"))
    the_team = Team(
        "team",
        workers=workers,
        models={"standard": ("x:small",), "strong": ("x:large",)},
        retry=RetryRules(backoff_s=(0.0,)),
    )
    the_plan = plan(task(id, worker="billing"))
    run = schedule(the_plan, follow, the_team=the_team, remedies=REMEDIES)
    return list(asyncio.run(run).log())


def lines_of(
    events: Sequence[Event], past: Sequence[Event] = (), replied: Sequence[str | None] = ()
) -> list[str]:
    console = Console(file=io.StringIO(), width=60)
    lines = PlainLines(console, past=past, replied=replied)
    for event in events:
        lines(event)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def tree_of(events: Sequence[Event], *, width: int = 100, past: Sequence[Event] = ()) -> list[str]:
    """The tree as it stands after these events."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, color_system=None)
    with LiveTree(console, "team t", past=past) as tree:
        file.truncate(0)
        for event in events:
            tree(event)
    shown = CONTROL.sub("", file.getvalue()).rpartition("team t")[2].splitlines()
    # What each task is for follows how it stands.
    lines = [line.partition(" · work on part")[0].rstrip() for line in shown[1:] if line.strip()]
    return [shown[0].strip(), *lines]


def until(events: Sequence[Event], kind: type[Event]) -> list[Event]:
    """The events up to the last one of that kind."""
    last = max(n for n, event in enumerate(events) if isinstance(event, kind))
    return list(events[: last + 1])


@pytest.mark.parametrize(
    ("id", "lines"),
    [
        ("locked", ["locked: tried again after 0 s: the ledger is locked"]),
        ("crash", ["crash: intent refined: unknown filter \\x1b[31m"]),
        ("law", ["law: reassigned to tax: out of scope: this is about tax"]),
        (
            "sum",
            [
                "sum: tier raised from standard to strong: low confidence: only 40 % sure",
                "sum: second opinion of tax: low confidence: only 40 % sure",
                "sum: of two results the second was taken, of tax: it names its sources",
            ],
        ),
        ("survey", ["survey: split into survey.1, survey.2: timeout: too much for one"]),
    ],
)
def test_each_rung_is_one_plain_line_that_says_why(id: str, lines: list[str]) -> None:
    """F34, F35: and what a worker says stays on that line."""
    told = lines_of(ladder_of(id))
    assert told[0] == "plan: 1 task for 1 worker"
    assert told[1 : len(lines) + 1] == lines
    assert all(" completed in " in line for line in told[len(lines) + 1 :])


def test_a_running_task_shows_what_was_decided_about_it() -> None:
    rows = tree_of(until(ladder_of("sum"), TaskDispatched), width=120)
    assert rows[1].startswith("● sum  tax")
    assert rows[1].endswith(
        "running (attempt 3): second opinion of tax: low confidence: only 40 % sure"
    )


def test_a_task_that_waits_to_be_tried_again_shows_why() -> None:
    rows = tree_of(until(ladder_of("law"), TaskReassigned))
    assert rows[1].endswith("pending: reassigned to tax: out of scope: this is about tax")


def test_a_task_that_was_split_names_its_parts_which_follow() -> None:
    rows = tree_of(until(ladder_of("survey"), TaskSplit))
    assert [row[:10] for row in rows[1:4]] == ["- survey  ", "· survey.1", "· survey.2"]
    assert rows[1].endswith("split into survey.1, survey.2: timeout: too much for one")


def made(kind: Callable[..., Event], **fields: object) -> Event:
    return kind(seq=1, at=NOW, elapsed_s=1.0, run_id="2026 a", **fields)


def planned(*tasks: Task) -> list[Event]:
    """A run whose plan was accepted."""
    return [
        made(RunStarted, team="t", request="do", engine="model", deadline_s=None),
        made(PlanProposed, plan=plan(*tasks), by="planner"),
        made(PlanAccepted),
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_row_is_one_line_however_much_a_worker_says(width: int) -> None:
    message = "no paper left " * 100
    many = [task(f"{'long-name-' * 5}{n}", worker="w" * 60) for n in range(3)]
    events = planned(*many)
    for one in many:
        of = {"task_id": one.id, "attempt": 1}
        failed = {"kind": "error", "message": message, "final": True, "decision": "no"}
        events.append(made(TaskDispatched, worker=one.worker, **of))
        # `kind` is a field of the event as well.
        events.append(TaskFailed(seq=1, at=NOW, elapsed_s=1.0, run_id="2026 a", **of, **failed))  # pyright: ignore[reportArgumentType]
    rows = tree_of(events, width=width)
    assert len(rows) == 1 + len(many)
    assert all(len(row) <= width for row in rows)
    assert all("✗" in row and "…" in row for row in rows[1:])


CONFLICT = Conflict(task_ids=("a", "b"), kind="contradiction", about="how much was charged")
POINTS = (
    CritiquePoint(point="it does not say when", severity="must"),
    CritiquePoint(point="too long", severity="should"),
)
HAPPENED: list[tuple[Event, str]] = [
    (
        made(BreakerOpened, worker="billing", failures=5, pause_s=10.0, reason="so"),
        "billing failed 5 times in a row: paused for 10 s: so",
    ),
    (
        made(BreakerClosed, worker="billing", reason="so"),
        "billing works again: so",
    ),
    (
        made(
            PlanAmended,
            task_id="a",
            reason="no bug here, this looks like configuration",
            revision=2,
            by="planner",
            added=(task("d"),),
            dropped=("b", "c"),
        ),
        "plan: revision 2: a: no bug here, this looks like configuration (added d; dropped b, c)",
    ),
    (
        made(PlanRejected, problems=("the plan goes on as it is: no revised plan came", "so")),
        "plan: sent back: the plan goes on as it is: no revised plan came (and 1 more)",
    ),
    (made(ConflictFound, conflict=CONFLICT), "a, b: contradiction: how much was charged"),
    (
        made(
            ConflictJudged,
            conflict=CONFLICT.model_copy(update={"resolution": "43 euro", "why": "b is newer"}),
        ),
        "a, b: taken as right: 43 euro: b is newer",
    ),
    (
        made(ConflictJudged, conflict=CONFLICT.model_copy(update={"why": "no evidence"})),
        "a, b: contradiction left open: no evidence",
    ),
    (
        made(
            ConflictJudged, holds=False, conflict=CONFLICT.model_copy(update={"why": "net, gross"})
        ),
        "a, b: no contradiction: net, gross",
    ),
    (
        made(CritiqueGiven, round=1, verdict="sent_back", points=POINTS),
        "critic, draft 1: sent back: must: it does not say when; should: too long",
    ),
    (made(CritiqueGiven, round=2, verdict="approved"), "critic, draft 2: approved"),
    (
        made(CritiqueGiven, round=1, verdict="skipped", why="no model answered"),
        "critic, draft 1: skipped: no model answered",
    ),
    (made(RunResumed, deadline_s=None, goes_on=("a", "b"), again=("c",)),
     "resumed: continues a, b; does c again"),
    (made(RunResumed, deadline_s=None, goes_on=("a",), prompts_changed=True),
     "resumed with changed prompts: unfinished model calls are made again, finished work is "
     "kept; continues a"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "line"), HAPPENED, ids=lambda value: getattr(value, "type", ""))
def test_what_happens_to_the_run_is_a_line_in_both_views(event: Event, line: str) -> None:
    story = [*planned(task("a"), task("b"), task("c")), event]
    assert lines_of(story)[1:] == [line]
    assert tree_of(story, width=200)[-1] == line


@pytest.mark.parametrize("why", ["a\nb", "a\r\n  b", "a\n\n\tb"])
def test_a_line_of_progress_has_blanks_for_the_line_ends_in_it(why: str) -> None:
    ended = made(TaskCancelled, task_id="a", attempt=1, reason=why)
    assert lines_of([*planned(task("a")), ended])[-1] == "a: cancelled: a b"


@pytest.mark.parametrize("folder", ["a long folder/" * 9, "長い名前" * 5])
def test_a_command_that_is_too_long_for_the_tree_is_printed_above_it_in_one_piece(
    folder: str,
) -> None:
    asked = made(ApprovalRequested, task_id="a", question="which account?")
    command = f"leadhand answer r --home '/{folder}'"  # a wide character fills two cells
    for past, events in (((), [*planned(task("a")), asked]), ([*planned(task("a")), asked], ())):
        file = io.StringIO()
        console = Console(file=file, width=60, force_terminal=True, color_system=None)
        with LiveTree(console, "team t", past=past, how_to_answer=command) as tree:
            for event in events:
                tree(event)
        assert f"  to answer: {command}\n" in file.getvalue()


def test_only_the_latest_of_many_notices_stand_below_the_tree() -> None:
    many = [made(CritiqueGiven, round=number, verdict="approved") for number in range(1, 30)]
    shown = tree_of([*planned(task("a")), *many])
    assert [line for line in shown if "critic" in line] == [
        f"critic, draft {number}: approved" for number in range(26, 30)
    ]


def test_a_question_stands_above_the_tree_until_it_is_answered() -> None:
    """F34: with the command that answers it, and whatever it holds is text."""
    asked = made(ApprovalRequested, task_id="a", question="which\n\x1b[31maccount?")
    story = [*planned(task("a"), task("b")), asked]
    rows = tree_of(story)
    assert rows[1] == "? a waits for a person: which \\x1b[31maccount?"
    assert rows[2] == "  to answer: leadhand answer '2026 a'"
    assert rows[3].startswith("? a")
    assert rows[3].endswith("waits for a person")
    answered = made(ApprovalGiven, task_id="a", verdict="answered", text="the old one", by="ada")
    rows = tree_of([*story, answered])
    assert rows[-1] == "a: answered by ada: the old one"
    assert not any("?" in row for row in rows)
    assert lines_of([*story, answered])[1:] == [
        "? a waits for a person: which \\x1b[31maccount?",
        "a: answered by ada: the old one",
    ]
    running = made(TaskDispatched, task_id="b", attempt=1, worker="worker")
    hint = "  to answer: leadhand answer '2026 a'"
    assert lines_of([*planned(task("a"), task("b")), running, asked])[-1] == hint


def test_a_plan_waits_for_approval_before_there_are_tasks() -> None:
    story = [*planned(task("a"))[:2], made(ApprovalRequested, question="1 task: carry it out?")]
    assert lines_of(story)[0] == "? the plan waits for your approval: 1 task: carry it out?"
    assert tree_of(story)[1] == "? the plan waits for your approval: 1 task: carry it out?"
    refused = made(ApprovalGiven, verdict="refused", text="too dear", by="ada")
    rejected = made(PlanRejected, problems=("a person refused the plan: too dear",))
    assert lines_of([*story, refused, rejected])[1:] == ["plan: refused by ada: too dear"], "once"


def test_a_resumed_run_shows_what_was_done_before_and_asks_again() -> None:
    past = [
        *planned(task("a"), task("b")),
        made(TaskDispatched, task_id="a", attempt=1, worker="worker"),
        made(TaskCompleted, task_id="a", attempt=1, result=Result(output="x")),
        made(ApprovalRequested, task_id="b", question="which account?"),
    ]
    resumed = made(RunResumed, deadline_s=None, goes_on=("b",))
    assert lines_of([resumed], past) == [
        "resumed: continues b",
        "? b waits for a person: which account?",
    ]
    assert lines_of([resumed], past, replied=["b"]) == ["resumed: continues b"]
    rows = tree_of([resumed], past=past)
    assert rows[3].endswith("completed")
    assert rows[-1] == "resumed: continues b"


def test_a_nested_team_stands_below_its_task_while_it_works() -> None:
    ran = Ran(office(law(clause=clause, date=clause)))
    during = until(ran.events, TaskDispatched)
    rows = tree_of(during)
    assert rows[1].startswith("● t1        legal")
    assert [row[:10].rstrip() for row in rows[2:4]] == ["  ● clause", "  ● date"]
    lines = [line.partition(" in ")[0] for line in lines_of(ran.events)]
    assert lines[:2] == ["plan: 1 task for 1 worker", "t1/plan: 2 tasks for 2 workers"]
    # Both run in threads: either may end first.
    assert sorted(lines[2:4]) == ["t1/clause: completed", "t1/date: completed"]
    assert lines[4:] == ["t1: completed"]
