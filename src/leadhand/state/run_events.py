"""How events about a whole run change its state: plan, early tasks, people, end. Pure."""

import json
from typing import assert_never

from leadhand.contracts import events
from leadhand.contracts.outcome import NO_USAGE, Escalated, PausedAttempt
from leadhand.contracts.people import Reply
from leadhand.contracts.task import Plan, Task, earlier_results
from leadhand.state.run_state import RunState, TaskState, find_task
from leadhand.state.times import CallTimes
from leadhand.untrusted.cutting import cut

MAX_SHOWN_CHARS = 300


def apply_to_run(state: RunState, event: events.RunLevelEvent) -> None:
    match event:
        case events.RunStarted():
            _started(state, event)
        case events.RunQueued():
            state.queued = True
        case events.RunStopped():
            state.stopped = True
        case events.RunResumed():
            _resumed(state, event)
        case events.PlanProposed():
            state.proposed, state.reply = event.plan, None
            state.proposed_by, state.proposed_for = event.by, event.task_id
            if event.task_id is None:  # no amendment
                state.planned_by, state.proposed_why = event.by, event.why
        case events.PlanRejected():
            _rejected(state, event)
        case events.PlanAccepted():
            _accepted(state, event)
        case events.ApprovalRequested():
            _asked(state, event)
        case events.ApprovalGiven():
            _record_reply(state, event)
        case events.PlanAmended():
            _amend(state, event)
        case events.RoundDecided():
            _round_decided(state, event)
        case events.SynthesisStarted():
            state.phase = "synthesizing"
            state.conflicts = state.dismissed = ()
            state.synthesis_started_s = event.elapsed_s
            _also_worked(state, state.calls.took_s)
            state.calls = CallTimes()
        case events.ConflictFound():
            state.conflicts = (*state.conflicts, event.conflict)
        case events.ConflictJudged():
            _judged(state, event)
        case events.CritiqueGiven():
            pass  # what remains of it is in the answer
        case events.RunWaiting():
            state.waiting = event.answer
        case events.RunFinished():
            _finished(state, event)
        case _:
            assert_never(event)


def _started(state: RunState, event: events.RunStarted) -> None:
    state.run_id = event.run_id
    state.team = event.team
    state.request = event.request
    state.engine = event.engine
    state.due_s, state.started_s = event.deadline_s, event.elapsed_s
    state.models = event.models
    state.approve = event.approve
    state.inputs, state.uploads = event.inputs, event.uploads
    if event.after:
        state.after, state.earlier = event.after, earlier_results(event.after)
    state.nonce = event.nonce
    state.origin = event.origin
    state.has_context = event.has_context
    state.amend = event.amend
    state.fingerprint = event.fingerprint
    _begun(state, event)


def _begun(state: RunState, event: events.RunStarted | events.RunResumed) -> None:
    state.deadline_s, state.own_limits = event.deadline_s, event.own_limits
    state.budget, state.accounts = event.budget, event.accounts
    state.prompts = event.prompts


def _finished(state: RunState, event: events.RunFinished) -> None:
    state.waiting, state.queued = None, False
    state.phase = "finished"
    state.finished_s = event.elapsed_s
    state.answer = event.answer
    if None in state.questions:
        state.asking_s += event.elapsed_s - state.asked_s
    state.questions = {}
    if state.plan is not None:
        decided(state)


def _rejected(state: RunState, event: events.PlanRejected) -> None:
    state.problems = event.problems
    if state.unapproved is not None and event.task_id == state.proposed_for:
        state.unapproved, state.rounds_end = None, "refused"
        state.rounds_why = "; ".join(event.problems)
    if event.task_id == state.proposed_for:
        decided(state)
    if event.missing is not None and event.task_id is not None:
        state.unamended = {**state.unamended, event.task_id: event.missing}
    if event.task_id in state.impacts:
        state.revisions += 1
        _considered(state, event.task_id)


def _accepted(state: RunState, event: events.PlanAccepted) -> None:
    state.plan = plan = state.proposed
    state.problems = event.warnings
    state.phase = "working"
    state.planned_s = event.elapsed_s
    phase_s = event.elapsed_s - state.started_s - state.asking_s
    state.planning_s = state.calls.worked_s(phase_s)
    state.calls = CallTimes()
    state.approved, state.reply = event.approved, None
    if plan is not None:
        take_over(state, plan)
        state.awaited = tuple(state.tasks) if state.rounds else ()


def decided(state: RunState) -> None:
    """Clear the proposal: it was accepted or refused, or came too late."""
    state.proposed = state.reply = state.proposed_for = None


def _asked(state: RunState, event: events.ApprovalRequested) -> None:
    state.questions = {**state.questions, event.task_id: event}
    if event.task_id is None:
        state.reply, state.asked_s = None, event.elapsed_s
    else:
        state.tasks[event.task_id].reply = None


def _record_reply(state: RunState, event: events.ApprovalGiven) -> None:
    """The time until a reply about the plan does not count."""
    asked = state.questions
    state.questions = {id: asked[id] for id in asked if id != event.task_id}
    reply = Reply(
        task_id=event.task_id,
        verdict=event.verdict,
        text=event.text,
        plan=event.plan,
        by=event.by,
        calls=event.calls,
    )
    if event.task_id is not None:
        task = state.tasks[event.task_id]
        if task.paused is not None and task.paused.replies is None:
            _record_call_replies(task, task.paused, reply)
            return
        task.reply = reply
        call = task.unresolved.call if isinstance(task.unresolved, Escalated) else None
        if event.verdict == "approved" and call is not None:
            task.allowed = (*task.allowed, call)
        return
    state.reply = reply
    if state.plan is not None:
        return
    state.asking_s += event.elapsed_s - state.asked_s
    if state.due_s is not None:
        state.due_s += event.elapsed_s - state.asked_s


def shown_call(tool: str, arguments: str) -> str:
    return f"{tool} {cut(arguments, MAX_SHOWN_CHARS, '…')}"


def _record_call_replies(task: TaskState, paused: PausedAttempt, reply: Reply) -> None:
    """Record what a person says about tool calls, so that the attempt can continue."""
    replies = reply.on_calls(call.id for call in paused.calls)
    task.paused = paused.model_copy(update={"replies": replies})
    for call in paused.calls:
        if replies[call.id].approved:
            task.allowed = (*task.allowed, call.id)
            continue
        why = replies[call.id].reason
        task.refused = {**task.refused, call.id: why}
        shown = shown_call(call.tool, json.dumps(call.arguments, ensure_ascii=False))
        line = f"not done: {reply.refusal(f'the call {shown}', why)}"
        task.refusals = (*task.refusals, line)


def _judged(state: RunState, event: events.ConflictJudged) -> None:
    judged = event.conflict
    state.conflicts = tuple(
        judged if (one.task_ids, one.about) == (judged.task_ids, judged.about) else one
        for one in state.conflicts
        if event.holds or (one.task_ids, one.about) != (judged.task_ids, judged.about)
    )
    state.dismissed = (*state.dismissed, *(() if event.holds else (judged,)))


def _resumed(state: RunState, event: events.RunResumed) -> None:
    """Continue what was only interrupted. Tasks done again start as the plan has them now."""
    state.phase = "planning" if state.plan is None else "working"
    if state.plan is None and not state.early_told and not state.deciding.requests:
        # Always the same ones, and none if it has answered: a recorded answer is not asked again.
        state.early_told = tuple(state.early)
    state.asked_s = state.resumed_s = event.elapsed_s
    _begun(state, event)
    state.due_s = None if event.deadline_s is None else event.elapsed_s + event.deadline_s
    if state.synthesis_started_s is not None:
        ended_s = event.elapsed_s if state.finished_s is None else state.finished_s
        _also_worked(state, state.calls.worked_s(ended_s - state.synthesis_started_s))
        state.calls = CallTimes()
    state.synthesis_started_s = state.finished_s = state.answer = state.waiting = None
    state.queued = False
    _halted(state, event.elapsed_s)
    for id in event.goes_on:
        task = state.tasks[id]
        task.status, task.finished_s, task.error = "pending", None, None
        task.seen_in = 0  # a stepwise planner has seen how it ended, and not how it will
        if task.interrupted:
            # The same attempt is made again, or continues after a person's reply.
            task.interrupted, task.resumable = False, True
            if task.paused is None:
                task.attempts -= 1
                task.tried = task.tried[:-1]
        elif task.retryable:
            # The outage may be over: the plan's worker gets all its attempts again.
            task.worker, task.uncounted = task.task.worker, task.attempts
        task.retryable = False
    if state.proposed_for in event.again:
        state.questions.pop(None, None)
        decided(state)
    state.unamended = {id: why for id, why in state.unamended.items() if id not in event.again}
    state.stopped = False
    for path, count in event.crashes.items():
        _, task = find_task(state, path)
        if task is not None:
            task.crashes = count
    for id in event.again:
        state.questions.pop(id, None)
        _also_worked(state, state.tasks[id].worked_s, state.tasks[id].worked_high_s)
        known = state.tasks[id]
        state.tasks[id] = TaskState(known.task, known.worker, round=known.round)
    if state.rounds_end == "failed":
        state.rounds_end = None
    if state.rounds_open:
        state.awaited = tuple(dict.fromkeys((*state.awaited, *event.again)))


def _halted(state: RunState, at_s: float) -> None:
    """End attempts that were running, in nested runs too."""
    for task in state.tasks.values():
        if task.status == "running":
            # Only the lost process knew how much of it was work.
            task.busy_s += at_s - task.dispatched_s
            task.worked_high_s += at_s - task.dispatched_s
            task.status = "cancelled"
            task.interrupted = True
        if task.nested is not None and task.status != "completed":
            _halted(task.nested, at_s)


def _also_worked(state: RunState, low_s: float, high_s: float | None = None) -> None:
    state.worked_s += low_s
    state.worked_high_s += low_s if high_s is None else high_s


def _considered(state: RunState, task_id: str | None) -> None:
    """Note that the plan impact of a task's result was considered."""
    state.impacts = tuple(id for id in state.impacts if id != task_id)


def _round_decided(state: RunState, event: events.RoundDecided) -> None:
    calls, state.deciding_calls = state.deciding_calls, CallTimes()
    state.rounds_end, state.deciding, state.impacts = event.end, NO_USAGE, ()
    if event.took_s is not None:
        worked_s = calls.worked_s(event.took_s)
        state.decisions_s[event.round] = state.decisions_s.get(event.round, 0.0) + worked_s
        _also_worked(
            state, worked_s - calls.took_s
        )  # all calls of the phase are counted at its end
    for id in event.seen:
        if id in state.tasks:
            state.tasks[id].seen_in = event.round
    if event.end not in (None, "done"):
        state.rounds_why = event.reason
        return  # no decision was made
    state.rounds = (*state.rounds[: event.round - 1], event.reason)
    state.decided_by = event.by
    state.asks_after = event.asks_after
    if state.plan is None:
        return  # the tasks of the first round are the plan
    if event.needs_approval:
        state.unapproved = event.tasks
        return
    _add(state, event.tasks, revision=state.plan.revision + bool(event.tasks))
    opened = [id for id, task in state.tasks.items() if not task.ended]
    state.awaited = tuple(task.id for task in event.tasks) or tuple(opened)


def _add(state: RunState, tasks: tuple[Task, ...], *, revision: int) -> None:
    for task in tasks:
        state.tasks[task.id] = TaskState(task, task.worker, round=state.round)
    if state.plan is not None:
        state.plan = state.plan.model_copy(update={"revision": revision})


def _amend(state: RunState, event: events.PlanAmended) -> None:
    if state.unapproved is None:
        state.revisions += 1
    else:
        state.awaited = tuple(task.id for task in event.added)
    state.unapproved = None
    _considered(state, event.task_id)
    if event.task_id == state.proposed_for:
        decided(state)
    for id in event.dropped:
        state.retired[id] = state.tasks.pop(id)
        state.awaited = tuple(one for one in state.awaited if one != id)
    for task in event.changed:
        known = state.tasks[task.id]
        known.task, known.worker, known.resumable = task, task.worker, False
    _add(state, event.added, revision=event.revision)


def add_early(state: RunState, event: events.TaskPlanned) -> None:
    planning_s = state.calls.worked_s(event.elapsed_s - state.started_s - state.asking_s)
    state.early[event.task_id] = event.task
    state.tasks[event.task_id] = TaskState(event.task, event.task.worker, planned_s=planning_s)


def kept(state: RunState, plan: Plan) -> frozenset[str]:
    """The tasks planned early that `plan` has unchanged, with all that they depend on. O(tasks)"""
    same = {task.id for task in plan.tasks if state.early.get(task.id) == task}
    found: set[str] = set()
    for id, task in state.early.items():  # each was planned after those that it depends on
        if id in same and found.issuperset(task.depends_on):
            found.add(id)
    return frozenset(found)


def take_over(state: RunState, plan: Plan) -> None:
    """Make the tasks of an accepted plan those of the run. Early ones that it has go on."""
    before, going_on, round = state.tasks, kept(state, plan), len(state.rounds)
    state.tasks = {
        task.id: before[task.id] if task.id in going_on else _new(task, before, round)
        for task in plan.tasks
    }
    for id in going_on:
        task = state.tasks[id]
        task.planned_s = min(task.planned_s or 0.0, state.planning_s)
    if not before:
        return
    gone = before.keys() - going_on
    state.retired |= {id: one for id, one in before.items() if id not in state.tasks}
    state.early = {id: task for id, task in state.early.items() if id in going_on}
    state.questions = {id: asked for id, asked in state.questions.items() if id not in gone}
    state.impacts = tuple(id for id in state.impacts if id not in gone)


def _new(task: Task, before: dict[str, TaskState], round: int) -> TaskState:
    """If the task began early, its attempts count: its calls and their keys are known by number."""
    known = before.get(task.id)
    if known is None or not known.attempts:
        return TaskState(task, task.worker, round=round)
    return TaskState(
        task,
        task.worker,
        attempts=known.attempts,
        uncounted=known.attempts,
        tried=known.tried,
        busy_s=known.busy_s,
        worked_s=known.worked_s,
        worked_high_s=known.worked_high_s,
        usage=known.usage,
        round=round,
    )
