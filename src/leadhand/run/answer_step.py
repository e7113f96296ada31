"""The last step of a run: its answer, with everything that is missing from it."""

import asyncio
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from leadhand.contracts import events
from leadhand.contracts.answer import (
    CONTEXT_GAP,
    JOURNAL_GAP,
    Answer,
    Conflict,
    EndedBy,
    Gap,
    Synthesis,
)
from leadhand.contracts.data import Record
from leadhand.contracts.people import Question, RunMessage
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Listener, Recorder
from leadhand.errors import InputError, ModelError, RunTaken
from leadhand.planners.template import TemplatePlanner
from leadhand.plans.payloads import DeclaredType
from leadhand.ports import Clock, Journal
from leadhand.redaction import Redactor
from leadhand.run.gaps import (
    confidence_of,
    conflicts_of,
    engine_of,
    gaps_of,
    leaves_of,
    results_of,
    status_of,
    with_gaps,
    with_last_call,
)
from leadhand.run.questions import in_a_line, open_questions
from leadhand.run.step_context import Cancelled, StepContext, record_interruption
from leadhand.run.stored import StoredRun, check_known_id
from leadhand.run.waiting import HeldRuns
from leadhand.state.fold import RunState
from leadhand.state.times import metrics, task_report
from leadhand.synthesis.citations import check_citations
from leadhand.synthesis.conflicts import between_opinions, compare
from leadhand.synthesis.merge import merge

_log = logging.getLogger("leadhand")
R = TypeVar("R", bound=Record)
CODE_S = 0.4
"""How much longer than the deadline a synthesis by code may take."""


async def final_answer(context: StepContext, *, unplanned: str = "plan") -> Answer:
    """Ends the run; `unplanned` is what the gap is about if there is no plan."""
    recorder, state, account = context.recorder, context.recorder.state, context.roles.account
    recorder.wait_for_commits_until(context.due_s)
    lacking = "its plan was approved" if state.proposed else "there was a plan"
    synthesis = Synthesis(answer=f"The run was cancelled before {lacking}.")
    missing: tuple[Gap, ...] = ()
    if context.unplanned is not None:
        synthesis = Synthesis(answer="")
        missing = (Gap(task_id=unplanned, why=with_last_call(state, context.unplanned, None)),)
    if state.plan is None and any(task.result is not None for task in state.tasks.values()):
        synthesis = _merged(state, Plan(goal=state.request, tasks=tuple(state.early.values())))
    if state.plan is not None:
        if account is not None:
            account.begin_synthesis()
        strategy = context.roles.synthesizer.name
        recorder.record(events.SynthesisStarted(**recorder.stamp(), strategy=strategy))
        synthesis, missing = await _synthesized(context, state.standing_plan or state.plan)
        if context.roles.breaks_down:  # in the plan around this one, other tasks have these ids
            text = check_citations(synthesis.answer, known=state.tasks, given=()).text
            synthesis = synthesis.model_copy(update={"answer": text})
    synthesis = _with_conflicts(recorder, context.team, synthesis)
    synthesis, unfit = _typed(context, synthesis)
    gaps = (*gaps_of(state, context.team), *synthesis.gaps, *(missing or unfit))
    if account is not None and account.ledger.overrun is not None and not gaps:
        _log.warning("everything was done, but %s", account.ledger.overrun)
    contact = context.team.contact if _is_unanswered(context) else None
    answer = _answer(recorder, synthesis, gaps, context, contact=contact)
    recorder.record(events.RunFinished(**recorder.stamp(), answer=answer))
    await recorder.commit()
    if recorder.commit_timeout is not None and not context.is_nested:
        context.late = context.due_s is not None
        resume = f"`leadhand resume {recorder.run_id}` continues from what was kept"
        why = f"{recorder.commit_timeout}, so this answer is not kept; {resume}"
        unkept = Gap(task_id=JOURNAL_GAP, why=why)
        return _answer(recorder, synthesis, (*gaps, unkept), context, contact=contact)
    return answer


def _with_conflicts(recorder: Recorder, team: Team, synthesis: Synthesis) -> Synthesis:
    """Record the conflicts that are not known yet; the text says if there are too many results."""
    state, found, note = recorder.state, list[Conflict](), ""
    if len(state.tasks) > 1:
        found, note = compare(results_of(state), team, state.request)
    known = {(one.task_ids, one.about) for one in (*state.conflicts, *state.dismissed)}
    between = _between_levels(state, team)
    for conflict in (*synthesis.conflicts, *_of_opinions(state), *found, *between):
        if (conflict.task_ids, conflict.about) not in known:
            known.add((conflict.task_ids, conflict.about))
            recorder.record(events.ConflictFound(**recorder.stamp(), conflict=conflict))
    if not note:
        return synthesis
    text = f"{synthesis.answer}\n\n*{note}*".strip()
    return synthesis.model_copy(update={"answer": text})


def _between_levels(state: RunState, team: Team) -> Iterator[Conflict]:
    """Contradictions between tasks of different plans of a recursive run, with their paths."""
    if any(task.worker == SUBPLANNER for task in state.tasks.values()):
        for one in compare([*leaves_of(state)], team, state.request)[0]:
            plans = {id.rpartition("/")[0] for id in one.task_ids}
            # Of the parts of one task, the plan that breaks it down says so.
            parts = {id.partition("/")[0] for id in one.task_ids}
            if one.kind == "contradiction" and len(plans) > 1 < len(parts):
                yield one


def _of_opinions(state: RunState) -> Iterator[Conflict]:
    """Contradictions between a result and the second opinion on it. Only a judge settles them."""
    for id, task in state.tasks.items():
        judged, first = task.opinions, task.first
        if judged is None or first is None or task.status != "completed":
            continue
        taken = judged.workers[judged.taken == "second"]
        resolution = f"the result of {taken}" if judged.by == "judge" else None
        why = judged.reason if resolution else f"{taken}'s was taken: {judged.reason}"
        known = {"task_ids": (id,), "resolution": resolution, "why": why}
        outputs = zip(judged.workers, (first.output, judged.second.output), strict=True)
        yield from (one.model_copy(update=known) for one in between_opinions(outputs))


def _typed(context: StepContext, synthesis: Synthesis) -> tuple[Synthesis, tuple[Gap, ...]]:
    """An output that is not of the team's type is a gap."""
    declared = context.team.output
    if declared is None:
        return synthesis, ()
    type_ = DeclaredType(declared, "output")
    problems = type_.problems(synthesis.output)
    if not problems:
        return synthesis.model_copy(update={"output": type_.plain(synthesis.output)}), ()
    why = f"the answer has no output of the type {type_.name}: {'; '.join(problems)}"
    nothing = all(task.result is None for task in context.recorder.state.tasks.values())
    gaps = () if nothing else (Gap(task_id="output", why=why),)
    return synthesis.model_copy(update={"output": None}), gaps


async def waiting_answer(context: StepContext) -> Answer:
    """What there is while the run waits for a person's reply. The run stops, but has not ended."""
    recorder = context.recorder
    questions = open_questions(recorder.state)
    answer = _answer(recorder, Synthesis(answer=""), tuple(_open(questions)), context)
    known = {"status": "waiting", "ended_by": None, "waiting": questions}
    answer = answer.model_copy(update=known)
    recorder.record(events.RunWaiting(**recorder.stamp(), answer=answer))
    await recorder.commit()
    return answer


def _merged(state: RunState, plan: Plan) -> Synthesis:
    return merge(plan, results_of(state)).model_copy(update={"output": None})


def _is_unanswered(context: StepContext) -> bool:
    state = context.recorder.state
    if context.active.reason is not None:  # the user stopped the run
        return False
    return state.plan is None or any(task.status != "completed" for task in state.tasks.values())


def _answer(
    recorder: Recorder,
    synthesis: Synthesis,
    gaps: tuple[Gap, ...],
    context: StepContext | None = None,
    *,
    contact: str | None = None,
    ended_by: EndedBy | None = None,
) -> Answer:
    """Without a `context`, of a run that no process works on."""
    state, team, lead = recorder.state, None, ""
    if context is not None:
        team = context.team
        ended_by = _ended_by(context) if gaps or state.plan is None else None
        if context.unplanned and not synthesis.answer:
            lead = f"*There is no answer, because {context.no_plan}.*\n\n"
    engine = engine_of(state, gaps)
    if state.planned_by == TemplatePlanner.name and (why := state.proposed_why):
        given = dict.fromkeys(task.worker for task in state.plan.tasks) if state.plan else ()
        done = (
            "code did the work"
            if engine == "deterministic"
            else "the team's template is the plan"
            if team is None or team.template
            else f"the whole request went to {' and '.join(given)}"
        )
        lead = f"*{why[0].upper()}{why[1:]}; {done}.*\n\n"
    reports = tuple(task_report(task) for task in state.tasks.values() if task.ended)
    conflicts = conflicts_of(state, team)
    if gaps or conflicts or any(one.error for one in reports):
        # They quote results and errors of tools; the results themselves are for the caller.
        gaps = _redacted(gaps, "what", "why")
        conflicts = _redacted(conflicts, "about", "resolution", "why")
        reports = _redacted(reports, "error")
    # The gaps of a nested run are told in the run around it, with their path.
    told = None if context is not None and context.roles.breaks_down else contact
    text = with_gaps(synthesis.answer, () if recorder.path else gaps, contact=told)
    return Answer(
        run_id=recorder.run_id,
        status=status_of(state, gaps, cancelled=ended_by == "person"),
        ended_by=ended_by,
        engine=engine,
        team=state.team,
        request=state.request,
        answer=lead + text,
        output=synthesis.output,
        confidence=confidence_of(synthesis.confidence, state),
        gaps=gaps,
        contact=contact,
        conflicts=conflicts,
        sources=synthesis.sources,
        tasks=reports,
        metrics=metrics(state, recorder.elapsed_s()),
    )


def _redacted(given: Iterable[R], *names: str) -> tuple[R, ...]:
    clean = Redactor.of(os.environ)
    return tuple(
        one.model_copy(update={name: clean(text) for name in names if (text := getattr(one, name))})
        for one in given
    )


def _ended_by(context: StepContext) -> EndedBy | None:
    """What kept the run from doing everything, if it was not the work itself."""
    account = context.roles.account
    if context.active.reason is not None:
        return "person"
    if context.late:
        return "deadline"
    if account is not None and account.used_up is not None:
        return "budget"
    state = context.recorder.state
    if state.plan is None:
        return None
    tasks = state.tasks.values()
    levels = (one.nested for one in tasks if one.worker == SUBPLANNER and one.nested is not None)
    for answer in (one.answer for one in levels if one.answer is not None):
        if answer.ended_by in ("budget", "deadline"):
            return answer.ended_by
    stopped = any(task.status == "cancelled" for task in tasks)
    return "deadline" if stopped or state.rounds_open else None


async def _synthesized(context: StepContext, plan: Plan) -> tuple[Synthesis, tuple[Gap, ...]]:
    """What the synthesizer makes of the results; if it fails, the bare results and a gap."""
    results = results_of(context.recorder.state)
    synthesizer = context.roles.synthesizer
    try:
        if not synthesizer.calls_model:  # fast, and also wanted of a cancelled run
            due_s = context.loop_time(context.due_s)
            if due_s is not None:
                due_s = max(due_s, asyncio.get_running_loop().time()) + CODE_S
            async with asyncio.timeout_at(due_s):
                return await synthesizer.synthesize(plan, results), ()
        work = synthesizer.synthesize(plan, results)
        until_s = context.loop_time(context.due_s)
        return await context.active.unless_stopped(work, until_s=until_s), ()
    except Cancelled:
        why = f"was not done: {context.active.reason}"
    except TimeoutError:
        context.late = True
        why = f"was not done by the deadline of {context.settings.deadline_s:g} s"
    except ModelError as error:
        why = f"failed: {error}"
    except Exception:
        _log.exception("the %s synthesis failed; it is done by code", synthesizer.name)
        why = "failed"
    try:
        left = synthesizer.by_code(plan, results)
    except Exception:
        # The results are there: they reach the user even if their synthesis fails.
        _log.exception("the %s synthesis failed by code as well", synthesizer.name)
        left = merge(plan, results)
    gap = Gap(task_id="synthesis", why=f"the synthesis {why}; these are the bare results")
    return left, (gap,)


def _open(questions: tuple[Question, ...]) -> Iterator[Gap]:
    for question in questions:
        why = f"waits for a person: {in_a_line(question.text)}"
        yield Gap(task_id=question.task_id or "plan", why=why)


# Runs that no process works on: this needs neither their team nor their models.


def record_held(recorder: Recorder, why: str) -> None:
    """Record that a run that no process works on waits until a person resumes it."""
    questions = open_questions(recorder.state)
    gaps = (Gap(task_id=CONTEXT_GAP, why=why), *_open(questions))
    answer = _answer(recorder, Synthesis(answer=""), gaps)
    answer = answer.model_copy(update={"status": "waiting", "waiting": questions})
    recorder.record(events.RunWaiting(**recorder.stamp(), answer=answer))


TAKEN_POLL_S = 0.2
HOLD_S = 60.0
"""How long the journal may take to lock the run."""
TAKE_S = 10.0
"""How long the other process may take to read the request; it may still do so later."""


async def cancel_stored(
    journal: Journal, run_id: str, *, reason: str, clock: Clock, listeners: Sequence[Listener] = ()
) -> str | None:
    """Stop a run of another process, or end one that waits or was interrupted.

    Returns the process that was told, described in words, once it has taken that; `None` if no
    process held the run, which then has an answer, `status: cancelled`. Raises `InputError` if
    there is no such run, or it is finished.
    """
    check_known_id(run_id)
    holder: str | None = None
    until_s = clock.monotonic() + TAKE_S
    while True:
        try:
            async with HeldRuns(journal).hold(run_id, limit_s=HOLD_S):
                stored = StoredRun.of(run_id, await journal.events(run_id))
                if stored.state.answer is None:
                    await _end(journal, stored, reason, clock, listeners)
                elif holder is None:
                    status = stored.state.answer.status
                    raise InputError(f"run {run_id!r} is {status}: there is nothing to cancel")
                return holder
        except RunTaken as taken:
            if holder is None:
                await journal.post(RunMessage(run_id=run_id, reason=reason))
            else:
                left = await journal.messages(run_id)
                asks = any(one.reply is None and not one.interrupted for one in left)
                if clock.monotonic() > until_s or not asks:
                    return holder
            holder = taken.holder
            await asyncio.sleep(TAKEN_POLL_S)


async def _end(
    journal: Journal, stored: StoredRun, reason: str, clock: Clock, listeners: Sequence[Listener]
) -> None:
    recorder = Recorder(
        stored.run_id,
        journal,
        clock=clock,
        listeners=tuple(listeners),
        past=stored.events,
        state=stored.state,
    )
    for reply in await record_interruption(recorder, journal):
        await journal.drop(reply)
    state = recorder.state
    if not state.stopped:
        recorder.record(events.RunStopped(**recorder.stamp(), reason=reason))
    recorder.record_cancelled(reason)
    plan, gaps = state.standing_plan, tuple(gaps_of(state, None))
    synthesis = Synthesis(answer="") if plan is None else _merged(state, plan)
    if not gaps:
        step = "plan" if plan is None else "synthesis"
        gaps = (Gap(task_id=step, why=f"was not done: {reason}"),)
    answer = _answer(recorder, synthesis, gaps, ended_by="person")
    recorder.record(events.RunFinished(**recorder.stamp(), answer=answer))
    await recorder.commit()
