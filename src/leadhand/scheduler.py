"""The scheduler: the one loop that starts and stops concurrent work.

It starts a task the moment its last dependency has ended, the one with the longest remaining path
first where slots are short. It knows ports only: who works, where events are kept and what time it
is are not its business. Nothing that a worker does reaches it as an exception.
"""

import asyncio
import contextlib
import heapq
from collections import deque
from collections.abc import Mapping, Sequence

from leadhand import graph
from leadhand.attempts import Attempt, Lane, Leash, Slots, contained, partial
from leadhand.contracts.event import (
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
    TaskReassigned,
    TaskRetried,
    TaskSkipped,
    WorkerStuck,
)
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result
from leadhand.contracts.task import Limits
from leadhand.contracts.team import Team, Worker
from leadhand.handoffs import handoff, limits_of
from leadhand.policies import Accept, Action, GiveUp, History, Reassign, Retry, Rules, decide
from leadhand.ports import Runner
from leadhand.recorder import Recorder

GRACE_S = 0.25
"""How long an attempt that was told to stop may take to clean up."""


class Scheduler:
    """Runs the accepted plan of one run to its end."""

    def __init__(
        self,
        recorder: Recorder,
        team: Team,
        runners: Mapping[str, Runner],
        *,
        concurrency: int,
        slots: Slots | None = None,
        shared_slots: Mapping[str, Sequence[Slots]] | None = None,
        rank: Mapping[str, float] | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        """`runners` and `shared_slots` are by worker name.

        `concurrency` is tasks at once: those that nested teams do, and apart from them all others.
        Of the others a tree of nested runs has as many `slots` in all: who does no work itself
        holds no place that its team may need.

        `rank` says by task id who goes first where slots are short: the highest. By default it is
        the number of tasks on the longest path that waits for the task.
        """
        state = recorder.state
        tasks = [task.task for task in state.tasks.values()]
        self._recorder = recorder
        self._state = state
        self._team = team
        self._rules = Rules(
            team.retry, {w.name: w.fallback for w in team.workers if w.fallback is not None}
        )
        self._slots = slots or Slots(concurrency)
        teams = Slots(concurrency)
        shared = shared_slots or {}
        self._lanes = {
            worker.name: Lane(
                worker,
                runners[worker.name],
                (
                    teams if worker.team is not None else self._slots,
                    *([Slots(worker.concurrency)] if worker.concurrency is not None else []),
                    *shared.get(worker.name, ()),
                ),
                [],
            )
            for worker in team.workers
        }
        self._limits: dict[tuple[str, Limits], Limits] = {}
        self._rank = rank if rank is not None else graph.remaining_path(tasks)
        self._frontier = graph.Frontier(tasks)
        self._unfinished = len(tasks)
        self._order = 0
        self._running: dict[str, Attempt] = {}
        self._delayed: dict[str, asyncio.TimerHandle] = {}
        self._inbox: deque[tuple[Attempt, Outcome | None]] = deque()
        self._news = asyncio.Event()
        self._stopped: str | None = None
        self._grace_s = grace_s

    async def run(self, *, deadline_s: float | None = None) -> None:
        """Return when every task has ended; all work is stopped `deadline_s` into the run.

        Nothing is left running: what does not stop within `GRACE_S` is let go of, and named.
        """
        loop = asyncio.get_running_loop()
        alarm: asyncio.TimerHandle | None = None
        if deadline_s is not None:
            due_s = self._state.deadline_s or deadline_s
            # Where it stops earlier than that, the rest of the time is not for work.
            so = "was reached" if due_s == deadline_s else "is near, and the rest for the synthesis"
            why = f"the run's deadline of {due_s:g} s {so}"
            alarm = loop.call_at(self._recorder.monotonic(deadline_s), self.stop, why)
        self._slots.users.append(self._news)
        try:
            for id in self._frontier.ready():
                self._enqueue(id)
            self._start()
            while self._unfinished:
                await self._news.wait()
                self._news.clear()
                while self._inbox:
                    self._settle(*self._inbox.popleft())
                await self._recorder.commit()
                self._start()
        finally:
            if alarm is not None:
                alarm.cancel()
            self._slots.users.remove(self._news)
            if self._unfinished:
                self.stop("the run was cancelled")
                await self._wind_down()

    def stop(self, reason: str) -> None:
        """Start nothing more and cancel what runs; `run` returns within `GRACE_S`."""
        self.start_no_more(reason)
        for attempt in list(self._running.values()):
            self._tell_to_stop(attempt, reason)

    def start_no_more(self, reason: str) -> None:
        """Let what runs come to its end, and `run` return after it; the first reason stands."""
        if self._stopped is not None:
            return
        self._stopped = reason
        for timer in self._delayed.values():
            timer.cancel()
        for task in self._state.tasks.values():
            id = task.task.id
            if not task.ended and id not in self._running:
                self._record_cancelled(id, task.attempts, None, reason)
        self._news.set()

    # Starting

    def _enqueue(self, id: str) -> None:
        self._delayed.pop(id, None)
        self._order += 1
        lane = self._lanes[self._state.tasks[id].worker]
        heapq.heappush(lane.ready, (-self._rank[id], self._order, id))

    def _wake_up(self, id: str) -> None:
        self._enqueue(id)
        self._news.set()

    def _start(self) -> None:
        """Dispatch ready tasks, the longest remaining path first, until slots or tasks run out."""
        if self._stopped is not None:
            return
        while True:
            best: Lane | None = None
            for lane in self._lanes.values():
                if lane.ready and (best is None or lane.ready[0] < best.ready[0]) and lane.open():
                    best = lane
            if best is None:
                return
            self._dispatch(best, heapq.heappop(best.ready)[2])

    def _dispatch(self, lane: Lane, id: str) -> None:
        task = self._state.tasks[id]
        limits = self._limits_of(lane.worker, task.task.limits)
        given = handoff(self._state, task, lane.worker, limits)
        attempt = Attempt(task, given.attempt, lane, limits, Leash(contained(lane.runner, given)))
        for slots in lane.slots:
            slots.free -= 1
        self._recorder.record(
            TaskDispatched(
                **self._recorder.task_stamp(id, given.attempt),
                worker=lane.worker.name,
            )
        )
        loop = asyncio.get_running_loop()
        self._running[id] = attempt
        attempt.work = loop.create_task(self._work(attempt), name=f"task:{self._recorder.path}{id}")
        if limits.timeout_s is not None:
            attempt.timer = loop.call_later(
                limits.timeout_s, self._tell_to_stop, attempt, "timeout"
            )

    def _limits_of(self, worker: Worker, limits: Limits) -> Limits:
        found = self._limits.get((worker.name, limits))
        if found is None:
            found = limits_of(self._team, worker, limits)
            self._limits[worker.name, limits] = found
        return found

    async def _work(self, attempt: Attempt) -> None:
        outcome: Outcome | None = None
        with contextlib.suppress(asyncio.CancelledError):  # `Attempt.ended` says what that means
            outcome = await attempt.leash
        self._inbox.append((attempt, outcome))
        self._news.set()

    # Stopping one attempt

    def _tell_to_stop(self, attempt: Attempt, why: str) -> None:
        if attempt.told_to_stop is not None or attempt.work is None or attempt.work.done():
            return
        attempt.told_to_stop = why
        if attempt.timer is not None:
            attempt.timer.cancel()
        loop = asyncio.get_running_loop()
        attempt.timer = loop.call_later(self._grace_s, self._let_go, attempt)
        attempt.work.cancel()

    def _let_go(self, attempt: Attempt) -> None:
        attempt.leash.let_go()
        if attempt.work is None or not attempt.work.cancel():
            return
        id, name = attempt.task.task.id, attempt.lane.worker.name
        self._recorder.record(
            WorkerStuck(
                **self._recorder.task_stamp(id, attempt.number),
                worker=name,
                message=f"worker {name!r} went on with task {id!r} after it was told to stop",
            )
        )

    async def _wind_down(self) -> None:
        """End what runs where `run` itself is cancelled, whether or not it wants to end."""
        running = list(self._running.values())
        try:
            if running:
                works = [attempt.work for attempt in running if attempt.work is not None]
                await asyncio.wait(works, timeout=self._grace_s)
        finally:
            while self._inbox:
                self._settle(*self._inbox.popleft())
            for attempt in list(self._running.values()):
                self._let_go(attempt)
                self._settle(attempt, None)

    # What came back

    def _settle(self, attempt: Attempt, outcome: Outcome | None) -> None:
        id = attempt.task.task.id
        if self._running.pop(id, None) is None:
            return
        if attempt.timer is not None:
            attempt.timer.cancel()
        for slots in attempt.lane.slots:
            slots.give_back(self._news)
        ending = attempt.ended(outcome)
        if ending is None:
            reason = attempt.told_to_stop or "the run ended"
            self._record_cancelled(id, attempt.number, partial(outcome), reason)
        elif isinstance(ending, Completed):
            self._complete(id, attempt.number, ending.result, None)
        else:
            self._unsuccessful(attempt, ending)

    def _complete(self, id: str, number: int, result: Result, flag: str | None) -> None:
        self._recorder.record(
            TaskCompleted(**self._recorder.task_stamp(id, number), result=result, flag=flag)
        )
        self._ended(id, gave_result=True)

    def _unsuccessful(self, attempt: Attempt, outcome: Escalated | Failed) -> None:
        task, number = attempt.task, attempt.number
        id = task.task.id
        action = decide(outcome, History(attempt.lane.worker.name, number, task.tried), self._rules)
        # Where the run is stopping nobody will try again, whatever the ladder says.
        if self._stopped is not None and not isinstance(action, Accept):
            action = GiveUp(self._stopped)
        self._record_unsuccessful(id, number, outcome, action)
        match action:
            case Retry():
                self._recorder.record(
                    TaskRetried(
                        **self._recorder.task_stamp(id, number),
                        delay_s=action.delay_s,
                        reason=action.reason,
                    )
                )
                loop = asyncio.get_running_loop()
                self._delayed[id] = loop.call_later(action.delay_s, self._wake_up, id)
            case Reassign():
                self._recorder.record(
                    TaskReassigned(
                        **self._recorder.task_stamp(id, number),
                        worker=action.worker,
                        reason=action.reason,
                    )
                )
                self._enqueue(id)
            case Accept():
                self._complete(id, number, action.result, action.reason)
            case GiveUp():
                self._ended(id, gave_result=False)

    def _record_unsuccessful(
        self, id: str, number: int, outcome: Escalated | Failed, action: Action
    ) -> None:
        final = isinstance(action, GiveUp)
        stamp = self._recorder.task_stamp(id, number)
        if isinstance(outcome, Escalated):
            self._recorder.record(
                TaskEscalated(
                    **stamp,
                    reason=outcome.reason,
                    message=outcome.message,
                    partial=outcome.partial,
                    final=final,
                    decision=action.reason,
                )
            )
        else:
            self._recorder.record(
                TaskFailed(
                    **stamp,
                    kind=outcome.kind,
                    message=outcome.message,
                    partial=outcome.partial,
                    final=final,
                    decision=action.reason,
                )
            )

    def _record_cancelled(self, id: str, attempt: int, partial: Result | None, reason: str) -> None:
        self._recorder.record(
            TaskCancelled(
                **self._recorder.task_stamp(id, attempt),
                reason=reason,
                partial=partial,
            )
        )
        self._unfinished -= 1

    def _ended(self, id: str, *, gave_result: bool) -> None:
        self._unfinished -= 1
        ready, skipped = self._frontier.finish(id, gave_result=gave_result)
        if self._stopped is not None:
            return
        for next_id in ready:
            self._enqueue(next_id)
        for next_id, blame in skipped:
            self._unfinished -= 1
            self._recorder.record(
                TaskSkipped(
                    **self._recorder.task_stamp(next_id, 0),
                    blame=blame,
                    reason=f"needs {blame!r}, which gave no result",
                )
            )
