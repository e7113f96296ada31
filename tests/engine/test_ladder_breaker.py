"""The breaker of a worker, through the real scheduler, in virtual time."""

import asyncio

import pytest

from leadhand.contracts.events import BreakerClosed, BreakerOpened, TaskDispatched
from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome
from leadhand.contracts.team import Ladder, RetryRules, Team, Worker
from leadhand.policies.breaker import Breaker
from leadhand.state.fold import fold
from leadhand.testing import completed, run_virtual
from tests.engine.scheduling import schedule
from tests.plans.samples import nothing, plan, task
from tests.recorders import LogRecorder

DOWN = Failed(kind="error", message="down", transient=True)
WRONG = Failed(kind="error", message="malformed input")


def run(
    *,
    works_from_s: float,
    tasks: int = 40,
    fallback: str | None = "spare",
    outcome: Outcome = DOWN,
    max_attempts: int = 2,
) -> LogRecorder:
    """One task at a time; `main` fails until then, and every attempt takes a second."""
    pair = Team(
        "t",
        workers=(
            Worker("main", "d", run=nothing, fallback=fallback),
            Worker("spare", "d", run=nothing),
        ),
        retry=RetryRules(retry_share=1.0, max_attempts=max_attempts),
    )

    async def script(handoff: Handoff) -> Outcome:
        started_s = asyncio.get_running_loop().time()
        await asyncio.sleep(1)
        works = handoff.to_agent == "spare" or started_s >= works_from_s
        return completed(handoff.to_agent) if works else outcome

    the_plan = plan(*(task(f"t{n:02}", worker="main") for n in range(tasks)))
    recorder = run_virtual(schedule(the_plan, script, the_team=pair, concurrency=1))
    assert fold(recorder.log()) == recorder.state
    return recorder


def test_after_a_pause_that_doubles_one_task_probes_and_a_success_closes() -> None:
    recorder = run(works_from_s=30)
    log = recorder.log()
    opened = [event for event in log if isinstance(event, BreakerOpened)]
    closed = [event for event in log if isinstance(event, BreakerClosed)]
    pauses = [event.pause_s for event in opened]
    assert pauses == [10.0 * 2**n for n in range(len(opened))]
    assert len(opened) >= 2
    assert len(closed) == 1
    last = recorder.state.tasks["t39"]
    assert (last.tried, last.status) == (("main",), "completed")


def attempts(recorder: LogRecorder) -> list[str]:
    """The worker of every attempt."""
    return [event.worker for event in recorder.log() if isinstance(event, TaskDispatched)]


def test_a_task_that_fails_again_and_again_counts_once() -> None:
    recorder = run(works_from_s=10_000, tasks=4, fallback=None, max_attempts=3)
    assert len(attempts(recorder)) == 12
    assert not [event for event in recorder.log() if isinstance(event, BreakerOpened)]


def test_a_retry_is_the_first_probe_and_the_others_wait_for_it() -> None:
    """What made many tasks fail in one moment is often gone in the next."""
    team = Team("t", workers=(Worker("main", "d", run=nothing),))

    async def script(handoff: Handoff) -> Outcome:
        await asyncio.sleep(0.1)
        return DOWN if handoff.attempt == 1 else completed()

    the_plan = plan(*(task(f"t{n}", worker="main") for n in range(8)))
    recorder = run_virtual(schedule(the_plan, script, the_team=team))
    assert {(one.status, one.attempts) for one in recorder.state.tasks.values()} == {
        ("completed", 2)
    }
    kinds = [type(event) for event in recorder.log()]
    assert (kinds.count(BreakerOpened), kinds.count(BreakerClosed)) == (1, 1)


def test_retries_are_refused_where_the_first_of_them_failed_too() -> None:
    team = Team("t", workers=(Worker("main", "d", run=nothing),))
    the_plan = plan(*(task(f"t{n}", worker="main") for n in range(8)))
    recorder = run_virtual(schedule(the_plan, lambda _: DOWN, the_team=team))
    assert {one.status for one in recorder.state.tasks.values()} == {"failed"}
    assert len(attempts(recorder)) == 8 + 1, "one of the retries, as the probe"


@pytest.mark.parametrize("outcome", [WRONG, Escalated(reason="out_of_scope", message="not mine")])
def test_permanent_failures_and_escalations_do_not_count(outcome: Outcome) -> None:
    recorder = run(works_from_s=10_000, tasks=12, fallback=None, outcome=outcome)
    assert attempts(recorder) == ["main"] * 12


def test_a_few_malformed_inputs_between_failures_neither_count_nor_excuse() -> None:
    outcomes = iter([DOWN, WRONG, DOWN, WRONG, DOWN, DOWN, WRONG, DOWN, DOWN])
    team = Team("t", workers=(Worker("main", "d", run=nothing),), retry=RetryRules(max_attempts=1))
    the_plan = plan(*(task(f"t{n}", worker="main") for n in range(9)))
    recorder = run_virtual(
        schedule(the_plan, lambda _: next(outcomes), the_team=team, concurrency=1)
    )
    assert len(attempts(recorder)) == 8, "five of these count"


def test_both_breakers_open_is_a_failure_that_names_both() -> None:
    team = Team(
        "t",
        workers=(
            Worker("main", "d", run=nothing, fallback="spare"),
            Worker("spare", "d", run=nothing),
        ),
        retry=RetryRules(max_attempts=2, retry_share=1.0),
    )
    the_plan = plan(*(task(f"t{n}", worker="main") for n in range(12)))
    recorder = run_virtual(schedule(the_plan, lambda _: DOWN, the_team=team, concurrency=1))
    made = attempts(recorder)
    assert (made.count("main"), made.count("spare")) == (5, 6), "with one begun task as a probe"
    error = recorder.state.tasks["t11"].error
    assert error is not None
    assert error.endswith("; so is that of its fallback spare")


def test_a_probe_that_is_stopped_leaves_the_place_to_another() -> None:
    ladder = Ladder(breaker_failures=1)
    breaker = Breaker()
    assert breaker.failed("a", "down", ladder, 0.0)
    assert breaker.pause_s == 10.0
    assert (breaker.status, breaker.admits(9.9), breaker.admits(10.0)) == ("open", False, True)
    breaker.dispatched("probe")
    assert (breaker.status, breaker.admits(11.0)) == ("half_open", False)
    assert not breaker.failed("late", "down", ladder, 11.0)
    breaker.released("probe")
    assert breaker.admits(11.0)
    breaker.dispatched("second")
    assert breaker.failed("second", "down", ladder, 12.0)
    assert breaker.pause_s == 20.0
    assert not breaker.admits(31.0, retry=True), "only the first pause is cut short by a retry"
    breaker.dispatched("third")
    assert breaker.succeeded()
    assert (breaker.status, breaker.failures) == ("closed", 0)


def test_each_failed_probe_doubles_the_pause_six_times_at_most() -> None:
    breaker, pauses = Breaker(), list[float]()
    for number in range(9):
        breaker.dispatched(f"t{number}")
        assert breaker.failed(f"t{number}", "x " * 400, Ladder(breaker_failures=1), 7.0)
        pauses.append(breaker.pause_s)
    assert pauses == [10, 20, 40, 80, 160, 320, 640, 640, 640]
    assert (breaker.failures, breaker.openings, breaker.pause_ends_s) == (9, 9, 647.0)
    assert breaker.reason == f"9 tasks in a row failed, the last with: {'x ' * 150}"


def test_only_the_first_pause_is_cut_short_by_a_retry() -> None:
    breaker, ladder = Breaker(), Ladder(breaker_failures=2)
    assert (breaker.status, breaker.admits(0.0), breaker.succeeded()) == ("closed", True, False)
    assert not breaker.failed("a", "down", ladder, 0.0)
    assert not breaker.failed("a", "down", ladder, 0.0), "each task counts once"
    assert breaker.failed("b", "down", ladder, 0.0)
    assert breaker.pause_s == 10.0
    assert breaker.admits(1.0, retry=True)
    breaker.dispatched("probe")
    breaker.dispatched("late")
    assert (breaker.probe, breaker.admits(99.0, retry=True)) == ("probe", False)
    breaker.released("late")
    assert breaker.probe == "probe"
    assert breaker.succeeded()
    assert not breaker.failed("a", "down", ladder, 2.0), "a success forgets what was counted"
