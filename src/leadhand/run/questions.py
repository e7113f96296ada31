"""The questions of a run to people, and which replies fit them. Pure."""

import datetime as dt
import json
from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from leadhand.contracts.events import ApprovalGiven, ApprovalRequested, Event
from leadhand.contracts.outcome import Escalated, Failed, with_location
from leadhand.contracts.people import EXPIRY, Occasion, Question, Reply, RunMessage, ToolCall
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Task
from leadhand.errors import InputError
from leadhand.planners.routing import IN_DOUBT
from leadhand.plans.routes import named_workers
from leadhand.state.fold import RunState
from leadhand.untrusted.cutting import cut

SHOWN_CHARS = 2_000
"""Characters of a call's arguments that the text of a question shows."""


def open_questions(state: RunState) -> tuple[Question, ...]:
    """The questions that have no reply; those of nested runs have the path of their task."""
    return tuple(question for question, _ in questions_asked(state))


def questions_asked(
    state: RunState, path: str = ""
) -> Iterator[tuple[Question, ApprovalRequested]]:
    """The open questions, each with its event."""
    for id, event in state.questions.items():
        yield question_about(state, id, path), event
    for id, task in state.tasks.items():
        # While the run around it is resumed, an interrupted task counts as cancelled.
        waits = task.interrupted or not task.ended
        if task.nested is not None and waits and state.answer is None:
            yield from questions_asked(task.nested, f"{path}{id}/")


def question_about(state: RunState, id: str | None, path: str) -> Question:
    """The open question about a task or, without `id`, the plan of the run with that `path`."""
    event, task = state.questions[id], state.tasks[id] if id is not None else None
    route = id is None and state.proposed_by == IN_DOUBT
    listed = [line[2:] for line in event.question.splitlines() if line.startswith("- ")]
    return Question(
        task_id=place(id, path),
        text=event.question,
        plan=state.proposed if id is None else None,
        call=task is not None
        and (task.waits_for_approval or wanted_key(task.unresolved) is not None),
        calls=calls_asked(state, id),
        route=route,
        workers=tuple(one.partition(": ")[0] for one in listed) if route else (),
        expires_at=event.expires_at,
    )


def place(id: str | None, path: str) -> str | None:
    """A task, or without `id` the plan of the run with that `path`, as questions name it."""
    return f"{path}{id}" if id is not None else path.rstrip("/") or None


def occasions_of(state: RunState) -> Iterator[Occasion]:
    """When people were asked before the run was resumed."""
    if None in state.questions or state.reply is not None or state.approved:
        yield "escalation" if state.proposed_by == IN_DOUBT else "plan"
    for id, task in state.tasks.items():
        replied = task.reply is not None and not task.ended
        if (id in state.questions and task.paused is None) or replied:
            yield "escalation"
        if task.worker == SUBPLANNER and task.nested is not None and not task.ended:
            yield from occasions_of(task.nested)


def in_a_line(question: str) -> str:
    text, *others = question.partition("\n- ")[0].split("\n")
    for line in others:
        stop = "." if line[:1].isupper() and text.rstrip()[-1:] not in ".:?!" else ""
        text = f"{text.rstrip()}{stop} {line}"
    return " ".join(text.split())


def calls_asked(state: RunState, id: str | None) -> tuple[ToolCall, ...]:
    task = None if id is None else state.tasks.get(id)
    if task is None or task.paused is None or not task.waits_for_approval:
        return ()
    return task.paused.calls


def wanted_key(outcome: Escalated | Failed | None) -> str | None:
    """The key that a person has to allow before a function continues, if it asks for one."""
    return outcome.call if isinstance(outcome, Escalated) else None


def reply_message(reply: Reply, state: RunState, now: dt.datetime) -> RunMessage:
    """Raises `InputError` for a reply to no open question of the run, or to one that expired."""
    about = _about(reply.task_id)
    asked = [one for one in open_questions(state) if one.task_id == reply.task_id]
    if not asked:
        no_task = (
            "; the question about its plan has the task None" if None in state.questions else ""
        )
        raise InputError(f"run {state.run_id!r} asks nothing about {about}{no_task}")
    if asked[0].has_expired(now):
        raise InputError(f"run {state.run_id!r}, {about}: {_expiry(asked[0])}")
    fitting = ["approved", "refused"] if asked[0].plan is not None else ["answered", "declined"]
    fitting += ["approved"] if asked[0].call else []
    fitting += ["refused"] if asked[0].calls else []
    if reply.verdict not in fitting:
        allowed = " or ".join(fitting)
        raise InputError(f"the verdict on {about} is {reply.verdict!r}; it must be {allowed}")
    if asked[0].calls and reply.verdict == "answered" and not (reply.calls or reply.text):
        why = "give `calls`, or the verdict approved or refused"
        raise InputError(f"the reply about {about} decides about no call: {why}")
    check_fits(reply, asked[0])
    return RunMessage(run_id=state.run_id, reply=reply, seq=state.seq)


def _about(task_id: str | None) -> str:
    return "its plan" if task_id is None else f"task {task_id!r}"


def expired_reply(question: Question) -> Reply:
    """The reply to a question that no person has answered in time."""
    refused = question.plan is not None or bool(question.calls)
    verdict, text = "refused" if refused else "declined", _expiry(question)
    return Reply(task_id=question.task_id, verdict=verdict, text=text, by=EXPIRY)


def _expiry(question: Question) -> str:
    return f"the question expired at {question.expires_at:%Y-%m-%d %H:%M:%S} UTC"


def check_fits(reply: Reply, question: Question) -> None:
    """Raise `InputError` for a reply that names a worker or calls that are not in the question."""
    names, text = question.workers, reply.text.strip()
    says = text if reply.verdict in ("refused", "answered") else ""
    if names and says and not named_workers(text, names):
        known = ", ".join(names)
        raise InputError(f"{text!r} names no worker: name one of {known}, or refuse without a text")
    if not names_calls(reply, question.calls):
        about = _about(question.task_id)
        ids = ", ".join(call.id for call in question.calls) or "none"
        raise InputError(f"`calls` must name exactly the calls that {about} asks about: {ids}")


def valid_reply(reply: Reply) -> Reply:
    """`reply`, validated in all its parts, however it was built. Raises `InputError`."""
    if not isinstance(reply, Reply):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"reply is {type(reply).__name__}; it must be a leadhand.Reply")
    try:
        return Reply.model_validate(reply.model_dump(warnings=False))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"reply is not valid: {place}: {first['msg']}") from None


def reply_of(given: Reply | str | None, question: Question) -> Reply | None:
    """What `ask` returned as a reply. Raises `InputError` if it can't be one to this question."""
    match given:
        case None:
            return None
        case Reply():
            reply = valid_reply(given)
            if reply.task_id not in (None, question.task_id):
                here = "the plan" if question.task_id is None else f"task {question.task_id!r}"
                raise InputError(
                    f"`person` replied to {reply.task_id!r}; it was asked about {here}"
                )
        case str() if question.plan is not None:
            reply = Reply(verdict="refused" if given.strip() else "approved", text=given)
        case str():
            reply = Reply(verdict="answered" if given.strip() else "declined", text=given)
        case _:  # pyright: ignore[reportUnnecessaryComparison]
            kind = type(given).__name__
            raise InputError(f"`person` returned {kind}: it must return a Reply, a text or None")
    check_fits(reply, question)
    return reply


def names_calls(reply: Reply, calls: Sequence[ToolCall]) -> bool:
    """Whether a reply names exactly these calls; otherwise it may be for an earlier question."""
    return not reply.calls or {*reply.calls} == {call.id for call in calls}


def call_question(task: Task, calls: Sequence[ToolCall]) -> str:
    shown = [cut(json.dumps(call.arguments, ensure_ascii=False), SHOWN_CHARS) for call in calls]
    if len(calls) == 1:
        asked = f"{calls[0].tool} needs a person's approval: {shown[0]}"
    else:
        lines = [
            f"{n}. {call.tool}: {text}"
            for n, (call, text) in enumerate(zip(calls, shown, strict=True), 1)
        ]
        asked = "\n".join([f"{len(calls)} calls need a person's approval:", *lines])
    return f"{task.worker}: {asked}\nIts task: {task.intent}"


def task_question(task: Task, outcome: Escalated | Failed, others: Sequence[str] = ()) -> str:
    """The question about a task that was handed back or failed; `others` may take it over."""
    why = outcome.reason if isinstance(outcome, Escalated) else outcome.kind
    where = outcome.where if isinstance(outcome, Failed) else None
    reason = f"{task.worker} ({why.replace('_', ' ')}): {with_location(outcome.message, where)}"
    named = f"\nIf it is for another worker, name that one: {', '.join(others)}" if others else ""
    return f"{reason}\nIts task: {task.intent}{named}"


def unread_replies(state: RunState, messages: Sequence[RunMessage]) -> list[RunMessage]:
    asked = {question.task_id: event.seq for question, event in questions_asked(state)}
    return [
        message
        for message in messages
        if message.reply is not None
        and message.reply.task_id in asked
        and not message.is_before(asked[message.reply.task_id])
    ]


def messages_of(
    log: Sequence[Event],
    state: RunState,
    replies: Sequence[Reply],
    *,
    now: dt.datetime,
    seen: int | None = None,
) -> list[RunMessage]:
    """The messages that bring `replies`, without those already read.

    Raises `InputError` for a reply to a closed question, unless the same reply closed it: a request
    may be sent twice; and for one to a question that was asked after the event `seen`.
    """
    found: list[RunMessage] = []
    asked = {question.task_id: event.seq for question, event in questions_asked(state)}
    for reply in replies:
        try:
            message = reply_message(reply, state, now)
        except InputError as error:
            given = (event for event in reversed(log) if isinstance(event, ApprovalGiven))
            last = next((event for event in given if event.task_id == reply.task_id), None)
            if last is None or not _is_same(reply, last):
                expired = f": {last.text}" if last is not None and last.by == EXPIRY else ""
                raise InputError(f"{error}{expired}") from None
            continue
        if seen is not None and asked[reply.task_id] > seen:
            about = _about(reply.task_id)
            raise InputError(
                f"run {state.run_id!r} has a newer question about {about} than event {seen}: read "
                "it first"
            )
        read = state.seq if seen is None else min(seen, state.seq)
        found.append(message.model_copy(update={"seq": read}))
    return found


def _is_same(reply: Reply, event: ApprovalGiven) -> bool:
    if event.calls:
        same = {*reply.calls} <= {*event.calls}
        return same and reply.on_calls(event.calls) == event.calls
    same = event.verdict == reply.verdict and event.text == reply.text
    return same and event.plan == reply.plan
