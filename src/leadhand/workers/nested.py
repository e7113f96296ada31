"""A team as a worker: what it is asked, what its workers are shown, and what its answer amounts to.

That the team is planned for, worked with and answered as a run of its own is the business of the
`TeamRunner`. Nothing here knows how.
"""

import dataclasses
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
from leadhand.contracts.task import Limits
from leadhand.contracts.team import Team, Worker
from leadhand.errors import BudgetUsedUp, LeadhandError, ModelError, PlanError
from leadhand.models.prompts import joined
from leadhand.ports import Batch, PlanRequest, Runner, TeamRunner
from leadhand.state.fold import RunState
from leadhand.workers.confidence import completed

MAX_SUMMARY = 500
"""Characters of an answer that stand for all of it."""
_MAX_GAPS = 5
"""Gaps that are named one by one where they must fit into a line."""


class NestedWorker:
    """A `Runner` that has a team do the work."""

    def __init__(self, worker: Worker, team: Team, teams: TeamRunner) -> None:
        self._worker = worker
        self._team = team
        self._teams = teams

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task. Cancelled, it gives what the team has found until then."""
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
        return outcome_of(ended, min_confidence=self._worker.min_confidence)


def limited(team: Team, limits: Limits) -> Team:
    """`team` as it does a task with these limits: its workers start with the task's tier, where
    neither they nor the team name one. Time and tokens are the run's, for all of them together."""
    if limits.tier is None or team.limits.tier is not None:
        return team
    bounds = team.limits.model_copy(update={"tier": limits.tier})
    return dataclasses.replace(team, limits=bounds)


class Informed:
    """A worker of a nested team: beside its own task it is shown what the team was given.

    Tasks of the run around it go by `../id` there.
    """

    def __init__(self, runner: Runner, given: Handoff) -> None:
        self._runner = runner
        self._context = tuple(
            one.model_copy(update={"task_id": f"../{one.task_id}"}) for one in given.context
        )
        self._inputs = {f"../{id}": output for id, output in given.inputs.items()}
        self._artifacts = given.artifacts

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        return await self._runner.run(
            handoff.model_copy(
                update={
                    "context": self._context + handoff.context,
                    "inputs": {**self._inputs, **handoff.inputs},
                    "artifacts": handoff.artifacts or self._artifacts,
                }
            )
        )


def request_of(handoff: Handoff) -> PlanRequest:
    """What a nested team is asked: the intent alone. All else reaches its workers, as data."""
    done = f"Done when: {handoff.done_when}" if handoff.done_when else ""
    handed_in = [
        _counted(len(handoff.context), "result of another task", "results of other tasks"),
        _counted(len(handoff.artifacts), "reference", "references"),
    ]
    said = " and ".join(part for part in handed_in if part)
    payload = handoff.payload
    data = f"Payload: {to_json(payload).decode()}" if payload is not None else ""
    return PlanRequest(
        joined(handoff.intent, done, data),
        {"inputs": [Batch(handoff.artifacts)]} if handoff.artifacts else {},
        f"{said}, which every worker is shown" if said else "",
    )


def outcome_of(run: RunState, *, min_confidence: int | None = None) -> Outcome:
    """What a nested run comes to for the run around it.

    A partial answer completes the task: each of its gaps has been through the nested team's own
    ladder, and a second attempt would do all the rest again. It says that it is incomplete, and the
    run around it counts the gaps among its own.
    """
    answer = run.answer
    if answer is None:
        return Failed(kind="error", message=f"team {run.team!r} came to no end")
    result = _result(answer, run)
    if answer.status in ("complete", "partial"):
        return completed(result, min_confidence, who="team")
    partial = result if _found_anything(run) else None
    reason = _reason(run)
    if reason is not None:
        return Escalated(reason=reason, message=_gaps(answer), partial=partial)
    return Failed(kind=_kind(answer), message=_gaps(answer), partial=partial)


def _result(answer: Answer, run: RunState) -> Result:
    summary = answer.answer.strip()
    if len(summary) > MAX_SUMMARY:
        summary = f"{summary[:MAX_SUMMARY]} [cut: {len(summary):,} characters in all]"
    if answer.gaps:
        summary = joined(f"Incomplete: {_gaps(answer)}", summary)
    return Result(
        output=answer.answer if _is_merged(answer, run) else answer.output,
        summary=summary,
        confidence=answer.confidence,
        evidence=tuple(
            dict.fromkeys(f"{source.task_id}: {source.ref}" for source in answer.sources)
        ),
        usage=run.usage,
    )


def _is_merged(answer: Answer, run: RunState) -> bool:
    """Whether the text is what there is: typed output is of one task or of the team's own making,
    while a mapping of task ids is results put side by side, in the text as in there."""
    output = answer.output
    if output is None:
        return True
    return isinstance(output, dict) and len(run.tasks) > 1 and output.keys() <= run.tasks.keys()


def _gaps(answer: Answer) -> str:
    said = [f"{gap.task_id}: {gap.why}" for gap in answer.gaps[:_MAX_GAPS]]
    more = len(answer.gaps) - len(said)
    if more:
        said.append(f"and {more} more")
    return "; ".join(said) or f"team {answer.team!r} found nothing"


def _found_anything(run: RunState) -> bool:
    return any(task.result is not None for task in run.tasks.values())


def _reason(run: RunState) -> EscalationReason | None:
    """Why the team hands the task back, where all that it tried was handed back by its workers."""
    tried = [task for task in run.tasks.values() if task.attempts]
    if not tried or any(task.status != "escalated" for task in tried):
        return None
    said = (tried[0].error or "").partition(":")[0]
    return cast("EscalationReason", said) if said in get_args(EscalationReason) else None


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


def _counted(count: int, one: str, many: str) -> str:
    return "" if not count else f"1 {one}" if count == 1 else f"{count:,} {many}"
