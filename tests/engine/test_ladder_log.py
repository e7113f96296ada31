"""The log of the ladder, whole: what was decided after each attempt, why, and what followed."""

import asyncio
import dataclasses

import pytest

from leadhand.contracts.events import TaskCancelled, TaskEscalated, TaskFailed, TaskReassigned
from leadhand.contracts.outcome import (
    Completed,
    Escalated,
    Failed,
    Handoff,
    Outcome,
    Raised,
    Result,
)
from leadhand.contracts.team import Ladder, RetryRules, Team, Worker
from leadhand.testing import completed
from tests.engine.ladders import FAILED, by_attempt, crew, log, work
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.plans.samples import nothing, task

HALF = Result(output="half", confidence=40)
UNSURE = Escalated(reason="low_confidence", message="two readings", partial=HALF)


def test_a_failure_is_refined_handed_to_the_fallback_and_given_up() -> None:
    remedies = ScriptedRemedies(intent="Use the table `orders`.")
    refined = "first ended with tool_error: its intent is to be refined"
    other = "first ended with tool_error; second is its fallback"
    failed = {"kind": "tool_error", "message": "no table `sales`"}
    recorder = work(lambda _: FAILED, remedies=remedies)
    assert log(recorder) == [
        ("task_dispatched", "a 1", {"worker": "first"}),
        ("task_failed", "a 1", failed | {"final": False, "decision": refined}),
        (
            "task_refined", "a 1",
            {"old_intent": "work on part a", "new_intent": "Use the table `orders`.",
             "reason": refined},
        ),
        ("task_dispatched", "a 2", {"worker": "first"}),
        ("task_failed", "a 2", failed | {"final": False, "decision": other}),
        ("task_reassigned", "a 2", {"worker": "second", "reason": other}),
        ("task_dispatched", "a 3", {"worker": "second"}),
        ("task_failed", "a 3", failed | {"final": True, "decision": "given up after 3 attempts"}),
    ]  # fmt: skip
    assert remedies.about == [("a", FAILED)]


def test_a_doubtful_result_is_raised_judged_and_accepted() -> None:
    remedies = ScriptedRemedies(verdict=(True, "it has the sum"))
    whole = Escalated(reason="low_confidence", message="hm", partial=Result(output="whole"))
    raised = "first ended with low_confidence on tier standard"
    other = "first ended with low_confidence; second tries too"
    unsure = {"reason": "low_confidence", "message": "two readings", "partial": HALF}
    recorder = work(by_attempt(UNSURE, UNSURE, whole), remedies=remedies)
    assert log(recorder) == [
        ("task_dispatched", "a 1", {"worker": "first"}),
        ("task_escalated", "a 1", unsure | {"final": False, "decision": raised}),
        (
            "tier_raised", "a 1",
            {"old_tier": "standard", "new_tier": "strong", "reason": raised},
        ),
        ("task_dispatched", "a 2", {"worker": "first"}),
        ("task_escalated", "a 2", unsure | {"final": False, "decision": other}),
        (
            "task_reassigned", "a 2",
            {"worker": "second", "reason": other, "second_opinion": True},
        ),
        ("task_dispatched", "a 3", {"worker": "second"}),
        (
            "task_escalated", "a 3",
            {"reason": "low_confidence", "message": "hm", "partial": whole.partial,
             "final": False, "decision": "second gave a second opinion"},
        ),
        (
            "opinion_judged", "a 3",
            {"workers": ("first", "second"), "taken": "second", "second": whole.partial,
             "reason": "it has the sum"},
        ),
        (
            "task_completed", "a 3",
            {"result": whole.partial,
             "flag": "accepted at low confidence: second's, as it has the sum"},
        ),
    ]  # fmt: skip
    assert remedies.about == [("a", (HALF, whole.partial))]


def test_where_nobody_can_judge_the_surer_worker_is_believed() -> None:
    surer = UNSURE.model_copy(update={"partial": Result(output="whole", confidence=39)})
    why = "its confidence is higher: 40 against 39 of 100"
    assert log(work(by_attempt(UNSURE, UNSURE, surer)))[-2:] == [
        (
            "opinion_judged", "a 3",
            {"workers": ("first", "second"), "taken": "first", "second": surer.partial,
             "reason": why, "by": "code"},
        ),
        (
            "task_completed", "a 3",
            {"result": HALF, "flag": f"accepted at low confidence: first's, as {why}"},
        ),
    ]  # fmt: skip


def test_the_fallback_of_a_worker_that_fails_gives_the_second_opinion() -> None:
    """The breaker of the second worker opens while the task is in its queue."""

    async def script(handoff: Handoff) -> Outcome:
        if handoff.to_agent == "first":
            return UNSURE
        await asyncio.sleep(1)
        down = Failed(kind="error", message="down", transient=True)
        return down if handoff.to_agent == "second" else completed("whole")

    workers = (
        Worker("first", "d", fallback="second"),
        Worker("second", "d", fallback="third", concurrency=1),
        Worker("third", "d"),
    )
    ladder = Ladder(failed=(), low_confidence=("second_opinion",), breaker_failures=1)
    the_team = Team("t", workers=workers, ladder=ladder, models={"standard": ("a:b",)})
    tasks = task("busy", worker="second"), task("a", worker="first")
    events = work(script, *tasks, the_team=the_team).log()
    assert [
        (event.worker, event.second_opinion)
        for event in events
        if isinstance(event, TaskReassigned)
    ] == [("second", True), ("third", True)]


def test_what_only_one_result_is_left_of_is_accepted_with_a_flag() -> None:
    recorder = work(by_attempt(UNSURE, UNSURE, FAILED))
    why = "accepted at low confidence: second ended with tool_error as a second opinion"
    assert log(recorder)[-2:] == [
        (
            "task_failed", "a 3",
            {"kind": "tool_error", "message": "no table `sales`", "final": False, "decision": why},
        ),
        ("task_completed", "a 3", {"result": HALF, "flag": why}),
    ]  # fmt: skip


def test_what_is_too_much_is_split_and_what_needed_it_waits_for_the_parts() -> None:
    slow = Escalated(reason="timeout", message="too much for one")
    remedies = ScriptedRemedies(parts=[task("x", worker="first"), task("y", "x", worker="second")])
    recorder = work(
        lambda handoff: slow if handoff.task_id == "a" else completed(),
        task("a", worker="first"),
        task("b", "a", worker="second"),
        the_team=crew(ladder=Ladder(timeout=("split",))),
        remedies=remedies,
    )
    why = "first ended with timeout: it is to be split"
    parts = (
        task("a.1", worker="first").model_copy(update={"intent": "work on part x of a"}),
        task("a.2", "a.1", worker="second").model_copy(update={"intent": "work on part y of a"}),
    )
    done = {"result": completed().result}
    assert log(recorder) == [
        ("task_dispatched", "a 1", {"worker": "first"}),
        (
            "task_escalated", "a 1",
            {"reason": "timeout", "message": "too much for one", "final": False, "decision": why},
        ),
        ("task_split", "a 1", {"parts": parts, "rewired": ("b",), "reason": why}),
        ("task_dispatched", "a.1 1", {"worker": "first"}),
        ("task_completed", "a.1 1", done),
        ("task_dispatched", "a.2 1", {"worker": "second"}),
        ("task_completed", "a.2 1", done),
        ("task_dispatched", "b 1", {"worker": "second"}),
        ("task_completed", "b 1", done),
    ]  # fmt: skip
    assert remedies.about == [("a", slow)]


def test_what_is_out_of_scope_goes_to_whoever_is_chosen_and_then_to_nobody() -> None:
    scope = Escalated(reason="out_of_scope", message="not mine", partial=HALF, call="k")
    remedies = ScriptedRemedies(worker="second")
    given = {"reason": "out_of_scope", "message": "not mine", "partial": HALF, "call": "k"}
    why = "first ended with out_of_scope: the router is to choose another worker"
    assert log(work(lambda _: scope, remedies=remedies)) == [
        ("task_dispatched", "a 1", {"worker": "first"}),
        ("task_escalated", "a 1", given | {"final": False, "decision": why}),
        (
            "task_reassigned", "a 1",
            {"worker": "second", "reason": f"{why}; second was chosen"},
        ),
        ("task_dispatched", "a 2", {"worker": "second"}),
        (
            "task_escalated", "a 2",
            given | {
                "final": True,
                "decision": "given up: no rung of the ladder helps against out_of_scope",
            },
        ),
    ]  # fmt: skip
    assert remedies.about == [("a", (scope, ("second",)))]


def test_where_nobody_knows_better_the_failure_is_told_again_without_its_details() -> None:
    raised = Raised(type="ValueError", where="work.py:1", traceback="Traceback ...")
    broken = Failed(
        kind="error", message="boom", transient=True, raised=raised, partial=HALF
    )  # fmt: skip
    solo = Team("t", workers=(Worker("first", "d"),), models={"standard": ("a:b",)})
    rules = Ladder(failed=("refine",))
    recorder = work(
        lambda _: broken,
        the_team=dataclasses.replace(solo, ladder=rules),
        remedies=ScriptedRemedies(),
    )
    given = {"kind": "error", "message": "boom", "transient": True}
    bare = raised.model_copy(update={"traceback": ""})
    assert log(recorder) == [
        ("task_dispatched", "a 1", {"worker": "first"}),
        (
            "task_failed", "a 1",
            given | {"partial": HALF, "raised": raised, "final": False,
                     "decision": "first ended with error: its intent is to be refined"},
        ),
        (
            "task_failed", "a 1",
            given | {"raised": bare, "final": True,
                     "decision": "given up: no rung of the ladder helps against error"},
        ),
    ]  # fmt: skip


def test_a_person_is_told_of_the_task_and_asked_about_it_once() -> None:
    unclear = Escalated(reason="ambiguous_input", message="which invoice?")
    person = ScriptedPerson("the seventh")
    recorder = work(
        by_attempt(unclear, completed()), remedies=ScriptedRemedies(), person=person
    )  # fmt: skip
    assert log(recorder)[1:3] == [
        (
            "task_escalated", "a 1",
            {"reason": "ambiguous_input", "message": "which invoice?", "final": False,
             "decision": "first ended with ambiguous_input: its intent is to be refined"},
        ),
        (
            "task_refined", "a 1",
            {"old_intent": "work on part a",
             "new_intent": "work on part a\n\nA person was asked about this and says: the seventh",
             "reason": "first ended with ambiguous_input: a person is to be asked"},
        ),
    ]  # fmt: skip
    assert person.about == [("put", "a", unclear), ("asked", "a", unclear)]


def test_a_person_who_only_looks_at_plans_is_not_asked_about_tasks() -> None:
    unclear = Escalated(reason="ambiguous_input", message="which invoice?")
    person = ScriptedPerson("the seventh", occasions=frozenset({"plan"}))
    assert work(lambda _: unclear, person=person).state.tasks["a"].status == "escalated"
    assert person.about == []


def test_what_the_deadline_stops_and_what_needs_it_is_told() -> None:
    async def slow(handoff: Handoff) -> Outcome:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return Completed(result=HALF)
        return completed()

    recorder = work(slow, task("a", worker="first"), task("b", "a", worker="first"), deadline_s=4)
    why = "the run's deadline of 4 s was reached"
    assert log(recorder) == [
        ("task_dispatched", "a 1", {"worker": "first"}),
        ("task_cancelled", "b 0", {"reason": why}),
        ("task_cancelled", "a 1", {"reason": why, "partial": HALF}),
    ]
    ended = recorder.log()[-1]
    assert isinstance(ended, TaskCancelled)
    assert ended.worked_s == 4.0


def test_what_needs_a_lost_task_is_skipped_without_an_attempt() -> None:
    lasting = Failed(kind="error", message="no")
    recorder = work(
        lambda _: lasting,
        task("a", worker="first"),
        task("b", "a", worker="first"),
        the_team=crew(ladder=Ladder(failed=())),
    )
    assert log(recorder)[-1] == (
        "task_skipped", "b 0", {"blame": "a", "reason": "needs 'a', which gave no result"},
    )  # fmt: skip


def test_a_breaker_tells_when_it_opens_and_what_is_refused_then() -> None:
    down = Failed(kind="error", message="no\nconnection", transient=True)
    team = Team(
        "t",
        workers=(Worker("first", "d", run=nothing, concurrency=1),),
        retry=RetryRules(max_attempts=1),
        ladder=Ladder(breaker_failures=2, breaker_pause_s=5.0),
    )
    tasks = [task(id, worker="first") for id in "abc"]
    recorder = work(lambda _: down, *tasks, the_team=team)
    why = "2 tasks in a row failed, the last with: no connection"
    assert [one for one in log(recorder) if one[0] != "task_dispatched"][-3:] == [
        (
            "task_failed", "b 1",
            {"kind": "error", "message": "no\nconnection", "transient": True, "final": True,
             "decision": "given up: no rung of the ladder helps against error"},
        ),
        (
            "breaker_opened", "",
            {"worker": "first", "failures": 2, "pause_s": 5.0, "reason": why},
        ),
        (
            "task_failed", "c 0",
            {"kind": "error", "message": f"the breaker of first is open: {why}",
             "transient": True, "final": True,
             "decision": "given up: no attempt is made while the breaker is open"},
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "outcome",
    [
        Failed(
            kind="error",
            message="no",
            partial=Result(output="half"),
            raised=Raised(type="ValueError", where="work.py:1", traceback="Traceback"),
        ),
        Failed(kind="tool_error", message="no", partial=Result(output="half")),
        Escalated(reason="low_confidence", message="?", partial=Result(output="half")),
    ],
)
def test_a_final_event_does_not_repeat_what_the_first_one_about_an_attempt_has(
    outcome: Failed | Escalated,
) -> None:
    ladder = Ladder(failed=("refine",), low_confidence=("refine",))
    recorder = work(
        by_attempt(outcome), the_team=crew(ladder=ladder), remedies=ScriptedRemedies(intent="")
    )
    first, final = (
        event for event in recorder.log() if isinstance(event, TaskFailed | TaskEscalated)
    )
    assert (first.partial, final.partial) == (Result(output="half"), None)
    assert recorder.state.tasks["a"].result == Result(output="half")
    if isinstance(first, TaskFailed) and isinstance(final, TaskFailed) and first.raised is not None:
        assert final.raised == first.raised.model_copy(update={"traceback": ""})
