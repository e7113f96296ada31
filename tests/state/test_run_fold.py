"""What each event about a run as a whole changes of its state, and that it changes nothing else."""

from functools import partial

import pytest

from leadhand.contracts.answer import Answer, Conflict
from leadhand.contracts.budget import Budget
from leadhand.contracts.events import (
    ApprovalGiven,
    ApprovalRequested,
    ConflictFound,
    ConflictJudged,
    CritiqueGiven,
    ModelCalled,
    PlanAccepted,
    PlanAmended,
    PlanProposed,
    PlanRejected,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    RunWaiting,
    SynthesisStarted,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
    TaskReassigned,
)
from leadhand.contracts.outcome import PlanImpact, Raised, Result
from leadhand.contracts.people import Reply, Verdict
from leadhand.state.fold import TaskState
from tests.plans.samples import plan, task
from tests.state.folding import Run

PLAN = plan(task("a"), task("b", "a"), task("c"))
STARTED = partial(RunStarted, team="t", request="do it", engine="model", deadline_s=60.0)
PROPOSED = partial(PlanProposed, plan=PLAN, by="planner")
A = partial(TaskDispatched, task_id="a", attempt=1, worker="worker")
B = partial(A, task_id="b")
OFF = Result(output=1, plan_impact=PlanImpact(reason="it fits no more"))
A_DONE = partial(TaskCompleted, task_id="a", attempt=1, result=OFF)
CALLED = partial(ModelCalled, role="planner", model="m", duration_s=1.0, queued_s=0.5)
ANSWER = Answer(
    run_id="r", status="partial", engine="model", team="t", request="do it", answer="done"
)


def planned() -> Run:
    """A run whose plan was accepted after 3 s."""
    return Run().told(STARTED, PROPOSED, PlanAccepted)


def test_a_run_starts_with_what_it_was_given() -> None:
    given = {
        "budget": Budget(usd=1.0),
        "inputs": ("notes.txt",),
        "nonce": "n",
        "models": {"planner": "m"},
        "origin": {"ticket": 7},
        "amend": False,
    }
    assert Run().tell(partial(STARTED, **given)) == {
        "run_id": "r", "team": "t", "request": "do it", "engine": "model",
        "deadline_s": 60.0, "due_s": 60.0, "started_s": 1.0,
        **given,
    }  # fmt: skip


def test_planning_takes_no_time_of_a_person_and_no_waiting_for_rates() -> None:
    run = Run().told(STARTED)
    assert run.tell(CALLED)["calls"] == (1.0, ((0.5, 2.0),))
    by = {"proposed_by": "planner", "planned_by": "planner"}
    assert run.tell(PROPOSED) == {"proposed": PLAN, **by}
    assert run.tell(partial(ApprovalRequested, question="Well?")) == {
        "questions": {None: "Well?"}, "asked_s": 4.0,
    }  # fmt: skip
    run.tell(partial(RunStopped, reason="enough"))
    reply = Reply(verdict="approved", text="yes", plan=PLAN, by="ann")
    said = partial(ApprovalGiven, verdict="approved", text="yes", plan=PLAN, by="ann")
    assert run.tell(said) == {"questions": {}, "reply": reply, "asking_s": 2.0, "due_s": 62.0}
    accepted = run.tell(partial(PlanAccepted, warnings=("b is vague",), approved=True))
    assert {name: value for name, value in accepted.items() if "." not in name} == {
        "plan": PLAN, "problems": ("b is vague",), "phase": "working", "planned_s": 7.0,
        # 6 s, of which 2 s were the person's and 1.5 s one call, which took 1 s.
        "planning_s": 3.5, "calls": (0.0, ()), "approved": True, "reply": None,
        "tasks": ("a", "b", "c"),
    }  # fmt: skip
    assert run.state.tasks == {one.id: TaskState(one, "worker") for one in PLAN.tasks}


def test_what_a_person_says_later_costs_the_run_its_own_time() -> None:
    run = planned()
    assert run.tell(partial(ApprovalRequested, question="More?")) == {
        "questions": {None: "More?"}, "asked_s": 4.0,
    }  # fmt: skip
    assert run.tell(partial(ApprovalGiven, verdict="refused", by="ann")) == {
        "questions": {}, "reply": Reply(verdict="refused", by="ann"),
    }  # fmt: skip
    assert run.tell(partial(ApprovalRequested, question="Now?"))["reply"] is None


def test_a_person_may_take_all_the_time_they_like_where_there_is_no_deadline() -> None:
    run = Run().told(partial(STARTED, deadline_s=None), PROPOSED)
    run.tell(partial(ApprovalRequested, question="Well?"))
    reply = run.tell(partial(ApprovalGiven, verdict="approved", by="ann"))
    assert (reply["asking_s"], run.state.due_s) == (1.0, None)


@pytest.mark.parametrize(("verdict", "allowed"), [("approved", ("k",)), ("answered", None)])
def test_a_call_that_a_person_approves_is_allowed(
    verdict: Verdict, allowed: tuple[str, ...] | None
) -> None:
    unsure = partial(
        TaskEscalated, task_id="a", attempt=1, reason="ambiguous_input", message="may I?",
        call="k", final=False, decision="ask",
    )  # fmt: skip
    run = planned().told(A, unsure)
    ask = partial(ApprovalRequested, task_id="a", question="May it?")
    assert run.tell(ask) == {"questions": {"a": "May it?"}}
    run.tell(partial(ApprovalRequested, question="And the plan?"))
    reply = run.tell(partial(ApprovalGiven, task_id="a", verdict=verdict, by="ann"))
    assert reply.pop("a.reply") == Reply.model_validate(
        {"task_id": "a", "verdict": verdict, "by": "ann"}
    )
    assert reply.pop("questions") == {None: "And the plan?"}
    assert reply == ({"a.allowed": allowed} if allowed else {})
    assert run.tell(ask)["a.reply"] is None


def test_a_first_plan_that_is_rejected_leaves_its_problems() -> None:
    run = Run().told(STARTED, PROPOSED)
    assert run.tell(partial(PlanRejected, problems=("it is empty",))) == {
        "problems": ("it is empty",), "proposed": None,
    }  # fmt: skip


def test_an_amendment_that_is_refused_was_looked_at_and_what_is_missing_stays_known() -> None:
    run = planned().told(A)
    assert run.tell(A_DONE)["impacts"] == ("a",)
    amended = PLAN.model_copy(update={"revision": 2})
    assert run.tell(partial(PROPOSED, plan=amended, task_id="a")) == {
        "proposed": amended, "proposed_for": "a",
    }  # fmt: skip
    run.tell(partial(ApprovalRequested, question="Well?"))
    refused = partial(PlanRejected, problems=("no",), task_id="a", missing="the appendix")
    assert run.tell(refused) == {
        "problems": ("no",), "proposed": None, "proposed_for": None, "revisions": 1,
        "impacts": (), "unamended": {"a": "the appendix"},
    }  # fmt: skip
    assert run.tell(partial(refused, problems=("not that",), task_id="b", missing="more")) == {
        "problems": ("not that",), "unamended": {"a": "the appendix", "b": "more"},
    }  # fmt: skip


def test_an_amendment_changes_what_has_not_started() -> None:
    run = planned().told(A, A_DONE, partial(PROPOSED, task_id="a"))
    elsewhere = task("c", worker="other")
    amended = run.tell(
        partial(
            PlanAmended, task_id="a", reason="r", revision=2, by="planner",
            added=(task("d", "c"),), changed=(elsewhere,), dropped=("b",),
        )
    )  # fmt: skip
    assert {name: value for name, value in amended.items() if name[:2] not in ("b.", "d.")} == {
        "revisions": 1, "impacts": (), "proposed": None, "proposed_for": None,
        "retired": ("b",), "tasks": ("a", "c", "d"), "c.task": elsewhere, "c.worker": "other",
        "plan": PLAN.model_copy(update={"revision": 2}),
    }  # fmt: skip
    assert run.state.tasks["d"] == TaskState(task("d", "c"), "worker")
    standing = run.state.standing_plan
    assert standing is not None
    assert [one.id for one in standing.tasks] == ["a", "c", "d"]


def test_another_amendment_leaves_what_is_proposed_and_seen() -> None:
    run = planned().told(A, A_DONE, partial(PROPOSED, task_id="a"))
    other = partial(PlanAmended, task_id="c", reason="r", revision=1, by="planner")
    assert run.tell(other) == {"revisions": 1}


def test_conflicts_are_those_of_the_last_synthesis() -> None:
    one = Conflict(task_ids=("a", "b"), about="the sum")
    two = one.model_copy(update={"about": "the date"})
    three = one.model_copy(update={"task_ids": ("a", "c")})
    run = planned().told(CALLED)
    assert run.tell(partial(SynthesisStarted, strategy="merge")) == {
        "phase": "synthesizing", "synthesis_started_s": 5.0, "calls": (0.0, ()),
        "worked_s": 1.0, "worked_high_s": 1.0,
    }  # fmt: skip
    for found in (one, two, three):
        run.tell(partial(ConflictFound, conflict=found))
    judged = one.model_copy(update={"resolution": "7"})
    said = partial(ConflictJudged, conflict=judged)
    assert run.tell(said) == {"conflicts": (judged, two, three)}
    assert run.tell(partial(said, holds=False))["conflicts"] == (two, three)
    assert run.tell(partial(CritiqueGiven, round=1, verdict="approved")) == {}
    assert run.tell(partial(SynthesisStarted, strategy="merge"))["conflicts"] == ()


def test_a_run_waits_from_when_it_stopped_for_that_until_it_is_resumed() -> None:
    run = planned()
    assert run.tell(partial(RunWaiting, answer=ANSWER)) == {"waiting": ANSWER}
    assert run.tell(partial(RunResumed, deadline_s=None))["waiting"] is None
    run.tell(partial(RunWaiting, answer=ANSWER))
    assert run.tell(partial(RunFinished, answer=ANSWER))["waiting"] is None


def test_a_run_that_is_finished_asks_nothing_more() -> None:
    run = planned().told(A, A_DONE, partial(PROPOSED, task_id="a"))
    run.tell(partial(ApprovalRequested, question="Well?"))
    assert run.tell(partial(RunFinished, answer=ANSWER)) == {
        "phase": "finished", "finished_s": 8.0, "answer": ANSWER, "questions": {},
        "proposed": None, "proposed_for": None, "asking_s": 1.0,
    }  # fmt: skip
    unplanned = Run().told(STARTED, PROPOSED)
    unplanned.tell(partial(RunFinished, answer=ANSWER))
    assert unplanned.state.proposed == PLAN, "a person may still be asked about it"


# Resuming


def test_a_run_that_was_lost_goes_on_with_what_was_in_flight() -> None:
    run = planned().told(A, partial(RunStopped, reason="enough"))
    budget = Budget(tokens=9)
    resumed = partial(
        RunResumed, deadline_s=10.0, budget=budget, goes_on=("a",), crashes={"a": 2, "gone": 1}
    )
    assert run.tell(resumed) == {
        "resumed_s": 6.0,
        "asked_s": 6.0, "deadline_s": 10.0, "due_s": 16.0, "budget": budget, "stopped": False,
        "a.status": "pending", "a.busy_s": 2.0, "a.worked_high_s": 2.0, "a.resumable": True,
        "a.attempts": 0, "a.tried": (), "a.crashes": 2,
    }  # fmt: skip


def test_what_is_in_flight_and_does_not_go_on_was_interrupted() -> None:
    run = planned().told(A)
    assert run.tell(partial(RunResumed, deadline_s=None)) == {
        "resumed_s": 5.0,
        "asked_s": 5.0, "deadline_s": None, "due_s": None, "a.status": "cancelled", "a.busy_s": 1.0,
        "a.worked_high_s": 1.0, "a.interrupted": True,
    }  # fmt: skip


def test_what_an_outage_ended_is_the_plans_workers_again_with_all_its_attempts() -> None:
    elsewhere = partial(TaskReassigned, task_id="a", attempt=1, worker="spare", reason="r")
    down = partial(
        TaskFailed, task_id="a", attempt=2, kind="error", message="down", transient=True,
        final=True, decision="r", raised=Raised(type="OSError", where="team.py:3"),
    )  # fmt: skip
    run = planned().told(A, elsewhere, partial(A, attempt=2, worker="spare"), down)
    task = run.state.tasks["a"]
    assert (task.retryable, task.why) == (True, "down (at team.py:3)")
    assert run.tell(partial(RunResumed, deadline_s=60.0, goes_on=("a",))) == {
        "resumed_s": 8.0,
        "asked_s": 8.0, "due_s": 68.0, "a.status": "pending", "a.finished_s": None,
        "a.error": None, "a.worker": "worker", "a.uncounted": 2, "a.retryable": False,
    }  # fmt: skip
    assert run.state.tasks["a"].why is None


def test_what_is_done_again_is_as_the_plan_has_it_now() -> None:
    run = planned().told(A, partial(A_DONE, worked_s=0.25, worked_high_s=0.75), B)
    run.told(partial(PlanRejected, problems=("no",), task_id="a", missing="the appendix"))
    run.told(partial(PlanRejected, problems=("no",), task_id="c", missing="the index"))
    run.told(partial(PROPOSED, task_id="a"), partial(ApprovalRequested, question="Well?"))
    run.told(partial(ApprovalRequested, task_id="a", question="What?"))
    run.told(partial(ApprovalRequested, task_id="c", question="Which?"))
    run.tell(partial(RunResumed, deadline_s=60.0, again=("a",)))
    state = run.state
    assert state.tasks["a"] == TaskState(task("a"), "worker")
    assert (state.worked_s, state.worked_high_s) == (0.25, 0.75)
    assert ([*state.questions], state.proposed_for) == (["c"], None)
    assert state.unamended == {"c": "the index"}


def test_a_synthesis_is_begun_anew_and_what_the_last_one_took_counts() -> None:
    synthesis = partial(SynthesisStarted, strategy="merge")
    run = planned().told(synthesis, partial(CALLED, queued_s=0.5))
    assert run.tell(partial(RunResumed, deadline_s=60.0)) == {
        # 2 s, of which 1.5 s were one call, which took 1 s.
        "resumed_s": 6.0,
        "asked_s": 6.0, "due_s": 66.0, "phase": "working", "synthesis_started_s": None,
        "worked_s": 1.5, "worked_high_s": 1.5, "calls": (0.0, ()),
    }  # fmt: skip
    run.told(synthesis, partial(RunFinished, answer=ANSWER), partial(RunStopped, reason="late"))
    assert run.tell(partial(RunResumed, deadline_s=60.0)) == {
        "resumed_s": 10.0,
        "asked_s": 10.0, "due_s": 70.0, "phase": "working", "synthesis_started_s": None,
        "finished_s": None, "answer": None, "worked_s": 2.5, "worked_high_s": 2.5,
        "stopped": False,
    }  # fmt: skip


def test_a_run_without_a_plan_goes_on_planning() -> None:
    run = Run().told(STARTED, partial(RunFinished, answer=ANSWER))
    assert run.tell(partial(RunResumed, deadline_s=60.0)) == {
        "resumed_s": 3.0,
        "asked_s": 3.0, "due_s": 63.0, "phase": "planning", "finished_s": None,
        "answer": None,
    }  # fmt: skip
