"""What a follow-up run takes from the run before it, within bounds."""

import json
from collections.abc import Sequence

from leadhand.contracts.task import EarlierResult, EarlierRun
from leadhand.engine.handoffs import beginning, digest
from leadhand.errors import InputError
from leadhand.ports import Journal
from leadhand.run.intake import check_known_id
from leadhand.run.stored import StoredRun, answer_within
from leadhand.state.fold import RunState, TaskState

MAX_RUNS = 5
"""How many runs before it a follow-up knows; of a longer chain, the latest."""
MAX_RESULTS = 100
"""Results of one run."""
MAX_ANSWER_CHARS = 100_000
MAX_OUTPUT_CHARS = 2_000_000
"""All outputs together, as JSON; the latest run has the first claim."""
_TOO_LONG = "its output of {:,} characters is too long to be handed on"


async def runs_before(
    journal: Journal, run_id: str | None, *, limit_s: float | None
) -> tuple[EarlierRun, ...]:
    """The run with that id and those that it follows, the latest first; none without an id.

    Raises `InputError` if there is no such run, or it has no answer yet.
    """
    if run_id is None:
        return ()
    check_known_id(run_id)
    events = await answer_within(limit_s, journal.events(run_id))
    return earlier_runs(StoredRun.of(run_id, events).state)


def earlier_runs(state: RunState) -> tuple[EarlierRun, ...]:
    """A run and those that it follows, the latest first. Raises `InputError` without an answer."""
    answer = state.answer or state.waiting
    if answer is None:
        raise InputError(
            f"run {state.run_id!r} has no answer yet, so no run can follow it: wait for it, or "
            "resume it if it was interrupted"
        )
    results = [_result(task) for task in state.tasks.values()]
    last = EarlierRun(
        run_id=state.run_id,
        team=state.team,
        request=state.request,
        status=answer.status,
        answer=beginning(answer.answer, MAX_ANSWER_CHARS),
        results=tuple(results[:MAX_RESULTS]),
        left_out=max(len(results) - MAX_RESULTS, 0),
    )
    return _within_bounds((last, *state.after)[:MAX_RUNS])


def _result(task: TaskState) -> EarlierResult:
    result, done = task.result, task.status == "completed"
    seen = digest(task)
    return EarlierResult(
        task_id=task.id,
        worker=task.worker,
        intent=task.task.intent,
        status=task.status,
        summary=seen.summary,
        excerpt=seen.excerpt,
        output=result.output if result is not None and done else None,
        missing=seen.missing,
        why=seen.why_missing,
    )


def _within_bounds(runs: Sequence[EarlierRun]) -> tuple[EarlierRun, ...]:
    """The runs, without the outputs that do not fit."""
    left = MAX_OUTPUT_CHARS
    found: list[EarlierRun] = []
    for run in runs:
        results: list[EarlierResult] = []
        for one in run.results:
            size = len(json.dumps(one.output, ensure_ascii=False)) if one.output is not None else 0
            if size > left:
                why = _TOO_LONG.format(size)
                one = one.model_copy(update={"output": None, "why": why})
            else:
                left -= size
            results.append(one)
        found.append(run.model_copy(update={"results": tuple(results)}))
    return tuple(found)
