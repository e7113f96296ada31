"""The scheduler: the one loop that starts and stops concurrent work.

A task starts when its last dependency has ended; if slots are short, the task with the longest
chain of tasks behind it goes first. An exception of a worker arrives here as `Failed`.
"""

import asyncio
from collections.abc import Mapping, Sequence

from leadhand.contracts import events
from leadhand.contracts.outcome import Completed, Escalated, Outcome
from leadhand.contracts.task import Limits
from leadhand.contracts.team import Team, Worker
from leadhand.engine.attempts import (
    GRACE_S,
    Attempt,
    Attempts,
    EndedAttempt,
    partial_result,
    run_safely,
)
from leadhand.engine.consultations import Approvals, CallApprovals, Consultations
from leadhand.engine.handoffs import handoff, limits_of
from leadhand.engine.ready_queues import ReadyQueues, Turn
from leadhand.engine.recorder import Recorder
from leadhand.engine.recovery import Recovery
from leadhand.engine.revisions import Revisions
from leadhand.engine.rounds import GrowingPlan, Rounds
from leadhand.engine.run_tasks import RunTasks
from leadhand.engine.shared_workers import (
    Quarantine,
    ReadyQueue,
    SharedWorkers,
    Slots,
    TeamPath,
    Waiter,
)
from leadhand.ports import Decider, Person, Remedies, Runner
from leadhand.state.times import why_work_ends


class Scheduler:
    # Long because it makes the parts of the engine and hands each to those that need it.
    def __init__(
        self,
        recorder: Recorder,
        team: Team,
        runners: Mapping[str, Runner],
        *,
        concurrency: int,
        slots: Slots | None = None,
        shared_slots: Mapping[str, Sequence[Slots]] | None = None,
        shared_workers: SharedWorkers | None = None,
        team_path: TeamPath = (),
        rank: Mapping[str, float] | None = None,
        remedies: Remedies | None = None,
        decider: Decider | None = None,
        person: Person | None = None,
        grace_s: float = GRACE_S,
        run_context: object = None,
        growing: bool = False,
    ) -> None:
        """`runners` and `shared_slots` are by worker name.

        `concurrency` limits how many tasks run at once; tasks of nested teams have a limit of the
        same size, so that they take no slot that their own tasks need. Nested runs share `slots`.
        `shared_workers` holds what the supervisor's runs share; `team_path` is this team's place
        there.

        `rank` by task id: the highest goes first if slots are short; by default the length of the
        longest path that waits for the task. Rungs that need `remedies` or a `person` are skipped
        without. A `decider` adds tasks after a stepwise planner's first round.
        """
        self._recorder = recorder
        self._state = recorder.state
        self._team = team
        self._limits: dict[tuple[str, Limits], Limits] = {}
        self._wake_up = asyncio.Event()
        self._grace_s = grace_s
        self._run_context = run_context
        self._person = person
        self._quarantine = Quarantine.here()
        self._suspect: str | None = None
        self._attempts = Attempts(recorder, self._wake_up, self._quarantine, grace_s)
        self.waits_for_person = False
        """Whether `run` returned because everything left waits for a person who answers later."""
        self._slots = slots or Slots(concurrency)
        self._ready_queues = ReadyQueues(
            team,
            runners,
            slots=self._slots,
            team_slots=Slots(concurrency),
            shared_slots=shared_slots or {},
            shared_workers=shared_workers or SharedWorkers(),
            team_path=team_path,
            waiter=Waiter(self._wake_up),
        )
        wake_up, queues = self._wake_up.set, self._ready_queues
        self._tasks = RunTasks(recorder, queues, rank=rank, wake_up=wake_up, growing=growing)
        asked = self._consultations = Consultations(wake_up)
        self._approvals = Approvals(recorder, asked, person)
        self._call_approvals = CallApprovals(recorder, self._tasks, asked, person)
        shared = (recorder, team, self._tasks, asked, self._approvals)
        helper = person if person is not None and "escalation" in person.occasions else None
        self._recovery = Recovery(*shared, remedies, helper)
        self._revisions = Revisions(*shared, remedies)
        self._rounds = Rounds(*shared, decider)
        parts = (self._tasks, self._attempts, self._recovery, self._call_approvals)
        self.growing_plan = GrowingPlan(self._state, *parts, self._handle, self.drain)

    async def run(self, *, work_ends_s: float | None = None) -> None:
        """Return when every task has ended, or all that is left waits for a later answer of a
        person.

        All work is stopped `work_ends_s` into the run. What does not stop within its grace period
        is abandoned and recorded as stuck.
        """
        alarm: asyncio.TimerHandle | None = None
        self._recovery.work_ends_s = work_ends_s
        if work_ends_s is not None:
            alarm = asyncio.get_running_loop().call_at(
                self._recorder.monotonic(work_ends_s),
                lambda: self.stop(why_work_ends(self._state, work_ends_s)),
            )
        self._slots.users.append(self._wake_up)
        self._quarantine.users.append(self._wake_up)
        try:
            self._tasks.start()
            if any(
                task.attempts or task.status != "pending" for task in self._state.tasks.values()
            ):
                self._recovery.resume()
                self._call_approvals.resume()
                self._revisions.resume()
                self._rounds.resume()
            self._consider()
            await self._start()
            while self._is_unfinished():
                await self._wake_up.wait()
                self._wake_up.clear()
                while self._attempts.ended:
                    self._handle(*self._attempts.ended.popleft())
                while self._consultations.answered:
                    self._consultations.answered.popleft()()
                self._consider()
                await self._start()
        finally:
            if alarm is not None:
                alarm.cancel()
            self._slots.users.remove(self._wake_up)
            self._quarantine.users.remove(self._wake_up)
            self._quarantine.release(self._wake_up)
            self._ready_queues.line_up(idle=True)
            waits = self._hold(waits=self._waits_for_people())
            self.waits_for_person = waits or (self._person is not None and self._person.leaves)
            try:
                if self.waits_for_person:
                    await self._leave()
                elif self._tasks.unfinished:
                    self.stop("the run was cancelled")
                    await self._wind_down()
            finally:
                self._release_all()
            if self._consultations.waiting or self._consultations.answered:
                await self._consultations.close(self._grace_s)

    def _consider(self) -> None:
        if self._tasks.growing:
            return
        if self._state.rounds:  # its planner considers what results say when it decides
            self._rounds.consider()
        elif self._tasks.impacts:
            self._revisions.consider()

    def _release_all(self) -> None:
        """Release everything shared with other runs, even if the journal has failed."""
        for attempt in list(self._attempts.running.values()):
            self._attempts.release(attempt)
            key = f"{self._recorder.prefix}{attempt.task.id}"
            attempt.queue.shared.ended(key, None, self._team.ladder, 0.0)
        self._attempts.cancel_alarm()
        self._ready_queues.close()

    def _is_unfinished(self) -> bool:
        """Whether there is work left, or a revision of the plan may add some."""
        if self._tasks.stopped is not None:
            waiting = self._person.waiting if self._person is not None else ()
            for id in {*waiting}.intersection(self._attempts.running):
                self._attempts.request_stop(self._attempts.running[id], self._tasks.stopped)
            return bool(self._tasks.unfinished)
        left = (
            self._tasks.unfinished > 0
            or self._tasks.growing
            or self._revisions.in_progress
            or (bool(self._state.rounds) and self._state.rounds_open)
        )
        return left and not self._hold(waits=self._waits_for_people())

    def _hold(self, *, waits: bool) -> bool:
        """Tell the run around this one whether all waits; returns whether this one ends for now."""
        wake_up, person = self._wake_up.set, self._person
        return person is not None and person.hold(waits=waits, wake_up=wake_up)

    def _waits_for_people(self) -> bool:
        """Whether no task can start, and every open consultation is a question to a person who
        answers later than this process lives."""
        person, running = self._person, self._attempts.running
        if person is None or self._tasks.stopped is not None or self._tasks.growing:
            return False
        if not {*person.waiting}.issuperset(running) or not (self._state.questions or running):
            return False
        asked = self._consultations.open
        left_open = self._approvals.unanswered + self._call_approvals.unanswered
        return (
            (person.answers_later or not asked)
            and len(self._state.questions) == asked + left_open
            and not self._attempts.ended
            and (self._revisions.in_progress or not self._tasks.can_continue)
        )

    def stop(self, reason: str) -> None:
        """Start no more tasks and cancel those that run; `run` returns within the grace period."""
        self.drain(reason)
        for attempt in list(self._attempts.running.values()):
            self._attempts.request_stop(attempt, reason)

    def drain(self, reason: str) -> None:
        """Start no more tasks; `run` returns once the running ones end. The first reason stands."""
        if self._tasks.stopped is not None:
            return
        self._tasks.stop(reason)
        self._recovery.opinions.settle()
        self._tasks.cancel_waiting(running=self._attempts.running)
        self._wake_up.set()

    async def _leave(self) -> None:
        if self._person is not None and (works := self._attempts.works):
            self._person.leave()
            for work in works:
                work.cancel()
            await asyncio.wait(works, timeout=self._grace_s)

    async def _wind_down(self) -> None:
        """End the running attempts because `run` itself was cancelled."""
        try:
            if works := self._attempts.works:
                await asyncio.wait(works, timeout=self._grace_s)
        finally:
            for attempt, outcome in self._attempts.ended:
                if outcome is None and attempt.stop_requested is None:
                    # An event loop that ends cancels attempts and run in any order.
                    attempt.stop_requested = self._tasks.stopped
            while self._attempts.ended:
                self._handle(*self._attempts.ended.popleft())
            for attempt in list(self._attempts.running.values()):
                self._attempts.abandon(attempt)
                self._handle(attempt, None)

    async def _start(self) -> None:
        """Dispatch ready tasks; their work starts once the dispatches are committed."""
        idle = self._tasks.stopped is not None or self._revisions.in_progress
        if not idle:
            self._dispatch_ready()
        self._ready_queues.line_up(idle=idle or bool(self._quarantine.claims))
        await self._recorder.commit()
        self._attempts.begin()
        if self._state.rounds and self._rounds.is_due:
            self._wake_up.set()  # breakers refused the last tasks

    def _dispatch_ready(self) -> None:
        """Dispatch by rank until slots or tasks run out; then suspects, one at a time, alone."""
        now_s = asyncio.get_running_loop().time()
        while not self._quarantine.claims and (found := self._ready_queues.next(now_s)):
            self._take(*found)
        if not self._tasks.suspects:
            return
        busy = self._ready_queues.any_ready or self._attempts.any_working
        if busy and self._wake_up not in self._quarantine.claims:
            return
        if self._quarantine.claim(self._wake_up):
            self._suspect = self._tasks.suspects.popleft()
            self._tasks.enqueue(self._suspect, first=True)
            if found := self._ready_queues.next(now_s):
                self._take(*found)
            attempt = self._attempts.running.get(self._suspect)
            if attempt is None or attempt.queue.worker.team is not None:
                # It did not start, as a run in another thread uses its worker, or its nested run
                # needs the event loop's other workers.
                self._quarantine.release(self._wake_up)

    def _take(self, id: str, turn: Turn) -> None:
        if turn.refused is not None:
            self._recovery.refused(id, turn.queue.worker, turn.refused)
        elif turn.queue.take(f"{self._recorder.prefix}{id}"):
            self._dispatch(turn.queue, id, turn.reason)
        else:  # a run in another thread was faster
            self._tasks.make_ready(id)

    def _dispatch(self, queue: ReadyQueue, id: str, reason: str) -> None:
        task = self._state.tasks[id]
        worker = queue.worker
        if task.worker != worker.name:
            self._recorder.record(
                events.TaskReassigned(
                    **self._recorder.task_stamp(id, task.attempts),
                    worker=worker.name,
                    reason=reason,
                    second_opinion=task.first is not None,
                )
            )
        limits = self._limits_of(worker, task.task.limits)
        given = handoff(
            self._state,
            task,
            worker,
            limits,
            path=self._recorder.path,
            run_context=self._run_context,
        )
        self._recorder.record(
            events.TaskDispatched(
                **self._recorder.task_stamp(id, given.attempt), worker=worker.name
            )
        )
        work = run_safely(queue.runner, given)
        self._attempts.add(task, given.attempt, queue, limits, work)

    def _limits_of(self, worker: Worker, limits: Limits) -> Limits:
        found = self._limits.get((worker.name, limits))
        if found is None:
            found = limits_of(self._team, worker, limits)
            self._limits[worker.name, limits] = found
        return found

    def _handle(self, attempt: Attempt, outcome: Outcome | None) -> None:
        if not self._attempts.release(attempt):
            return
        task, shared = attempt.task, attempt.queue.shared
        if task.id == self._suspect:
            self._suspect = None
            self._quarantine.release(self._wake_up)
        ending, work = attempt.outcome(outcome), attempt.abandonable.watch.work()
        now_s = asyncio.get_running_loop().time()
        about_worker = None if attempt.queue.worker is self._team.subplanner else ending
        key = f"{self._recorder.prefix}{task.id}"
        breaker_changes = shared.ended(key, about_worker, self._team.ladder, now_s)
        if ending is None:
            reason = attempt.stop_requested or "the run ended"
            left = partial_result(outcome)
            self._tasks.cancel(task.id, attempt.number, reason=reason, partial=left, work=work)
        elif isinstance(ending, Completed) and task.first is None:
            self._tasks.complete(task.id, attempt.number, ending.result, work=work)
        else:
            worker = attempt.queue.worker.name
            past = EndedAttempt(task, attempt.number, worker, attempt.limits, work)
            paused = ending.paused if isinstance(ending, Escalated) else None
            if paused is not None and self._call_approvals.pause(
                task.task, paused, attempt=attempt.number, work=work
            ):
                pass  # it continues after the reply
            elif not isinstance(ending, Completed):
                self._recovery.after(past, ending)
            elif task.first is not None:
                self._recovery.opinions.compare(past, ending, task.first)
        if breaker_changes:
            self._record_breaker(attempt.queue)

    def _record_breaker(self, queue: ReadyQueue) -> None:
        worker, breaker, stamp = queue.worker.name, queue.shared.breaker, self._recorder.stamp()
        if breaker.is_closed:
            reason = f"{worker} works again"
            self._recorder.record(events.BreakerClosed(**stamp, worker=worker, reason=reason))
            return
        self._recorder.record(
            events.BreakerOpened(
                **stamp,
                worker=worker,
                failures=breaker.failures,
                pause_s=breaker.pause_s,
                reason=breaker.reason,
            )
        )
