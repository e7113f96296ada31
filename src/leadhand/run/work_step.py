"""The step of a run that does its tasks, also while its planner still writes the plan.

A model that does not answer may use up all the time for work, so models are abandoned while there
is still time for the offline code of workers.
"""

import asyncio
from contextlib import AsyncExitStack, nullcontext
from types import TracebackType
from typing import Self

from leadhand.contracts import events
from leadhand.contracts.events.task import stuck_message
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Worker
from leadhand.engine.rounds import GrowingPlan
from leadhand.engine.scheduler import Scheduler
from leadhand.engine.shared_workers import SharedWorker
from leadhand.plans import graph
from leadhand.ports import TeamRunner
from leadhand.run.step_context import StepContext
from leadhand.state.run_events import kept
from leadhand.workers.offline import CODE_SLACK_S, DEFAULT_CODE_S
from leadhand.workers.runners import own_code
from leadhand.workers.watchdog import Watchdog

MAX_SHARE = 0.5
"""Of the time for work: models have at least the other half."""
_SOON_S = 0.05


class OfflineReserve:
    """Stops asking models in time, while the block lasts; needs a running event loop."""

    def __init__(self, context: StepContext) -> None:
        self._context = context
        self._offline_switch = context.roles.offline_switch
        self._state = context.recorder.state
        self._workers = {worker.name: worker for worker in context.team.all_workers}
        self._started_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.used = False

    def __enter__(self) -> None:
        if any(self._has_both(worker) for worker in self._workers.values()):
            self._started_s = self._context.recorder.elapsed_s()
            self._look()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for name, took_s in self._offline_switch.code_took_s.items():
            self._shared(self._workers[name]).code_s = took_s

    def _look(self) -> None:
        until_s = self._context.work_ends_s
        if until_s is None or self._offline_switch.why is not None:
            return
        seconds = {
            id: 0.0 if task.ended else self._seconds(self._workers[task.worker])
            for id, task in self._state.tasks.items()
        }
        if not any(seconds.values()):
            return
        tasks = [task.task for task in self._state.tasks.values()]
        needed_s = max(graph.remaining_path(tasks, seconds).values()) + CODE_SLACK_S
        kept_s = min(needed_s, MAX_SHARE * (until_s - self._started_s))
        left_s = until_s - kept_s - self._context.recorder.elapsed_s()
        if left_s > _SOON_S:
            loop = asyncio.get_running_loop()
            self._offline_switch.models_until_s = loop.time() + left_s
            self._timer = loop.call_later(left_s, self._look)
            return
        self.used = True
        self._offline_switch.switch_on(
            f"no model answered until {kept_s:.2g} s before work had to stop, with the run's "
            f"deadline of {self._context.settings.deadline_s:g} s: the rest is for offline code"
        )

    def _seconds(self, worker: Worker) -> float:
        """How long code takes for a task of a worker; 0 where a model or a team does it."""
        shared = self._shared(worker)
        if not self._has_both(worker):
            return (shared.latency_s or 0.0) if callable(worker.run) else 0.0
        known_s = max(self._offline_switch.code_took_s.get(worker.name, 0.0), shared.code_s or 0.0)
        return worker.offline_s or known_s or DEFAULT_CODE_S

    def _shared(self, worker: Worker) -> SharedWorker:
        return self._context.shared_workers.of(self._context.team_path, worker)

    def _has_both(self, worker: Worker) -> bool:
        by_code = worker.offline is None or worker.team is not None
        return not by_code and own_code(worker, self._context.team) is None


class WorkStep:
    def __init__(self, context: StepContext, *, teams: TeamRunner, growing: bool = False) -> None:
        """`teams` runs the teams that are workers. A `growing` plan is still being written."""
        self._context = context
        self._teams = teams
        self.growing = growing
        self.growing_plan: GrowingPlan | None = None
        """What the planner does to the tasks, once they may start."""

    async def run(self) -> bool:
        """Returns whether all that is left waits for a person."""
        context = self._context
        runners, until_s = context.roles.runners, context.work_ends_s
        async with AsyncExitStack() as stack:
            opened = runners.opened(self._teams, until_s=context.loop_time(until_s))
            try:
                await stack.enter_async_context(opened)
            except TimeoutError:
                limit = f"the run's deadline of {context.settings.deadline_s:g} s"
                context.recorder.record_cancelled(f"{limit} came before the tools were ready")
                return False
            return await self._run_tasks()

    async def _run_tasks(self) -> bool:
        context = self._context
        recorder, roles = context.recorder, context.roles
        scheduler = Scheduler(
            recorder,
            context.team,
            roles.runners.runners,
            concurrency=context.concurrency,
            slots=context.slots,
            shared_slots=roles.runners.slots,
            shared_workers=context.shared_workers,
            team_path=context.team_path,
            remedies=roles.remedies,
            decider=roles.decider,
            person=context.people,
            grace_s=context.grace_s,
            run_context=roles.run_context,
            growing=self.growing,
        )
        self.growing_plan = scheduler.growing_plan
        context.active.stop_with(scheduler)
        if roles.account is not None:
            roles.account.on_used_up = lambda why: self._without_budget(scheduler, why)
            if roles.account.used_up is not None and context.recorder.state.early:
                self._without_budget(scheduler, roles.account.used_up)
        # The outermost run's watchdog watches the loop for all runs within it.
        watchdog = nullcontext() if context.is_nested else Watchdog.shared()
        reserve = OfflineReserve(context)
        with watchdog, reserve:
            await scheduler.run(work_ends_s=context.work_ends_s)
        if reserve.used:
            context.late = True
        # Once for each task and worker, however many of its attempts have not returned.
        for given in {(one.task_id, one.to_agent): one for one in roles.runners.abandoned}.values():
            id, name = given.task_id, given.to_agent
            recorder.record(
                events.WorkerStuck(
                    **recorder.task_stamp(id, given.attempt),
                    worker=name,
                    message=stuck_message(name, id),
                )
            )
        return scheduler.waits_for_person

    def _without_budget(self, scheduler: Scheduler, why: str) -> None:
        """Let code do the rest where it can; else start no more tasks, and let running ones end."""
        if not self._context.roles.give_up_models(why):
            scheduler.drain(why)


NOT_IN_PLAN = "it was started early, and the final plan does not have it in this form"


class EarlyStart:
    """The work that begins while there is no plan, for the length of an `async with` block."""

    def __init__(self, context: StepContext, *, teams: TeamRunner, given: Plan | None) -> None:
        """Nothing starts early with a `given` plan, or if people have to approve plans."""
        self._context = context
        self._state = context.recorder.state
        self._step = WorkStep(context, teams=teams, growing=True)
        self._work: asyncio.Task[bool] | None = None
        people = context.people
        asks = people is not None and "plan" in people.occasions
        self._allowed = context.team.early_start and given is None and not asks

    async def __aenter__(self) -> Self:
        if self._allowed and self._state.proposed is None:
            self._context.roles.early.start = self._start
            if any(not task.ended for task in self._state.tasks.values()):
                self._begin()  # they had started when the run was interrupted
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._context.roles.early.start = None
        await self._stop_opening()

    def _begin(self) -> None:
        self._work = asyncio.get_running_loop().create_task(self._step.run(), name="early-start")

    def _start(self, task: Task) -> None:
        """Record a task of the unfinished plan, and start it, unless the run is about to stop."""
        recorder, account = self._context.recorder, self._context.roles.account
        growing = self._step.growing_plan
        stops = (
            self._context.active.reason is not None
            or (account is not None and account.used_up is not None)
            or (growing is not None and not growing.may_grow)
            or (self._work is not None and self._work.done())
        )
        if stops:
            return
        by = self._context.roles.planner.name
        stamp = recorder.task_stamp(task.id, 0)
        recorder.record(events.TaskPlanned(**stamp, task=task, by=by))
        if growing is not None:
            growing.add(task)
        elif self._work is None:
            self._begin()

    async def drop_others(self, plan: Plan) -> None:
        """Cancel the tasks that `plan` does not have as they were started."""
        self._context.roles.early.start = None
        tasks = self._state.tasks.keys()
        dropped = tasks - kept(self._state, plan) if tasks else ()
        if not dropped:
            return
        if self._step.growing_plan is not None:
            await self._step.growing_plan.cancel(dropped, reason=NOT_IN_PLAN)
        else:
            await self._stop_opening()
            self._context.recorder.record_cancelled(NOT_IN_PLAN, dropped)

    def accepted(self) -> None:
        self._step.growing = False
        if self._step.growing_plan is not None and self._is_working:
            self._step.growing_plan.accepted()

    async def finish(self) -> bool:
        """Wait for the work that has begun; returns whether all that is left waits for a person."""
        if self._state.plan is None and self._state.tasks:
            why = f"there is no plan: {self._context.unplanned or self._context.active.reason}"
            if self._step.growing_plan is None:
                await self._stop_opening()
                self._context.recorder.record_cancelled(why)
            elif self._is_working:
                self._step.growing_plan.failed(why)
        return False if self._work is None else await self._work

    @property
    def _is_working(self) -> bool:
        return self._work is not None and not self._work.done()

    async def _stop_opening(self) -> None:
        """Stop the work, also while its tools are not ready."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait([self._work])
            self._work = None
