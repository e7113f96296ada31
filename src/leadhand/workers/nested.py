"""A team as a worker: its request, and its run's outcome. The `TeamRunner` runs the team."""

import dataclasses
from collections.abc import Iterator
from typing import cast, get_args

from pydantic_core import to_json

from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import (
    Escalated,
    EscalationReason,
    Failed,
    FailureKind,
    Handoff,
    Outcome,
    Result,
)
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Batch, Limits, PlanRequest
from leadhand.contracts.team import Team, Worker
from leadhand.engine.handoffs import beginning
from leadhand.errors import BudgetUsedUp, LeadhandError, ModelError, PlanError
from leadhand.models.prompts import joined
from leadhand.ports import TeamRunner
from leadhand.state.fold import RunState
from leadhand.tools.text import counted
from leadhand.workers.wrappers import completed_or_escalated

MAX_SUMMARY = 500
_MAX_GAPS = 5


class NestedWorker:
    def __init__(self, worker: Worker, team: Team, teams: TeamRunner) -> None:
        self._worker = worker
        self._team = team
        self._teams = teams

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task. If it is cancelled, it returns the results so far."""
        try:
            ended = await self._teams.run_team(limited(self._team, handoff.limits), handoff)
        except PlanError as error:
            return Failed(kind="invalid_output", message=f"team {self._team.name!r}: {error}")
        except BudgetUsedUp as error:
            return Failed(kind="budget", message=str(error))
        except ModelError as error:
            return Failed(kind="error", message=str(error), transient=error.transient)
        except LeadhandError as error:
            return Failed(kind="error", message=str(error))
        typed = self._team.output is not None
        outcome = nested_outcome(ended, min_confidence=self._worker.min_confidence, typed=typed)
        return _of_level(outcome, ended) if self._worker.name == SUBPLANNER else outcome


def limited(team: Team, limits: Limits) -> Team:
    """With the task's tier as default for its workers. The outer run limits time and tokens."""
    if limits.tier is None or team.limits.tier is not None:
        return team
    bounds = team.limits.model_copy(update={"tier": limits.tier})
    return dataclasses.replace(team, limits=bounds)


def request_of_task(handoff: Handoff) -> PlanRequest:
    """The request to a nested team: the intent. The other inputs reach its workers as data."""
    done = f"Done when: {handoff.done_when}" if handoff.done_when else ""
    handed_in = [
        (len(handoff.context), "result of another task", "results of other tasks"),
        (len(handoff.artifacts), "reference", None),
    ]
    handed = " and ".join(counted(*one) for one in handed_in if one[0])
    payload = handoff.payload
    data = f"Payload: {to_json(payload).decode()}" if payload is not None else ""
    return PlanRequest(
        joined(handoff.intent, done, data),
        {"inputs": [Batch(handoff.artifacts)]} if handoff.artifacts else {},
        f"{handed}, which every worker is shown" if handed else "",
    )


def nested_outcome(
    run: RunState, *, min_confidence: int | None = None, typed: bool = False
) -> Outcome:
    """The outcome of a nested run; `typed`: its team declares its output.

    A partial answer completes the task: the nested team's ladder has dealt with its gaps, which the
    outer run counts among its own.
    """
    answer = run.answer
    if answer is None:
        return Failed(kind="error", message=f"team {run.team!r} did not finish")
    result = _result(answer, run, typed=typed)
    if answer.status in ("complete", "partial"):
        return completed_or_escalated(result, min_confidence, who="team")
    partial = result if any(task.result is not None for task in run.tasks.values()) else None
    reason = _reason(run)
    if reason is not None:
        return Escalated(reason=reason, message=_reasons(answer, run), partial=partial)
    return Failed(kind=_kind(answer), message=_reasons(answer, run), partial=partial)


def _of_level(outcome: Outcome, run: RunState) -> Outcome:
    """The outcome of a task that was broken down.

    It does not escalate: its parts have had the whole ladder. If budget or deadline ended it early,
    it fails with what there is, and a resumed run continues it.
    """
    if isinstance(outcome, Escalated):
        return Failed(kind="error", message=outcome.message, partial=outcome.partial)
    answer = run.answer
    if isinstance(outcome, Failed) or answer is None or answer.ended_by is None:
        return outcome
    message = _reasons(answer, run)
    return Failed(kind=_kind(answer), message=message, partial=outcome.result)


def _result(answer: Answer, run: RunState, *, typed: bool) -> Result:
    summary = beginning(answer.answer.strip(), MAX_SUMMARY)
    if answer.gaps:
        summary = joined(f"Incomplete: {_gaps(answer)}", summary)
    return Result(
        output=answer.answer if not typed and _is_merged(answer, run) else answer.output,
        summary=summary,
        confidence=answer.confidence,
        evidence=tuple(
            dict.fromkeys(f"{source.task_id}: {source.ref}" for source in answer.sources)
        ),
        usage=run.usage,
    )


def _is_merged(answer: Answer, run: RunState) -> bool:
    """Whether the output only repeats what the text says: merged results, by task id."""
    output = answer.output
    if output is None:
        return True
    return isinstance(output, dict) and len(run.tasks) > 1 and output.keys() <= run.tasks.keys()


def _gaps(answer: Answer) -> str:
    shown = [f"{gap.task_id}: {gap.why}" for gap in answer.gaps[:_MAX_GAPS]]
    more = len(answer.gaps) - len(shown)
    if more:
        shown.append(f"and {more} more")
    return "; ".join(shown) or f"team {answer.team!r} found nothing"


def _reasons(answer: Answer, run: RunState) -> str:
    """Why nothing was done: each reason once, with its tasks."""
    by_reason: dict[str, list[str]] = {}
    for path, why in _paths(answer, run):
        by_reason.setdefault(why, []).append(path)
    said = "; ".join(f"{', '.join(paths)}: {why}" for why, paths in by_reason.items())
    return said or f"team {answer.team!r} found nothing"


def _paths(answer: Answer, run: RunState) -> Iterator[tuple[str, str]]:
    """The gaps of an answer, those of tasks that were broken down by what failed in them."""
    for gap in answer.gaps:
        task = run.tasks.get(gap.task_id)
        inner = task.nested if task is not None and task.worker == SUBPLANNER else None
        if inner is None or inner.answer is None or not inner.answer.gaps or inner.plan is None:
            yield gap.task_id, gap.why
        else:
            yield from ((f"{gap.task_id}/{id}", why) for id, why in _paths(inner.answer, inner))


def _reason(run: RunState) -> EscalationReason | None:
    """Why the team escalates, if every task that it tried was escalated."""
    tried = [task for task in run.tasks.values() if task.attempts]
    if not tried or any(task.status != "escalated" for task in tried):
        return None
    reason = (tried[0].error or "").partition(":")[0]
    return cast("EscalationReason", reason) if reason in get_args(EscalationReason) else None


def _kind(answer: Answer) -> FailureKind:
    match answer.ended_by:
        case "deadline":
            return "timeout"
        case "budget":
            return "budget"
        case "person":
            return "cancelled"
        case None:
            return "error"
