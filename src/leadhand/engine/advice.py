"""Advice: what remedies or a person say about a task that did not complete, checked before use.

Nothing is carried out here: a reply becomes a value, or `None` if it cannot be used.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leadhand.contracts.outcome import Escalated, Failed
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team
from leadhand.engine.amendments import parts_of
from leadhand.plans.routes import named_workers
from leadhand.policies.actions import AskPerson, NeedsAdvice, ReassignTask, RefineTask, SplitTask
from leadhand.ports import Person, Remedies

MAX_INTENT_CHARS = 20_000

_log = logging.getLogger("leadhand")


@dataclass(frozen=True, slots=True)
class Refinement:
    """The intent for the next attempt."""

    intent: str


@dataclass(frozen=True, slots=True)
class Reassignment:
    """The worker for the next attempt."""

    worker: str


@dataclass(frozen=True, slots=True)
class Split:
    """The tasks that replace one."""

    parts: tuple[Task, ...]


Advice = Refinement | Reassignment | Split


class Advisers:
    """The remedies and the person that a run can ask."""

    def __init__(
        self,
        team: Team,
        remedies: Remedies | None,
        person: Person | None,
        *,
        earlier: Collection[str] = (),
    ) -> None:
        """`earlier` are the names of the earlier results that tasks may work on."""
        self._team = team
        self._earlier = earlier
        self.remedies = remedies
        self.person = person

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
                parts = parts_of(task, proposed, self._team, earlier=self._earlier)
                if isinstance(parts, str):
                    _log.warning("task %r is not split: %s", task.id, parts)
                    return None
                return Split(parts)


def for_another_worker(outcome: Escalated | Failed) -> bool:
    """Whether a worker handed a task back because it belongs to another one."""
    return isinstance(outcome, Escalated) and outcome.reason == "out_of_scope"


def _refinement(intent: str | None, task: Task) -> Refinement | None:
    text = (intent or "").strip()[:MAX_INTENT_CHARS]
    return Refinement(text) if text and text != task.intent else None
