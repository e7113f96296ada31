"""Degraded answers look degraded: gaps first, a lower confidence, and the status that says so."""

import re

import pytest

from leadhand.contracts.answer import Gap
from leadhand.run.gaps import confidence_of, with_gaps, without_gaps
from leadhand.state.fold import RunState, TaskState
from leadhand.testing import ScriptedServer
from tests.plans.samples import task
from tests.synthesis.deliberation import ran, rule, script

GAPS = (Gap(task_id="a", why="the file\n\nis gone"), Gap(task_id="b", why="## What was found"))


@pytest.mark.parametrize("text", ["An answer.", "## What was found\n\nIt.", "- `a`: x\n\n# T\n"])
def test_what_is_missing_stands_before_the_text_and_can_be_taken_off_again(text: str) -> None:
    whole = with_gaps(text, GAPS)
    assert whole.startswith("## What is missing\n\n- `a`: the file is gone\n- `b`: ")
    assert whole.endswith(f"\n\n## What was found\n\n{text}")
    assert without_gaps(whole, GAPS) == text


def test_without_gaps_the_text_is_as_it_was_and_without_a_text_there_are_the_gaps() -> None:
    assert with_gaps("An answer.", ()) == without_gaps("An answer.", ()) == "An answer."
    assert with_gaps(" ", GAPS[:1]) == "## What is missing\n\n- `a`: the file is gone"
    assert without_gaps(with_gaps("", GAPS), GAPS) == ""


@pytest.mark.parametrize(
    ("confidence", "done", "left"), [(80, 3, 60), (80, 4, 80), (90, 0, 0), (None, 2, None)]
)
def test_missing_tasks_take_their_share_of_the_confidence(
    confidence: int | None, done: int, left: int | None
) -> None:
    state = RunState()
    for number in range(4):
        known = state.tasks[str(number)] = TaskState(task(str(number)), "worker")
        known.status = "completed" if number < done else "failed"
    assert confidence_of(confidence, state) == left


def test_a_run_that_lost_a_task_is_partial_and_says_so_first(model_server: ScriptedServer) -> None:
    script(model_server, rule("synthesizer", json={"answer": "Forty [t1].", "confidence": 90}))
    answer = ran(model_server, {"ledger": "40", "press": "forty", "archive": None}).answer
    assert (answer.status, answer.confidence) == ("partial", 60)
    gap = "- `t3`: ValueError: there is no such book. It was to: look it up, 3"
    text = re.sub(r" \(at tests/[a-z/]+\.py:\d+\)", "", answer.answer)
    assert text == (f"## What is missing\n\n{gap}\n\n## What was found\n\nForty [t1].")
