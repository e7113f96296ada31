"""What was in flight at two crashes runs alone, after all that is innocent (F49)."""

import asyncio

from leadhand.contracts.events import RunResumed, TaskDispatched
from leadhand.contracts.outcome import Completed, Failed, Handoff, Outcome, PlanImpact, Result
from leadhand.contracts.team import Team, Worker
from leadhand.engine.recorder import Recorder
from leadhand.engine.scheduler import Scheduler
from leadhand.engine.shared_workers import Quarantine, SharedWorkers, Waiter
from leadhand.testing import ScriptedRunner, completed
from tests.engine.remedies import ScriptedRemedies
from tests.engine.scheduling import Script, schedule
from tests.plans.samples import accepted, nothing, plan, task, team


def lost(recorder: Recorder, *suspects: str) -> Recorder:
    """The run once it has died twice with these tasks, and is resumed."""
    for id in suspects:
        recorder.record(TaskDispatched(**recorder.task_stamp(id, 1), worker="worker"))
    recorder.record(
        RunResumed(
            **recorder.stamp(),
            deadline_s=None,
            goes_on=suspects,
            crashes=dict.fromkeys(suspects, 2),
        )
    )
    return recorder


def taking(seconds: dict[str, float]) -> Script:
    async def work(handoff: Handoff) -> Outcome:
        await asyncio.sleep(seconds.get(handoff.task_id, 1.0))
        return completed()

    return work


def scheduler(recorder: Recorder, script: Script) -> Scheduler:
    return Scheduler(recorder, team(), {"worker": ScriptedRunner(script)}, concurrency=4)


def started(*recorders: Recorder) -> dict[str, float]:
    """When each task began its last attempt, in virtual seconds."""
    tasks = (item for recorder in recorders for item in recorder.state.tasks.items())
    return {id: one.dispatched_s for id, one in tasks}


async def test_suspects_run_one_by_one_and_whatever_is_ready_goes_first() -> None:
    recorder = lost(accepted(plan(task("a"), task("b"), task("c"), task("d", "a"))), "a", "b")
    await scheduler(recorder, taking({})).run()
    assert started(recorder) == {"c": 0.0, "a": 1.0, "d": 2.0, "b": 3.0}
    assert {one.status for one in recorder.state.tasks.values()} == {"completed"}


async def test_suspects_run_unless_a_revision_of_the_plan_drops_them() -> None:
    impact = PlanImpact(reason="something is missing")

    def work(handoff: Handoff) -> Outcome:
        said = impact if handoff.task_id == "look" else None
        return Completed(result=Result(output=1, plan_impact=said))

    recorder = lost(accepted(plan(task("gone"), task("a"), task("look"))), "gone", "a")
    remedies = ScriptedRemedies(revised=(task("a"), task("new")))
    runners = {"worker": ScriptedRunner(work)}
    await Scheduler(recorder, team(), runners, concurrency=4, remedies=remedies).run()
    tasks = recorder.state.tasks
    assert {id: one.status for id, one in tasks.items()} == dict.fromkeys(
        ("a", "look", "new"), "completed"
    )


async def test_a_suspect_runs_alone_among_all_runs_of_the_loop() -> None:
    # It waits for `x` of the other run, and `y` waits for it.
    first = lost(accepted(plan(task("a"))), "a")
    other = accepted(plan(task("x"), task("y", "x")))
    script = taking({"x": 3.0})
    await asyncio.gather(scheduler(other, script).run(), scheduler(first, script).run())
    assert started(*(first, other)) == {"x": 0.0, "a": 3.0, "y": 4.0}


async def test_a_suspect_that_a_stopped_run_never_started_keeps_nobody_waiting() -> None:
    first = lost(accepted(plan(task("a"))), "a")
    other = accepted(plan(task("x"), task("y", "x")))
    script = taking({"x": 3.0})
    await asyncio.gather(
        scheduler(other, script).run(), scheduler(first, script).run(work_ends_s=2.0)
    )
    assert first.state.tasks["a"].status == "cancelled"
    assert started(other) == {"x": 0.0, "y": 3.0}


async def test_a_suspect_whose_worker_another_thread_uses_does_not_keep_quarantine_closed() -> None:
    """`b` becomes ready while `a` waits for `x` to end, and starts in its place."""
    shared_by_threads = Team(
        "t",
        workers=(
            Worker("worker", "d", run=nothing, concurrency=1),
            Worker("spare", "d", run=nothing),
        ),
    )

    async def script(handoff: Handoff) -> Outcome:
        await asyncio.sleep(3.0 if handoff.task_id == "x" else 0.5)
        if handoff.task_id == "b" and handoff.attempt == 1:
            return Failed(kind="error", message="down", transient=True)
        return completed()

    workers = SharedWorkers(shared_by_threads)
    worker = workers.of((), shared_by_threads.workers[0])
    elsewhere = Waiter(asyncio.Event())
    assert worker.take(elsewhere, "elsewhere")
    asyncio.get_running_loop().call_later(9.0, worker.release, elsewhere, 9.0)
    first = lost(accepted(plan(task("a"), task("b", worker="spare"))), "a")
    other = accepted(plan(task("x", worker="spare"), task("y", "x", worker="spare")))
    runners = {name: ScriptedRunner(script) for name in ("worker", "spare")}
    schedulers = (
        Scheduler(recorder, shared_by_threads, runners, concurrency=4, shared_workers=workers)
        for recorder in (other, first)
    )
    await asyncio.gather(*(one.run(work_ends_s=60.0) for one in schedulers))
    assert started(*(first, other)) == {"x": 0.0, "b": 3.0, "y": 3.0, "a": 9.0}


async def test_a_run_that_a_worker_starts_is_not_in_quarantine_with_the_run_around_it() -> None:
    found: list[Quarantine] = []

    def script(handoff: Handoff) -> Outcome:
        found.append(Quarantine.here())
        return completed()

    await schedule(plan(task("a")), script)
    outer, (inner,) = Quarantine.here(), found
    assert inner is not outer
