"""Every rung of the failure ladder through the real scheduler, in virtual time."""

from collections.abc import Sequence

import pytest

from leadhand.contracts.events import Event, TaskRefined, TaskSplit, TierRaised
from leadhand.contracts.ladder import JITTER_SHARE
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Limits, Task
from leadhand.contracts.team import Ladder, RetryRules
from leadhand.testing import completed
from tests.engine.ladders import FAILED, crew, types, work
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.engine.scheduling import Script
from tests.plans.samples import task

HALF = Result(output="half", confidence=40)
UNSURE = Escalated(reason="low_confidence", message="two readings", partial=HALF)


def only(events: Sequence[Event], kind: type) -> Event:
    """The one event of a type."""
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


def failing_until(attempt: int, outcome: Outcome = FAILED) -> Script:
    """A script in which that attempt is the first to complete."""
    return lambda handoff: completed() if handoff.attempt >= attempt else outcome


def test_a_failed_task_is_put_in_other_words_and_the_log_has_both() -> None:
    said: list[str] = []

    def script(handoff: Handoff) -> Outcome:
        said.append(handoff.intent)
        return FAILED if len(said) == 1 else completed()

    recorder = work(script, remedies=ScriptedRemedies(intent="Use the table `orders`."))
    assert said == ["work on part a", "Use the table `orders`."]
    refined = only(recorder.log(), TaskRefined)
    assert isinstance(refined, TaskRefined)
    assert (refined.old_intent, refined.new_intent) == (said[0], said[1])
    assert recorder.state.tasks["a"].tried == ("first", "first")


def test_without_a_fallback_a_stronger_model_tries() -> None:
    tiers: list[str | None] = []

    def script(handoff: Handoff) -> Outcome:
        tiers.append(handoff.limits.tier)
        return FAILED if len(tiers) == 1 else completed()

    recorder = work(script, task("a", worker="second"))
    raised = only(recorder.log(), TierRaised)
    assert isinstance(raised, TierRaised)
    assert (raised.old_tier, raised.new_tier, tiers) == ("standard", "strong", [None, "strong"])


def test_nothing_above_the_strongest_model_is_tried() -> None:
    strong = task("a", worker="second").model_copy(update={"limits": Limits(tier="strong")})
    assert work(failing_until(2), strong).state.tasks["a"].attempts == 1


def test_a_transient_failure_is_tried_again_and_nobody_is_asked_for_words() -> None:
    remedies = ScriptedRemedies(intent="Other words.")
    busy = Failed(kind="error", message="busy", transient=True)
    recorder = work(failing_until(3, busy), task("a", worker="second"), remedies=remedies)
    assert recorder.state.tasks["a"].finished_s == pytest.approx(
        3.0, rel=JITTER_SHARE
    )  # 1 s and 2 s
    assert remedies.asked == []


@pytest.mark.parametrize("chosen", ["nobody", "first", None])
def test_a_router_without_a_good_answer_leaves_the_fallback(chosen: str | None) -> None:
    scope = Escalated(reason="out_of_scope", message="not mine")
    recorder = work(failing_until(2, scope), remedies=ScriptedRemedies(worker=chosen))
    assert recorder.state.tasks["a"].tried == ("first", "second")


def test_ambiguous_input_is_refined_with_what_the_supervisor_knows() -> None:
    unclear = Escalated(reason="ambiguous_input", message="which invoice?")
    remedies = ScriptedRemedies(intent="Invoice 7.")
    recorder = work(failing_until(2, unclear), remedies=remedies)
    assert recorder.state.tasks["a"].status == "completed"
    assert remedies.asked == ["refine"]


@pytest.mark.parametrize("person", [None, ScriptedPerson(None), ScriptedPerson(" ")])
def test_ambiguous_input_that_nobody_clears_up_is_given_up_once(
    person: ScriptedPerson | None,
) -> None:
    unclear = Escalated(reason="ambiguous_input", message="which invoice?", partial=HALF)
    recorder = work(failing_until(9, unclear), remedies=ScriptedRemedies(), person=person)
    lost = recorder.state.tasks["a"]
    assert (lost.status, lost.attempts, lost.result) == ("escalated", 1, HALF)
    finals = [event for event in recorder.log() if getattr(event, "final", False)]
    assert len(finals) == 1


@pytest.mark.parametrize(
    ("second", "taken"),
    [
        (Completed(result=Result(output="whole", confidence=90)), "whole"),
        (Completed(result=Result(output="whole", confidence=10)), "half"),
        (Completed(result=Result(output="whole")), "whole"),
        (UNSURE.model_copy(update={"partial": Result(output="x", confidence=60)}), "x"),
        (UNSURE.model_copy(update={"partial": Result(output="x", confidence=40)}), "half"),
        (FAILED, "half"),
    ],
)
def test_of_two_opinions_without_a_judge_the_surer_one_is_taken(
    second: Outcome, taken: str
) -> None:
    def script(handoff: Handoff) -> Outcome:
        return UNSURE if handoff.to_agent == "first" else second

    quick = crew(ladder=Ladder(low_confidence=("second_opinion", "accept")))
    done = work(script, the_team=quick).state.tasks["a"]
    assert done.status == "completed"
    assert done.result is not None
    assert done.result.output == taken
    assert (done.error is None) == (taken == "whole")


def test_a_run_that_ends_while_the_judge_thinks_keeps_the_surer_result() -> None:
    def script(handoff: Handoff) -> Outcome:
        return UNSURE if handoff.to_agent == "first" else completed("whole")

    quick = crew(ladder=Ladder(low_confidence=("second_opinion", "accept")))
    remedies = ScriptedRemedies(verdict=(False, "late"), delay_s=30)
    done = work(script, the_team=quick, remedies=remedies, deadline_s=5).state.tasks["a"]
    assert (done.status, done.result) == ("completed", Result(output="whole"))


def test_a_result_nobody_is_sure_of_is_accepted_with_a_flag() -> None:
    done = work(failing_until(9, UNSURE), task("a", worker="second")).state.tasks["a"]
    assert (done.status, done.attempts) == ("completed", 2)
    assert done.error == "accepted at low confidence: two readings"


def slow(handoff: Handoff) -> Outcome:
    """Says that the whole task `a` is too much, and does every other."""
    if handoff.task_id == "a":
        return Escalated(reason="timeout", message="too much for one", partial=HALF)
    return completed(f"output of {handoff.task_id}")


def test_a_task_that_took_too_long_is_split_and_dependants_get_all_parts() -> None:
    handoffs: dict[str, Handoff] = {}

    def script(handoff: Handoff) -> Outcome:
        handoffs[handoff.task_id] = handoff
        return slow(handoff)

    parts = (task("x", worker="first"), task("y", "x", worker="second"))
    recorder = work(
        script,
        task("z", worker="second"),
        task("a", "z", worker="first"),
        task("b", "a", "z", worker="first"),
        remedies=ScriptedRemedies(parts=parts),
    )
    tasks = recorder.state.tasks
    assert {id: one.status for id, one in tasks.items()} == dict.fromkeys(
        ("z", "b", "a.1", "a.2"), "completed"
    )
    assert tasks["a.2"].task.depends_on == ("z", "a.1")
    assert tasks["b"].task.depends_on == ("a.1", "a.2", "z")
    assert handoffs["b"].inputs == {id: f"output of {id}" for id in ("a.1", "a.2", "z")}
    split = only(recorder.log(), TaskSplit)
    assert isinstance(split, TaskSplit)
    assert split.rewired == ("b",)
    standing = recorder.state.standing_plan
    assert standing is not None
    assert [one.id for one in standing.tasks] == ["z", "b", "a.1", "a.2"]


def test_a_part_has_the_attempts_that_its_whole_left_and_is_split_at_most_once_more() -> None:
    """Depth 2, and three attempts on the way from the whole task to any part."""
    timeout = Escalated(reason="timeout", message="too much for one")
    parts = (task("x", worker="second"), task("y", worker="second"))
    remedies = ScriptedRemedies(parts=parts)
    tasks = work(lambda _: timeout, task("a", worker="second"), remedies=remedies).state.tasks
    assert sorted(tasks) == ["a.1.1", "a.1.2", "a.2.1", "a.2.2"]
    assert {(one.status, one.attempts) for one in tasks.values()} == {("escalated", 1)}
    patient = crew(retry=RetryRules(max_attempts=9))
    tasks = work(
        lambda _: timeout, task("a", worker="second"), the_team=patient, remedies=remedies
    ).state.tasks
    assert {id.count(".") for id in tasks} == {2}


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (task("x", worker="first"),),
        tuple(task(str(n), worker="first") for n in range(9)),
        (task("x", worker="nobody"), task("y", worker="first")),
        (task("x", "y", worker="first"), task("y", "x", worker="first")),
        (task("x", "a", worker="first"), task("y", worker="first")),
    ],
)
def test_parts_that_are_no_plan_are_refused_and_the_next_rung_is_tried(
    parts: tuple[Task, ...],
) -> None:
    """F11"""
    recorder = work(slow, remedies=ScriptedRemedies(parts=parts))
    assert "task_split" not in types(recorder)
    assert "tier_raised" in types(recorder)
    assert recorder.state.tasks["a"].status == "escalated"


def test_a_part_that_fails_skips_what_needs_the_whole() -> None:
    def script(handoff: Handoff) -> Outcome:
        return FAILED if handoff.task_id == "a.2" else slow(handoff)

    parts = (task("x", worker="second"), task("y", worker="second"))
    tasks = work(
        script,
        task("a", worker="second"),
        task("b", "a", worker="first"),
        remedies=ScriptedRemedies(parts=parts),
    ).state.tasks
    assert (tasks["b"].status, tasks["b"].error) == ("skipped", "needs 'a.2', which gave no result")


def test_a_remedy_that_hangs_holds_up_nobody_and_the_next_rung_is_tried() -> None:
    def script(handoff: Handoff) -> Outcome:
        return FAILED if (handoff.task_id, handoff.to_agent) == ("a", "first") else completed()

    tasks = work(
        script,
        task("a", worker="first"),
        task("b", worker="first"),
        task("c", "b", worker="first"),
        remedies=ScriptedRemedies(intent="late", delay_s=10_000),
    ).state.tasks
    assert tasks["c"].finished_s == 0.0
    assert (tasks["a"].tried, tasks["a"].finished_s) == (("first", "second"), 60.0)


def test_the_deadline_ends_a_task_that_waits_for_advice() -> None:
    remedies = ScriptedRemedies(intent="late", delay_s=10_000)
    state = work(failing_until(9), remedies=remedies, deadline_s=5).state
    assert state.tasks["a"].status == "cancelled"
    assert state.tasks["a"].finished_s == 5.0


def test_a_team_may_cut_and_reorder_the_ladder() -> None:
    remedies = ScriptedRemedies(intent="Other words.")
    other = crew(ladder=Ladder(failed=("raise_tier", "fallback")))
    recorder = work(failing_until(9), the_team=other, remedies=remedies)
    assert recorder.state.tasks["a"].tried == ("first", "first", "second")
    assert remedies.asked == []
    cut = crew(ladder=Ladder(failed=()))
    assert work(failing_until(9), the_team=cut).state.tasks["a"].attempts == 1


def test_an_outage_does_not_multiply_calls() -> None:
    """A fifth of the tasks and ten more may be tried again."""
    busy = Failed(kind="error", message="down", transient=True)
    tasks = tuple(task(str(n), worker="second") for n in range(100))
    without_breaker = crew(ladder=Ladder(breaker_failures=1_000))
    state = work(lambda _: busy, *tasks, the_team=without_breaker).state
    assert sum(one.attempts for one in state.tasks.values()) <= 100 + 10 + 20
    assert state.repeated == 30
