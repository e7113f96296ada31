"""`leadhand resume`, `answer` and `cancel`: what can be done with a stored run."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import Sequence

from leadhand.cli.added_commands import added_command
from leadhand.cli.home import find_run
from leadhand.cli.options import OutputOptions, ReplyOptions, ResumeOptions
from leadhand.cli.run.arguments import read_plan
from leadhand.cli.run.command import how_to_reply, may_ask, person_of, plan_errors, print_answer
from leadhand.cli.run.execution import LiveRun
from leadhand.cli.run.models import choose_models, print_models
from leadhand.cli.run.person import TerminalPerson
from leadhand.cli.run.setup import TeamSetup
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.views.consoles import DataConsole, error_console, print_line, print_note
from leadhand.cli.views.plan import show_plan
from leadhand.cli.views.terminal import print_json, safe_block
from leadhand.contracts.answer import Answer
from leadhand.contracts.people import CallReply, Question, Reply
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Listener, SystemClock
from leadhand.errors import InputError, PlanError
from leadhand.plans.checks import check, errors_in
from leadhand.run.answer_step import cancel_stored
from leadhand.run.questions import open_questions, reply_message
from leadhand.run.stored import StoredRun, is_over
from leadhand.state.fold import RunState


def resume_run(options: ResumeOptions, storage: RunStorage) -> int:
    run_id = find_run(storage.store, options.run, storage.home)
    return _resumed(options, storage, StoredRun.of(run_id, storage.store.events(run_id)))


def answer_run(options: ResumeOptions, given: ReplyOptions, storage: RunStorage) -> int:
    run_id = find_run(storage.store, options.run, storage.home)
    stored = StoredRun.of(run_id, storage.store.events(run_id))
    state, questions = stored.state, open_questions(stored.state)
    if not questions:
        raise InputError(f"run {run_id!r} asks no question: `leadhand show {run_id}` shows why")
    replies = _replies(given, questions, state, options)
    if not replies:
        _show_questions(questions, storage, state, options.output)
        return 0
    for message in [reply_message(reply, state, dt.datetime.now(dt.UTC)) for reply in replies]:
        storage.store.post(message)
    holder = storage.store.holder(run_id)
    if holder is not None:
        print_note(f"sent to {holder}, which works on {run_id}")
        return 0
    if "command" not in state.origin and options.team is None:
        print_note(
            f"the reply waits for the program that started {run_id} to resume it; to resume "
            f"it here, name its team: {storage.command('resume', run_id)} --team TEAM"
        )
        return 0
    return _resumed(options, storage, stored, replied=[reply.task_id for reply in replies])


def cancel_command(run: str, home: str | None) -> int:
    with RunStorage(home) as storage:
        run_id = find_run(storage.store, run, storage.home)
        cancelling = cancel_stored(
            storage.journal, run_id, reason="cancelled by `leadhand cancel`", clock=SystemClock()
        )
        holder = asyncio.run(cancelling)
        done = f"{holder} stops it" if holder is not None else "no process worked on it"
        print_note(f"{run_id} is cancelled: {done}")
        return 0


def _resumed(
    options: ResumeOptions,
    storage: RunStorage,
    stored: StoredRun,
    *,
    replied: Sequence[str | None] = (),
) -> int:
    state, run_id = stored.state, stored.run_id
    incomplete = state.answer is not None and state.answer.status != "complete"
    if incomplete and options.from_task is None and is_over(state):
        print_note(f"nothing was left to continue with: {run_id} has done all that it could")
    elif state.answer is not None and not incomplete and options.from_task is None:
        print_note(f"{run_id} is complete: this is its answer")
    match state.origin.get("command"):
        case "run":
            return _resume_team(options, storage, stored, replied)
        case None if options.team is not None:
            return _resume_team(options, storage, stored, replied)
        case str(name) if (added := added_command(name)) is not None and added.resume is not None:
            return added.resume(options, storage, stored)
        case _:
            raise InputError(
                f"run {run_id!r} was started by a program: resume it there with "
                f"`Run.resume`, or name its team: {storage.command('resume', run_id)} "
                "--team file.py:NAME"
            )


def _resume_team(
    options: ResumeOptions, storage: RunStorage, stored: StoredRun, replied: Sequence[str | None]
) -> int:
    state, output = stored.state, options.output
    setup = TeamSetup.of(state.origin, **options.changed)
    team = setup.load()
    choice = choose_models(team, model=setup.model, no_model=setup.no_model)
    title, run_id = f"team {team.name}", stored.run_id
    session = LiveRun(storage, run_id, title, output, past=stored.events, replied=replied)
    person = person_of(session, output, team, state.request)
    supervisor = setup.supervisor(choice, storage, person)
    if not output.quiet:
        print_models(choice, error_console())

    async def resumed(listener: Listener) -> Answer:
        run = supervisor.handle(run_id)
        await run.resume(from_task=options.from_task, listener=listener, stored=stored)
        return await run.answer()

    answer = session.follow(supervisor, resumed)
    return print_answer(answer, storage, output, stored)


# Replies


def _replies(
    given: ReplyOptions, questions: Sequence[Question], state: RunState, options: ResumeOptions
) -> list[Reply]:
    """Raises `InputError` if a reply fits no question or several."""
    if given == ReplyOptions():
        if not may_ask(options.output):
            return []
        team = _team_of(state, options) if any(one.plan is not None for one in questions) else None
        return asyncio.run(_asked_here(questions, team, state.request))
    fitting = [one for one in questions if given.task_id in (None, one.task_id)]
    routed = bool(fitting) and all(one.route for one in fitting)
    decides, each = given.approve or given.refuse, given.approved_calls or given.refused_calls
    about_call = each or (decides and all(one.plan is None for one in fitting))
    about_plan = not about_call and (decides or given.plan is not None)
    if about_call:
        fitting = [one for one in fitting if one.call]
    elif about_plan and routed and given.refuse and given.text:
        raise InputError("give --refuse alone, or without it the worker that the request is for")
    elif not about_plan and routed and given.text is not None:
        return [Reply(task_id=fitting[0].task_id, verdict="refused", text=given.text)]
    else:
        fitting = [one for one in fitting if (one.plan is not None) == about_plan]
    if about_plan:  # without a task it is the plan of the run
        fitting = [one for one in fitting if one.task_id == given.task_id] or fitting
    if len(fitting) != 1:
        raise InputError(_which(fitting, questions, approval=bool(about_call or about_plan)))
    (question,) = fitting
    if about_call:
        return [_on_calls(given, question)]
    if about_plan:
        return [_on_plan(given, question.task_id, state, options)]
    if given.text is None:
        raise InputError(f"say what the worker of {question.task_id} should know: give a TEXT")
    verdict = "answered" if given.text.strip() else "declined"
    return [Reply(task_id=question.task_id, verdict=verdict, text=given.text)]


def _team_of(state: RunState, options: ResumeOptions) -> Team | None:
    """The team of a run; None if only the program that started the run knows it."""
    if not options.team and state.origin.get("command") != "run":
        return None
    return TeamSetup.of(state.origin, **options.changed).load()


async def _asked_here(
    questions: Sequence[Question], team: Team | None, request: str
) -> list[Reply]:
    """The replies of the person at the terminal, until they end their input."""

    def problems(plan: Plan) -> Sequence[str]:
        return plan_errors(team, request, plan) if team is not None else ()

    person = TerminalPerson(error_console(), contextlib.nullcontext, problems)
    replies: list[Reply] = []
    for question in questions:
        reply = await person(question)
        if reply is None:
            break
        replies.append(reply)
    return replies


def _on_calls(given: ReplyOptions, question: Question) -> Reply:
    text = given.text or ""
    if given.approve or given.refuse:
        verdict = "approved" if given.approve else "declined"
        return Reply(task_id=question.task_id, verdict=verdict, text=text)
    known = {str(number): call.id for number, call in enumerate(question.calls, start=1)}
    known |= {call.id: call.id for call in question.calls}
    decided = [
        *((name, CallReply(approved=True)) for name in given.approved_calls or ()),
        *((name, CallReply(approved=False, reason=text)) for name in given.refused_calls or ()),
    ]
    calls = {known[name]: reply for name, reply in decided if name in known}
    if not len(calls) == len(decided) == len(question.calls):
        every = ", ".join(
            f"{number} ({call.tool})" for number, call in enumerate(question.calls, 1)
        )
        raise InputError(f"give --approve-call or --refuse-call for each call once: {every}")
    return Reply(task_id=question.task_id, calls=calls)


def _on_plan(
    given: ReplyOptions, task_id: str | None, state: RunState, options: ResumeOptions
) -> Reply:
    if given.refuse:
        return Reply(task_id=task_id, verdict="refused", text=given.text or "")
    plan = read_plan(given.plan) if given.plan is not None else None
    team = _team_of(state, options) if plan is not None else None
    if plan is None or team is None:
        return Reply(task_id=task_id, verdict="approved", plan=plan)
    if errors := errors_in(check(plan, team, request=state.request)):
        raise PlanError(errors)
    return Reply(task_id=task_id, verdict="approved", plan=plan)


def _which(fitting: Sequence[Question], questions: Sequence[Question], *, approval: bool) -> str:
    """Why a reply fits no question, or several."""
    asked = [one.task_id for one in questions if one.task_id is not None]
    tasks = [one.task_id for one in fitting if one.task_id is not None] if approval else asked
    if tasks:
        kind = "plan" if approval and all(one.plan is not None for one in fitting) else "task"
        return f"say which {kind} the answer is for: --task {' or --task '.join(tasks)}"
    if not approval:
        return "a plan waits for approval: give --approve, --refuse or --plan FILE"
    told = f"; a reply is asked for {', '.join(asked)}" if asked else ""
    return f"no plan or call waits for this approval{told}"


def _show_questions(
    questions: Sequence[Question], storage: RunStorage, state: RunState, output: OutputOptions
) -> None:
    if output.answer_format == "json":
        asked = [question.model_dump(mode="json") for question in questions]
        print_json(asked)
        return
    console = DataConsole()
    answer = storage.command("answer", state.run_id)
    statuses = {id: task.status for id, task in state.tasks.items()}
    for question in questions:
        if question.plan is not None:
            own = question.task_id is None
            show_plan(question.plan, console, statuses=statuses if own else None)
        print_line(console, safe_block(question.text))
        print_line(console, safe_block(f"  {answer}{how_to_reply(question)}\n"))
