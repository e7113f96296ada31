"""What the prompt of a worker's model contains, and what it does not."""

from leadhand.contracts.outcome import Digest
from leadhand.models.prompts import prompt
from leadhand.untrusted.fence import Fence
from leadhand.workers import briefing
from tests.workers.model_runs import handoff, worker

FENCE = Fence("n0nce")


def test_the_workers_own_instructions_come_before_how_everyone_works() -> None:
    told = briefing.instructions(worker())
    assert told == f"You survey buildings.\n\n{prompt('leadhand.workers', 'worker')}"


def test_a_plain_worker_gets_only_its_instructions() -> None:
    assert briefing.instructions(worker(plain=True)) == "You survey buildings."


def test_a_task_without_material_is_its_intent() -> None:
    assert briefing.opening(handoff("Measure it."), FENCE) == "Measure it."


def test_what_ends_the_task_is_said_in_the_supervisors_words() -> None:
    given = handoff("Measure it.", done_when="there is a number")
    assert briefing.opening(given, FENCE) == "Measure it.\n\nDone when: there is a number"


def test_results_and_artifacts_are_data_between_markers() -> None:
    """F14"""
    given = handoff(
        "Measure it.",
        context=(Digest(task_id="a", status="completed", summary="S", excerpt="E"),),
        artifacts=("plan.pdf", "photo.png"),
    )
    shown = briefing.opening(given, FENCE)
    assert shown.startswith(f"Measure it.\n\n{FENCE.explanation}\n\n")
    assert FENCE.around("S\n\nE", source="a") in shown
    assert FENCE.around("plan.pdf\nphoto.png", source="what to work on") in shown


def test_a_summary_that_the_output_repeats_is_shown_once() -> None:
    given = handoff(
        context=(Digest(task_id="a", status="completed", summary="324 m.", excerpt="It is 324 m."),)
    )
    assert FENCE.around("It is 324 m.", source="a") in briefing.opening(given, FENCE)


def test_a_gap_is_named_with_what_there_is_all_the_same() -> None:
    given = handoff(
        context=(Digest(task_id="a", status="timed_out", excerpt="half", why_missing="too slow"),)
    )
    shown = briefing.opening(given, FENCE)
    assert "This task has no complete result (timed_out): too slow\n\nhalf" in shown


def test_dependants_see_what_a_completed_task_did_not_do() -> None:
    given = handoff(
        context=(Digest(task_id="a", status="completed", summary="S", missing=("b.csv was cut",)),)
    )
    assert "S\n\nNot done: b.csv was cut" in briefing.opening(given, FENCE)
