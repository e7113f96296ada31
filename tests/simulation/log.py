"""Reads a run's log as somebody would who knows the rules and nothing of the engine.

What is here is deliberately not the engine's own fold, frontier or breaker: it is told of every
event, keeps what it needs in plain dicts, and says which rule the event breaks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from leadhand.contracts.answer import Answer
from leadhand.contracts.events import (
    BreakerClosed,
    BreakerOpened,
    Event,
    OpinionJudged,
    PlanAccepted,
    PlanAmended,
    PlanProposed,
    RoundDecided,
    RunFinished,
    RunResumed,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskEvent,
    TaskFailed,
    TaskPlanned,
    TaskReassigned,
    TaskRefined,
    TaskRetried,
    TaskSkipped,
    TaskSplit,
    TierRaised,
    WorkerStuck,
)
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.engine.attempts import GRACE_S
from leadhand.engine.handoffs import limits_of
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.policies.history import FREE_RETRIES
from leadhand.policies.rungs import JITTER_SHARE
from tests.simulation.breakers import Watched
from tests.simulation.early import WatchedEarly
from tests.simulation.rounds import WatchedRounds
from tests.simulation.seen import Seen, ancestors

EPSILON_S = 1e-6
ENDINGS = (TaskCompleted, TaskCancelled, TaskFailed, TaskEscalated)


@dataclass(slots=True)
class Log:
    """One run's log so far; that of a nested run is another's."""

    team: Team
    tasks: dict[str, Seen] = field(default_factory=dict[str, Seen])
    retired: dict[str, Seen] = field(default_factory=dict[str, Seen])
    needs_at: dict[tuple[str, int], list[tuple[str, str]]] = field(
        default_factory=dict[tuple[str, int], list[tuple[str, str]]]
    )
    """By task and attempt: what it depended on when it was dispatched, and how that had ended."""
    attempt_around: tuple[Seen, int, str] | None = None
    """Of a nested run: the task that it does, at which attempt, and by which worker."""
    rounds: WatchedRounds = field(default_factory=WatchedRounds)
    early: WatchedEarly = field(default_factory=WatchedEarly)
    finished: bool = False
    resumed: int = 0
    _answer: Answer | None = None
    _proposed: Plan | None = None
    _stopped: bool = False
    _dispatched: int = 0
    _followed: int = 0
    _revisions: int = 0
    within: tuple[str, ...] = ()
    """The tasks that the run is within."""
    way: tuple[str, ...] = ()
    """The workers that it is within."""
    breakers: dict[tuple[str, ...], Watched] = field(default_factory=dict[tuple[str, ...], Watched])
    """By the way to a worker; shared by all the runs within one."""

    def known(self, id: str) -> Seen | None:
        """A task that is in the plan, or was."""
        return self.tasks.get(id) or self.retired.get(id)

    def read(self, event: Event) -> Iterator[str]:
        """Every rule that the next event breaks."""
        if self.finished and not isinstance(event, RunResumed):
            yield "something happened after the run was finished"
        if isinstance(event, TaskPlanned):
            yield from self.early.read(event, self.tasks, self.team)
        elif isinstance(event, TaskEvent):
            yield from self._task(event)
        else:
            yield from self._of_run(event)
        yield from self.rounds.read(event, self.tasks)

    def _of_run(self, event: Event) -> Iterator[str]:
        match event:
            case RoundDecided() if self.tasks and not event.needs_approval:
                yield from self._added(event.tasks)
            case PlanProposed():
                self._proposed = event.plan
            case PlanAccepted() if self._proposed is not None:
                gone = self.tasks.keys() - {task.id for task in self._proposed.tasks}
                self.retired |= {id: self.tasks[id] for id in gone}
                yield from self.early.accepted(self._proposed, self.tasks)
                self.team = with_planned_workers(self.team, self._proposed)
            case PlanAmended():
                yield from self._amended(event)
            case BreakerOpened():
                yield from self.breaker(event.worker).opened(event)
            case BreakerClosed():
                yield from self.breaker(event.worker).closed()
            case RunResumed():
                yield from self._goes_on(event)
            case RunFinished():
                self.finished, self._answer = True, event.answer
                for id, seen in self.tasks.items():
                    if not seen.ended:
                        yield f"{id} had not ended when the run was finished"
            case _:
                pass

    def _task(self, event: TaskEvent) -> Iterator[str]:
        seen = self.tasks.get(event.task_id)
        if isinstance(event, WorkerStuck):
            return
        if seen is None:
            yield "it is about a task that is not in the plan"
            return
        if seen.ended:
            yield f"the task had ended as {seen.status} before"
        match event:
            case TaskDispatched():
                yield from self._dispatch(seen, event)
            case TaskSkipped():
                yield from self._skipped(seen, event)
            case TaskCancelled() | TaskCompleted() | TaskFailed() | TaskEscalated():
                yield from self._ended(seen, event)
            case TaskReassigned():
                if self.team.worker(event.worker) is None:
                    yield f"{event.worker} is not in the team"
                if event.reason.startswith("the breaker of "):
                    yield from self._rests(seen, event)
                self.tasks[event.task_id] = replace(seen, worker=event.worker, undecided=False)
                self.tasks[event.task_id].second_opinion = event.second_opinion
            case TaskSplit():
                yield from self._split(seen, event)
            case TaskRefined():
                if event.old_intent != seen.task.intent:
                    yield "the old intent is not what the task was told"
                seen.task = seen.task.model_copy(update={"intent": event.new_intent})
                seen.undecided = False
            case TierRaised():
                limits = seen.task.limits.model_copy(update={"tier": event.new_tier})
                seen.task = seen.task.model_copy(update={"limits": limits})
                seen.undecided = False
            case OpinionJudged():
                yield from self._attempt_ends(seen, event, failed=False)
            case TaskRetried():
                seen.undecided = False
                waits = (*self.team.retry.backoff_s, 0.0)
                off = (abs(event.delay_s - wait) - JITTER_SHARE * wait for wait in waits)
                if min(off) > 0.001:
                    yield f"a wait of {event.delay_s} s is not in the team's rules"
            case _:
                pass

    # Starting

    def _dispatch(self, seen: Seen, event: TaskDispatched) -> Iterator[str]:
        retry = self.team.retry
        if self._stopped:
            yield "it was started after the run was stopped"
        if seen.running:
            yield "it was started while it ran"
        if event.worker == SUBPLANNER and seen.failed_last:
            yield "it was broken down again"
        if seen.undecided:
            yield "it was started, and nobody had said what follows from its last attempt"
        if event.worker != seen.worker:
            yield f"it went to {event.worker} and was {seen.worker}'s"
        if event.attempt != seen.attempts + 1:
            yield f"attempt {event.attempt} followed attempt {seen.attempts}"
        counted = seen.before + event.attempt - seen.forgiven
        if counted > retry.max_attempts:
            yield f"attempt {counted} of {retry.max_attempts}"
        needs = [(id, self.tasks[id].status) for id in seen.task.depends_on]
        self.needs_at[event.task_id, event.attempt] = needs
        for id, status in needs:
            if status == "pending":
                yield f"it was started before {id} had ended"
            elif status != "completed" and not seen.task.tolerates_missing:
                yield f"it was started without the result of {id}, which it needs"
        self._dispatched += not seen.started
        self._followed += seen.failed_last
        if self._followed > FREE_RETRIES + retry.retry_share * self._dispatched + 1:
            yield f"{self._followed} failed attempts were followed by others"
        yield from self._admitted(event)
        seen.attempts, seen.running, seen.failed_last = event.attempt, True, False
        seen.started, seen.interrupted = True, False
        seen.dispatched_s = event.elapsed_s

    def breaker(self, worker: str) -> Watched:
        """The worker's."""
        return self.breakers.setdefault((*self.way, worker), Watched())

    def _key(self, event: TaskEvent) -> tuple[str, ...]:
        return (*self.within, event.task_id)

    def _admitted(self, event: TaskDispatched) -> Iterator[str]:
        worker = self.team.worker(event.worker)
        if worker is not None:
            yield from self.breaker(event.worker).given(
                self._key(event), worker, event.elapsed_s, retry=event.attempt > 1
            )

    # Ending

    def _ended(
        self, seen: Seen, event: TaskCancelled | TaskCompleted | TaskFailed | TaskEscalated
    ) -> Iterator[str]:
        crashed = isinstance(event, TaskFailed) and seen.given_up_as_crashed(event)
        if crashed:
            seen.attempts += seen.crashes
        if not isinstance(event, TaskCancelled) and event.attempt != seen.attempts:
            yield f"attempt {event.attempt} ended, and attempt {seen.attempts} was the last"
        failed = isinstance(event, TaskFailed)
        if isinstance(event, TaskCancelled):
            seen.interrupted = seen.running
        if seen.running:
            yield from self._attempt_ends(seen, event, failed=failed)
        elif failed and not (seen.undecided or crashed):
            yield from self._rests(seen, event)
        match event:
            case TaskCancelled():
                if not self.early.drops(event.task_id, self._proposed):
                    self._stopped = True
                seen.status = "cancelled"
            case TaskCompleted():
                seen.status = "completed"
            case TaskFailed() if event.final:
                status = "timed_out" if event.kind == "timeout" else "failed"
                seen.status, seen.undecided = status, False
                stops = ("budget", "timeout") if seen.worker == SUBPLANNER else ("budget",)
                seen.interrupted = event.kind in stops
                seen.retryable = seen.interrupted or event.transient
            case TaskEscalated() if event.final:
                seen.status = "escalated"
            case _:
                seen.failed_last, seen.undecided = failed, True

    def _attempt_ends(self, seen: Seen, event: TaskEvent, *, failed: bool) -> Iterator[str]:
        if not seen.running:
            return
        seen.running = False
        worker = self.team.worker(seen.worker)
        if worker is None:
            return
        timeout_s = limits_of(self.team, worker, seen.task.limits).timeout_s
        took_s = event.elapsed_s - seen.dispatched_s
        # A second result may wait to be judged before the log tells of it.
        judged = seen.second_opinion and not failed
        # When a run is cancelled, what comes back is told of at the end of its grace.
        grace_s = GRACE_S * (2 if self._stopped else 1)
        if timeout_s is not None and took_s > timeout_s + grace_s + EPSILON_S and not judged:
            yield f"the attempt took {took_s:.2f} s of {timeout_s:g} s"
        breaker = self.breaker(worker.name)
        if (
            isinstance(event, TaskCancelled)
            or worker.name == SUBPLANNER
            or (isinstance(event, TaskFailed) and not event.transient)
        ):
            breaker.released(self._key(event))
        elif isinstance(event, TaskFailed):
            breaker.failed(self._key(event), self.team.ladder)
        elif not isinstance(event, OpinionJudged):  # for the breaker it ended before
            breaker.succeeded()

    def _skipped(self, seen: Seen, event: TaskSkipped) -> Iterator[str]:
        if seen.attempts > seen.forgiven or seen.running:
            yield "it was skipped after it had been started"
        if seen.task.tolerates_missing:
            yield "it was skipped and tolerates missing results"
        blamed = self.tasks.get(event.blame)
        if blamed is None or blamed.status not in ("failed", "escalated", "timed_out"):
            yield f"{event.blame} is blamed, and did not end without a result of its own"
        elif event.blame not in ancestors(event.task_id, self.tasks):
            yield f"{event.blame} is blamed, and is nothing that it needs"
        seen.status = "skipped"

    # Breakers

    def _rests(self, seen: Seen, event: TaskEvent) -> Iterator[str]:
        """A worker's tasks are refused, or go to another, while its breaker is open."""
        # A retry that could be an early probe goes to the fallback, if there is one.
        retry = seen.attempts > 0 and isinstance(event, TaskFailed)
        if self.breaker(seen.worker).admits(event.elapsed_s, retry=retry):
            yield f"{seen.worker} could have had it: its breaker is not open, or a probe was due"

    # Going on

    def _goes_on(self, event: RunResumed) -> Iterator[str]:
        """What was in flight, and what ended because the run did, is open again; nothing else."""
        self.resumed += 1
        if self.finished and not (event.goes_on or event.again or self._lacks_more()):
            yield "it went on, and was over"
        open_again: set[str] = set()
        found = True
        while found:
            found = {
                id for id in self.tasks if id not in open_again and self._opens(id, open_again)
            }
            open_again |= found
        right = open_again - {*event.again}
        if {*event.goes_on} != right or len(event.goes_on) != len(right):
            yield f"{sorted(event.goes_on)} go on where {sorted(right)} should"
        for id in event.goes_on:
            seen = self.tasks[id]
            if seen.interrupted or seen.running:
                seen.attempts -= 1
            elif seen.retryable:
                seen.worker, seen.forgiven = seen.task.worker, seen.attempts
            seen.running = seen.interrupted = seen.retryable = False
            seen.status, seen.crashes = "pending", event.crashes.get(id, 0)
        for id in event.again:
            self.tasks[id] = Seen(self.tasks[id].task, self.tasks[id].worker)
        self.finished = self._stopped = False
        if not self.within:
            self.breakers.clear()  # another process knows nothing of them

    def _opens(self, id: str, others: set[str]) -> bool:
        seen = self.tasks[id]
        if seen.running or seen.status == "cancelled" or (seen.ended and seen.retryable):
            return True
        needs = [
            one
            for one in seen.task.depends_on
            if self.tasks[one].status not in ("completed", "pending") or self.tasks[one].running
        ]
        return seen.status == "skipped" and others.issuperset(needs)

    # Changing the plan

    def _split(self, seen: Seen, event: TaskSplit) -> Iterator[str]:
        if seen.running:
            yield "it was split while it ran"
        if seen.splits >= 2 or not 2 <= len(event.parts) <= 8:
            yield f"a split of depth {seen.splits + 1} into {len(event.parts)}"
        id = event.task_id
        self.retired[id] = self.tasks.pop(id)
        for part in event.parts:
            before = seen.before + seen.attempts - seen.forgiven
            self.tasks[part.id] = Seen(part, part.worker, before, splits=seen.splits + 1)
        parts = tuple(part.id for part in event.parts)
        for other in self.tasks.values():
            needs = other.task.depends_on
            if id in needs:
                at = needs.index(id)
                needs = (*needs[:at], *parts, *needs[at + 1 :])
                other.task = other.task.model_copy(update={"depends_on": needs})

    def _amended(self, event: PlanAmended) -> Iterator[str]:
        self._revisions += not self.rounds.unapproved
        if self._revisions > 2:
            yield f"the plan was revised {self._revisions} times"
        for id in (*event.dropped, *(task.id for task in event.changed)):
            seen = self.tasks.get(id)
            if seen is None or seen.attempts or seen.ended:
                yield f"{id} was changed or dropped, and had begun"
        for id in event.dropped:
            self.retired[id] = self.tasks.pop(id)
        self.tasks |= {task.id: Seen(task, task.worker) for task in event.changed}
        yield from self._added(event.added)

    def _added(self, tasks: Sequence[Task]) -> Iterator[str]:
        for task in tasks:
            if task.id in self.tasks or task.id in self.retired:
                yield f"{task.id} was added, and is no new id"
            self.tasks[task.id] = Seen(task, task.worker)
        for id, seen in self.tasks.items():
            if any(needed not in self.tasks for needed in seen.task.depends_on):
                yield f"{id} needs a task that is not in the plan any more"

    def _lacks_more(self) -> bool:
        """Whether there is more to do than the tasks that are open."""
        answer = self._answer
        if answer is None or answer.ended_by is not None or self.rounds.lacks_more:
            return True
        return any(gap.task_id == "synthesis" for gap in answer.gaps)
