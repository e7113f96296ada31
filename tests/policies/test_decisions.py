"""What the ladder decides, at the edges of its rules: how often, how long, and for whom."""

from dataclasses import replace
from typing import Literal

import pytest

from leadhand.contracts.ladder import Retry, Rung
from leadhand.contracts.outcome import Escalated, EscalationReason, Failed, Raised, Result
from leadhand.contracts.team import Ladder, RetryRules
from leadhand.policies import Action, History, Rules, decide
from leadhand.policies.history import FREE_RETRIES
from leadhand.policies.ladder import rungs_before, rungs_for
from leadhand.policies.load_balancing import Substitute, WorkerLoad, substitute
from leadhand.policies.rungs import (
    AcceptResult,
    Fallback,
    GiveUp,
    RaiseTier,
    RefineTask,
    RetryTask,
    SplitTask,
    jitter,
    more_confident,
)

BUSY = Failed(kind="error", message="busy", transient=True)
SLOW = Failed(kind="timeout", message="slow")
RAISED = BUSY.model_copy(update={"raised": Raised(type="ValueError")})


RULES = Rules(ladder=Ladder(failed=("retry",), timeout=("retry",)))
"""A worker may only be retried."""
MODEL = replace(RULES, remedies=True, by_model=frozenset({"w"}))


def decided(outcome: Escalated | Failed, history: History, rules: Rules = RULES) -> Action:
    """What follows at the start of a run."""
    return decide(outcome, history, rules, 0.0)


def made(attempts: int) -> History:
    """After so many attempts of one worker."""
    return History("w", attempts, ("w",) * attempts)


@pytest.mark.parametrize(
    ("attempts", "place", "delay_s"),
    [(1, 0.0, 0.8), (1, 0.5, 1.0), (1, 1.0, 1.2), (2, 0.5, 3.0), (3, 0.5, 3.0)],
)
def test_the_wait_is_that_of_the_attempt_shorter_or_longer_by_a_fifth(
    attempts: int, place: float, delay_s: float
) -> None:
    rules = replace(RULES, retry=RetryRules(max_attempts=9, backoff_s=(1.0, 3.0)))
    why = f"error may be transient: attempt {attempts + 1} follows"
    assert decided(BUSY, replace(made(attempts), jitter=place), rules) == RetryTask(delay_s, why)


def test_where_in_its_range_a_wait_lies_is_the_same_at_every_replay() -> None:
    assert (jitter("run/a/1"), jitter("run/a/2")) == pytest.approx((0.41382, 0.94130), abs=1e-5)


def test_without_a_wait_it_is_tried_again_at_once() -> None:
    rules = replace(RULES, retry=RetryRules(backoff_s=()))
    assert decided(BUSY, made(1), rules) == RetryTask(
        0.0, "error may be transient: attempt 2 follows"
    )


@pytest.mark.parametrize(
    ("own", "tried", "again"),
    [
        (False, ("w",), False),
        (Retry(attempts=2), ("w",), True),
        (Retry(attempts=2), ("w", "w"), False),
        (Retry(attempts=2), ("w", "w", "x", "w"), True),  # in a row
        (Retry(), ("w", "w", "w"), True),
    ],
)
def test_a_worker_says_how_often_it_is_retried(
    own: Retry | Literal[False], tried: tuple[str, ...], again: bool
) -> None:
    history = History("w", len(tried), tried)
    own_rules: dict[str, Retry | Literal[False]] = {"w": own}
    rules = replace(RULES, retry=RetryRules(max_attempts=9), retries=own_rules)
    action = decided(BUSY, history, rules)
    assert isinstance(action, RetryTask) is again


@pytest.mark.parametrize(
    ("now_s", "timeouts", "again"), [(5.0, 0, True), (5.1, 0, False), (0.0, 1, False)]
)
def test_a_timeout_is_retried_once_if_there_is_time_for_all_of_it(
    now_s: float, timeouts: int, again: bool
) -> None:
    history = replace(made(1), timeouts=timeouts, timeout_s=5.0, work_ends_s=10.0)
    action = decide(SLOW, history, RULES, now_s)
    assert (action == RetryTask(0.0, "it took too long: attempt 2 follows")) is again


def test_a_run_tries_again_a_number_of_times_and_for_a_share_of_its_tasks() -> None:
    rules = replace(RULES, retry=RetryRules(retry_share=0.5))
    last = replace(made(1), dispatched=4, repeated=FREE_RETRIES + 1)
    assert isinstance(decided(BUSY, last, rules), RetryTask)
    spent = replace(made(1), dispatched=4, repeated=FREE_RETRIES + 2)
    assert decided(BUSY, spent, rules) == GiveUp(
        f"given up: the run has used all its {FREE_RETRIES + 2} retries"
    )
    # What is handed back is an answer, and costs the run none of these.
    scope = Escalated(reason="out_of_scope", message="not mine")
    assert decided(scope, spent, replace(rules, fallbacks={"w": "x"})) == Fallback(
        "x", "w ended with out_of_scope; x is its fallback"
    )


@pytest.mark.parametrize(
    ("attempts", "most", "why"),
    [
        (3, 3, "given up after 3 attempts"),
        (1, 1, "given up: no rung of the ladder helps against error"),
    ],
)
def test_attempts_come_to_an_end(attempts: int, most: int, why: str) -> None:
    rules = replace(RULES, retry=RetryRules(max_attempts=most))
    assert decided(BUSY, made(attempts), rules) == GiveUp(why)


def test_a_doubtful_result_is_accepted_once_there_are_no_attempts_left() -> None:
    half = Result(output="half", confidence=40)
    unsure = Escalated(reason="low_confidence", message="two readings", partial=half)
    rules = replace(RULES, ladder=Ladder(low_confidence=("retry", "accept")))
    accepted = AcceptResult(half, "accepted at low confidence: two readings")
    assert decided(unsure, made(rules.retry.max_attempts), rules) == accepted


def test_what_raised_is_tried_again_once_before_its_intent_is_refined() -> None:
    model = replace(MODEL, ladder=Ladder(failed=("retry", "refine")))
    refined = RefineTask("w ended with error: its intent is to be refined")
    assert isinstance(decided(RAISED, made(1), model), RetryTask)
    assert decided(RAISED, made(2), model) == refined
    assert isinstance(decided(BUSY, made(2), model), RetryTask), "an outage has no words"
    for history in (
        replace(made(2), refined=True),
        replace(made(2), ruled_out=frozenset({"refine"})),
    ):
        assert isinstance(decided(RAISED, history, model), RetryTask)
    assert isinstance(decided(RAISED, made(2), replace(model, remedies=False)), RetryTask)
    assert isinstance(decided(RAISED, made(2), replace(model, by_model=frozenset())), RetryTask)


def test_the_last_attempt_is_the_fallbacks_where_its_rung_is_still_to_come() -> None:
    given = replace(RULES, fallbacks={"w": "x"}, stronger={("w", "standard"): "strong"})
    orders: tuple[tuple[Rung, ...], ...] = (("retry", "fallback"), ("raise_tier", "fallback"))
    for order in orders:
        rules = replace(given, ladder=Ladder(failed=order))
        assert isinstance(decided(BUSY, made(1), rules), RetryTask | RaiseTier)
        assert isinstance(decided(BUSY, made(2), rules), Fallback)
    passed = replace(given, ladder=Ladder(failed=("fallback", "retry")))
    assert isinstance(decided(BUSY, History("w", 2, ("x", "w")), passed), RetryTask)


def test_what_a_model_hands_back_as_too_much_is_split_two_levels_deep() -> None:
    much = Escalated(reason="timeout", message="too much")
    rules = replace(MODEL, ladder=Ladder(timeout=("split",)))
    assert isinstance(decided(much, replace(made(1), splits=1), rules), SplitTask)
    assert isinstance(decided(much, replace(made(1), splits=2), rules), GiveUp)


LADDER = Ladder(
    failed=("retry", "fallback"), timeout=("split",), out_of_scope=("reassign",),
    ambiguous_input=("refine",), low_confidence=("raise_tier", "accept"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "order"),
    [
        (BUSY, LADDER.failed),
        (SLOW, LADDER.timeout),
        (Failed(kind="budget", message="m"), ("fallback",)),
        ("out_of_scope", LADDER.out_of_scope),
        ("ambiguous_input", LADDER.ambiguous_input),
        ("low_confidence", LADDER.low_confidence),
        ("timeout", LADDER.timeout),
    ],
)
def test_each_outcome_has_its_rungs(
    outcome: Failed | EscalationReason, order: tuple[Rung, ...]
) -> None:
    if isinstance(outcome, str):
        assert rungs_for(Escalated(reason=outcome, message="m"), LADDER) == order
    else:
        assert rungs_for(outcome, LADDER) == order


def test_the_rungs_above_one_are_those_before_it() -> None:
    unsure = Escalated(reason="low_confidence", message="m")
    assert rungs_before("accept", unsure, LADDER) == {"raise_tier"}
    assert (
        rungs_before("raise_tier", unsure, LADDER)
        == rungs_before("retry", unsure, LADDER)
        == frozenset()
    )
    assert rungs_for(Failed(kind="budget", message="m"), Ladder(failed=("retry",))) == ()


EQUAL = "both have the same confidence, 40 of 100:"


@pytest.mark.parametrize(
    ("first", "second", "doubted", "takes", "why"),
    [
        (None, 90, True, False, "the first of two doubtful results"),
        (90, None, False, True, "its worker has no doubts"),
        (40, 41, True, True, "its confidence is higher: 41 against 40 of 100"),
        (41, 40, False, False, "its confidence is higher: 41 against 40 of 100"),
        (40, 40, False, True, f"{EQUAL} the second worker has no doubts"),
        (40, 40, True, False, f"{EQUAL} the first result counts"),
    ],
)
def test_of_two_results_the_surer_ones_counts(
    first: int | None, second: int | None, doubted: bool, takes: bool, why: str
) -> None:
    one, other = (Result(output=1, confidence=sure) for sure in (first, second))
    assert more_confident(one, other, doubted=doubted) == (takes, why)


def test_who_would_be_done_first_takes_the_task() -> None:
    """Its own worker's queue is what is shared, and does not count against it."""
    own = WorkerLoad("own", True, running=1, waiting=9, latency_s=2.0)
    assert substitute(
        own, [WorkerLoad("mate", True, running=1, waiting=1, latency_s=1.0)]
    ) == Substitute("mate", "mate, of the same role as own, is less busy")
    assert substitute(own, [WorkerLoad("mate", True, running=1, waiting=2, latency_s=1.5)]) is None
    # One of whom nothing is known takes as long as the others on average.
    known = [WorkerLoad("slow", True, running=0, latency_s=4.0), WorkerLoad("new", True)]
    assert substitute(own, known) == Substitute("new", "new, of the same role as own, is less busy")
    assert substitute(own, [WorkerLoad("new", True, running=1)]) is None
