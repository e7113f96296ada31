"""The breaker of a worker, through the real scheduler, in virtual time."""

import asyncio

from leadhand.breaker import Breaker, pause_due
from leadhand.contracts.event import BreakerClosed, BreakerOpened
from leadhand.contracts.outcome import Failed, Handoff, Outcome
from leadhand.contracts.team import Ladder, RetryRules, Team, Worker
from leadhand.recorder import Recorder
from leadhand.state import fold
from leadhand.testing import completed, run_virtual
from tests.engine.scheduling import schedule
from tests.plans import nothing, plan, task

DOWN = Failed(kind="error", message="down")


def run(*, works_from_s: float, tasks: int = 40, fallback: str | None = "spare") -> Recorder:
    """One task at a time; `main` fails until then, and every attempt takes a second."""
    pair = Team(
        "t",
        workers=(
            Worker("main", "d", run=nothing, fallback=fallback),
            Worker("spare", "d", run=nothing),
        ),
        retry=RetryRules(retry_share=1.0),
    )

    async def script(handoff: Handoff) -> Outcome:
        started_s = asyncio.get_running_loop().time()
        await asyncio.sleep(1)
        works = handoff.to_agent == "spare" or started_s >= works_from_s
        return completed(handoff.to_agent) if works else DOWN

    the_plan = plan(*(task(f"t{n:02}", worker="main") for n in range(tasks)))
    recorder = run_virtual(schedule(the_plan, script, the_team=pair, concurrency=1))
    assert fold(recorder.log()) == recorder.state
    return recorder


def test_after_five_failures_in_a_row_tasks_go_straight_to_the_fallback() -> None:
    recorder = run(works_from_s=10_000, tasks=12)
    state = recorder.state
    assert {one.status for one in state.tasks.values()} == {"completed"}
    assert sum("main" in one.tried for one in state.tasks.values()) == 5
    assert state.breakers["main"].status == "open"
    opened = [event for event in recorder.log() if isinstance(event, BreakerOpened)]
    assert [(event.worker, event.failures) for event in opened] == [("main", 5)]


def test_after_a_pause_that_doubles_one_task_probes_and_a_success_closes() -> None:
    recorder = run(works_from_s=30)
    log = recorder.log()
    opened = [event for event in log if isinstance(event, BreakerOpened)]
    closed = [event for event in log if isinstance(event, BreakerClosed)]
    pauses = [event.pause_s for event in opened]
    assert pauses == [10.0 * 2**n for n in range(len(opened))]
    assert len(opened) >= 2
    assert len(closed) == 1
    assert recorder.state.breakers == {}
    last = recorder.state.tasks["t39"]
    assert (last.tried, last.status) == (("main",), "completed")


def test_without_a_fallback_an_open_breaker_leaves_the_work_where_it_is() -> None:
    state = run(works_from_s=7, tasks=12, fallback=None).state
    assert {one.tried for one in state.tasks.values()} == {("main",)}
    assert [one.status for one in state.tasks.values()].count("completed") == 5


def test_a_failure_that_is_no_probe_does_not_lengthen_the_pause() -> None:
    breaker = Breaker(failures=5)
    ladder = Ladder()
    assert pause_due(breaker, ladder, 0.0) == 10.0
    breaker.open(0.0, 10.0)
    breaker.failed("late")
    assert pause_due(breaker, ladder, 3.0) is None
    breaker.probe = "probe"
    assert breaker.status == "half_open"
    assert not breaker.admits(11.0)
    breaker.failed("late")
    assert pause_due(breaker, ladder, 11.0) is None
    breaker.failed("probe")
    assert pause_due(breaker, ladder, 11.0) == 20.0
