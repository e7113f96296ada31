"""However planning ends, the tasks that started early end in the answer, or are cancelled aloud."""

import asyncio
from dataclasses import replace

import pytest
from pydantic_ai.tools import Tool

from leadhand import Budget, Handoff, Reply, Supervisor, Worker
from leadhand.contracts.events import (
    ApprovalRequested,
    Event,
    PlanAccepted,
    PlanAmended,
    PlanRejected,
    RunFinished,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskPlanned,
    TaskReassigned,
    TaskRetried,
)
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, PlanImpact, Result
from leadhand.contracts.people import Question
from leadhand.contracts.team import Team
from leadhand.journal import MemoryJournal
from leadhand.state.fold import fold
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Object
from tests.handles import resumed
from tests.run.kinds.kinds import KINDS, REQUEST, endpoint, works
from tests.run.kinds.kinds import team as kind_team
from tests.run.kinds.test_early_start import ask, checked, early, model, seq, task, team, writes
from tests.run.resuming.story import RUN, Stops, kept, told

TASKS = (task("a"), task("b", "a"), task("c"), task("d"))
DEAD: Object = {"match": {"role": "planner"}, "reply": {"misbehave": {"401": None}}}


def test_a_stream_that_breaks_off_is_asked_for_again_and_its_tasks_go_on() -> None:
    by = model(writes(*TASKS, reset_midway=True), writes(*TASKS))
    answer, log = ask(team(by))
    assert (answer.status, len(answer.tasks)) == ("complete", 4)
    assert early(log)[0] == "a"
    assert by.stats().by_role["planner"] == 2
    assert all(one.attempts == 1 for one in answer.tasks)


@pytest.mark.parametrize("template", [False, True])
def test_without_a_whole_plan_what_was_done_is_in_the_answer_or_recorded_as_dropped(
    template: bool,
) -> None:
    by = model(writes(*TASKS, reset_midway=True), DEAD)
    answer, log = ask(team(by, template=template))
    assert early(log)[:1] == ["a"]
    ends = {e.task_id for e in log if isinstance(e, TaskCancelled | TaskCompleted)}
    assert ends >= {e.task_id for e in log if isinstance(e, TaskPlanned)}
    if template:
        assert (answer.status, [one.id for one in answer.tasks]) == ("complete", ["t"])
        return
    assert (answer.status, answer.ended_by) == ("partial", None)
    assert "a by reader" in answer.answer
    assert [gap.task_id for gap in answer.gaps][-1] == "plan"
    assert {one.id for one in answer.tasks} == ends


@pytest.mark.parametrize("trouble", ["deadline", "budget", "stopped"])
def test_a_run_that_ends_while_the_planner_writes_has_an_answer_with_what_there_is(
    trouble: str,
) -> None:
    by = model(writes(*TASKS, *(task(f"more-{n}") for n in range(30))))
    reader = Worker("reader", "Reads", instructions="Read.", tools=["calculate"])
    of = team(by) if trouble != "budget" else team(by, reader)
    journal = MemoryJournal()
    if trouble == "stopped":

        async def stopped() -> object:
            asked = Supervisor(of, journal=journal, clock=VirtualClock())
            running = asyncio.ensure_future(asked.run(REQUEST, run_id=RUN))
            await asyncio.sleep(5)
            await asked.handle(RUN).cancel()
            return await running

        run_virtual(stopped())
    budget = Budget(tokens=5_000) if trouble == "budget" else None
    if trouble != "stopped":
        ask(of, journal=journal, deadline_s=6 if trouble == "deadline" else None, budget=budget)
    log = checked(journal, of)
    ended = log[-1]
    assert isinstance(ended, RunFinished)
    answer = ended.answer
    assert early(log)
    assert answer.status == ("cancelled" if trouble == "stopped" else "partial")
    assert answer.ended_by == ("person" if trouble == "stopped" else trouble)
    assert answer.metrics.makespan_s < 6.5 or trouble == "budget"
    reported = {one.id for one in answer.tasks}
    assert reported >= {e.task_id for e in log if isinstance(e, TaskPlanned)}
    assert any(one.status == "completed" for one in answer.tasks)


def test_a_resumed_run_goes_on_with_what_had_started_and_asks_the_planner_again() -> None:
    of = team(model(writes(*TASKS, times=9)))
    journal = Stops()
    whole, log = ask(of, journal=journal)
    done = next(e.seq for e in log if isinstance(e, TaskCompleted))
    assert done < seq(log, PlanAccepted)
    left = kept(log[:done])
    again = Supervisor(of, journal=left, clock=VirtualClock())
    assert told(run_virtual(resumed(again, RUN))) == told(whole)
    second = checked(left, of)
    assert sum(isinstance(e, TaskCompleted) for e in second) == len(TASKS)
    # Another plan, and a team that no longer starts tasks early: what fits is kept.
    for later in (of, replace(of, early_start=False)):
        other = [task("c"), task("new"), task("a"), task("d", intent="Find figures of lead")]
        left = kept(log[:done])
        changed = replace(later, model=model(writes(*other)).model)
        again = Supervisor(changed, journal=left, clock=VirtualClock())
        answer = run_virtual(resumed(again, RUN))
        assert {one.id: one.status for one in answer.tasks} == dict.fromkeys(
            ["c", "new", "a", "d"], "completed"
        )
        second = checked(left, of)
        assert sum(isinstance(e, TaskCompleted) and e.task_id == "a" for e in second) == 1


def test_a_planner_that_is_asked_again_is_told_what_has_started() -> None:
    of, journal = team(model(writes(*TASKS))), Stops()
    _, log = ask(of, journal=journal)
    done = next(e.seq for e in log if isinstance(e, TaskCompleted))
    for stop in (done, seq(log, PlanAccepted) - 2):
        left, by = kept(log[:stop]), model(writes(*TASKS))
        again = Supervisor(replace(of, model=by.model), journal=left, clock=VirtualClock())
        assert run_virtual(resumed(again, RUN)).status == "complete"
        asked = [str(one["body"]) for one in by.stats().bodies if one["role"] == "planner"]
        # Its recorded answer is taken as it is.
        assert len(asked) == (stop == done)
        assert all('"id":"a"' in one.replace("\\", "") for one in asked)


def test_an_answer_without_a_plan_is_planned_again_when_its_run_is_resumed() -> None:
    by = model(writes(*TASKS, reset_midway=True), {**DEAD, "times": 1}, writes(*TASKS))
    of, journal = team(by), MemoryJournal()
    slow = Worker("reader", "Reads", run=_slow, read_only=True)
    of = team(by, slow)
    first, _ = ask(of, journal=journal, concurrency=1)
    assert first.status == "partial"
    again = Supervisor(of, journal=journal, clock=VirtualClock())
    answer = run_virtual(resumed(again, RUN))
    assert (answer.status, len(answer.tasks)) == ("complete", 4)
    log = checked(journal, of)
    assert sum(isinstance(e, TaskCompleted) for e in log) == 4


async def _slow(handoff: Handoff) -> str:
    await asyncio.sleep(20)
    return handoff.task_id


def test_what_follows_a_failure_is_decided_once_there_is_a_plan() -> None:
    async def fails_once(handoff: Handoff) -> Outcome:
        if handoff.attempt == 1:
            return Failed(kind="error", message="the line was cut", transient=True)
        return Completed(result=Result(output="done"))

    flaky = Worker("reader", "Reads", run=fails_once, read_only=True)
    answer, log = ask(team(model(writes(task("a"), task("b"), task("c"))), flaky))
    assert answer.status == "complete"
    assert seq(log, TaskDispatched, "a") > seq(log, TaskRetried, "a") > seq(log, PlanAccepted)
    assert len(early(log)) == 3


def test_a_resumed_run_decides_what_follows_a_failure_once_and_with_a_plan() -> None:
    async def hands_back(handoff: Handoff) -> Outcome:
        return Escalated(reason="out_of_scope", message="not figures")

    lost = Worker("lost", "Hands back", run=hands_back, read_only=True, fallback="reader")
    tasks = [task("a", worker="lost"), *(task(f"more-{n}") for n in range(5))]
    of = team(model(writes(*tasks, times=2)), lost)
    _, log = ask(of)
    left = kept(log[: seq(log, TaskEscalated, "a")])
    again = Supervisor(of, journal=left, clock=VirtualClock())
    assert run_virtual(resumed(again, RUN)).status == "complete"
    second = checked(left, of)
    (reassigned,) = [event.seq for event in second if isinstance(event, TaskReassigned)]
    assert reassigned > seq(second, PlanAccepted)


def test_a_person_is_asked_about_an_early_task_once_there_is_a_plan() -> None:
    async def unsure(handoff: Handoff) -> Outcome:
        if "tin" in handoff.intent or handoff.attempt > 1:
            return Completed(result=Result(output="done"))
        return Escalated(reason="ambiguous_input", message="Copper or zinc?")

    async def replies(question: Question) -> Reply:
        return Reply(verdict="answered", text="tin")

    reader = Worker("reader", "Reads", run=unsure, read_only=True)
    of = team(model(writes(task("a"), task("b"))), reader)
    answer, log = ask(of, approve=["escalation"], person=replies)
    assert answer.status == "complete"
    asked = [event.seq for event in log if event.type == "approval_requested"]
    assert min(asked) > seq(log, PlanAccepted)


def test_a_result_changes_the_plan_only_once_there_is_one() -> None:
    async def surprised(handoff: Handoff) -> Outcome:
        impact = PlanImpact(reason="tin matters too") if handoff.task_id == "a" else None
        return Completed(result=Result(output=handoff.task_id, plan_impact=impact))

    reader = Worker("reader", "Reads", run=surprised, read_only=True)
    revised: Object = {
        "match": {"contains": "Started or ended"},
        "reply": {"json": {"tasks": [task("w", "a", worker="writer"), task("tin")]}},
    }
    plan = writes(task("a"), task("w", "a", worker="writer"), task("b"))
    answer, log = ask(team(model(revised, plan), reader))
    assert answer.status == "complete"
    assert seq(log, PlanAmended) > seq(log, PlanAccepted) > seq(log, TaskCompleted, "a")
    assert "tin" in [one.id for one in answer.tasks]


def test_a_nested_team_starts_early_as_a_worker_and_within_itself() -> None:
    inner = replace(team(model(writes(task("x"), task("y")))), name="inner")
    nested = Worker("reader", "Reads", team=replace(inner, workers=inner.workers[:1]))
    answer, log = ask(team(model(writes(task("a"), task("b"))), nested))
    assert answer.status == "complete"
    assert early(log)[:1] == ["a"]
    inside = [event for event in log if event.within == ("a",)]
    assert early(inside)[:1] == ["a/x"]


def test_of_a_recursive_plan_tasks_start_early_at_each_level_and_subplans_do_not() -> None:
    kind = next(one for one in KINDS if one.name == "recursive early start")
    _, log = ask(kind_team(kind, endpoint(kind).model, run=works))
    planned = [(event.within, event.task_id) for event in log if isinstance(event, TaskPlanned)]
    assert planned == [((), "n"), (("m",), "m/x"), (("m",), "m/y")]
    nested = fold(log).tasks["m"].nested
    assert nested is not None
    assert (nested.tasks["x"].planned_s or 0.0) < nested.planning_s - 0.5  # y was written meanwhile


def test_the_planner_is_told_what_is_wrong_though_tasks_have_started() -> None:
    wrong, right = (*TASKS, task("e", "nowhere")), (*TASKS, task("e"))
    by = model(writes(*wrong), writes(*right))
    answer, log = ask(team(by))
    assert (answer.status, len(answer.tasks)) == ("complete", 5)
    assert sum(isinstance(event, PlanRejected) for event in log) == 1
    assert all(one.attempts == 1 for one in answer.tasks)


def test_a_team_without_a_model_plans_as_before() -> None:
    of = Team("t", workers=[Worker("reader", "Reads", run=_slow)], early_start=True)
    answer, log = ask(of)
    assert (answer.status, early(log)) == ("complete", [])


def test_a_call_that_needs_an_approval_is_put_to_a_person_once_there_is_a_plan() -> None:
    def demolish(building: str) -> str:
        """Takes a building down."""
        return f"{building} is down"

    async def approve(question: Question) -> Reply:
        return Reply(verdict="approved")

    reader = Worker(
        "reader",
        "Demolishes",
        instructions="Demolish.",
        tools=[Tool(demolish, requires_approval=True)],
        read_only=True,
    )
    call: Object = {"name": "demolish", "arguments": {"building": "tower"}}
    tool: Object = {"match": {"role": "worker", "step": 1}, "reply": {"tool_calls": [call]}}
    # The second plan does not have `gone`, whose call nobody is asked about.
    unsound, sound = [task("a"), task("gone"), task("x", "nowhere")], [task("a"), task("b")]
    by = model(tool, writes(*unsound), writes(*sound))
    log: list[Event] = []
    supervisor = Supervisor(
        team(by, reader), approve=["escalation"], person=approve, clock=VirtualClock()
    )
    answer = run_virtual(supervisor.run(REQUEST, listener=log.append))
    assert answer.status == "complete", answer.answer
    asked = [event for event in log if isinstance(event, ApprovalRequested)]
    assert sorted(str(event.task_id) for event in asked) == ["a", "b"]
    assert min(event.seq for event in asked) > seq(log, PlanAccepted)
    assert "gone" in {event.task_id for event in log if isinstance(event, TaskCancelled)}
