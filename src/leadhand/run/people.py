"""Questions of a run to people: at the terminal or in the program, or by messages in the journal.

A question is recorded before it is asked, and its reply closes it, so that no question is asked
twice. If a person can't reply at once, the run may end with its question open. The journal takes
the reply, and the run is resumed.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence

from leadhand.contracts import events
from leadhand.contracts.event_fields import NO_TIMES, AttemptTimes
from leadhand.contracts.outcome import Escalated, Failed, PausedAttempt
from leadhand.contracts.people import (
    Occasion,
    Question,
    Reply,
    RunMessage,
    checked_reply,
)
from leadhand.contracts.task import Plan, Task
from leadhand.engine.failures import failure_of
from leadhand.engine.recorder import Recorder
from leadhand.errors import JournalError
from leadhand.journal.watcher import OnActivity, RunActivity, Watcher
from leadhand.models.prompts import joined
from leadhand.ports import Journal
from leadhand.run.cancellation import ActiveRun, Cancelled, run_until
from leadhand.run.questions import (
    call_question,
    calls_asked,
    names_calls,
    task_question,
    wanted_key,
)

UNSOUND_PLANS = 3
"""How many plans with problems a person may send before the question is left open."""

Ask = Callable[[Question], Awaitable[Reply | str | None]]
"""Asks a person and waits for the reply, until the run's deadline; about a plan without a limit.

A text is what a worker should know, or why a plan is refused; an empty text approves a plan. `None`
is no reply: the worker continues without one, and a plan stays open."""

_log = logging.getLogger("leadhand")


class People:
    """The people who can be asked in one run; a `Person`."""

    def __init__(
        self,
        recorder: Recorder,
        journal: Journal,
        *,
        occasions: Collection[Occasion],
        ask: Ask | None = None,
    ) -> None:
        """`ask` reaches a person at once; without it replies come through the journal alone."""
        self._recorder = recorder
        self._journal = journal
        self._ask = ask
        self.occasions = frozenset(occasions)
        self._asked = _positions(recorder)
        """The position of each open question's event."""
        self._replies: dict[str | None, RunMessage] = {}
        self._replied: dict[str | None, asyncio.Event] = {}

    @classmethod
    def of(
        cls,
        recorder: Recorder,
        journal: Journal,
        *,
        occasions: Collection[Occasion],
        ask: Ask | None,
    ) -> "People":
        """The people of a run.

        About tool calls that need an approval they are asked on any occasion, and so they are if
        they were asked before the run was resumed.
        """
        state, asked = recorder.state, set(occasions)
        if None in state.questions or state.reply is not None or state.approved:
            asked.add("plan")
        if any(
            (id in state.questions and task.paused is None)
            or (task.reply is not None and not task.ended)
            for id, task in state.tasks.items()
        ):
            asked.add("escalation")
        return cls(recorder, journal, occasions=asked, ask=ask)

    @property
    def answers_later(self) -> bool:
        """Whether all replies may come long after the run's process has ended."""
        return self._ask is None and not self._replies

    def nested(self, recorder: Recorder) -> "People | None":
        """The people of a run within this one; `None` if they answer later.

        Then the nested team escalates the task to this run, which can wait for them.
        """
        if self._ask is None:
            return None
        occasions = self.occasions - {"plan"}
        return People(recorder, self._journal, occasions=occasions, ask=self._ask)

    def post_question(self, task: Task, outcome: Escalated | Failed) -> None:
        """Record the question of `ask`, before anything waits for the reply."""
        if self._recorder.state.tasks[task.id].reply is None:
            self._record_question(task.id, task_question(task, outcome))

    async def ask(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """What the worker of `task` should know; `None` if the person gave no answer."""
        id, state = task.id, self._recorder.state
        reply = state.tasks[id].reply
        if reply is None:
            way = f"{self._recorder.path}{id}"
            about_call = wanted_key(outcome) is not None
            question = Question(task_id=way, text=state.questions[id], call=about_call)
            reply = await self._reply(id, question, patiently=True)
        if reply is None:
            reply = Reply(task_id=id, verdict="declined")
            await self._close(id, reply)
        if reply.verdict == "approved" and wanted_key(outcome) is not None:
            return joined("Go on: that call is allowed.", reply.text)
        return reply.text if reply.verdict == "answered" else None

    def post_call_question(
        self, task: Task, paused: PausedAttempt, *, attempt: int, work: AttemptTimes
    ) -> None:
        """Record that an attempt pauses, and the question of `ask_about_calls`."""
        text = call_question(task, paused.calls)
        self._record_question(task.id, text, paused=paused, attempt=attempt, work=work)

    async def ask_about_calls(self, task: Task) -> bool:
        """Whether the person has replied about the calls of the paused attempt at `task`."""
        state = self._recorder.state
        question = Question(
            task_id=f"{self._recorder.path}{task.id}",
            text=state.questions[task.id],
            call=True,
            calls=calls_asked(state, task.id),
        )
        reply = await self._reply(task.id, question, patiently=True)
        if reply is None and self._recorder.path:
            # A nested run can't wait for a later reply.
            reply = Reply(task_id=task.id, verdict="declined", text="no person has replied")
            await self._close(task.id, reply)
        return reply is not None

    def post_plan_question(self, question: str) -> None:
        """Record the question of `approve_plan`, unless it has a reply already."""
        if self._recorder.state.reply is None:
            self._record_question(None, question)

    async def approve_plan(
        self,
        plan: Plan,
        question: str,
        *,
        problems: Callable[[Plan], Sequence[str]],
        patiently: bool,
    ) -> Reply | None:
        """The verdict on `plan`; `None` if the question stays open.

        A plan that the person sends instead has none of the `problems`: the person is told what is
        wrong and asked again, `UNSOUND_PLANS` times. Without `patiently` the run does not wait for
        a person who answers later.
        """
        state = self._recorder.state
        self.post_plan_question(question)
        for _ in range(UNSOUND_PLANS):
            reply = state.reply
            if reply is None:
                asked = Question(text=state.questions[None], plan=plan)
                reply = await self._reply(None, asked, patiently=patiently)
            if reply is None or reply.verdict != "approved" or reply.plan is None:
                return reply
            found = problems(reply.plan)
            if not found:
                return reply
            wrong = f"The plan can't be carried out as it was changed: {'; '.join(found)}"
            self._record_question(None, f"{wrong}\n{question}")
        await self._recorder.commit()
        return None

    def _record_question(
        self,
        id: str | None,
        text: str,
        *,
        paused: PausedAttempt | None = None,
        attempt: int | None = None,
        work: AttemptTimes = NO_TIMES,
    ) -> None:
        """Record a question, unless it was asked before the run was resumed."""
        if id not in self._recorder.state.questions:
            stamp = self._recorder.stamp()
            self._asked[id] = stamp["seq"]
            self._recorder.record(
                events.ApprovalRequested(
                    **stamp,
                    **work,
                    task_id=id,
                    attempt=attempt,
                    question=text,
                    calls=paused.calls if paused is not None else (),
                    conversation=paused.conversation if paused is not None else None,
                )
            )

    async def _reply(self, id: str | None, question: Question, *, patiently: bool) -> Reply | None:
        """The first reply to a recorded question, from the person here or from the journal.

        Only `patiently` it waits for the journal alone.
        """
        await self._recorder.commit()
        replied = self._replied[id] = asyncio.Event()
        if not self._recorder.path:  # replies name tasks of the outermost run
            await self.take_replies(await self._journal.messages(self._recorder.run_id))
        if id in self._replies:
            replied.set()
        reply: Reply | None = None
        if self._ask is not None and not replied.is_set():
            with contextlib.suppress(Cancelled):
                reply = await run_until(replied, _asked(self._ask, question))
        elif patiently:
            await replied.wait()
        if replied.is_set():
            reply = self._replies[id].reply
        if reply is not None:
            await self._close(id, reply)
        return reply

    async def _close(self, id: str | None, reply: Reply) -> None:
        """Record the reply, and delete the message that brought it."""
        asked = calls_asked(self._recorder.state, id)
        calls = reply.on_calls(call.id for call in asked)
        verdict = reply.verdict
        if calls:
            verdict = "approved" if any(one.approved for one in calls.values()) else "declined"
        self._recorder.record(
            events.ApprovalGiven(
                **self._recorder.stamp(),
                task_id=id,
                verdict=verdict,
                text=reply.text,
                plan=reply.plan,
                by=reply.by,
                calls=calls,
            )
        )
        await self._recorder.commit()
        message = self._replies.pop(id, None)
        if message is not None:
            await self._journal.drop(message)

    async def take_replies(self, found: Sequence[RunMessage]) -> None:
        """Take the replies in these messages of the journal.

        The last reply to a question counts. A reply to no open question is deleted.
        """
        unused: list[RunMessage] = []
        for message in found:
            if message.reply is None:
                continue
            id = message.reply.task_id
            known = self._replies.get(id)
            if known is not None and known.id >= message.id:
                continue
            state = self._recorder.state
            if (
                id not in state.questions
                or message.is_before(self._asked.get(id, 0))
                or not names_calls(message.reply, calls_asked(state, id))
            ):
                unused.append(message)
                continue
            if known is not None:
                unused.append(known)
            self._replies[id] = message
            if id in self._replied:
                self._replied[id].set()
        for message in unused:
            await self._journal.drop(message)


@contextlib.asynccontextmanager
async def watch_messages(
    journal: Journal, run_id: str, active: ActiveRun, people: People | None
) -> AsyncGenerator[None]:
    """While the block lasts, messages in the journal reach `people` and stop the run."""
    async with Watcher.watch(journal, run_id, _on_activity(journal, run_id, active, people)):
        yield


async def record_interruption(recorder: Recorder, journal: Journal) -> list[RunMessage]:
    """Record that the last process of a run was interrupted, if it left a message about that.

    Returns the replies that came since. Requests to stop that process are deleted.
    """
    replies: list[RunMessage] = []
    for message in await journal.messages(recorder.run_id):
        if message.reply is not None:
            replies.append(message)
            continue
        if message.interrupted and not recorder.state.stopped:
            recorder.record(events.RunStopped(**recorder.stamp(), reason="interrupted, at once"))
        await journal.drop(message)
    return replies


def _on_activity(
    journal: Journal, run_id: str, active: ActiveRun, people: People | None
) -> OnActivity:
    logged = ""

    async def on_activity(seen: RunActivity) -> None:
        nonlocal logged
        error = seen.error
        if seen.taken_by is not None:
            active.stop(f"{seen.taken_by} has taken the run over")
            return
        try:
            if people is not None:
                await people.take_replies(seen.messages)
            for message in seen.messages:
                if message.reply is None and not message.interrupted:
                    active.stop(message.reason or "cancelled")
                    await journal.drop(message)
        except JournalError as raised:
            error = raised
        if error is not None and str(error) != logged:
            # Where it matters, the run's own commits raise it.
            _log.warning("messages to run %r can't be read: %s", run_id, error)
            logged = str(error)

    return on_activity


def _positions(recorder: Recorder) -> dict[str | None, int]:
    """The position of the event with each open question of a run that is resumed."""
    found: dict[str | None, int] = {}
    for event in reversed(recorder.past) if recorder.state.questions else ():
        if isinstance(event, events.ApprovalRequested) and not event.within:
            found.setdefault(event.task_id, event.seq)
    return found


async def _asked(ask: Ask, question: Question) -> Reply | None:
    """The reply of `ask`; `None` if there is none, or if it fails."""
    try:
        return _reply_of(await ask(question), question)
    except BaseException as error:
        # Whatever it raises is contained, but not the cancellation of this task.
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        why = " ".join(failure_of(error).message.split())
        _log.warning("a person could not be asked: %s", why)
        return None


def _reply_of(given: Reply | str | None, question: Question) -> Reply | None:
    """What `ask` returned as a reply. Raises `ValidationError` if it can't be one."""
    if given is None:
        return None
    if isinstance(given, Reply):
        reply = checked_reply(given)
        if names_calls(reply, question.calls):
            return reply
        _log.warning("`person` returned a reply whose `calls` are not all that it was asked about")
        return None
    if not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(given).__name__
        _log.warning("`person` returned %s: it must return a Reply, a text or None", kind)
        return None
    if question.plan is not None:
        return Reply(verdict="refused" if given.strip() else "approved", text=given)
    return Reply(verdict="answered" if given.strip() else "declined", text=given)
