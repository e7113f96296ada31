"""Splits: smaller tasks replace one; in an approved plan only if the person approves."""

from collections.abc import Callable

from leadhand.contracts import events
from leadhand.contracts.task import Plan, Task
from leadhand.engine.amendments import split_up
from leadhand.engine.approvals import Approvals, Proposal
from leadhand.engine.attempts import EndedAttempt
from leadhand.engine.recorder import Recorder
from leadhand.engine.run_tasks import RunTasks


class Splits:
    """The splits of one run."""

    def __init__(self, recorder: Recorder, tasks: RunTasks, approvals: Approvals) -> None:
        self._recorder = recorder
        self._state = recorder.state
        self._tasks = tasks
        self._approvals = approvals

    def open_for(self, id: str) -> tuple[Task, ...]:
        """The parts whose approval was still open when the run was resumed, if any."""
        state = self._state
        if not (state.amendment_open and state.proposed_for == id and state.proposed):
            return ()
        return tuple(task for task in state.proposed.tasks if task.id not in state.tasks)

    def split(
        self,
        attempt: EndedAttempt,
        parts: tuple[Task, ...],
        *,
        reason: str,
        by: str,
        otherwise: Callable[[], None],
    ) -> None:
        """Replace a task by `parts`; `otherwise` is called if a person refuses."""
        if self._state.binding != "asks":
            self._split(attempt, reason, parts)
            return
        id = attempt.task.id

        def problems(given: Plan) -> tuple[str, ...]:
            as_it_is = given.tasks == split_up(self._state, id, parts).tasks
            return () if as_it_is else (f"approve or refuse the split of task {id!r} as it is",)

        def then(given: Plan | str) -> None:
            if self._tasks.stopped is not None:
                return
            if isinstance(given, Plan):
                self._split(attempt, reason, parts)
                return
            problem = f"task {id!r} is not split: {given}"
            self._recorder.record(
                events.PlanRejected(**self._recorder.stamp(), problems=(problem,), task_id=id)
            )
            otherwise()

        why = f"Task {id} is too much for one attempt. Splits it into {len(parts)} tasks."
        self._approvals.request(
            Proposal(id, why, by, lambda: split_up(self._state, id, parts), problems, then)
        )

    def _split(self, attempt: EndedAttempt, reason: str, parts: tuple[Task, ...]) -> None:
        task = attempt.task.task
        after = self._tasks.dependants(task.id)
        self._recorder.record(
            events.TaskSplit(
                **self._recorder.task_stamp(task.id, attempt.number),
                parts=parts,
                rewired=tuple(other.id for other in after),
                reason=reason,
            )
        )
        now = [self._state.tasks[other.id] for other in after]
        # A skipped task waits for nothing, though its dependencies in the plan are rewired too.
        rewired = [(old, new.task) for old, new in zip(after, now, strict=True) if not new.ended]
        self._tasks.replace(task, parts, rewired)
