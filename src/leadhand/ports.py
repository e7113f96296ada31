"""The ports: what the scheduler and the supervisor ask of the world, as Protocols."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from leadhand.contracts.answer import Synthesis
from leadhand.contracts.inspection import Inspection
from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome, PlanImpact, Result
from leadhand.contracts.people import Occasion, Reply, RunMessage
from leadhand.contracts.summary import RunSummary
from leadhand.contracts.task import Plan, Task

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.contracts.team import Team
    from leadhand.state.fold import RunState


@dataclass(frozen=True, slots=True)
class Batch:
    """A part of what was handed in that one task can take on."""

    artifacts: tuple[str, ...]
    """Paths or other references that the workers' tools understand."""
    name: str = ""
    """What the artifacts have in common, in a word or two."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a planner plans for."""

    text: str
    batches: Mapping[str, Sequence[Batch]] = field(default_factory=dict[str, Sequence[Batch]])
    """What was handed in with the request, already cut, by the name of the cut."""
    inputs: str = ""
    """What was handed in, in words made by code: kinds and numbers, no names and no content."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a synthesizer sees of a task: what it was and what it gave, not its dispatching."""

    task: Task
    worker: str
    """Who gave the result."""
    status: str
    result: Result | None
    why: str | None
    """Why there is no result, or only a partial or doubtful one."""


@dataclass(frozen=True, slots=True)
class JudgedChoice:
    """One of several candidates."""

    index: int
    """Its place among them, from 0."""
    why: str
    confidence: int | None = None
    """Of whoever chose, 0 to 100."""


class Clock(Protocol):
    """Tells the time. Arguments, so that runs can be replayed and tested."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, on the running event loop's scale."""
        ...


class Log(Protocol):
    """Where the events of a run go."""

    def append(self, event: "Event") -> None:
        """Take an event; it is safe once the next `commit` returns."""
        ...

    async def commit(self, run_id: str | None = None) -> None:
        """Return once everything appended before is safe, all of it or nothing; of all runs, or
        of one.

        Raises `JournalError` where it can't be kept; from then on every commit of the run does.
        """
        ...

    def events(self, run_id: str) -> "Sequence[Event]":
        """The events of a run in order; empty where there is no such run."""
        ...


class Journal(Log, Protocol):
    """Where runs are kept. Whatever it can't do raises `JournalError`."""

    @property
    def blocks(self) -> bool:
        """Whether its methods wait for a disk or a network: then they are called in threads."""
        ...

    def has(self, run_id: str) -> bool:
        """Whether there is such a run."""
        ...

    def hold(self, run_id: str) -> AbstractContextManager[None]:
        """The right to write the run's events, for as long as the block lasts.

        It ends with the process, however that ends. Raises `RunTaken` where another has it.
        """
        ...

    def holder(self, run_id: str) -> str | None:
        """Who has that right now, in words; none where nobody has."""
        ...

    def taken_by(self, run_id: str) -> str | None:
        """Who has taken a run that was held here, in words; `None` if it is still held here."""
        ...

    def post(self, message: RunMessage) -> None:
        """Leave a message for whoever holds the run, or will."""
        ...

    def messages(self, run_id: str) -> Sequence[RunMessage]:
        """The messages for a run, as long as they are not dropped, the oldest first."""
        ...

    def drop(self, message: RunMessage) -> None:
        """Forget a message, once what follows from it is committed."""
        ...

    def runs(self, *, limit: int | None = None) -> Sequence[RunSummary]:
        """What is kept, the run begun last first."""
        ...

    def inspect(self, run_id: str) -> Inspection:
        """What can be read of a run, and whether it is what was written."""
        ...

    def prune(self, *, before: dt.datetime) -> Sequence[str]:
        """Forget the runs whose last event is older; gives their ids. Those held are kept."""
        ...

    def close(self) -> None:
        """Let go of files and connections. What was not committed is gone."""
        ...


class Runner(Protocol):
    """Does a worker's work."""

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task. Stops soon after it is cancelled."""
        ...


class TeamRunner(Protocol):
    """Has a team do a task, as a run inside the run."""

    async def run_team(self, team: "Team", handoff: Handoff) -> "RunState":
        """The nested run as it ended, `answer` included, where it was cancelled too.

        Raises `LeadhandError` where the team could not begin.
        """
        ...


class Planner(Protocol):
    """Writes plans and never does work."""

    @property
    def name(self) -> str:
        """How the log calls it."""
        ...

    async def plan(self, request: PlanRequest, team: "Team") -> Plan:
        """A plan for `request` with the workers of `team`; it need not be free of problems."""
        ...


class Synthesizer(Protocol):
    """Makes one answer out of results."""

    @property
    def name(self) -> str:
        """How the log calls it."""
        ...

    @property
    def calls_model(self) -> bool:
        """Whether time has to be kept for it."""
        ...

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The answer from `results` alone, in plan order. Raises `ModelError`."""
        ...

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """What is left where `synthesize` failed or there is no time for it: at once, no model."""
        ...


class Arbiter(Protocol):
    """Takes the best of several results of one task."""

    async def judge(self, question: str, candidates: Sequence[Result]) -> JudgedChoice:
        """The best answer to `question` among the candidates. Raises `ModelError`."""
        ...


class Remedies(Protocol):
    """Finds what judgement is needed for when a task did not complete or the plan fits no more.

    What it gives is checked before it is used, and where it raises or has nothing to say, the next
    rung of the ladder is tried. It is asked beside the work; nobody waits for it but the task.
    """

    @property
    def name(self) -> str:
        """How the log calls it."""
        ...

    async def refine(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """The intent of `task` in words that avoid what went wrong; none where none would."""
        ...

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        """Who of `workers` should do `task`; none where nobody of them is right for it."""
        ...

    async def split(self, task: Task, outcome: Escalated | Failed) -> Sequence[Task]:
        """Smaller tasks in the place of `task`; they may depend on each other, by ids of their own.

        Empty where it can't be split.
        """
        ...

    async def judge(self, task: Task, first: Result, second: Result) -> tuple[bool, str]:
        """Whether the second of two results of `task` is the better one, and why."""
        ...

    async def revise(
        self, state: "RunState", impact: PlanImpact, *, task_id: str
    ) -> Sequence[Task]:
        """All tasks that should still be started, old and new, now that `task_id` said `impact`.

        An old one keeps its id; one that is left out is dropped.
        """
        ...


class Person(Protocol):
    """Somebody who can be asked while a run goes on."""

    @property
    def occasions(self) -> frozenset[Occasion]:
        """When they are asked."""
        ...

    @property
    def answers_later(self) -> bool:
        """Whether all their answers may come long after the run's process has ended."""
        ...

    def post_question(self, task: Task, outcome: Escalated | Failed) -> None:
        """Write the question down that `ask` asks, before anybody waits for the answer."""
        ...

    async def ask(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """What the worker of `task` should know; none where there is no answer."""
        ...

    def post_plan_question(self, question: str) -> None:
        """Write the question down that `approve_plan` asks, before anybody waits for the answer."""
        ...

    async def approve_plan(
        self,
        plan: Plan,
        question: str,
        *,
        problems: Callable[[Plan], Sequence[str]],
        patiently: bool,
    ) -> Reply | None:
        """The verdict on `plan`; none if the question stays open.

        A plan that they give instead has none of the `problems`. Without `patiently` a person who
        is away is not waited for.
        """
        ...
