"""The first step of a run: its first event, or the one that says that it is resumed."""

from leadhand.contracts import events
from leadhand.contracts.task import PlanRequest
from leadhand.engine.shared_workers import MAX_CRASHES
from leadhand.models.choice import models_by_role
from leadhand.models.prompts import prompts_of
from leadhand.run.context import RunSettings, StepContext
from leadhand.run.resumption import prompts_changed, tasks_left


def record_start(
    context: StepContext, settings: RunSettings, request: PlanRequest, *, again: tuple[str, ...]
) -> None:
    """Record that the run starts, or that it is resumed and does the tasks `again`."""
    recorder, team, deadline = context.recorder, context.team, context.deadline
    recorder.wait_for_commits_until(deadline.work_ends_s)
    state, prompts = recorder.state, prompts_of(team)
    if state.seq:
        recorder.record(
            events.RunResumed(
                **recorder.stamp(),
                deadline_s=deadline.limit_s,
                budget=settings.budget,
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
    recorder.record(
        events.RunStarted(
            **recorder.stamp(),
            team=team.name,
            request=request.text,
            engine="model" if team.tiers else "deterministic",
            deadline_s=deadline.limit_s,
            models=models_by_role(team) if team.tiers else {},
            budget=settings.budget,
            own_limits=settings.own_limits,
            inputs=settings.inputs,
            after=request.after,
            nonce=context.roles.nonce,
            origin=settings.origin,
            amend=settings.amend,
            has_context=settings.has_context,
            prompts=prompts,
            fingerprint=settings.fingerprint,
        )
    )


def _give_up_crashed(context: StepContext) -> None:
    """Fail the tasks that were running each time the process died."""
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
