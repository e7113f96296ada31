"""The life of a run: start, plan, work, answer. `Execution.to_answer` reads from top to bottom.

The runs of nested teams have the same life within a task of the run around them.
"""

import asyncio
from contextlib import nullcontext

from leadhand.contracts import events
from leadhand.contracts.answer import REQUEST_GAP, Answer
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.recorder import NestedLog, Recorder
from leadhand.engine.shared_workers import MAX_CRASHES
from leadhand.engine.stopwatch import ExcludedTime
from leadhand.errors import InputError
from leadhand.models.choice import models_by_role
from leadhand.models.prompts import prompts_of
from leadhand.run.answer_step import final_answer, waiting_answer
from leadhand.run.plan_step import planned
from leadhand.run.settings import RunOptions, RunSettings, absolute
from leadhand.run.step_context import NESTED_GRACE, StepContext, stop_recorded
from leadhand.run.stored import is_over, prompts_changed, tasks_left
from leadhand.run.work_step import EarlyStart, WorkStep
from leadhand.state.fold import RunState
from leadhand.state.times import metrics, sequential
from leadhand.workers.nested import request_of_task


def record_start(context: StepContext, request: PlanRequest, *, again: tuple[str, ...]) -> None:
    """Record that the run starts, or that it is resumed and does the tasks `again`."""
    recorder, team, settings = context.recorder, context.team, context.settings
    state = recorder.state
    prompts = prompts_of(team) if context.roles.caller is not None else ""
    if state.seq:
        recorder.wait_for_commits_until(context.work_ends_s)
        recorder.record(
            events.RunResumed(
                **recorder.stamp(),
                deadline_s=settings.deadline_s,
                budget=settings.budget,
                accounts={**settings.accounts},
                own_limits=settings.own_limits,
                goes_on=tuple(id for id in tasks_left(state) if id not in {*again}),
                again=again,
                crashes=recorder.crashes(team),
                prompts=prompts,
                prompts_changed=prompts_changed(state, recorder.past, prompts, again=again),
            )
        )
        _give_up_crashed(context)
        return
    started = run_started(recorder, team, settings, request, context.roles.nonce, prompts)
    recorder.wait_for_commits_until(context.work_ends_s)
    recorder.record(started)


def run_started(
    recorder: Recorder,
    team: Team,
    settings: RunSettings,
    request: PlanRequest,
    nonce: str,
    prompts: str,
) -> events.RunStarted:
    new = settings.given or RunOptions()
    return events.RunStarted(
        **recorder.stamp(),
        team=team.name,
        request=request.text,
        engine="model" if team.tiers else "deterministic",
        deadline_s=settings.deadline_s,
        models=models_by_role(team) if team.tiers else {},
        budget=settings.budget,
        accounts={**settings.accounts},
        own_limits=settings.own_limits,
        inputs=absolute(new.inputs),
        uploads=tuple(new.uploads or ()),
        after=request.after,
        approve=settings.approve,
        nonce=nonce,
        origin={**settings.origin},
        amend=new.plan is None or new.amend,
        has_context=new.context is not None,
        prompts=prompts,
        fingerprint=settings.fingerprint,
    )


def _give_up_crashed(context: StepContext) -> None:
    recorder = context.recorder
    for id, task in recorder.state.tasks.items():
        if task.crashes >= MAX_CRASHES and not task.ended:
            count = task.crashes
            recorder.record(
                events.TaskFailed(
                    **recorder.task_stamp(id, task.attempts + count),
                    kind="crashed",
                    message=f"the process died {count} times in a row while this task ran",
                    final=True,
                    decision=f"given up after {count} crashes",
                )
            )


NESTED_SLACK_S = 0.05


class Execution:
    """One run, and as a `TeamRunner` the runs of nested teams within it."""

    def __init__(self, context: StepContext) -> None:
        self._context = context

    async def to_answer(
        self, request: PlanRequest, plan: Plan | None = None, *, again: tuple[str, ...] = ()
    ) -> Answer:
        """Plan, unless there is a `plan`; work; answer. A resumed run does tasks `again`."""
        context = self._context
        recorder, state = context.recorder, context.recorder.state
        if state.answer is not None and is_over(state) and not again:
            return state.answer
        record_start(context, request, again=again)
        # The outermost run records a stop for all runs within it.
        stops = nullcontext() if context.is_nested else stop_recorded(recorder, context.active)
        async with stops:
            if plan is None and not context.is_nested:
                # From here on the run can be resumed, and a journal that can't be written is known
                # before a model is asked. A plan of the caller's own is committed with the start.
                await recorder.commit()
            waits = state.plan is None and await self._plan(request, plan)
            if state.plan is not None and state.plan.workers:
                context.take_workers_of(state.plan)
            if state.plan is not None and state.has_work and not waits:
                waits = await WorkStep(context, teams=self).run()
            if waits and context.active.reason is None and context.unplanned is None:
                return await waiting_answer(context)
            return await final_answer(context)

    async def _plan(self, request: PlanRequest, plan: Plan | None) -> bool:
        """Plan, and do what may start early. Returns whether what is left waits for a person."""
        context, state = self._context, self._context.recorder.state
        try:
            async with EarlyStart(context, teams=self, given=plan) as early:
                await planned(context, request, plan, early)
                waits = await early.finish()
        except InputError:
            if context.unplanned is not None and not context.is_nested:
                await final_answer(context, unplanned=REQUEST_GAP)  # for all who read it later
            raise
        return waits or (state.plan is None and bool(state.questions))

    async def run_team(self, team: Team, handoff: Handoff) -> RunState:
        recorder, log = self._context.recorder.nested(handoff.task_id)
        state, task = recorder.state, self._context.recorder.state.tasks[handoff.task_id]
        # What a nested run that is resumed did before is counted already.
        past_low_s, past_high_s = sequential(state, recorder.elapsed_s()) if state.seq else (0, 0)
        with ExcludedTime() as block:
            try:
                return await self._run_team(team, handoff, recorder, log)
            finally:
                now_s = recorder.elapsed_s()
                low_s, high_s = sequential(state, now_s)
                path_s = max(metrics(state, now_s).critical_path_s - task.nested_path_s, 0.0)
                block.took(low_s - past_low_s, high_s - past_high_s, path_s=path_s)

    async def _run_team(
        self, team: Team, handoff: Handoff, recorder: Recorder, log: NestedLog
    ) -> RunState:
        context, request = self._context, request_of_task(handoff)
        people = context.people
        if people is not None:
            people = people.nested(recorder, team, breaks_down=handoff.to_agent == SUBPLANNER)
        try:
            inner = context.within(
                team,
                recorder,
                handoff,
                request=request,
                people=people,
                deadline_s=self._nested_deadline_s(handoff.limits.timeout_s),
            )
            try:
                await Execution(inner).to_answer(request)
            except asyncio.CancelledError:
                if people is not None and people.leaves:
                    raise  # what is resumed goes on where it stood
                inner.active.stop("the task was stopped")
                if recorder.state.answer is None:
                    await final_answer(inner)
            return recorder.state
        finally:
            if people is not None:
                people.hold(waits=False)
            log.close()

    def _nested_deadline_s(self, timeout_s: float | None) -> float | None:
        """Seconds for a nested run that starts now, to end before its task or this run's work."""
        context = self._context
        until_s = context.work_ends_s
        left_s = None if until_s is None else until_s - context.recorder.elapsed_s()
        bounds = [bound for bound in (timeout_s, left_s) if bound is not None]
        if not bounds:
            return None
        least_s = max(min(bounds), 0.0)
        slack_s = context.grace_s * NESTED_GRACE + NESTED_SLACK_S
        return round(least_s - min(slack_s, least_s / 2), 3)
