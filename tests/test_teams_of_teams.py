"""Teams as workers, through the real supervisor: one log, one budget, one clock, one way up."""

import asyncio

import pytest

from leadhand import (
    Completed,
    Escalated,
    Failed,
    Handoff,
    Result,
    Supervisor,
    Task,
    Team,
    Worker,
)
from leadhand.contracts.events import (
    Event,
    RunFinished,
    RunStarted,
    TaskCompleted,
    TaskEvent,
    WorkerStuck,
    dump,
    parse,
)
from leadhand.errors import TeamError
from leadhand.state.fold import find_task, fold
from leadhand.testing import VirtualClock
from tests.nested_teams import (
    DESK,
    LEGAL,
    ONCE,
    Ran,
    broken,
    clause,
    hang,
    law,
    office,
    plan,
    workers,
)
from tests.stored import store_of

# One log


def test_a_nested_run_is_written_down_under_the_task_that_it_does() -> None:
    """Seq has no holes, ids are whole ways, and the answer lists the tasks of the top alone."""
    ran = Ran(office(law(reader=clause, writer=clause)), plan(LEGAL, DESK))
    assert ran.answer.status == "complete"
    assert [task.id for task in ran.answer.tasks] == ["t1", "t2"]
    assert isinstance(ran.answer.output, dict)
    assert ran.answer.output["t2"] == "clause found by desk"
    assert "clause found by reader" in str(ran.answer.output["t1"])
    assert "clause found by writer" in str(ran.answer.output["t1"])
    assert sorted(ran.tasks) == ["t1", "t1/reader", "t1/writer", "t2"]
    assert [event.seq for event in ran.events] == [*range(1, len(ran.events) + 1)]
    assert {event.run_id for event in ran.events} == {ran.answer.run_id}
    inside = [event for event in ran.events if event.within]
    assert isinstance(inside[0], RunStarted)
    assert isinstance(inside[-1], RunFinished)
    assert {event.within for event in inside} == {("t1",)}
    assert all(e.task_id.startswith("t1/") for e in inside if isinstance(e, TaskEvent))


def test_the_state_is_the_fold_of_the_log_with_all_that_is_nested_in_it() -> None:
    inner = Team("deep", workers=workers(reader=clause))
    ran = Ran(office(law(Worker("archive", "Old papers", team=inner), writer=clause)))
    kept = store_of(ran.supervisor).events(ran.answer.run_id)
    state = fold(kept)
    assert state == fold(parse(dump(event)) for event in kept) == fold(ran.events)
    within, task = find_task(state, "t1/archive/reader")
    assert within == ("t1", "archive")
    assert task is not None
    assert (task.status, task.id) == ("completed", "reader")
    assert find_task(state, "t1/nobody") == ((), None)


def test_a_second_attempt_begins_its_nested_run_anew() -> None:
    calls: list[str] = []

    def flapping(handoff: Handoff) -> object:
        calls.append(handoff.task_id)
        if len(calls) == 1:
            return Failed(kind="error", message="the file is locked", transient=True)
        return "clause"

    inner = Team("law", workers=workers(reader=flapping), retry=ONCE)
    legal = Worker("legal", "Contract questions", team=inner, fallback="again")
    again = Worker("again", "The same once more", team=inner)
    ran = Ran(Team("office", workers=(legal, again)))
    state = fold(ran.events)
    nested = state.tasks["t1"].nested
    assert (ran.answer.status, len(calls)) == ("complete", 2)
    assert nested is not None
    assert nested.tasks["reader"].attempts == 1, "of the run that was begun last"
    assert sum(isinstance(e, RunStarted) and bool(e.within) for e in ran.events) == 2


# Places, time


@pytest.mark.parametrize("concurrency", [1, 2])
def test_no_team_waits_for_a_place_that_its_own_task_holds(concurrency: int) -> None:
    """Three levels deep; of the tasks that do work, no more than allowed run at once, anywhere."""
    running = 0
    most = 0

    async def busy(handoff: Handoff) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        return "done"

    team = Team("leaf", workers=workers(a=busy, b=busy))
    for level in ("three", "two", "one"):
        inner = (Worker("left", "One half", team=team), Worker("right", "The other", team=team))
        team = Team(level, workers=(*inner, *workers(own=busy)))
    tasks = [Task(id=w, worker=w, intent=f"Do {w}.") for w in ("left", "right", "own")]
    ran = Ran(team, plan(*tasks), concurrency=concurrency, virtual=True)
    assert ran.answer.status == "complete"
    assert most == concurrency
    assert len([id for id in ran.tasks if id.endswith(("/a", "/b", "own"))]) == 8 * 2 + 7


def test_a_team_that_may_do_one_task_at_a_time_does_one() -> None:
    most: list[int] = []
    running: set[str] = set()

    async def busy(handoff: Handoff) -> str:
        running.add(handoff.intent)
        most.append(len(running))
        await asyncio.sleep(0.005)
        running.discard(handoff.intent)
        return "done"

    tasks = [Task(id=f"t{n}", worker="legal", intent=f"Question {n}.") for n in range(4)]
    ran = Ran(office(law(reader=busy), concurrency=1), plan(*tasks), virtual=True)
    assert ran.answer.status == "complete"
    assert max(most) == 1


def test_at_the_runs_deadline_what_a_nested_team_has_found_is_kept() -> None:
    team = office(law(reader=clause, writer=hang), desk=clause)
    ran = Ran(team, plan(LEGAL, DESK), deadline_s=0.5, virtual=True)
    assert ran.took_s < 1.0
    assert ran.answer.status == "partial"
    assert "clause found by reader" in ran.answer.answer
    assert list(ran.gaps) == ["t1/writer"]
    assert "deadline" in ran.gaps["t1/writer"]


def test_a_nested_run_ends_within_the_time_of_its_task() -> None:
    task = LEGAL.model_copy(update={"limits": LEGAL.limits.model_copy(update={"timeout_s": 0.4})})
    ran = Ran(office(law(reader=clause, writer=hang)), plan(task), deadline_s=30.0, virtual=True)
    assert ran.took_s < 1.0
    assert (ran.answer.status, list(ran.gaps)) == ("partial", ["t1/writer"])


def test_a_nested_run_that_found_nothing_in_time_has_timed_out() -> None:
    task = LEGAL.model_copy(update={"limits": LEGAL.limits.model_copy(update={"timeout_s": 0.2})})
    ran = Ran(office(law(writer=hang)), plan(task), deadline_s=30.0, virtual=True)
    assert ran.answer.tasks[0].status == "timed_out"
    assert ran.answer.status == "failed"


async def test_cancelled_it_stops_at_once_and_hands_over_what_there_is() -> None:
    events: list[Event] = []
    team = office(law(reader=clause, writer=hang))
    supervisor = Supervisor(team, deadline_s=None, clock=VirtualClock())

    def stop(event: Event) -> None:
        events.append(event)
        if isinstance(event, TaskCompleted):
            asyncio.get_running_loop().call_soon(supervisor.cancel)

    answer = await supervisor.run(plan=plan(LEGAL), listener=stop)
    names = [task.get_name() for task in asyncio.all_tasks()]
    left = [name for name in names if name.startswith("task:")]
    took_s = asyncio.get_running_loop().time()
    assert took_s < 0.4
    assert left == []
    assert answer.status == "cancelled"
    assert "clause found by reader" in answer.answer
    assert fold(events) == fold(store_of(supervisor).events(answer.run_id))


def test_a_worker_deep_down_that_ignores_its_cancellation_holds_nobody_up() -> None:
    """F38: each level has less time to stop than the one around it, so that all come to an end."""

    async def stubborn(handoff: Handoff) -> str:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    archive = Worker("archive", "Old papers", team=law(reader=clause, mule=stubborn))
    ran = Ran(office(law(archive, writer=clause)), deadline_s=0.5, virtual=True)
    assert ran.took_s < 1.0
    assert "clause found by reader" in ran.answer.answer
    assert "clause found by writer" in ran.answer.answer
    assert list(ran.gaps) == ["t1/archive/mule"]
    (stuck,) = [event for event in ran.events if isinstance(event, WorkerStuck)]
    assert stuck.task_id == "t1/archive/mule"


# What goes up


def test_a_partial_answer_completes_the_task_and_its_gaps_are_the_runs() -> None:
    """A dependant goes on with what there is, and is told that it is not everything."""
    seen: list[Handoff] = []

    def reply(handoff: Handoff) -> str:
        seen.append(handoff)
        return "a letter"

    inner = law(reader=clause, archive=broken)
    legal = Worker("legal", "Contract questions", team=inner)
    team = Team("office", workers=(legal, *workers(desk=reply)), retry=ONCE)
    letter = Task(id="t2", worker="desk", intent="Write the letter.", depends_on=("t1",))
    ran = Ran(team, plan(LEGAL, letter))
    assert [task.status for task in ran.answer.tasks] == ["completed", "completed"]
    assert ran.answer.status == "partial"
    assert list(ran.gaps) == ["t1/archive"]
    assert "burnt down" in ran.gaps["t1/archive"]
    (digest,) = seen[0].context
    assert digest.summary.startswith("Incomplete: archive:")
    assert "clause found by reader" in str(seen[0].inputs["t1"])


def test_a_team_that_failed_leaves_its_partial_result_and_says_what_went_wrong() -> None:
    def half(handoff: Handoff) -> object:
        left = Result(output="half a clause")
        return Failed(kind="tool_error", message="the scanner jammed", partial=left)

    ran = Ran(office(law(reader=half)))
    assert ran.answer.status == "failed"
    assert ran.gaps == {"t1": "reader: the scanner jammed"}
    assert "half a clause" in ran.answer.answer


def test_what_all_of_a_team_hand_back_the_team_hands_back() -> None:
    """The reason goes up as it is, so that the ladder finds someone whose matter it is."""

    def not_mine(handoff: Handoff) -> object:
        return Escalated(reason="out_of_scope", message="ask the desk")

    ran = Ran(office(law(reader=not_mine), fallback="desk"), plan(LEGAL))
    assert ran.answer.tasks[0].status == "escalated" or ran.answer.tasks[0].worker == "desk"
    alone = Ran(Team("office", workers=(Worker("legal", "Contracts", team=law(r=not_mine)),)))
    assert alone.answer.tasks[0].status == "escalated"
    assert alone.gaps["t1"] == "out_of_scope: r: out_of_scope: ask the desk"


def test_a_team_that_is_less_sure_than_it_has_to_be_hands_its_answer_back() -> None:
    def guess(handoff: Handoff) -> object:
        return Completed(result=Result(output="perhaps", confidence=30))

    ran = Ran(office(law(reader=guess), min_confidence=60))
    report = ran.answer.tasks[0]
    assert report.error is not None
    assert "30 %" in report.error
    assert "perhaps" in ran.answer.answer


# What goes down


def test_its_workers_are_shown_what_the_team_was_given() -> None:
    """The results that the task depends on and its references reach every worker of the team."""
    seen: list[Handoff] = []

    def reader(handoff: Handoff) -> str:
        seen.append(handoff)
        return "read"

    task = LEGAL.model_copy(update={"depends_on": ("t2",), "artifacts": ("contract.pdf",)})
    Ran(office(law(reader=reader)), plan(DESK, task))
    (given,) = seen
    assert [digest.task_id for digest in given.context] == ["../t2"]
    assert given.inputs == {"../t2": "clause found by desk"}
    assert given.artifacts == ("contract.pdf",)
    assert given.intent == LEGAL.intent


# Refused at load


def test_a_team_that_contains_itself_is_refused_with_the_way_to_itself() -> None:
    """F13: frozen teams can't be made so by accident, but they can be made so."""
    inner = law(reader=clause)
    outer = office(inner)
    object.__setattr__(inner, "workers", (Worker("boss", "Everything", team=outer),))
    with pytest.raises(TeamError, match=r"contains itself \(office -> law -> office\)"):
        Supervisor(outer)


def test_teams_are_nested_no_deeper_than_the_outermost_allows() -> None:
    """F13"""

    def tower(levels: int, **fields: object) -> Team:
        team = law(reader=clause)
        for level in range(levels, 0, -1):
            worker = Worker("below", "All the rest", team=team)
            team = Team(f"level-{level}", workers=(worker,), **fields)  # pyright: ignore[reportArgumentType]
        return team

    Supervisor(tower(3))
    with pytest.raises(TeamError, match="deeper than 3 levels"):
        Supervisor(tower(4))
    Supervisor(tower(4, max_depth=4))


def test_what_is_wrong_with_a_nested_team_is_wrong_with_the_team() -> None:
    twice = law(*workers(reader=clause), reader=clause)
    idle = Team("idle", workers=(Worker("thinker", "Thinks"),))
    team = Team("office", workers=(*office(twice).workers, Worker("x", "Idles", team=idle)))
    with pytest.raises(TeamError) as refused:
        Supervisor(team)
    said = str(refused.value)
    assert "in team 'law': more than one worker is called 'reader'" in said
    assert "worker 'x/thinker' needs a model, and there is none" in said
