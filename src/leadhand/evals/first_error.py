"""Finds where a failed trial first went wrong: the task and step, by code from the events. Pure.

In this order: a plan that scored badly; the first step that states what must not be said; the first
step that failed; for a fact that is missing, the synthesis if a result had it, else the first task
that ended without it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from leadhand.contracts import events
from leadhand.evals.answers import missing_facts, text_of
from leadhand.evals.outputs import states
from leadhand.evals.report import FirstError, StepKind
from leadhand.evals.trials import CaseScore, Trial

_OF_PLAN = ("routing.", "plan.")


class LogStep(NamedTuple):
    who: str | None
    kind: StepKind
    text: str
    failed: bool = False
    task_id: str | None = None
    seq: int = 0


def first_error(trial: Trial, scores: Sequence[CaseScore]) -> FirstError | None:
    """None if no score failed."""
    failed = [score for score in scores if score.failed]
    if not failed:
        return None
    steps, answer = [*steps_of(trial)], trial.answer
    plan = next((one for one in failed if one.name.startswith(_OF_PLAN)), None)
    if plan is not None:
        found = next((one for one in steps if one.kind == "plan"), LogStep(None, "plan", ""))
        why = f"{plan.name}: {plan.why}"
    else:
        expected = trial.case.synthesis if trial.work is None else None
        forbidden = expected.forbidden if expected else ()
        said = [one for one in forbidden if states(answer.answer, one)]
        lost = missing_facts(expected, answer) if expected else []
        place, why = first_wrong(steps, said=said, lost=lost)
        why = why or f"{failed[0].name}: {failed[0].why}"
        ends = [one for one in steps if one.kind == "task"]
        wrote = [one for one in steps if one.kind == "synthesis"]
        # A task's only result is the answer's data; the synthesis makes its text.
        of_task = len(ends) == 1 and not failed[0].name.startswith("synthesis.")
        last = [LogStep(None, "synthesis", ""), *(ends if of_task else wrote)][-1]
        found = steps[place] if place is not None else last
    return FirstError(
        task_id=found.task_id,
        worker=found.who if found.task_id is not None else None,
        step=found.kind,
        seq=found.seq,
        run_id=answer.run_id,
        why=why,
    )


def first_wrong(
    steps: Sequence[LogStep], *, said: Sequence[str] = (), lost: Sequence[str] = ()
) -> tuple[int | None, str]:
    """The position of the step that is wrong first, and why; None: the synthesis, or unknown."""
    for place, step in enumerate(steps):
        if claim := next((one for one in said if states(step.text, one)), None):
            return place, f"it states {claim!r:.80}"
    for place, step in enumerate(steps):
        if step.failed:
            return place, step.text[:200]
    for fact in lost:
        words = fact.split(" or ")
        if any(states(step.text, one) for step in steps for one in words):
            return None, f"a result states {fact!r:.80}, and the answer does not"
        ends = [place for place, step in enumerate(steps) if step.kind == "task"]
        if ends:
            return ends[0], f"no result states {fact!r:.80}"
    return None, ""


def steps_of(trial: Trial) -> Iterator[LogStep]:
    workers: dict[str, str] = {}
    for event in trial.own:
        seq = event.seq
        match event:
            case events.PlanRejected(task_id=None):
                yield LogStep("planner", "plan", "; ".join(event.problems), True, seq=seq)
            case events.PlanAccepted() | events.PlanProposed(task_id=None):
                yield LogStep("planner", "plan", "", seq=seq)
            case events.TaskDispatched():
                workers[event.task_id] = event.worker
            case events.ModelCalled(task_id=str(id)) if event.error is not None:
                failed = event.retry_in_s is None
                yield LogStep(workers.get(id), "model", event.error, failed, id, seq)
            case events.ToolCalled():
                text, failed = event.error or event.output, event.error is not None
                yield LogStep(event.worker, "tool", text, failed, event.task_id, seq)
            case events.TaskCompleted(task_id=id):
                text = text_of(event.result)
                doubtful = event.flag or "; ".join(event.result.missing)
                yield LogStep(workers.get(id), "task", text, bool(doubtful), id, seq)
            case events.TaskFailed(task_id=id) | events.TaskEscalated(task_id=id):
                yield LogStep(workers.get(id), "task", event.message, True, id, seq)
            case events.SynthesisStarted():
                yield LogStep("synthesizer", "synthesis", "", seq=seq)
            case _:
                pass
