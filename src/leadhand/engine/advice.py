"""Advice: what remedies and a person say on a task that did not complete, checked before its use.

Nothing is done here: what was said becomes a value, or none where it can't be used.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from leadhand.contracts.outcome import Escalated, Failed
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team
from leadhand.engine.amendments import parts_of
from leadhand.policies.actions import AskPerson, NeedsAdvice, ReassignTask, RefineTask, SplitTask
from leadhand.ports import Person, Remedies

MAX_INTENT_CHARS = 20_000

_log = logging.getLogger("leadhand")


@dataclass(frozen=True, slots=True)
class Refinement:
    """The intent that the next attempt is given."""

    intent: str


@dataclass(frozen=True, slots=True)
class Reassignment:
    """The worker that a task is for."""

    worker: str


@dataclass(frozen=True, slots=True)
class Split:
    """What a task is split into."""

    parts: tuple[Task, ...]


Advice = Refinement | Reassignment | Split


class Advisers:
    """Whoever can be asked in a run."""

    def __init__(self, team: Team, remedies: Remedies | None, person: Person | None) -> None:
        self._team = team
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
        """What to do so that `action` comes about; `workers` are those to choose from."""
        match action:
            case AskPerson():
                said = await self.person.ask(task, outcome) if self.person else None
                told = f"{task.intent}\n\nA person was asked about this and says: {said}"
                return Refinement(told) if said and said.strip() else None
            case _ if self.remedies is None:
                return None
            case RefineTask():
                return _words(await self.remedies.refine(task, outcome), task)
            case ReassignTask():
                name = await self.remedies.reassign(task, outcome, workers=workers)
                return Reassignment(name) if name is not None and name in workers else None
            case SplitTask():
                parts = parts_of(task, await self.remedies.split(task, outcome), self._team)
                if isinstance(parts, str):
                    _log.warning("task %r is not split: %s", task.id, parts)
                    return None
                return Split(parts)


def _words(intent: str | None, task: Task) -> Refinement | None:
    words = (intent or "").strip()[:MAX_INTENT_CHARS]
    return Refinement(words) if words and words != task.intent else None
