"""A plan that a person approved is amended and split as they say, and the log has every word."""

import pytest

from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, PlanImpact, Result
from leadhand.contracts.people import Reply, Verdict
from leadhand.contracts.task import Task
from leadhand.contracts.team import Ladder
from leadhand.testing import run_virtual
from tests.engine.ladders import Told, crew, log
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.engine.scheduling import schedule
from tests.plans.samples import plan, task
from tests.recorders import LogRecorder

LOOK, FIX, MORE = task("look"), task("fix", "look"), task("more", "look")
IMPACT = PlanImpact(reason="the books are kept twice")
AMENDED = plan(LOOK, FIX, MORE).model_copy(update={"revision": 2})
QUESTION = (
    "Task look says that the plan no longer fits: the books are kept twice\n"
    "Adds more.\nIs the plan to be amended like this?"
)
PROPOSED: Told = ("plan_proposed", "look", {"plan": AMENDED, "by": "test"})


def run(reply: Reply | None, *revised: Task) -> tuple[LogRecorder, list[tuple[str, str, object]]]:
    """What comes of a revision of an approved plan, and what the person was asked."""

    def script(handoff: Handoff) -> Outcome:
        said = IMPACT if handoff.task_id == "look" else None
        return Completed(result=Result(output=1, plan_impact=said))

    person = ScriptedPerson(None, reply=reply)
    remedies = ScriptedRemedies(revised=revised)
    recorder = run_virtual(
        schedule(plan(LOOK, FIX), script, remedies=remedies, person=person, approved=True)
    )
    assert remedies.about == [("look", ("run", IMPACT))]
    return recorder, person.about


def of_plan(recorder: LogRecorder) -> list[Told]:
    """What happened to the plan."""
    return [one for one in log(recorder) if one[0].startswith("plan_")]


def test_what_the_person_approves_is_done() -> None:
    recorder, asked = run(Reply(verdict="approved"), FIX, MORE)
    assert asked == [("put", QUESTION, None), ("agreed", QUESTION, True)]
    assert of_plan(recorder) == [
        PROPOSED,
        (
            "plan_amended", "look",
            {"reason": IMPACT.reason, "revision": 2, "by": "test", "added": (MORE,)},
        ),
    ]  # fmt: skip
    assert {id: one.status for id, one in recorder.state.tasks.items()} == dict.fromkeys(
        ("look", "fix", "more"), "completed"
    )


def test_the_person_is_told_what_changes_and_of_many_tasks_the_first_ten() -> None:
    many = [task(f"t{n}", "look") for n in range(11)]
    _, asked = run(Reply(verdict="approved"), *many)
    told = "Adds t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 1 more; drops fix."
    assert asked[0][1].splitlines()[1] == told
    changed = FIX.model_copy(update={"intent": "fix both books"})
    _, asked = run(Reply(verdict="approved"), changed, *many[:10])
    told = "Adds t0, t1, t2, t3, t4, t5, t6, t7, t8, t9; changes fix."
    assert asked[0][1].splitlines()[1] == told


def test_what_takes_work_away_is_done_without_a_word() -> None:
    recorder, asked = run(None)
    assert asked == []
    assert of_plan(recorder) == [
        (
            "plan_amended", "look",
            {"reason": IMPACT.reason, "revision": 2, "by": "test", "dropped": ("fix",)},
        ),
    ]  # fmt: skip


def test_a_revision_that_changes_nothing_is_no_new_revision() -> None:
    recorder, _ = run(None, FIX)
    assert of_plan(recorder) == [
        ("plan_amended", "look", {"reason": IMPACT.reason, "revision": 1, "by": "test"})
    ]


@pytest.mark.parametrize(
    ("verdict", "text", "said"),
    [
        ("refused", " not now ", "a person refused the amended plan: not now"),
        ("refused", "", "a person refused the amended plan"),
    ],
)
def test_what_the_person_refuses_is_missing(verdict: Verdict, text: str, said: str) -> None:
    recorder, _ = run(Reply(verdict=verdict, text=text), FIX, MORE)
    missing = f"the plan no longer fits ({IMPACT.reason}); it was not amended: {said}"
    assert of_plan(recorder) == [
        PROPOSED,
        (
            "plan_rejected", "look",
            {"problems": (f"the plan stays as it is: {said}",), "missing": missing},
        ),
    ]  # fmt: skip
    assert sorted(recorder.state.tasks) == ["fix", "look"]


def test_what_no_longer_holds_when_the_person_has_replied_is_refused() -> None:
    """They saw no problem in it; it is looked at once more."""
    bad = AMENDED.model_copy(update={"tasks": (LOOK, FIX, task("x", "gone"))})
    recorder, _ = run(Reply(verdict="approved", plan=bad), FIX, MORE)
    said = (
        "depends on 'gone', which is not in the plan: remove it from `depends_on`, or add a task "
        "with that id; the plan has look, fix"
    )
    assert of_plan(recorder)[1:] == [
        (
            "plan_rejected", "look",
            {"problems": (f"the plan stays as it is: task 'x' {said}",)},
        ),
    ]  # fmt: skip
    assert {one.status for one in recorder.state.tasks.values()} == {"completed"}


# Splits

PARTS = (
    task("big.1", worker="first").model_copy(update={"intent": "work on part x of big"}),
    task("big.2", "big.1", worker="first").model_copy(update={"intent": "work on part y of big"}),
)
SPLIT = plan(*PARTS).model_copy(update={"revision": 2})
SPLIT_QUESTION = (
    "Task big is too much for one attempt. Splits it into 2 tasks.\n"
    "Is the plan to be amended like this?"
)
TOO_MUCH = "first ended with timeout: it is to be split"


def split(reply: Reply) -> list[Told]:
    """What comes of a task that is too much, after its attempt."""

    def script(handoff: Handoff) -> Outcome:
        if handoff.task_id == "big":
            return Escalated(reason="timeout", message="too much for one")
        return Completed(result=Result(output=1))

    person = ScriptedPerson(None, reply=reply)
    recorder = run_virtual(
        schedule(
            plan(task("big", worker="first")),
            script,
            the_team=crew(ladder=Ladder(timeout=("split",))),
            remedies=ScriptedRemedies(
                parts=[task("x", worker="first"), task("y", "x", worker="first")]
            ),
            person=person,
            approved=True,
        )
    )
    assert person.about == [
        ("put", SPLIT_QUESTION, None),
        ("agreed", SPLIT_QUESTION, True),
    ]
    told = log(recorder)
    assert told[2] == ("plan_proposed", "big", {"plan": SPLIT, "by": "test"})
    return told[3:]


def test_a_split_that_the_person_approves_is_done() -> None:
    done = {"result": Result(output=1)}
    assert split(Reply(verdict="approved")) == [
        ("task_split", "big 1", {"parts": PARTS, "rewired": (), "reason": TOO_MUCH}),
        ("task_dispatched", "big.1 1", {"worker": "first"}),
        ("task_completed", "big.1 1", done),
        ("task_dispatched", "big.2 1", {"worker": "first"}),
        ("task_completed", "big.2 1", done),
    ]


def test_a_split_that_the_person_refuses_leaves_the_next_rung() -> None:
    said = "task 'big' is not split: a person refused the amended plan: no"
    assert split(Reply(verdict="refused", text="no")) == [
        ("plan_rejected", "big", {"problems": (said,)}),
        (
            "task_escalated", "big 1",
            {"reason": "timeout", "message": "too much for one", "final": True,
             "decision": "given up: no rung of the ladder helps against timeout"},
        ),
    ]  # fmt: skip
