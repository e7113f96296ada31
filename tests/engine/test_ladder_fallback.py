"""When a worker's fallback has its turn, through the real scheduler, in virtual time."""

import pytest

from leadhand.contracts.ladder import JITTER_SHARE, Rung
from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome
from leadhand.contracts.team import Ladder, RetryRules, Team, Worker
from leadhand.testing import completed
from tests.engine.ladders import crew, types, work
from tests.engine.scheduling import Script
from tests.plans.samples import task


def by_first(outcome: Outcome) -> Script:
    """A script in which the first worker never completes, and any other does."""
    return lambda handoff: outcome if handoff.to_agent == "first" else completed()


@pytest.mark.parametrize(("attempts", "by"), [(2, 1), (3, 2), (5, 4)])
def test_the_last_attempt_after_transient_failures_is_the_fallbacks(attempts: int, by: int) -> None:
    patient = crew(retry=RetryRules(max_attempts=attempts, backoff_s=(1.0,)))
    down = Failed(kind="error", message="no connection", transient=True)
    done = work(by_first(down), the_team=patient).state.tasks["a"]
    assert (done.status, done.tried) == ("completed", ("first",) * by + ("second",))
    # It is not made to wait for an outage that is not its own.
    assert done.finished_s == pytest.approx(by - 1, rel=JITTER_SHARE)


def test_a_worker_whose_fallback_rests_or_is_not_on_the_ladder_has_all_attempts() -> None:
    """A fallback that can't take over costs its worker no attempt."""
    down = Failed(kind="error", message="no connection", transient=True)
    none = crew(ladder=Ladder(failed=("retry",)))
    assert work(by_first(down), the_team=none).state.tasks["a"].tried == ("first",) * 3
    # The fallback fails at tasks of its own, and its breaker is open by then.
    strict = crew(ladder=Ladder(failed=("retry", "fallback"), breaker_failures=2))
    others = (task("b", worker="second"), task("c", worker="second"))
    tasks = work(lambda _: down, task("a", worker="first"), *others, the_team=strict)
    assert tasks.state.tasks["a"].tried == ("first",) * 3


@pytest.mark.parametrize(
    "outcome",
    [
        Failed(kind="timeout", message="no answer within 5 s"),
        Escalated(reason="timeout", message="too much for one"),
    ],
)
def test_what_is_too_slow_even_for_a_stronger_model_is_the_fallbacks(outcome: Outcome) -> None:
    recorder = work(by_first(outcome))
    assert recorder.state.tasks["a"].status == "completed"
    assert recorder.state.tasks["a"].tried == ("first", "first", "second")
    again = "task_retried" if isinstance(outcome, Failed) else "tier_raised"
    decided = {"task_retried", "tier_raised", "task_reassigned"}
    assert [kind for kind in types(recorder) if kind in decided] == [again, "task_reassigned"]


def test_stronger_models_leave_the_last_attempt_to_the_fallback() -> None:
    three = Team(
        "t",
        workers=(Worker("first", "d", fallback="second", tier="fast"), Worker("second", "d")),
        models={"fast": ("a:tiny",), "standard": ("a:small",), "strong": ("a:large",)},
    )
    slow = Failed(kind="timeout", message="no answer within 5 s")
    done = work(by_first(slow), the_team=three).state.tasks["a"]
    assert (done.status, done.tried) == ("completed", ("first", "first", "second"))


def _by_hand(handoff: Handoff) -> str:
    return handoff.intent


@pytest.mark.parametrize(
    ("fallback", "failed", "status", "tried"),
    [
        (Worker("second", "d", run=_by_hand), Ladder().failed, "completed", ("first", "second")),
        (Worker("second", "d"), Ladder().failed, "failed", ("first",)),
        (Worker("second", "d", run=_by_hand), ("retry",), "failed", ("first",)),
    ],
)
def test_without_budget_a_fallback_that_costs_nothing_is_all_that_is_tried(
    fallback: Worker, failed: tuple[Rung, ...], status: str, tried: tuple[str, ...]
) -> None:
    mixed = Team(
        "t",
        workers=(Worker("first", "d", fallback="second"), fallback),
        models={"standard": ("a:small",), "strong": ("a:large",)},
        ladder=Ladder(failed=failed),
    )
    short = Failed(kind="budget", message="the task's limit of 9 tokens is used up")
    ended = work(by_first(short), the_team=mixed).state.tasks["a"]
    assert (ended.status, ended.tried, ended.retryable) == (status, tried, status == "failed")
