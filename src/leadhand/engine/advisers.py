"""What remedies or a person advise about a task, checked before use; and splits.

A split of a task of an approved plan needs the person's approval.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from leadhand.contracts import events
from leadhand.contracts.outcome import Escalated, Failed
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.engine.amendments import parts_of, split_up
from leadhand.engine.attempts import EndedAttempt
from leadhand.engine.consultations import Approvals, Proposal
from leadhand.engine.recorder import Recorder
from leadhand.engine.run_tasks import RunTasks
from leadhand.plans.routes import named_workers
from leadhand.policies.rungs import AskPerson, NeedsAdvice, ReassignTask, RefineTask, SplitTask
from leadhand.ports import Person, Remedies

MAX_INTENT_CHARS = 20_000

_log = logging.getLogger("leadhand")


@dataclass(frozen=True, slots=True)
class Refinement:
    intent: str


@dataclass(frozen=True, slots=True)
class Reassignment:
    worker: str


@dataclass(frozen=True, slots=True)
class Split:
    parts: tuple[Task, ...]


Advice = Refinement | Reassignment | Split


@dataclass(frozen=True, slots=True)
class Advisers:
    team: Team
    remedies: Remedies | None
    person: Person | None
    earlier: Collection[str] = ()
    """The names of the earlier results that tasks may work on."""

    async def advise(
        self,
        action: NeedsAdvice,
        task: Task,
        outcome: Escalated | Failed,
        *,
        workers: Sequence[str],
    ) -> Advice | None:
        """The advice that `action` needs, if there is any; `workers` are those to choose from."""
        match action:
            case AskPerson():
                reply = await self.person.ask(task, outcome) if self.person else None
                if not reply or not reply.strip():
                    return None
                named = named_workers(reply, workers) if for_another_worker(outcome) else ()
                if len(named) == 1:
                    return Reassignment(named[0])
                intent = f"{task.intent}\n\nA person was asked about this and says: {reply}"
                return Refinement(intent)
            case _ if self.remedies is None:
                return None
            case RefineTask():
                return _refinement(await self.remedies.refine(task, outcome), task)
            case ReassignTask():
                name = await self.remedies.reassign(task, outcome, workers=workers)
                return Reassignment(name) if name is not None and name in workers else None
            case SplitTask():
                proposed = await self.remedies.split(task, outcome)
                parts = parts_of(task, proposed, self.team, earlier=self.earlier)
                if isinstance(parts, str):
                    _log.warning("task %r is not split: %s", task.id, parts)
                    return None
                return Split(parts)


def for_another_worker(outcome: Escalated | Failed) -> bool:
    return isinstance(outcome, Escalated) and outcome.reason == "out_of_scope"


def _refinement(intent: str | None, task: Task) -> Refinement | None:
    text = (intent or "").strip()[:MAX_INTENT_CHARS]
    return Refinement(text) if text and text != task.intent else None


@dataclass(frozen=True, slots=True)
class Splits:
    recorder: Recorder
    tasks: RunTasks
    approvals: Approvals

    def open_for(self, id: str) -> tuple[Task, ...]:
        state = self.recorder.state
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
        if self.recorder.state.binding != "asks":
            self._split(attempt, reason, parts)
            return
        id = attempt.task.id

        def problems(given: Plan) -> tuple[str, ...]:
            as_it_is = given.tasks == split_up(self.recorder.state, id, parts).tasks
            return () if as_it_is else (f"approve or refuse the split of task {id!r} as it is",)

        def then(given: Plan | str) -> None:
            if self.tasks.stopped is not None:
                return
            if isinstance(given, Plan):
                self._split(attempt, reason, parts)
                return
            problem = f"task {id!r} is not split: {given}"
            self.recorder.record(
                events.PlanRejected(**self.recorder.stamp(), problems=(problem,), task_id=id)
            )
            otherwise()

        why = f"Task {id} is too much for one attempt. Splits it into {len(parts)} tasks."
        self.approvals.request(
            Proposal(id, why, by, lambda: split_up(self.recorder.state, id, parts), problems, then)
        )

    def _split(self, attempt: EndedAttempt, reason: str, parts: tuple[Task, ...]) -> None:
        task = attempt.task.task
        after = self.tasks.dependants(task.id)
        self.recorder.record(
            events.TaskSplit(
                **self.recorder.task_stamp(task.id, attempt.number),
                parts=parts,
                rewired=tuple(other.id for other in after),
                reason=reason,
            )
        )
        now = [self.recorder.state.tasks[other.id] for other in after]
        # A skipped task waits for nothing, though its dependencies in the plan are rewired too.
        rewired = [(old, new.task) for old, new in zip(after, now, strict=True) if not new.ended]
        self.tasks.replace(task, parts, rewired)
