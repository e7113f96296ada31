"""What a resumed run takes back, and what it does not forget (F29)."""

import datetime as dt
from dataclasses import dataclass, field, replace

from leadhand import Supervisor
from leadhand.contracts.events import (
    Event,
    PlanAccepted,
    PlanProposed,
    RunResumed,
    TaskCancelled,
    TaskDispatched,
    TaskFailed,
    TaskReassigned,
    dump,
    parse,
)
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team, Worker
from leadhand.engine.recorder import EventStamp, TaskEventStamp
from leadhand.journal import MemoryJournal
from leadhand.run.stored import failed_for_good, is_over, tasks_left
from leadhand.state.fold import RunState, fold
from leadhand.testing import run_virtual
from tests.engine.remedies import ScriptedRemedies
from tests.handles import resumed

PLAN = Plan(goal="see to it", tasks=(Task(id="t1", worker="a", intent="look into the matter"),))


def stamp(seq: int) -> EventStamp:
    """Of the event of that number, a second after the one before."""
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    return {"seq": seq, "at": at, "elapsed_s": float(seq), "run_id": "run"}


def task_stamp(seq: int, *, attempt: int = 1) -> TaskEventStamp:
    """The same, about the one task."""
    return {**stamp(seq), "task_id": "t1", "attempt": attempt}


def begun() -> list[Event]:
    """A run whose one task is under way."""
    return [
        PlanProposed(**stamp(1), plan=PLAN, by="person"),
        PlanAccepted(**stamp(2)),
        TaskDispatched(**task_stamp(3), worker="a"),
    ]


def resumption(seq: int) -> RunResumed:
    """The run goes on with that task."""
    return RunResumed(**stamp(seq), deadline_s=None, goes_on=("t1",))


def after(*events: Event) -> RunState:
    """The state once these have followed."""
    return fold([*begun(), *events])


def test_an_attempt_that_was_interrupted_is_the_next_one_however_often_the_run_is_resumed() -> None:
    """Stopped again before it was its turn, it is still the first attempt that comes."""
    stop = TaskCancelled(**task_stamp(5, attempt=0), reason="a person said so")
    state = after(resumption(4), stop, resumption(6))
    assert (state.tasks["t1"].status, state.tasks["t1"].attempts) == ("pending", 0)
    assert state.tasks["t1"].tried == ()
    again = after(resumption(4), stop, resumption(6), TaskDispatched(**task_stamp(7), worker="a"))
    assert again.tasks["t1"].resumable
    assert tasks_left(again) == ("t1",)


def test_another_worker_does_not_go_on_with_what_one_had_begun() -> None:
    elsewhere = TaskReassigned(**task_stamp(5), worker="b", reason="the breaker of a is open")
    state = after(resumption(4), elsewhere, TaskDispatched(**task_stamp(6), worker="b"))
    assert state.tasks["t1"].attempts == 1
    assert not state.tasks["t1"].resumable


async def _large(handoff: Handoff) -> Outcome:
    """Finds all but the smallest parts too much."""
    if handoff.task_id.count(".") < 2:
        return Escalated(reason="timeout", message="too much for one")
    return Completed(result=Result(output=f"the part {handoff.task_id}"))


async def _hopeless(handoff: Handoff) -> Outcome:
    return Failed(kind="tool_error", message="the tool is broken")


def test_a_skipped_task_never_stands_in_the_way_of_splitting_what_it_needed() -> None:
    """A part of a split task is split again, and the plan that stands has no loose end."""
    team = Team(
        "team",
        workers=(
            Worker("large", "does large work", offline=_large),
            Worker("hopeless", "never does it", run=_hopeless),
        ),
    )
    tasks = (
        Task(id="whole", worker="large", intent="see to the whole matter"),
        Task(id="lost", worker="hopeless", intent="see to the lost matter"),
        Task(id="after", worker="large", intent="see to both", depends_on=("whole", "lost")),
    )
    parts = [Task(id=name, worker="large", intent=f"see to {name}") for name in ("left", "right")]
    supervisor = Supervisor(team, remedies=ScriptedRemedies(parts=parts, delay_s=5.0))
    answer = run_virtual(supervisor.run(plan=Plan(goal="see to it", tasks=tasks), amend=True))
    statuses = {task.id: task.status for task in answer.tasks}
    assert answer.status == "partial"
    assert (statuses.pop("after"), statuses.pop("lost")) == ("skipped", "failed")
    assert {*statuses} == {f"whole.{n}.{m}" for n in (1, 2) for m in (1, 2)}


@dataclass
class Endpoint:
    """What the workers need, and what they were asked."""

    up: bool = False
    broken: bool = False
    asked: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])

    async def work(self, handoff: Handoff) -> Outcome:
        """Done where it can be reached."""
        self.asked.append((handoff.task_id, handoff.to_agent, handoff.attempt))
        if self.broken:
            return Failed(kind="error", message="it is not made for this")
        if not self.up:
            return Failed(kind="error", message="it can't be reached", transient=True)
        return Completed(result=Result(output=f"{handoff.task_id} is done"))


OUTAGE = Plan(
    goal="see to it",
    tasks=(
        Task(id="lost", worker="hopeless", intent="see to the lost matter"),
        Task(id="t1", worker="far", intent="ask the far one about the matter"),
        Task(id="t2", worker="near", intent="see to what it says", depends_on=("t1",)),
        Task(id="t3", worker="near", intent="see to both of them", depends_on=("t1", "lost")),
    ),
)


async def _near(handoff: Handoff) -> str:
    return f"after {sorted(handoff.inputs)}"


def _outage(endpoint: Endpoint, journal: MemoryJournal) -> Supervisor:
    workers = (
        Worker("far", "asks the endpoint", run=endpoint.work, fallback="spare"),
        Worker("spare", "asks it too", run=endpoint.work),
        Worker("near", "needs nobody", run=_near),
        Worker("hopeless", "never does it", run=_hopeless),
    )
    return Supervisor(Team("team", workers=workers), journal=journal)


def test_what_an_outage_kept_from_being_done_is_done_when_the_run_is_resumed() -> None:
    """The plan's worker has all its attempts again, under the next numbers, and its fallback too.

    What failed for good stays as it is, and so does what can't do without that.
    """
    journal, down = MemoryJournal(), Endpoint()
    first = run_virtual(_outage(down, journal).run(plan=OUTAGE, run_id="run"))
    assert first.status == "failed"
    assert down.asked == [("t1", "far", 1), ("t1", "far", 2), ("t1", "spare", 3)]
    state = fold(journal.store.events("run"))
    assert (tasks_left(state), is_over(state), failed_for_good(state)) == (
        ("t1", "t2"),
        False,
        ("lost",),
    )
    down.asked.clear()
    run_virtual(resumed(_outage(down, journal), "run"))
    assert down.asked == [("t1", "far", 4), ("t1", "far", 5), ("t1", "spare", 6)]
    up = Endpoint(up=True)
    last = run_virtual(resumed(_outage(up, journal), "run"))
    assert up.asked == [("t1", "far", 7)]
    assert {task.id: (task.status, task.attempts) for task in last.tasks} == {
        "lost": ("failed", 1), "t1": ("completed", 7), "t2": ("completed", 1), "t3": ("skipped", 0),
    }  # fmt: skip
    state = fold(journal.store.events("run"))
    assert (tasks_left(state), is_over(state), failed_for_good(state)) == ((), True, ("lost",))
    assert run_virtual(resumed(_outage(up, journal), "run")) == last


def test_after_an_outage_a_failure_that_does_not_pass_is_the_last_word() -> None:
    journal = MemoryJournal()
    run_virtual(_outage(Endpoint(), journal).run(plan=OUTAGE, run_id="run"))
    run_virtual(resumed(_outage(Endpoint(broken=True), journal), "run"))
    state = fold(journal.store.events("run"))
    assert state.tasks["t1"].error == "it is not made for this"
    assert (is_over(state), failed_for_good(state)) == (True, ("lost", "t1"))


def test_a_journal_from_before_that_was_written_down_reads_as_a_failure_for_good() -> None:
    event = TaskFailed(**task_stamp(4), kind="error", message="down", final=True, decision="lost")
    old = dump(event).replace('"transient":false,', "")
    assert "transient" not in old
    assert parse(old) == event
    assert tasks_left(after(event)) == ()
    passing = replace(event, transient=True)
    assert parse(dump(passing)) == passing
    assert tasks_left(after(passing)) == ("t1",)
