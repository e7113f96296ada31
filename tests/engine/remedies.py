"""Remedies and a person that say what a test tells them to."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leadhand.contracts.events.fields import AttemptTimes
from leadhand.contracts.outcome import Escalated, Failed, PausedAttempt, PlanImpact, Result
from leadhand.contracts.people import Occasion, Reply
from leadhand.contracts.task import Plan, Task
from leadhand.errors import ModelError
from leadhand.state.fold import RunState


@dataclass
class ScriptedRemedies:
    """Says what it is given, after `delay_s`; what it is not given, it has no answer to."""

    name: str = "test"
    intent: str | None = None
    worker: str | None = None
    parts: Sequence[Task] | None = None
    verdict: tuple[bool, str] | None = None
    revised: Sequence[Task] | None = None
    delay_s: float = 0.0
    asked: list[str] = field(default_factory=list[str])
    """What it was asked, in order."""
    about: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])
    """Of each question the task and the rest of what it was given."""

    async def refine(self, task: Task, outcome: Escalated | Failed) -> str | None:
        self.about.append((task.id, outcome))
        await self._asked("refine", known=self.intent is not None)
        return self.intent

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        self.about.append((task.id, (outcome, workers)))
        await self._asked("reassign", known=self.worker is not None)
        return self.worker

    async def split(self, task: Task, outcome: Escalated | Failed) -> Sequence[Task]:
        self.about.append((task.id, outcome))
        await self._asked("split", known=self.parts is not None)
        return [
            part.model_copy(update={"intent": f"{part.intent} of {task.id}"})
            for part in self.parts or ()
        ]

    async def judge(self, task: Task, first: Result, second: Result) -> tuple[bool, str]:
        self.about.append((task.id, (first, second)))
        await self._asked("judge", known=self.verdict is not None)
        return self.verdict or (False, "")

    async def revise(self, state: RunState, impact: PlanImpact, *, task_id: str) -> Sequence[Task]:
        self.about.append((task_id, (state.run_id, impact)))
        await self._asked("revise", known=self.revised is not None)
        return self.revised or ()

    async def _asked(self, what: str, *, known: bool) -> None:
        self.asked.append(what)
        await asyncio.sleep(self.delay_s)
        if not known:
            raise ModelError(f"no model answers to {what}", transient=False)


@dataclass
class ScriptedPerson:
    """Says what it is given."""

    says: str | None
    answers_later: bool = False
    occasions: frozenset[Occasion] = frozenset({"escalation"})
    reply: Reply | None = None
    """What it says to a plan; none: no plan is put to it."""
    about: list[tuple[str, str, object]] = field(default_factory=list[tuple[str, str, object]])
    """What was put to it and what it was asked, with the task and its outcome."""

    waiting: frozenset[str] = frozenset()
    leaves: bool = False

    def hold(self, *, waits: bool, wake_up: Callable[[], None]) -> bool:
        """The run is nobody else's part."""
        return waits

    def leave(self) -> None:
        """No run is within this one."""

    def post_plan_question(self, question: str) -> None:
        self.about.append(("put", question, None))

    async def approve_plan(
        self,
        question: str,
        *,
        problems: Callable[[Plan], Sequence[str]],
        patiently: bool,
    ) -> Reply | None:
        assert self.reply is not None, question
        self.about.append(("agreed", question, patiently))
        return self.reply

    def post_question(
        self, task: Task, outcome: Escalated | Failed, *, others: Sequence[str] = ()
    ) -> None:
        self.about.append(("put", task.id, outcome))

    def post_call_question(
        self, task: Task, paused: PausedAttempt, *, attempt: int, work: AttemptTimes
    ) -> None:
        self.about.append(("put", task.id, paused))

    async def ask_about_calls(self, task: Task) -> bool:
        """No reply: no script approves calls."""
        self.about.append(("asked about calls", task.id, None))
        return False

    async def ask(self, task: Task, outcome: Escalated | Failed) -> str | None:
        self.about.append(("asked", task.id, outcome))
        return self.says
