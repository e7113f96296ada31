"""People: who can be asked while a run goes on, here and now or by a message left in the journal.

A question is written down before it is put, and closed by what was said; what was said is never
asked again. Where nobody is here, the run may end and be resumed: its questions stay open, and the
journal takes the replies.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence

from leadhand.contracts import events
from leadhand.contracts.outcome import Escalated, Failed, with_location
from leadhand.contracts.people import Occasion, Question, Reply, RunMessage, checked_reply
from leadhand.contracts.task import Plan, Task
from leadhand.engine.failures import failure_of
from leadhand.engine.recorder import Recorder
from leadhand.errors import InputError, JournalError
from leadhand.journal.nonblocking import call_journal
from leadhand.journal.watcher import RunActivity, Watcher
from leadhand.models.prompts import joined
from leadhand.ports import Journal
from leadhand.run.cancellation import ActiveRun, Cancelled, unless
from leadhand.state.fold import RunState

UNSOUND_PLANS = 3
"""How many plans with problems a person may give before the question is left open."""

Ask = Callable[[Question], Awaitable[Reply | str | None]]
"""Puts a question to a person who is here. A text is what a worker should know, or why a plan is
refused; an empty one approves of the plan. None: they have nothing to say, and a plan goes on
waiting. It has until the run's deadline; a plan may be thought over for as long as one likes."""

_log = logging.getLogger("leadhand")


class People:
    """Whoever can be asked in one run."""

    def __init__(
        self,
        recorder: Recorder,
        journal: Journal,
        *,
        occasions: Collection[Occasion],
        ask: Ask | None = None,
    ) -> None:
        """`ask` reaches somebody who is here; without it replies come through the journal alone."""
        self._recorder = recorder
        self._journal = journal
        self._ask = ask
        self.occasions = frozenset(occasions)
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
    ) -> "People | None":
        """The people of a run; none where nobody is to be asked.

        What was asked before the run was resumed is not decided without them, whoever resumes it.
        """
        state, asked = recorder.state, set(occasions)
        if None in state.questions or state.reply is not None or state.approved:
            asked.add("plan")
        if any(
            id in state.questions or (task.reply is not None and not task.ended)
            for id, task in state.tasks.items()
        ):
            asked.add("escalation")
        return cls(recorder, journal, occasions=asked, ask=ask) if asked else None

    @property
    def answers_later(self) -> bool:
        """Whether all their answers may come long after the run's process has ended."""
        return self._ask is None and not self._replies

    def nested(self, recorder: Recorder) -> "People | None":
        """Those who can be asked in a run within this one; none where they are away.

        What a nested team hands back comes up to this run, which can wait for them.
        """
        if self._ask is None:
            return None
        occasions = self.occasions - {"plan"}
        return People(recorder, self._journal, occasions=occasions, ask=self._ask)

    def post_question(self, task: Task, outcome: Escalated | Failed) -> None:
        """Write the question down that `ask` asks, before anybody waits for the answer."""
        if self._recorder.state.tasks[task.id].reply is None:
            self._write(task.id, _question(task, outcome))

    async def ask(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """What the worker of `task` should know; none where there is no answer."""
        id, state = task.id, self._recorder.state
        reply = state.tasks[id].reply
        if reply is None:
            way = f"{self._recorder.path}{id}"
            about_call = _wanted_call(outcome) is not None
            question = Question(task_id=way, text=state.questions[id], call=about_call)
            reply = await self._reply(id, question, patiently=True)
        if reply is None:
            reply = Reply(task_id=id, verdict="declined")
            await self._close(id, reply)
        if reply.verdict == "approved" and _wanted_call(outcome) is not None:
            return joined("Go on: that call is allowed.", reply.text)
        return reply.text if reply.verdict == "answered" else None

    def post_plan_question(self, question: str) -> None:
        """Write the question down that `approve_plan` asks, unless it has a reply already."""
        if self._recorder.state.reply is None:
            self._write(None, question)

    async def approve_plan(
        self,
        plan: Plan,
        question: str,
        *,
        problems: Callable[[Plan], Sequence[str]],
        patiently: bool,
    ) -> Reply | None:
        """The verdict on `plan`; none if the question stays open.

        A plan that they give instead has none of the `problems`: they are told what is wrong with
        it and asked again, `UNSOUND_PLANS` times. Without `patiently` a person who is away is not
        waited for.
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
            self._write(None, f"{wrong}\n{question}")
        await self._recorder.commit()
        return None

    def _write(self, id: str | None, text: str) -> None:
        """Write a question down, unless it was asked before the run was resumed.

        Whatever was said before it is asked is no answer to it.
        """
        self.look()
        if id not in self._recorder.state.questions:
            stamp = self._recorder.stamp()
            self._recorder.record(events.ApprovalRequested(**stamp, task_id=id, question=text))

    async def _reply(self, id: str | None, question: Question, *, patiently: bool) -> Reply | None:
        """The reply to a question that is written down, from wherever it comes first.

        Of those who are away it is awaited only `patiently`.
        """
        await self._recorder.commit()
        replied = self._replied[id] = asyncio.Event()
        self.look()
        if id in self._replies:
            replied.set()
        reply: Reply | None = None
        if self._ask is not None and not replied.is_set():
            with contextlib.suppress(Cancelled):
                reply = await unless(replied, _said(self._ask, question))
        elif patiently:
            await replied.wait()
        if replied.is_set():
            reply = self._replies[id].reply
        if reply is not None:
            await self._close(id, reply)
        return reply

    async def _close(self, id: str | None, reply: Reply) -> None:
        """Write down what was said, and forget the message that brought it."""
        self._recorder.record(
            events.ApprovalGiven(
                **self._recorder.stamp(),
                task_id=id,
                verdict=reply.verdict,
                text=reply.text,
                plan=reply.plan,
                by=reply.by,
            )
        )
        await self._recorder.commit()
        message = self._replies.pop(id, None)
        if message is not None:
            self._journal.drop(message)

    def look(self, found: Sequence[RunMessage] | None = None) -> list[RunMessage]:
        """Take in what the journal has for this run; gives the messages that are no replies.

        It is read here, unless what was `found` there is given.

        Of several replies to one question the last one counts. What was not asked, or not any
        more, is forgotten.
        """
        others: list[RunMessage] = []
        if self._recorder.path:
            return others  # replies name tasks of the outermost run
        if found is None:
            found = self._journal.messages(self._recorder.run_id)
        for message in found:
            if message.reply is None:
                others.append(message)
                continue
            id = message.reply.task_id
            known = self._replies.get(id)
            if known is not None and known.id == message.id:
                continue
            if known is not None:
                self._journal.drop(known)
            if id not in self._recorder.state.questions:
                self._journal.drop(message)
                continue
            self._replies[id] = message
            if id in self._replied:
                self._replied[id].set()
        return others


@contextlib.asynccontextmanager
async def watched(
    journal: Journal, run_id: str, active: ActiveRun, people: People | None
) -> AsyncGenerator[None]:
    """While the block lasts, messages to a run are heard: replies by `people`, and the word to
    stop. That word is not kept for whoever resumes the run."""
    try:
        async with Watcher.watch(journal, run_id, _hearer(journal, run_id, active, people)):
            yield
    finally:
        with contextlib.suppress(JournalError):
            await call_journal(
                journal, lambda _: _drop_words_to_stop(journal, run_id), None, limit_s=1.0
            )


def _drop_words_to_stop(journal: Journal, run_id: str) -> None:
    for message in journal.messages(run_id):
        if message.reply is None and not message.interrupted:
            journal.drop(message)


async def take_in_interruption(recorder: Recorder, journal: Journal) -> None:
    """Record that the last process of a run was ended on purpose, where it left word of that."""
    for message in await call_journal(journal, journal.messages, recorder.run_id):
        if message.interrupted:
            if not recorder.state.stopped:
                recorder.record(
                    events.RunStopped(**recorder.stamp(), reason="interrupted, at once")
                )
            await call_journal(journal, journal.drop, message)


def _hearer(
    journal: Journal, run_id: str, active: ActiveRun, people: People | None
) -> Callable[[RunActivity], None]:
    told = ""

    def hear(seen: RunActivity) -> None:
        nonlocal told
        error = seen.error
        if seen.taken_by is not None:
            active.stop(f"{seen.taken_by} has taken the run over")
            return
        try:
            messages = seen.messages
            for message in messages if people is None else people.look(messages):
                if message.reply is None and not message.interrupted:
                    active.stop(message.reason or "cancelled")
                    journal.drop(message)
        except JournalError as raised:
            error = raised
        if error is not None and str(error) != told:
            # Where it matters, the run's own commits say so.
            _log.warning("messages to run %r can't be read: %s", run_id, error)
            told = str(error)

    return hear


def open_questions(state: RunState) -> tuple[Question, ...]:
    """What a run that stands like this asks of people and has no reply to."""
    return tuple(
        Question(
            task_id=id,
            text=text,
            plan=state.proposed if id is None else None,
            call=id is not None and _wanted_call(state.tasks[id].unresolved) is not None,
        )
        for id, text in state.questions.items()
    )


def check_reply(reply: Reply, state: RunState) -> None:
    """Raises `InputError` where a run that stands like this asks nothing that `reply` answers."""
    about = "its plan" if reply.task_id is None else f"task {reply.task_id!r}"
    asked = [one for one in open_questions(state) if one.task_id == reply.task_id]
    if not asked:
        raise InputError(f"run {state.run_id!r} asks nothing about {about}")
    fitting = ["approved", "refused"] if reply.task_id is None else ["answered", "declined"]
    fitting += ["approved"] if asked[0].call else []
    if reply.verdict not in fitting:
        said = " or ".join(fitting)
        raise InputError(f"verdict {reply.verdict!r} is none on {about}: it must be {said}")


async def _said(ask: Ask, question: Question) -> Reply | None:
    """What somebody here says; none where they say nothing, or asking them fails."""
    try:
        return _read(await ask(question), question)
    except BaseException as error:
        # What it raises is contained, whatever it is; the end of the very wait for it is not.
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        why = " ".join(failure_of(error).message.split())
        _log.warning("a person could not be asked: %s", why)
        return None


def _read(said: Reply | str | None, question: Question) -> Reply | None:
    """The reply that `said` is. Raises `ValidationError` where it can be none."""
    if said is None:
        return None
    if isinstance(said, Reply):
        return checked_reply(said)
    if not isinstance(said, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(said).__name__
        _log.warning("what asks a person gave %s: it must be a Reply, a text or None", kind)
        return None
    if question.plan is not None:
        return Reply(verdict="refused" if said.strip() else "approved", text=said)
    return Reply(verdict="answered" if said.strip() else "declined", text=said)


def _wanted_call(outcome: Escalated | Failed | None) -> str | None:
    return outcome.call if isinstance(outcome, Escalated) else None


def _question(task: Task, outcome: Escalated | Failed) -> str:
    why = outcome.reason if isinstance(outcome, Escalated) else outcome.kind
    where = outcome.where if isinstance(outcome, Failed) else None
    said = f"{task.worker} ({why.replace('_', ' ')}): {with_location(outcome.message, where)}"
    return f"{said}\nIts task: {task.intent}"
