"""Teams as workers: the request that they get, and the outcome of their run for the outer run."""

import pytest

from leadhand.contracts.answer import Answer, EndedBy, Gap, Source, Status
from leadhand.contracts.outcome import Completed, Digest, Escalated, Failed, Result
from leadhand.contracts.task import Batch
from leadhand.state.fold import RunState, TaskState
from leadhand.workers.nested import MAX_SUMMARY, nested_outcome, request_of_task
from tests.plans.samples import task
from tests.workers.worker_samples import make_handoff

HANDOFF = make_handoff("Say whether it can be cancelled.")


def ended(
    status: Status,
    *,
    text: str = "Yes, it can.",
    gaps: tuple[Gap, ...] = (),
    ended_by: EndedBy | None = None,
    tasks: tuple[TaskState, ...] = (),
    confidence: int | None = 80,
) -> RunState:
    """A nested run that has ended."""
    answer = Answer(
        run_id="run",
        status=status,
        ended_by=ended_by,
        engine="deterministic",
        team="law",
        request="Can it?",
        answer=text,
        confidence=confidence,
        gaps=gaps,
        sources=(Source(task_id="a", ref="p. 3"), Source(task_id="a", ref="p. 3")),
    )
    return RunState(team="law", answer=answer, tasks={one.task.id: one for one in tasks})


def lost(id: str, status: str, error: str, result: Result | None = None) -> TaskState:
    state = TaskState(task(id), "worker", attempts=1, error=error, result=result)
    state.status = status  # pyright: ignore[reportAttributeAccessIssue]
    return state


def test_the_intent_alone_is_what_a_team_is_asked() -> None:
    """F14: what others found is counted, not shown; its planner sees nothing untrusted."""
    given = HANDOFF.model_copy(
        update={
            "context": (Digest(task_id="x", status="completed", summary="plan differently"),),
            "artifacts": ("a.pdf", "b.pdf"),
            "done_when": "There is a date.",
        }
    )
    asked = request_of_task(given)
    assert asked.text == "Say whether it can be cancelled.\n\nDone when: There is a date."
    assert asked.batches == {"inputs": [Batch(("a.pdf", "b.pdf"))]}
    assert asked.inputs == "1 result of another task and 2 references, which every worker is shown"
    assert request_of_task(HANDOFF).inputs == ""


def test_a_complete_answer_is_a_result_with_its_sources_as_evidence() -> None:
    outcome = nested_outcome(ended("complete"))
    assert isinstance(outcome, Completed)
    result = outcome.result
    assert (result.output, result.summary) == ("Yes, it can.", "Yes, it can.")
    assert (result.confidence, result.evidence) == (80, ("a: p. 3",))


def test_a_long_answer_is_summed_up_by_its_beginning() -> None:
    outcome = nested_outcome(ended("complete", text="word " * 500))
    assert isinstance(outcome, Completed)
    assert len(outcome.result.summary) < MAX_SUMMARY + 60
    assert outcome.result.summary.endswith("[cut: 2,499 characters in all]")


def test_a_partial_answer_says_first_that_it_is_incomplete() -> None:
    gaps = tuple(Gap(task_id=f"g{n}", why="burnt") for n in range(7))
    outcome = nested_outcome(ended("partial", gaps=gaps))
    assert isinstance(outcome, Completed)
    assert outcome.result.summary.startswith("Incomplete: g0: burnt; g1: burnt;")
    assert "; and 2 more" in outcome.result.summary


@pytest.mark.parametrize(
    ("ended_by", "kind"),
    [(None, "error"), ("deadline", "timeout"), ("budget", "budget"), ("person", "cancelled")],
)
def test_a_failure_says_what_ended_it_and_keeps_what_was_found(
    ended_by: EndedBy | None, kind: str
) -> None:
    found = lost("a", "failed", "jammed", Result(output="half"))
    gaps = (Gap(task_id="a", why="jammed"),)
    outcome = nested_outcome(ended("failed", gaps=gaps, ended_by=ended_by, tasks=(found,)))
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.message) == (kind, "a: jammed")
    assert outcome.partial is not None
    nothing = nested_outcome(ended("failed", gaps=gaps, tasks=(lost("a", "failed", "jammed"),)))
    assert isinstance(nothing, Failed)
    assert nothing.partial is None


def test_only_where_all_hand_back_does_the_team() -> None:
    back = lost("a", "escalated", "out_of_scope: ask the desk")
    outcome = nested_outcome(ended("failed", tasks=(back,)))
    assert isinstance(outcome, Escalated)
    assert outcome.reason == "out_of_scope"
    mixed = nested_outcome(ended("failed", tasks=(back, lost("b", "failed", "jammed"))))
    assert isinstance(mixed, Failed)


def test_a_team_that_is_not_sure_enough_escalates() -> None:
    outcome = nested_outcome(ended("complete", confidence=40), min_confidence=60)
    assert isinstance(outcome, Escalated)
    assert (outcome.reason, outcome.partial is not None) == ("low_confidence", True)
    assert isinstance(
        nested_outcome(ended("complete", confidence=None), min_confidence=60), Completed
    )


def test_a_run_that_came_to_no_end_is_a_failure() -> None:
    assert isinstance(nested_outcome(RunState(team="law")), Failed)
