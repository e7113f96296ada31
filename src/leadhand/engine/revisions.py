"""Revisions: tasks that have not started are planned anew if a result says the plan no longer fits.

Only a result's typed `plan_impact` causes a revision; no text of a result gets here. Meanwhile no
task starts. `check` may refuse the proposal, or the person who approved the plan. A plan that was
handed in without `amend` stays, and the answer says what the result asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from leadhand.contracts import events
from leadhand.contracts.outcome import PlanImpact
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.engine.amendments import Amendment, amended, amendment, asks_approval
from leadhand.engine.consultations import Approvals, Consultations, Proposal
from leadhand.engine.recorder import Recorder
from leadhand.engine.run_tasks import RunTasks
from leadhand.ports import Remedies

MAX_REVISIONS = 2
MAX_LISTED = 10
"""Task ids that one line for a person names."""


@dataclass(slots=True, eq=False)
class Revisions:
    recorder: Recorder
    team: Team
    tasks: RunTasks
    consultations: Consultations
    approvals: Approvals
    remedies: Remedies | None
    in_progress: bool = field(init=False, default=False)

    def resume(self) -> None:
        """Ask again for the approval that was still open when the run was resumed."""
        state = self.recorder.state
        if state.round:
            return
        for task_id, impact in list(self.tasks.impacts):
            if state.amendment_open and state.proposed_for == task_id and state.proposed:
                self.tasks.impacts.remove((task_id, impact))
                self._request_approval(task_id, impact, state.proposed.tasks, by="planner")

    def consider(self) -> None:
        """Have the plan revised if a result says that it no longer fits."""
        impacts, remedies = self.tasks.impacts, self.remedies
        while impacts and not self.in_progress:
            task_id, impact = impacts.popleft()
            if not self._may_revise(impact):
                continue
            if self.recorder.state.binding == "fixed":
                self._refuse(task_id, "it was handed in as it is, without `amend`", impact=impact)
                continue
            if remedies is None:
                continue
            self.in_progress = True
            self.consultations.ask(
                f"revise after {task_id}",
                remedies.revise(self.recorder.state, impact, task_id=task_id),
                lambda proposed, by=remedies.name, id=task_id, impact=impact: self._revised(
                    id, impact, proposed, by=by
                ),
            )

    def _may_revise(self, impact: PlanImpact) -> bool:
        if self.recorder.state.revisions >= MAX_REVISIONS or self.tasks.stopped is not None:
            return False
        if impact.kind == "adds":
            return True
        about, tasks = impact.task_ids or self.recorder.state.tasks, self.recorder.state.tasks
        named = (tasks[id] for id in about if id in tasks)
        return any(task.status == "pending" and not task.attempts for task in named)

    def _revised(
        self, task_id: str, impact: PlanImpact, proposed: Sequence[Task] | None, *, by: str
    ) -> None:
        self.in_progress = False
        if self.tasks.stopped is not None:
            return
        if proposed is None:
            self._refuse(task_id, "the planner gave no revised plan")
            return
        found = amendment(self.recorder.state, proposed, self.team)
        if not isinstance(found, Amendment):
            self._refuse(task_id, *found)
        elif self.recorder.state.binding == "asks" and asks_approval(self.recorder.state, found):
            self._request_approval(task_id, impact, proposed, by=by)
        else:
            self.tasks.amend_plan(found, task_id=task_id, reason=impact.reason, by=by)

    def _request_approval(
        self, task_id: str, impact: PlanImpact, proposed: Sequence[Task], *, by: str
    ) -> None:
        """Ask the person who approved the plan; no task starts until they reply."""
        self.in_progress = True

        def found_in(tasks: Sequence[Task]) -> Amendment | tuple[str, ...]:
            return amendment(self.recorder.state, tasks, self.team)

        def plan() -> Plan:
            found = found_in(proposed)
            return amended(
                self.recorder.state, found if isinstance(found, Amendment) else Amendment()
            )

        def problems(given: Plan) -> Sequence[str]:
            found = found_in(given.tasks)
            known = self.recorder.state.plan.workers if self.recorder.state.plan is not None else ()
            changed = () if given.workers == known else (_WORKERS_CHANGED,)
            return changed if isinstance(found, Amendment) else (*found, *changed)

        def then(given: Plan | str) -> None:
            self.in_progress = False
            if self.tasks.stopped is not None:
                return
            if isinstance(given, str):
                self._refuse(task_id, given, impact=impact)
                return
            found = found_in(given.tasks)
            if isinstance(found, Amendment):
                self.tasks.amend_plan(found, task_id=task_id, reason=impact.reason, by=by)
            else:
                self._refuse(task_id, *found)

        found = found_in(proposed)
        changes = _changes(found) if isinstance(found, Amendment) else "nothing"
        why = f"Task {task_id} says that the plan no longer fits: {impact.reason}\n{changes}"
        self.approvals.request(Proposal(task_id, why, by, plan, problems, then))

    def _refuse(self, task_id: str, *why: str, impact: PlanImpact | None = None) -> None:
        """Record why the plan stays as it is; what `impact` asked for is then missing."""
        missing = None
        if impact is not None:
            missing = f"the plan no longer fits ({impact.reason}); it was not amended: {why[0]}"
        self.recorder.record(
            events.PlanRejected(
                **self.recorder.stamp(),
                problems=tuple(f"the plan stays as it is: {problem}" for problem in why),
                task_id=task_id,
                missing=missing,
            )
        )


_WORKERS_CHANGED = "the plan runs already: leave its `workers` as they are"


def _changes(found: Amendment) -> str:
    lists = {
        "Adds": [task.id for task in found.added],
        "changes": [task.id for task in found.changed],
        "drops": [*found.dropped],
    }
    lines = [f"{what} {_listed(ids)}" for what, ids in lists.items() if ids]
    return f"{'; '.join(lines)}." if lines else "Changes nothing."


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
    return ", ".join(ids[:MAX_LISTED]) + more
