"""People: who can be asked while a run goes on, here and now or by a message left in the journal.

A question is written down before it is put, and closed by what was said. Where nobody is here, the
run may end and be resumed; its questions stay open, and the journal takes the replies.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection

from leadhand.active import ActiveRun
from leadhand.contracts.event import ApprovalGiven, ApprovalRequested
from leadhand.contracts.outcome import Escalated, Failed
from leadhand.contracts.people import Message, Occasion, Question, Reply
from leadhand.contracts.task import Plan, Task
from leadhand.ports import Journal
from leadhand.recorder import Recorder

LOOK_S = 0.5
"""How often the journal is looked at for messages."""

Ask = Callable[[Question], Awaitable[Reply | str | None]]
"""Puts a question to a person who is here. A text is what a worker should know, or an approval of
the plan where it is empty; none: they have nothing to say."""

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
        """`ask` reaches somebody who is here; without it replies come through the journal."""
        self._recorder = recorder
        self._journal = journal
        self._ask_now = ask
        self.occasions = frozenset(occasions)
        self._replies: dict[str | None, Message] = {}
        self._news = asyncio.Event()

    @property
    def away(self) -> bool:
        """Whether their answer may come long after the run's process has ended."""
        return self._ask_now is None

    def nested(self, recorder: Recorder) -> "People | None":
        """Those who can be asked in a run within this one; none where they are away.

        What a nested team hands back comes up to this run, which can wait for them.
        """
        if self._ask_now is None:
            return None
        occasions = self.occasions - {"plan"}
        return People(recorder, self._journal, occasions=occasions, ask=self._ask_now)

    async def ask(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """What the worker of `task` should know; none where there is no answer."""
        reply = await self._asked(Question(task_id=task.id, text=_question(task, outcome)))
        while reply is None:  # only of those who are away
            await self._news.wait()
            self._news.clear()
            reply = await self._replied(task.id)
        return reply.text if reply.verdict == "answered" else None

    async def approve(self, plan: Plan, *, problems: str = "") -> Reply | None:
        """What they say to `plan`; none where nobody has said anything yet.

        `problems` is what is wrong with the plan that they gave before.
        """
        text = "Is this plan to be carried out?"
        text = f"{problems}\n{text}" if problems else text
        return await self._asked(Question(text=text, plan=plan))

    async def _asked(self, question: Question) -> Reply | None:
        id = question.task_id
        if id not in self._recorder.state.questions:
            self._recorder.record(
                ApprovalRequested(**self._recorder.stamp(), task_id=id, question=question.text)
            )
        await self._recorder.commit()
        if self._ask_now is None:
            self.look()
            return await self._replied(id)
        reply = _reply(question, await self._ask_now(question))
        self._close(reply)
        return reply

    # Replies that come through the journal

    async def _replied(self, task_id: str | None) -> Reply | None:
        message = self._replies.pop(task_id, None)
        if message is None or message.reply is None:
            return None
        self._close(message.reply)
        await self._recorder.commit()
        self._journal.drop(message)
        return message.reply

    def _close(self, reply: Reply) -> None:
        self._recorder.record(
            ApprovalGiven(
                **self._recorder.stamp(),
                task_id=reply.task_id,
                verdict=reply.verdict,
                text=reply.text,
                plan=reply.plan,
                by=reply.by,
            )
        )

    def look(self) -> list[Message]:
        """Take in what the journal has for this run; gives the messages that are no replies."""
        others: list[Message] = []
        for message in self._journal.messages(self._recorder.run_id):
            if message.reply is None:
                others.append(message)
            else:
                self._replies[message.reply.task_id] = message
        if self._replies:
            self._news.set()
        return others


async def watch(journal: Journal, run_id: str, active: ActiveRun, people: People | None) -> None:
    """Look for messages to a run, until cancelled: replies go to `people`, and a stop ends it."""
    while True:
        await asyncio.sleep(LOOK_S)
        for message in people.look() if people is not None else journal.messages(run_id):
            if message.reply is None:
                active.stop(message.reason or "cancelled")
                journal.drop(message)


def _question(task: Task, outcome: Escalated | Failed) -> str:
    why = outcome.reason if isinstance(outcome, Escalated) else outcome.kind
    return f"{task.worker} was asked: {task.intent}\nIt says ({why}): {outcome.message}"


def _reply(question: Question, said: Reply | str | None) -> Reply:
    if isinstance(said, Reply):
        return said.model_copy(update={"task_id": question.task_id})
    if question.plan is not None:
        verdict = "refused" if said is None or said.strip() else "approved"
        return Reply(verdict=verdict, text=said or "")
    verdict = "answered" if said is not None and said.strip() else "declined"
    return Reply(task_id=question.task_id, verdict=verdict, text=said or "")
