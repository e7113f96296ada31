"""A run under way, from its first event to its answer, and the runs of nested teams within it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial

from leadhand.contracts import events
from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.task import Plan
from leadhand.contracts.task_events import stuck_message
from leadhand.contracts.team import Team
from leadhand.engine.attempts import Slots
from leadhand.engine.quarantine import MAX_CRASHES
from leadhand.engine.recorder import NestedJournal, Recorder
from leadhand.engine.scheduler import GRACE_S, Scheduler
from leadhand.engine.shared_workers import SharedWorkers, TeamPath
from leadhand.engine.stopwatch import ExcludedTime
from leadhand.models.choice import roles
from leadhand.models.prompts import prompts_of
from leadhand.ports import PlanRequest
from leadhand.run.answer_step import AnswerStep
from leadhand.run.cancellation import ActiveRun
from leadhand.run.conditions import Conditions, Setting
from leadhand.run.metrics import metrics, sequential
from leadhand.run.people import People
from leadhand.run.plan_step import PlanStep
from leadhand.run.reserve import Reserve
from leadhand.run.resumption import is_over, prompts_changed, stopped
from leadhand.run.roles import Roles
from leadhand.run.stopping import Stopping
from leadhand.run.term import Term
from leadhand.state.fold import RunState
from leadhand.workers.nested import request_of
from leadhand.workers.runners import Runners
from leadhand.workers.watchdog import Watchdog, stuck_worker_report

CLOSING_S = 0.1
"""How long threads, processes and tools have to end where there is no time left."""
MAX_CLOSING_S = 5.0
NESTED_SLACK_S = 0.05
"""How long a nested run has for its answer, once all its work has stopped."""
NESTED_GRACE = 0.6
"""How much of the time to stop in a nested run has of that of the run around it."""


class Run:
    """A run under way; `active` is how it is told to stop."""

    def __init__(
        self,
        team: Team,
        recorder: Recorder,
        roles: Roles,
        *,
        active: ActiveRun,
        deadline_s: float | None,
        concurrency: int,
        setting: Setting | None = None,
        people: People | None = None,
        slots: Slots | None = None,
        shared_workers: SharedWorkers | None = None,
        team_path: TeamPath = (),
        grace_s: float = GRACE_S,
    ) -> None:
        """`deadline_s` is seconds from when it starts, or goes on; `concurrency` is tasks at once,
        of which a tree of runs shares the `slots`; `shared_workers` is what all runs share of the
        workers, and `team_path` the workers that this run is within; `grace_s` is how long what was
        told to stop may take. Where the recorder has a past, the run continues from there.
        """
        self._recorder = recorder
        self._deadline_s = deadline_s
        self._concurrency = concurrency
        self._setting = setting or Setting()
        self._slots = slots or Slots(concurrency)
        self._shared_workers = shared_workers or SharedWorkers(team)
        self._team_path = team_path
        self._grace_s = grace_s
        term = Term(recorder, deadline_s, reserve=False)
        self._of = Conditions(team, recorder, roles, active, people, term)

    async def to_answer(
        self, asked: PlanRequest, plan: Plan | None = None, *, again: tuple[str, ...] = ()
    ) -> Answer:
        """Plan, unless there is a `plan`; work; answer. Raises what `Supervisor.run` says.

        Of a run that goes on, the tasks `again` are done from the beginning.
        """
        recorder = self._recorder
        state = recorder.state
        if state.answer is not None and is_over(state) and not again:
            return state.answer
        self._start(asked, again)
        if recorder.path:
            return await self._answered(asked, plan)
        stopping = Stopping(recorder)
        self._of.active.on_stop.append(stopping.stop)
        if self._of.active.reason is not None:
            stopping.stop(self._of.active.reason)
        try:
            return await self._answered(asked, plan)
        except asyncio.CancelledError:
            stopping.stop("the run was cancelled by its program")
            raise
        finally:
            await stopping.close()

    async def _answered(self, asked: PlanRequest, plan: Plan | None) -> Answer:
        recorder = self._recorder
        state = recorder.state
        if plan is None and not recorder.path:
            # While it is planned there is something to go on with, and the journal can be written.
            # A plan of the caller's own is kept together with the run's beginning, or not at all.
            await recorder.commit()
        if state.plan is None and not await PlanStep(self._of).planned(asked, plan):
            stopped = self._of.active.reason is not None or self._of.unplanned is not None
            return await self._end(waits=bool(state.questions) and not stopped)
        waits = False
        if state.amendment_open or not all(task.ended for task in state.tasks.values()):
            waits = await self._work()
        return await self._end(waits=waits and self._of.active.reason is None)

    def _start(self, asked: PlanRequest, again: tuple[str, ...]) -> None:
        recorder, team = self._recorder, self._of.team
        recorder.start()
        reserve = self._of.roles.synthesizer.calls_model
        term = self._of.term = Term(recorder, self._deadline_s, reserve=reserve)
        recorder.keep_until(lambda: term.work_until_s)
        prompts = prompts_of(team)
        if recorder.state.seq:
            state, past = recorder.state, recorder.past
            resumable = tuple(id for id in stopped(state) if id not in {*again})
            recorder.record(
                events.RunResumed(
                    **recorder.stamp(),
                    deadline_s=self._deadline_s,
                    budget=self._setting.budget,
                    goes_on=resumable,
                    again=again,
                    crashes=recorder.crashes(team),
                    prompts=prompts,
                    prompts_changed=prompts_changed(state, past, prompts, again=again),
                )
            )
            self._give_up_crashed()
            return
        recorder.record(
            events.RunStarted(
                **recorder.stamp(),
                team=team.name,
                request=asked.text,
                engine="model" if team.tiers else "deterministic",
                deadline_s=self._deadline_s,
                models=roles(team) if team.tiers else {},
                budget=self._setting.budget,
                inputs=self._setting.inputs,
                nonce=self._of.roles.nonce,
                origin=self._setting.origin,
                amend=self._setting.amend,
                prompts=prompts,
            )
        )

    def _give_up_crashed(self) -> None:
        """Fail the tasks that were in flight whenever the process died."""
        recorder = self._recorder
        for id, task in recorder.state.tasks.items():
            count = task.crashes
            if count >= MAX_CRASHES and not task.ended:
                recorder.record(
                    events.TaskFailed(
                        **recorder.task_stamp(id, task.attempts + count),
                        kind="crashed",
                        message=f"the process died {count} times in a row while this task ran",
                        final=True,
                        decision=f"given up after {count} crashes",
                    )
                )

    async def _end(self, *, waits: bool) -> Answer:
        """The answer; if the run `waits` for a person, how it stands until they reply."""
        step = AnswerStep(self._of)
        return await (step.waiting() if waits else step.last())

    async def run_team(self, team: Team, handoff: Handoff) -> RunState:
        """`handoff`'s task done by `team`, as `TeamRunner` says: a run within this one."""
        recorder, journal = self._recorder.nested(handoff.task_id)
        state = recorder.state
        # Of a nested run that is resumed, what it did before is counted already.
        past_low_s, past_high_s = sequential(state, recorder.elapsed_s()) if state.seq else (0, 0)
        with ExcludedTime() as block:
            try:
                return await self._run_team(team, handoff, recorder, journal)
            finally:
                now_s = recorder.elapsed_s()
                low_s, high_s = sequential(state, now_s)
                path_s = metrics(state, now_s).critical_path_s
                block.took_all(low_s - past_low_s, high_s - past_high_s, path_s=path_s)

    async def _run_team(
        self, team: Team, handoff: Handoff, recorder: Recorder, journal: NestedJournal
    ) -> RunState:
        asked = request_of(handoff)
        active = ActiveRun()
        people = self._of.people
        try:
            async with self._of.roles.nested(team, recorder, handoff, request=asked.text) as roles:
                run = Run(
                    team,
                    recorder,
                    roles,
                    active=active,
                    deadline_s=self._nested_deadline_s(handoff.limits.timeout_s),
                    concurrency=self._concurrency,
                    people=people.nested(recorder) if people is not None else None,
                    slots=self._slots,
                    shared_workers=self._shared_workers,
                    team_path=(*self._team_path, handoff.to_agent),
                    grace_s=self._grace_s * NESTED_GRACE,
                )
                try:
                    await run.to_answer(asked)
                except asyncio.CancelledError:
                    active.stop("the task was stopped")
                    if recorder.state.answer is None:
                        await AnswerStep(run._of).last()
            return recorder.state
        finally:
            journal.close()

    def _nested_deadline_s(self, timeout_s: float | None) -> float | None:
        """Seconds for a nested run that starts now, to end before its task or this run's work."""
        until_s = self._of.term.work_until_s
        left_s = None if until_s is None else until_s - self._recorder.elapsed_s()
        bounds = [bound for bound in (timeout_s, left_s) if bound is not None]
        if not bounds:
            return None
        least_s = max(min(bounds), 0.0)
        slack_s = self._grace_s * NESTED_GRACE + NESTED_SLACK_S
        return round(least_s - min(slack_s, least_s / 2), 3)

    async def _work(self) -> bool:
        """Do the tasks; gives whether all that is left waits for a person."""
        roles = self._of.roles
        async with self._runners() as runners:
            if runners is None:
                return False
            scheduler = Scheduler(
                self._recorder,
                self._of.team,
                runners.runners,
                concurrency=self._concurrency,
                slots=self._slots,
                shared_slots=runners.slots,
                shared_workers=self._shared_workers,
                team_path=self._team_path,
                remedies=roles.remedies,
                person=self._of.people,
                grace_s=self._grace_s,
            )
            self._of.active.works_with(scheduler)
            if roles.account is not None:
                roles.account.on_used_up = partial(self._without_budget, scheduler)
            # One watches over the whole tree of runs.
            report = stuck_worker_report(self._recorder)
            watchdog = nullcontext() if self._recorder.path else Watchdog(report)
            with watchdog, Reserve(self._of, self._shared_workers, self._team_path):
                await scheduler.run(deadline_s=self._of.term.work_until_s)
            # Once a task and worker, however many of its attempts have not returned.
            for given in {(one.task_id, one.to_agent): one for one in runners.abandoned}.values():
                id, name = given.task_id, given.to_agent
                self._recorder.record(
                    events.WorkerStuck(
                        **self._recorder.task_stamp(id, given.attempt),
                        worker=name,
                        message=stuck_message(name, id),
                    )
                )
        return scheduler.waits_for_person

    def _without_budget(self, scheduler: Scheduler, why: str) -> None:
        """Go on by code where all can do without a model; else let come to its end what runs."""
        if not self._of.roles.do_without_models(why):
            scheduler.drain(why)

    @asynccontextmanager
    async def _runners(self) -> AsyncGenerator[Runners | None]:
        """The crew's staff, at work; none where its tools were not ready in time."""
        runners, term = self._of.roles.runners, self._of.term
        runners.teams = self
        until_s = term.loop_time(term.work_until_s)
        try:
            try:
                async with asyncio.timeout_at(until_s):
                    await runners.__aenter__()
            except TimeoutError:
                self._cancel_all(
                    f"the run's deadline of {term.deadline_s:g} s came before the tools were ready"
                )
                yield None
            else:
                yield runners
        finally:
            left_s = MAX_CLOSING_S
            if until_s is not None:
                left_s = min(left_s, until_s - asyncio.get_running_loop().time())
            with suppress(TimeoutError):
                async with asyncio.timeout(max(left_s, CLOSING_S)):
                    await runners.__aexit__(None, None, None)

    def _cancel_all(self, reason: str) -> None:
        for id, task in self._recorder.state.tasks.items():
            if not task.ended:
                stamp = self._recorder.task_stamp(id, task.attempts)
                self._recorder.record(events.TaskCancelled(**stamp, reason=reason))
