"""Ports: the protocols through which the engine and a run use journals, models and people."""

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from leadhand.contracts.answer import Synthesis
from leadhand.contracts.outcome import (
    Escalated,
    Failed,
    Handoff,
    JudgedChoice,
    Outcome,
    PausedAttempt,
    PlanImpact,
    Result,
    TaskResult,
)
from leadhand.contracts.people import Occasion, Reply, RunMessage
from leadhand.contracts.planner_kinds import Decision, Round
from leadhand.contracts.summary import Inspection, RunFilter, RunSummary
from leadhand.contracts.task import Plan, PlanRequest, Task

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.contracts.events.fields import AttemptTimes
    from leadhand.contracts.team import Team
    from leadhand.state.fold import RunState


class Clock(Protocol):
    def now(self) -> dt.datetime: ...

    def monotonic(self) -> float:
        """Seconds that never go back, in the running event loop's time."""
        ...


class Log(Protocol):
    """Stores the events of runs."""

    def append(self, event: "Event") -> None:
        """Add an event, without waiting; it is durable once the next `commit` returns."""
        ...

    async def commit(self, run_id: str | None = None) -> None:
        """Return once all appended events, of one run or of all, are durable.

        Raises `JournalError` if they can't be stored, and for every later commit of the run while
        it is held.
        """
        ...


class Journal(Log, Protocol):
    """A journal as runs use it: `leadhand.journal.Store`, without blocking the event loop.

    Several loops may use it at once.
    """

    async def events(self, run_id: str, *, after_seq: int = 0) -> "Sequence[Event]": ...
    async def last_seq(self, run_id: str) -> int: ...
    def hold(self, run_id: str) -> AbstractAsyncContextManager[int]: ...
    async def holder(self, run_id: str) -> str | None: ...
    async def taken_by(self, *run_ids: str) -> Mapping[str, str]: ...
    async def post(self, message: RunMessage) -> None: ...
    async def messages(self, *run_ids: str) -> Sequence[RunMessage]: ...
    async def drop(self, message: RunMessage) -> None: ...
    async def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]: ...
    async def inspect(self, run_id: str) -> Inspection: ...
    async def delete(
        self, run_ids: Sequence[str], *, before: dt.datetime | None = None
    ) -> Sequence[str]: ...
    async def notes(self, prefix: str) -> Mapping[str, bytes]: ...
    async def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool: ...
    async def close(self) -> None: ...


class Runner(Protocol):
    async def run(self, handoff: Handoff) -> Outcome:
        """Stops soon after it is cancelled."""
        ...


class TeamRunner(Protocol):
    """Has a team do a task, as a nested run."""

    async def run_team(self, team: "Team", handoff: Handoff) -> "RunState":
        """The final state of the nested run with its `answer`, even if it was cancelled. Raises
        `LeadhandError` if the run could not start."""
        ...


class Planner(Protocol):
    """Writes plans and never does work."""

    @property
    def name(self) -> str: ...

    async def plan(self, request: PlanRequest, team: "Team") -> Plan:
        """A plan for `request` with the workers of `team`; it may have problems."""
        ...


@runtime_checkable
class Decider(Protocol):
    """A stepwise planner: decides round by round which tasks start."""

    @property
    def name(self) -> str: ...

    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        """A decision has none of the `problems`; the first has a task. Raises `ModelError`."""
        ...


@runtime_checkable
class Synthesizer(Protocol):
    """Makes one answer of results."""

    @property
    def name(self) -> str: ...

    @property
    def calls_model(self) -> bool:
        """Whether it calls a model, so that time has to be reserved for it."""
        ...

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The answer from `results` alone, in plan order. Raises `ModelError`."""
        ...

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The answer without a model, at once, if `synthesize` failed or has no time."""
        ...


class Arbiter(Protocol):
    async def judge(self, question: str, candidates: Sequence[Result]) -> JudgedChoice:
        """The best answer to `question` among the candidates. Raises `ModelError`."""
        ...


class Remedies(Protocol):
    """Decides about a task that did not complete, or a plan that no longer fits.

    Answers are checked. If there is none, the next rung of the ladder is tried. Only the task
    concerned waits.
    """

    @property
    def name(self) -> str: ...

    async def refine(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """The intent of `task`, rewritten to avoid what went wrong; None if that can't help."""
        ...

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        """Which of `workers` should do `task`; None if none of them fits."""
        ...

    async def split(self, task: Task, outcome: Escalated | Failed) -> Sequence[Task]:
        """Smaller tasks, which may depend on each other by their ids; empty if it can't be
        split."""
        ...

    async def judge(self, task: Task, first: Result, second: Result) -> tuple[bool, str]:
        """Whether the second of two results of `task` is the better one, and why."""
        ...

    async def revise(
        self, state: "RunState", impact: PlanImpact, *, task_id: str
    ) -> Sequence[Task]:
        """All tasks still to be started, old ones by their ids, after `task_id` reported
        `impact`."""
        ...


class Person(Protocol):
    @property
    def occasions(self) -> frozenset[Occasion]:
        """When the person is asked."""
        ...

    @property
    def answers_later(self) -> bool:
        """Whether all replies may come long after the run's process has ended."""
        ...

    @property
    def waiting(self) -> Collection[str]:
        """The tasks whose nested runs wait for nothing but the person."""
        ...

    @property
    def leaves(self) -> bool:
        """Whether the run, and the run around it, end now because everything left waits."""
        ...

    def hold(self, *, waits: bool, wake_up: Callable[[], None]) -> bool:
        """Note whether everything left of the run waits for the person; returns whether it ends for
        now.

        A nested run stays until the run around it ends. `wake_up` is called when `waiting` changes.
        """
        ...

    def leave(self) -> None:
        """End the nested runs as if their process were lost."""
        ...

    def post_question(
        self, task: Task, outcome: Escalated | Failed, *, others: Sequence[str] = ()
    ) -> None:
        """Record the question of `ask`, before anything waits; the reply may name one of
        `others`."""
        ...

    async def ask(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """What the worker of `task` should know; None if the person gave no answer."""
        ...

    def post_call_question(
        self, task: Task, paused: PausedAttempt, *, attempt: int, work: "AttemptTimes"
    ) -> None:
        """Record that an attempt pauses, and the question of `ask_about_calls`."""
        ...

    async def ask_about_calls(self, task: Task) -> bool:
        """Whether a reply about the calls of the paused attempt is there, and recorded."""
        ...

    def post_plan_question(self, question: str) -> None:
        """Record the question of `approve_plan`, before anything waits for the reply."""
        ...

    async def approve_plan(
        self,
        question: str,
        *,
        problems: Callable[[Plan], Sequence[str]],
        patiently: bool,
    ) -> Reply | None:
        """The verdict on the proposed plan; None if the question stays open.

        A plan that they send instead has none of the `problems`. Without `patiently` the run does
        not wait for a later answer.
        """
        ...
