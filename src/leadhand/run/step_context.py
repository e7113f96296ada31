"""What every step of a run works with, and how the run is stopped.

A stop is recorded at once, before the process ends, so that a process that resumes the run knows
that its tasks were stopped, not the cause of a crash.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from leadhand.contracts import events
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.people import RunMessage
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.attempts import GRACE_S, AbandonableTask
from leadhand.engine.recorder import Recorder
from leadhand.engine.scheduler import Scheduler
from leadhand.engine.shared_workers import SharedWorkers, Slots, TeamPath
from leadhand.errors import JournalError
from leadhand.journal.watcher import RunActivity, Watcher
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.ports import Journal
from leadhand.run.settings import RESERVE, RunSettings

if TYPE_CHECKING:
    from leadhand.run.people import People
    from leadhand.run.roles import Roles

ROLE_GRACE_S = 0.1
COMMIT_S = 1.0
MAX_RESERVE_S = 60.0
NESTED_GRACE = 0.6
"""The share of a run's `grace_s` that a nested run has."""

T = TypeVar("T")

_log = logging.getLogger("leadhand")


class Cancelled(Exception):
    """The run is to stop."""


class ActiveRun:
    """Stops a run: the handle of `Supervisor.cancel`."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.on_stop: list[Callable[[str], object]] = []
        """Called with the reason, once, before anything is stopped."""
        self._stopped = asyncio.Event()
        self._scheduler: Scheduler | None = None

    def stop(self, reason: str) -> None:
        """End the step that is under way. The first reason counts."""
        if self.reason is None:
            self.reason = reason
            for call in self.on_stop:
                call(reason)
        self._stopped.set()
        if self._scheduler is not None:
            self._scheduler.stop(self.reason)

    def record_stop(self, reason: str) -> None:
        """Record that the run is interrupted by its program, which cancels its task right after."""
        if self.reason is None:
            for call in self.on_stop:
                call(reason)

    def stop_with(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        if self.reason is not None:
            scheduler.stop(self.reason)

    async def unless_stopped(
        self, work: Coroutine[object, object, T], *, until_s: float | None = None
    ) -> T:
        """The result of `work`, as of `run_until`. Raises `Cancelled` if the run is to stop."""
        return await run_until(self._stopped, work, until_s=until_s)


@dataclass(slots=True, kw_only=True, eq=False)
class StepContext:
    """What the steps of a run work with, and change. Times are in seconds into the run."""

    team: Team
    recorder: Recorder
    roles: "Roles"
    active: ActiveRun
    people: "People | None" = None
    settings: RunSettings
    concurrency: int
    shared_workers: SharedWorkers
    slots: Slots
    team_path: TeamPath = ()
    grace_s: float = GRACE_S
    """How long work may take to stop."""
    due_s: float | None = field(init=False, default=None)
    """When the answer is due; `None` without a deadline, which counts from the recorder's start."""
    work_ends_s: float | None = field(init=False, default=None)
    """When work has to stop, to leave time for the synthesis."""
    unplanned: str | None = field(init=False, default=None)
    """Why there is no plan, if planning failed, ran out of time or budget, or a person refused."""
    no_plan: str = field(init=False, default="there is no plan")
    """The same without details, for the first sentence of the answer."""
    late: bool = field(init=False, default=False)
    is_nested: bool = field(init=False)
    """Whether this run does a task of another run."""

    def __post_init__(self) -> None:
        self.is_nested = bool(self.recorder.path)
        limit_s = self.settings.deadline_s
        if limit_s is not None:
            by_model = self.roles.synthesizer.calls_model
            reserve_s = min(RESERVE * limit_s, MAX_RESERVE_S) if by_model else 0.0
            self.due_s = self.recorder.began_s + limit_s
            self.work_ends_s = self.due_s - reserve_s

    def within(
        self,
        team: Team,
        recorder: Recorder,
        task: Handoff,
        *,
        request: PlanRequest,
        people: "People | None",
        deadline_s: float | None,
    ) -> "StepContext":
        """The context of a nested run, which does `task`; a broken-down task keeps the workers."""
        path = self.team_path
        return replace(
            self,
            team=team,
            recorder=recorder,
            roles=self.roles.nested(team, recorder, task, request=request),
            active=ActiveRun(),
            people=people,
            settings=RunSettings(deadline_s),
            team_path=path if task.to_agent == SUBPLANNER else (*path, task.to_agent),
            grace_s=self.grace_s * NESTED_GRACE,
        )

    def take_workers_of(self, plan: Plan) -> None:
        """Add the workers that `plan` describes, with queues and breakers, until this run ends."""
        team = with_planned_workers(self.team, plan)
        made = team.workers[len(self.team.workers) :]
        self.shared_workers = self.shared_workers.with_own(self.team_path, made)
        self.team = team
        self.roles.take(team)

    def loop_time(self, elapsed_s: float | None) -> float | None:
        return None if elapsed_s is None else self.recorder.monotonic(elapsed_s)

    def extend(self, seconds: float) -> None:
        """Be due later by `seconds` in which the run only waited for a person."""
        if self.due_s is not None and self.work_ends_s is not None:
            self.due_s += seconds
            self.work_ends_s += seconds
        self.recorder.wait_for_commits_until(self.work_ends_s)


async def run_until(
    stop: asyncio.Event, work: Coroutine[object, object, T], *, until_s: float | None = None
) -> T:
    """The result of `work`.

    Raises `Cancelled` when `stop` is set, and `TimeoutError` at the event loop's time `until_s`;
    work that does not end within `ROLE_GRACE_S` of its cancellation is abandoned.
    """
    abandonable = AbandonableTask(work)
    working = asyncio.ensure_future(abandonable)
    stopping = asyncio.ensure_future(stop.wait())
    left_s = None if until_s is None else until_s - asyncio.get_running_loop().time()
    try:
        await asyncio.wait([working, stopping], timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Cancelled if stopping.done() else TimeoutError
        return working.result()
    finally:
        stopping.cancel()
        working.cancel()
        # A timer: this wait may itself be abandoned, by a run whose grace period is shorter.
        end = asyncio.get_running_loop().call_later(ROLE_GRACE_S, _abandon, abandonable, working)
        try:
            await asyncio.wait([working, stopping])
        finally:  # the run may be cancelled meanwhile, too
            end.cancel()
            _abandon(abandonable, working)
            await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # retrieved, so that asyncio does not log it


def _abandon(abandonable: AbandonableTask[T], working: asyncio.Future[T]) -> None:
    abandonable.abandon()
    working.cancel()


@asynccontextmanager
async def stop_recorded(recorder: Recorder, active: ActiveRun) -> AsyncGenerator[None]:
    """During the block, record and commit when the run is stopped or cancelled."""
    committing: asyncio.Task[None] | None = None

    def stop(reason: str) -> None:
        nonlocal committing
        state = recorder.state
        if state.phase == "finished" or state.stopped:
            return
        recorder.record(events.RunStopped(**recorder.stamp(), reason=reason))
        committing = asyncio.ensure_future(_commit(recorder))

    active.on_stop.append(stop)
    if active.reason is not None:
        stop(active.reason)
    try:
        yield
    except asyncio.CancelledError:
        stop("the run was cancelled by its program")
        raise
    finally:
        if committing is not None:
            await asyncio.wait([committing], timeout=COMMIT_S)
            committing.cancel()


async def _commit(recorder: Recorder) -> None:
    with suppress(JournalError):  # the run's own commits raise it
        await recorder.commit()


def watch_messages(
    journal: Journal, run_id: str, active: ActiveRun, people: "People | None"
) -> AbstractAsyncContextManager[None]:
    """While the block lasts, messages in the journal reach `people` and stop the run."""
    logged = ""

    async def on_activity(seen: RunActivity) -> None:
        nonlocal logged
        error = seen.error
        if seen.taken_by is not None:
            active.stop(f"{seen.taken_by} has taken the run over")
            return
        try:
            if people is not None:
                await people.take_replies(seen.messages)
            for message in seen.messages:
                if message.reply is None and not message.interrupted:
                    active.stop(message.reason or "cancelled")
                    await journal.drop(message)
        except JournalError as raised:
            error = raised
        if error is not None and str(error) != logged:
            # Where it matters, the run's own commits raise it.
            _log.warning("messages to run %r can't be read: %s", run_id, error)
            logged = str(error)

    return Watcher.watch(journal, run_id, on_activity)


async def record_interruption(recorder: Recorder, journal: Journal) -> list[RunMessage]:
    """Record an interruption that the last process left as a message; returns later replies."""
    replies: list[RunMessage] = []
    for message in await journal.messages(recorder.run_id):
        if message.reply is not None:
            replies.append(message)
            continue
        on_purpose = message.interrupted and not message.reason
        if on_purpose and not recorder.state.stopped:
            recorder.record(events.RunStopped(**recorder.stamp(), reason="interrupted, at once"))
        await journal.drop(message)
    return replies
