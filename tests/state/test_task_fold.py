"""What each event about a task changes of its state, and that it changes nothing else."""

from functools import partial

import pytest

from leadhand.contracts.events import (
    BreakerClosed,
    Event,
    ModelCalled,
    OpinionJudged,
    PlanAccepted,
    PlanProposed,
    RunResumed,
    RunStarted,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
    TaskReassigned,
    TaskRefined,
    TaskRetried,
    TaskSkipped,
    TaskSplit,
    TierRaised,
    ToolCalled,
    WorkerStuck,
    nested,
)
from leadhand.contracts.outcome import Escalated, Failed, PlanImpact, Raised, Result, Usage
from leadhand.contracts.task import Limits
from leadhand.state.fold import TaskState, find_task
from tests.plans.samples import plan, task
from tests.state.folding import Run, Told

STARTED = partial(RunStarted, team="t", request="do it", engine="model", deadline_s=60.0)
PROPOSED = partial(PlanProposed, plan=plan(task("a"), task("b", "a"), task("c")), by="planner")
A = partial(TaskDispatched, task_id="a", attempt=1, worker="worker")
HALF = Result(output="half", usage=Usage(model="m", requests=2, input_tokens=5, cost_usd=0.5))
DONE = partial(TaskCompleted, task_id="a", attempt=1, result=HALF)
FAILED = partial(
    TaskFailed, task_id="a", attempt=1, kind="error", message="no", final=False, decision="d"
)
SCOPE = partial(
    TaskEscalated, task_id="a", attempt=1, reason="out_of_scope", message="not mine",
    final=False, decision="d",
)  # fmt: skip
CALLED = partial(
    ModelCalled, role="worker", model="m", task_id="a", attempt=1, duration_s=0.5,
    input_tokens=7, output_tokens=3, cost_usd=0.25,
)  # fmt: skip
USED = Usage(model="m", requests=1, input_tokens=7, output_tokens=3, cost_usd=0.25, duration_s=0.5)


def begun() -> Run:
    """A run whose plan is accepted after 3 s, and whose task `a` starts after 4 s."""
    return Run().told(STARTED, PROPOSED, PlanAccepted, A)


def test_a_task_starts_once_however_often_it_is_tried() -> None:
    run = Run().told(STARTED, PROPOSED, PlanAccepted)
    assert run.tell(A) == {
        "a.status": "running", "a.attempts": 1, "a.tried": ("worker",), "a.dispatched_s": 4.0,
        "a.started_s": 4.0, "dispatched": 1,
    }  # fmt: skip
    late = partial(FAILED, kind="timeout", transient=True, partial=HALF)
    assert run.tell(late) == {
        "a.status": "pending", "a.busy_s": 1.0, "a.worked_s": 1.0, "a.worked_high_s": 1.0,
        "a.path_s": 1.0, "a.error": "no", "a.timeouts": 1, "a.result": HALF, "repeated": 1,
        "a.unresolved": Failed(kind="timeout", message="no", partial=HALF, transient=True),
        "a.usage": HALF.usage, "usage": HALF.usage,
    }  # fmt: skip
    retried = partial(TaskRetried, task_id="a", attempt=1, delay_s=1.5, reason="r")
    assert run.tell(retried) == {"a.unresolved": None, "a.retry_in_s": 1.5, "a.failed_s": 6.0}
    run.tell(partial(WorkerStuck, task_id="c", attempt=1, worker="w", message="it hangs"))
    # It was to wait 1.5 s, and waited 2: what is more than it was to wait is not its own.
    assert run.tell(partial(A, attempt=2)) == {
        "a.status": "running", "a.attempts": 2, "a.tried": ("worker", "worker"),
        "a.dispatched_s": 8.0, "a.path_s": 2.5, "a.retry_in_s": 0.0,
    }  # fmt: skip
    assert run.tell(partial(DONE, attempt=2, flag="hm", worked_s=0.25)) == {
        "a.status": "completed", "a.finished_s": 9.0, "a.error": "hm", "a.busy_s": 2.0,
        "a.worked_s": 1.25, "a.worked_high_s": 1.25, "a.path_s": 2.75,
        "a.usage": HALF.usage.plus(HALF.usage), "usage": HALF.usage.plus(HALF.usage),
    }  # fmt: skip


def test_what_an_attempt_says_that_it_took_counts() -> None:
    assert begun().tell(partial(DONE, worked_s=0.25, worked_high_s=0.5, path_s=0.125)) == {
        "a.status": "completed", "a.finished_s": 5.0, "a.result": HALF, "a.busy_s": 1.0,
        "a.worked_s": 0.25, "a.worked_high_s": 0.5, "a.path_s": 0.125,
        "a.usage": HALF.usage, "usage": HALF.usage,
    }  # fmt: skip


def test_calls_that_were_seen_are_not_counted_once_more() -> None:
    run = begun()
    assert run.tell(CALLED) == {"a.usage": USED, "usage": USED, "a.called": True}
    ended = run.tell(DONE)
    assert "usage" not in ended
    assert "a.usage" not in ended
    # Nor what an attempt used that nobody saw begin, or that ended before.
    assert "usage" not in run.tell(partial(FAILED, task_id="b", partial=HALF))


def test_whoever_commits_something_has_not_crashed() -> None:
    tool = partial(
        ToolCalled, task_id="a", attempt=1, worker="worker", tool="t", arguments="", output="",
        output_chars=0, sha256="", duration_s=0.5,
    )  # fmt: skip
    crashed = partial(RunResumed, deadline_s=None, goes_on=("a",), crashes={"a": 2})
    for alive in (partial(CALLED, response={"parts": []}), tool, DONE, FAILED, SCOPE):
        run = begun().told(crashed)
        assert run.state.tasks["a"].crashes == 2
        assert run.tell(alive)["a.crashes"] == 0
    unkept = begun().told(crashed).tell(CALLED)
    assert "a.crashes" not in unkept, "the next process has to make this call again"
    assert begun().tell(partial(tool, task_id="gone")) == {}


def test_a_result_that_says_that_the_plan_is_off_is_noted() -> None:
    off = Result(output=1, plan_impact=PlanImpact(reason="r"))
    assert begun().tell(partial(DONE, result=off))["impacts"] == ("a",)


@pytest.mark.parametrize(
    ("event", "status", "error", "retryable", "interrupted"),
    [
        (FAILED, "failed", "no", False, False),
        (partial(FAILED, transient=True), "failed", "no", True, False),
        (partial(FAILED, kind="timeout"), "timed_out", "no", False, False),
        (partial(FAILED, kind="budget"), "failed", "no", True, True),
        (SCOPE, "escalated", "out_of_scope: not mine", False, False),
    ],
)
def test_a_task_that_is_given_up_ends_as_its_last_attempt_did(
    event: partial[TaskFailed], status: str, error: str, retryable: bool, interrupted: bool
) -> None:
    run = begun()
    run.tell(partial(event, final=True, attempt=3))
    lost = run.state.tasks["a"]
    assert (lost.status, lost.error, lost.finished_s, lost.attempts) == (status, error, 5.0, 3)
    assert (lost.retryable, lost.interrupted, lost.unresolved) == (retryable, interrupted, None)
    assert (run.state.repeated, lost.timeouts) == (0, 0)


def test_a_failure_is_known_with_its_place_as_long_as_nothing_is_decided() -> None:
    raised = Raised(type="ValueError", where="work.py:3", traceback="...")
    run = begun()
    failed = run.tell(partial(FAILED, raised=raised))
    assert (failed["a.error"], failed["a.where"]) == ("no", "work.py:3")
    assert failed["a.unresolved"] == Failed(kind="error", message="no", raised=raised)
    assert run.state.tasks["a"].why == "no (at work.py:3)"
    final = run.tell(partial(FAILED, raised=raised, final=True))
    assert final == {"a.status": "failed", "a.finished_s": 6.0, "a.unresolved": None}
    handed_back = begun().tell(partial(SCOPE, partial=HALF, call="k"))
    assert handed_back["a.unresolved"] == Escalated(
        reason="out_of_scope", message="not mine", partial=HALF, call="k"
    )
    assert (handed_back["a.error"], "a.timeouts" in handed_back) == ("not mine", False)
    assert "repeated" not in handed_back


def test_what_is_decided_about_an_attempt_changes_the_task() -> None:
    run = begun().told(partial(SCOPE, partial=HALF))
    other = partial(TaskReassigned, task_id="a", attempt=1, worker="other", reason="r")
    assert run.tell(other) == {"a.unresolved": None, "a.worker": "other"}
    assert run.tell(partial(other, worker="third", second_opinion=True)) == {
        "a.worker": "third", "a.first": HALF,
    }  # fmt: skip
    refined = partial(
        TaskRefined, task_id="a", attempt=1, old_intent="", new_intent="sum it", reason="r"
    )
    now = task("a").model_copy(update={"intent": "sum it"})
    assert run.tell(refined) == {"a.task": now, "a.refined": True}
    stronger = partial(
        TierRaised, task_id="a", attempt=1, old_tier="standard", new_tier="strong", reason="r"
    )
    strong = now.model_copy(update={"limits": Limits(tier="strong")})
    assert run.tell(stronger) == {"a.task": strong}


def test_a_second_result_counts_when_both_are_judged() -> None:
    run = begun().told(
        partial(SCOPE, partial=HALF),
        partial(
            TaskReassigned, task_id="a", attempt=1, worker="b", reason="r", second_opinion=True
        ),
        partial(A, attempt=2, worker="b"),
    )
    judged = partial(
        OpinionJudged, task_id="a", attempt=2, workers=("worker", "b"), taken="second",
        second=HALF, reason="r",
    )  # fmt: skip
    twice = HALF.usage.plus(HALF.usage)
    told = run.tell(judged)
    assert told == {"a.opinions": run.state.tasks["a"].opinions, "a.usage": twice, "usage": twice}
    assert "usage" not in run.tell(partial(DONE, attempt=2))


def test_parts_take_the_place_of_a_task() -> None:
    run = begun().told(
        partial(FAILED, final=True, transient=True),
        partial(RunResumed, deadline_s=None, goes_on=("a",)),
        partial(A, attempt=2),
        partial(SCOPE, attempt=2),
        partial(PROPOSED, task_id="a"),
    )
    parts = (task("a.1"), task("a.2", worker="other"))
    split = partial(TaskSplit, task_id="a", attempt=2, parts=parts, rewired=("b",), reason="r")
    changed = run.tell(split)
    part = TaskState(parts[0], "worker", splits=1, attempts_before=1)
    assert run.state.tasks["a.1"] == part
    assert run.state.tasks["a.2"].worker == "other"
    assert {name: value for name, value in changed.items() if name[:2] != "a."} == {
        "tasks": ("b", "c", "a.1", "a.2"), "retired": ("a",), "proposed": None,
        "proposed_for": None, "b.task": task("b", "a.1", "a.2"),
    }  # fmt: skip


def test_tasks_that_end_with_the_run_or_never_start_are_not_errors_of_theirs() -> None:
    run = begun()
    stop = partial(TaskCancelled, task_id="a", attempt=1, reason="the run ended", partial=HALF)
    assert run.tell(stop) == {
        "a.status": "cancelled", "a.finished_s": 5.0, "a.error": "the run ended",
        "a.interrupted": True, "a.result": HALF, "a.busy_s": 1.0, "a.worked_s": 1.0,
        "a.worked_high_s": 1.0, "a.path_s": 1.0,
    }  # fmt: skip
    assert run.tell(partial(stop, partial=None)) == {"a.finished_s": 6.0}
    assert run.tell(partial(stop, task_id="c", partial=None)) == {
        "c.status": "cancelled", "c.finished_s": 7.0, "c.error": "the run ended",
    }  # fmt: skip
    assert run.tell(partial(TaskSkipped, task_id="b", attempt=0, blame="a", reason="needs a")) == {
        "b.status": "skipped", "b.finished_s": 8.0, "b.error": "needs a",
    }  # fmt: skip
    stuck = partial(WorkerStuck, task_id="a", attempt=1, worker="w", message="it hangs")
    assert run.tell(stuck) == {"stuck": ("it hangs",)}
    assert run.tell(partial(stuck, message="so does this")) == {
        "stuck": ("it hangs", "so does this")
    }
    assert run.tell(partial(BreakerClosed, worker="w", reason="r")) == {}


def test_what_a_nested_run_uses_the_task_around_it_has_used() -> None:
    run = begun()
    assert run.tell(STARTED, within="a")["a.called"] is True
    for inner in (PROPOSED, PlanAccepted, A):
        run.tell(inner, within="a")
    assert run.tell(CALLED, within="a") == {
        "a/a.usage": USED, "a/a.called": True, "a/usage": USED, "a.usage": USED, "usage": USED,
    }  # fmt: skip
    first = run.state.tasks["a"].nested
    assert first is not None
    assert find_task(run.state, "a/a") == (("a",), first.tasks["a"])
    assert find_task(run.state, "a/gone") == find_task(run.state, "gone") == ((), None)
    run.tell(STARTED, within="a")
    assert run.state.tasks["a"].nested != first, "a second attempt is a run of its own"


@pytest.mark.parametrize(
    "ended",
    [
        DONE,
        partial(FAILED, partial=HALF),
        partial(SCOPE, partial=HALF),
        partial(
            OpinionJudged, task_id="a", attempt=1, workers=("x", "y"), taken="first", second=HALF,
            reason="r",
        ),
    ],
)  # fmt: skip
def test_what_a_nested_task_says_that_it_used_counts_all_the_way_up(ended: Told) -> None:
    run = begun()
    for inner in (STARTED, PROPOSED, PlanAccepted, A):
        run.tell(inner, within="a")
    changed = run.tell(ended, within="a")
    used = {name: value for name, value in changed.items() if name.endswith("usage")}
    assert used == dict.fromkeys(("a/a.usage", "a/usage", "a.usage", "usage"), HALF.usage)
    run.tell(partial(CALLED, role="planner", task_id=None), within="a")
    assert run.state.usage == run.state.tasks["a"].usage == HALF.usage.plus(USED)


def test_a_nested_second_opinion_counts_once() -> None:
    run = begun()
    other = partial(
        TaskReassigned, task_id="a", attempt=1, worker="b", reason="r", second_opinion=True
    )
    for inner in (STARTED, PROPOSED, PlanAccepted, A, partial(SCOPE, partial=HALF), other, A):
        run.tell(inner, within="a")
    assert "usage" not in run.tell(DONE, within="a")


def test_two_levels_down_it_is_the_same() -> None:
    run = begun()
    for inner in (STARTED, PROPOSED, PlanAccepted, A):
        run.tell(inner, within="a")
    for inner in (STARTED, PROPOSED, PlanAccepted, A, DONE):
        run.tell(partial(nested_in, inner, "a"), within="a")
    assert run.state.usage == run.state.tasks["a"].usage == HALF.usage
    assert find_task(run.state, "a/a/a")[0] == ("a", "a")


def nested_in(inner: Told, task_id: str, **stamp: object) -> Event:
    """The event within the run of that task."""
    return nested(inner(**stamp), task_id)
