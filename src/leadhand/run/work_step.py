"""The step of a run that does its tasks."""

from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace

from leadhand.contracts import events
from leadhand.contracts.task_events import stuck_message
from leadhand.engine.rounds import GrowingPlan
from leadhand.engine.scheduler import Scheduler
from leadhand.ports import TeamRunner
from leadhand.run.context import StepContext
from leadhand.run.reserve import OfflineReserve
from leadhand.workers.watchdog import Watchdog


class WorkStep:
    """Does the tasks of a run that have not ended."""

    def __init__(self, context: StepContext, *, teams: TeamRunner, growing: bool = False) -> None:
        """`teams` runs the teams that are workers. A `growing` plan is still being written."""
        self.context = context
        """As it stands, when the step is cancelled too: the budget for models may be used up."""
        self._teams = teams
        self.growing = growing
        self.growing_plan: GrowingPlan | None = None
        """What the planner does to the tasks, once they may start."""

    async def run(self) -> bool:
        """Do the tasks. Returns whether all that is left waits for a person."""
        context = self.context
        runners, until_s = context.roles.runners, context.deadline.work_ends_s
        async with AsyncExitStack() as stack:
            started = runners.started(self._teams, until_s=context.loop_time(until_s))
            try:
                await stack.enter_async_context(started)
            except TimeoutError:
                limit = f"the run's deadline of {context.deadline.limit_s:g} s"
                self.cancel_all(f"{limit} came before the tools were ready")
                return False
            return await self._run_tasks(context)

    async def _run_tasks(self, context: StepContext) -> bool:
        recorder, roles, capacity = context.recorder, context.roles, context.capacity
        scheduler = Scheduler(
            recorder,
            context.team,
            roles.runners.runners,
            concurrency=capacity.concurrency,
            slots=capacity.slots,
            shared_slots=roles.runners.slots,
            shared_workers=capacity.shared_workers,
            team_path=capacity.team_path,
            remedies=roles.remedies,
            decider=roles.decider,
            person=context.people,
            grace_s=capacity.grace_s,
            run_context=roles.resources.run_context,
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
            await scheduler.run(work_ends_s=context.deadline.work_ends_s)
        if reserve.used:
            self.context = replace(self.context, late=True)
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
        offline = self.context.without_models(why)
        if offline is not None:
            self.context = offline
        else:
            scheduler.drain(why)

    def cancel_all(self, reason: str) -> None:
        """Record that all tasks that have not ended are cancelled."""
        recorder = self.context.recorder
        for id, task in recorder.state.tasks.items():
            if not task.ended:
                stamp = recorder.task_stamp(id, task.attempts)
                recorder.record(events.TaskCancelled(**stamp, reason=reason))
