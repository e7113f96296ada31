"""Adaptation: where a result says that the plan no longer fits, what has not started is replanned.

The only way there is a result's typed `plan_impact`; no text of a result ever gets here. While it
goes on, nothing new starts. What was done stays, and a proposal that `check` refuses is dropped.
"""

from collections.abc import Sequence

from leadhand.contracts.event import PlanAmended, PlanRejected
from leadhand.contracts.outcome import PlanImpact
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team
from leadhand.engine.amendments import Amendment, amendment
from leadhand.engine.board import Board
from leadhand.engine.consultations import Consultations
from leadhand.ports import Remedies
from leadhand.recorder import Recorder

MAX_REVISIONS = 2
"""How often a run's plan is looked at anew."""


class Adaptation:
    """Revises the plan of one run."""

    def __init__(
        self,
        recorder: Recorder,
        team: Team,
        board: Board,
        *,
        consultations: Consultations,
        remedies: Remedies | None,
    ) -> None:
        self._recorder = recorder
        self._state = recorder.state
        self._team = team
        self._board = board
        self._consultations = consultations
        self._remedies = remedies
        self.holds = False
        """Whether nothing new may start, because the plan is about to change."""

    def consider(self) -> None:
        """Have the plan revised where a result says that it no longer fits."""
        impacts, remedies = self._board.impacts, self._remedies
        while impacts and not self.holds:
            task_id, impact = impacts.popleft()
            if remedies is None or not self._may_revise():
                continue
            self.holds = True
            self._consultations.ask(
                f"revise after {task_id}",
                remedies.revise(self._state, impact, task_id=task_id),
                lambda proposed, by=remedies.name, id=task_id, impact=impact: self._revised(
                    id, impact, proposed, by=by
                ),
            )

    def _may_revise(self) -> bool:
        if self._state.revisions >= MAX_REVISIONS or self._board.stopped is not None:
            return False
        tasks = self._state.tasks.values()
        return any(task.status == "pending" and not task.attempts for task in tasks)

    def _revised(
        self, task_id: str, impact: PlanImpact, proposed: Sequence[Task] | None, *, by: str
    ) -> None:
        self.holds = False
        if self._board.stopped is not None:
            return
        if proposed is None:
            found = ("no revised plan came",)
        else:
            found = amendment(self._state, proposed, self._team)
        if not isinstance(found, Amendment):
            said = tuple(f"the plan goes on as it is: {problem}" for problem in found)
            self._recorder.record(
                PlanRejected(**self._recorder.stamp(), problems=said, task_id=task_id)
            )
            return
        tasks = self._state.tasks
        dropped = [tasks[id].task for id in found.dropped]
        before = [tasks[task.id].task for task in found.changed]
        revision = self._state.plan.revision if self._state.plan is not None else 1
        self._recorder.record(
            PlanAmended(
                **self._recorder.stamp(),
                task_id=task_id,
                reason=impact.reason,
                revision=revision + (found != Amendment()),
                by=by,
                added=found.added,
                changed=found.changed,
                dropped=found.dropped,
            )
        )
        self._board.amend(found.added, dropped, list(zip(before, found.changed, strict=True)))
