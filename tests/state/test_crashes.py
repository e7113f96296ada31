"""How many times in a row the process died with a task in flight, nested tasks too (F49)."""

from functools import partial

from leadhand.contracts.events import (
    PlanAccepted,
    PlanProposed,
    RunResumed,
    RunStarted,
    RunStopped,
    TaskCompleted,
    TaskDispatched,
)
from leadhand.contracts.outcome import Result
from leadhand.contracts.team import Team, Worker
from leadhand.state.run_state import crashes, known_crashes
from tests.plans.samples import nothing, plan, task
from tests.state.folding import Run

STARTED = partial(RunStarted, team="t", request="do it", engine="model", deadline_s=None)
INNER = Team("inner", workers=(Worker("worker", "d", run=nothing),))
TEAM = Team("t", workers=(Worker("worker", "d", run=nothing), Worker("legal", "d", team=INNER)))


def proposed(*workers: tuple[str, str]) -> partial[PlanProposed]:
    tasks = (task(id, worker=worker) for id, worker in workers)
    return partial(PlanProposed, plan=plan(*tasks), by="planner")


def dispatched(id: str, worker: str = "worker") -> partial[TaskDispatched]:
    return partial(TaskDispatched, task_id=id, attempt=1, worker=worker)


def in_flight() -> Run:
    """A run with a task of its own and one of a nested team in flight, resumed once before."""
    run = Run().told(
        STARTED,
        proposed(("a", "worker"), ("law", "legal"), ("idle", "worker"), ("gone", "other")),
        PlanAccepted,
        *(dispatched("a"), dispatched("law", "legal"), dispatched("gone", "other")),
    )
    inner = (proposed(("x", "worker"), ("y", "worker"), ("z", "worker")), PlanAccepted)
    for told in (STARTED, *inner, dispatched("x"), dispatched("y")):
        run.tell(told, within="law")
    counted = {"a": 1, "law/y": 1, "law/z": 2}
    run.tell(partial(RunResumed, deadline_s=None, goes_on=("a", "law", "gone"), crashes=counted))
    run.told(dispatched("a"), dispatched("law", "legal"), dispatched("gone", "other"))
    run.tell(partial(RunResumed, deadline_s=None, goes_on=("x", "y")), within="law")
    for told in (dispatched("x"), dispatched("y")):
        run.tell(told, within="law")
    return run


def test_what_was_in_flight_when_the_process_died_has_crashed_once_more() -> None:
    state = in_flight().state
    assert known_crashes(state) == {"a": 1, "law/y": 1, "law/z": 2}
    assert crashes(state, TEAM) == {"a": 2, "law/x": 1, "law/y": 2, "law/z": 2, "gone": 1}


def test_a_run_that_was_told_to_stop_did_not_die() -> None:
    run = in_flight().told(partial(RunStopped, reason="enough"))
    assert crashes(run.state, TEAM) == known_crashes(run.state)


def test_a_task_two_levels_deep_is_still_suspect_when_the_runs_around_it_are_resumed() -> None:
    run = Run().told(STARTED, proposed(("law", "legal")), PlanAccepted, dispatched("law", "legal"))
    for told in (STARTED, proposed(("x", "legal")), PlanAccepted, dispatched("x", "legal")):
        run.tell(told, within="law")
    for told in (STARTED, proposed(("bad", "worker")), PlanAccepted, dispatched("bad")):
        run.tell(told, within="law/x")
    run.tell(partial(RunResumed, deadline_s=None, goes_on=("law",), crashes={"law/x/bad": 2}))
    within = run.state.tasks["law"].nested
    assert within is not None
    assert known_crashes(within) == {"x/bad": 2}, "what the nested run is told when it is resumed"


def test_what_a_nested_team_has_ended_counts_no_more() -> None:
    run = in_flight()
    run.tell(partial(TaskCompleted, task_id="law", attempt=1, result=Result(output=1)))
    assert known_crashes(run.state) == {"a": 1}
