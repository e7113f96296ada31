"""Questions to people: in the terminal, in the program, or by messages in the journal.

A question is recorded before it is asked, so that it is not asked twice. If a person can't reply at
once, the run may end with the question open: the journal takes the reply, and the run is resumed.
"""

import asyncio
import contextlib
import datetime as dt
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence

from leadhand.contracts import events
from leadhand.contracts.events.fields import NO_TIMES, AttemptTimes
from leadhand.contracts.outcome import Escalated, Failed, PausedAttempt
from leadhand.contracts.people import Occasion, Question, Reply, RunMessage
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.engine.failures import failure_of
from leadhand.engine.recorder import Recorder
from leadhand.errors import InputError, JournalError
from leadhand.models.prompts import joined
from leadhand.ports import Journal
from leadhand.run.questions import (
    call_question,
    calls_asked,
    expired_reply,
    names_calls,
    occasions_of,
    place,
    question_about,
    questions_asked,
    reply_of,
    task_question,
    wanted_key,
)
from leadhand.run.step_context import Cancelled, run_until

UNSOUND_PLANS = 3
"""How many plans with problems a person may send before the question is left open."""

Ask = Callable[[Question], Awaitable[Reply | str | None] | Reply | str | None]
"""Asks a person. An async one has until the run's deadline, about a plan without a limit; a plain
one holds up the event loop. A text is what a worker should know, why a plan is refused, or who gets
a request that no route places; an empty text approves a plan. `None` is no reply: the worker
continues without one, a plan stays open. After anything else it is not called again in this run."""

_log = logging.getLogger("leadhand")


class People:
    """The `ports.Person` of a run, whose methods are explained there."""

    def __init__(
        self,
        recorder: Recorder,
        journal: Journal,
        *,
        team: Team,
        occasions: Collection[Occasion],
        ask: Ask | None = None,
        around: "People | None" = None,
        breaks_down: bool = False,
    ) -> None:
        """Without `ask`, replies come through the journal alone.

        Approvals of tool calls are asked for on any occasion. `around` are the people of the run
        whose task this run does or `breaks_down`.
        """
        self._recorder = recorder
        self._journal = journal
        self._team = team
        self._callback = ask
        self.unfit: InputError | None = None
        """Why what `ask` returned is no reply; from then on the journal alone brings replies."""
        before = occasions_of(recorder.state) if recorder.past else ()
        self.occasions = frozenset[Occasion]((*occasions, *before))
        self._around = around
        self._breaks_down = breaks_down
        self._first: People = around._first if around is not None else self
        """The people of the outermost of these runs, which reads the replies for all of them."""
        self._replies: dict[str | None, RunMessage] = {}
        self._replied: dict[str | None, asyncio.Event] = {}
        self.waiting: set[str] = set()
        self._wake_up: Callable[[], None] | None = None
        self._leaves = False

    @property
    def _ask(self) -> Ask | None:
        return self._first._callback if self._first.unfit is None else None

    @property
    def answers_later(self) -> bool:
        path = self._recorder.path
        replied = any(f"{key or ''}/".startswith(path) for key in self._first._replies)
        return self._ask is None and not replied

    def nested(self, recorder: Recorder, team: Team, *, breaks_down: bool) -> "People":
        """The people of a run within this one.

        Another team that is answered later asks only about tool calls and routes in doubt; what its
        tasks need otherwise, it escalates to this run.
        """
        asked = self.occasions
        if not breaks_down:
            asked = asked - {"plan"} if self._ask is not None else frozenset[Occasion]()
        journal, below = self._journal, breaks_down
        return People(recorder, journal, team=team, occasions=asked, around=self, breaks_down=below)

    @property
    def leaves(self) -> bool:
        return self._first._leaves

    def leave(self) -> None:
        self._first._leaves = True

    def hold(self, *, waits: bool, wake_up: Callable[[], None] | None = None) -> bool:
        self._wake_up = wake_up
        self._rest(waits=waits)
        return waits and self._around is None

    def _rest(self, *, waits: bool) -> None:
        """Tell the run around this one whether this one waits for nothing but the person."""
        around, way = self._around, self._recorder.path.split("/")
        if around is None:
            return
        id = way[-2]
        if waits != (id in around.waiting):
            (around.waiting.add if waits else around.waiting.discard)(id)
            if not waits:  # nor do those further out, until each has looked again
                around._rest(waits=False)
            if around._wake_up is not None:
                around._wake_up()

    async def only(self, asking: Awaitable[Reply | None]) -> Reply | None:
        """The reply of `asking`. A nested run waits until the run around it ends, if it can."""

        def hold() -> None:
            self.hold(waits=self.answers_later, wake_up=hold)

        hold()
        try:
            reply = await asking
            if reply is None and self._breaks_down:
                self.hold(waits=True)
                await asyncio.get_running_loop().create_future()
            return reply
        finally:
            self.hold(waits=False)

    def post_question(
        self, task: Task, outcome: Escalated | Failed, *, others: Sequence[str] = ()
    ) -> None:
        if self._recorder.state.tasks[task.id].reply is None:
            self._record_question(task.id, task_question(task, outcome, others))

    async def ask(self, task: Task, outcome: Escalated | Failed) -> str | None:
        reply = self._recorder.state.tasks[task.id].reply
        if reply is None:
            reply = await self._reply(task.id, patiently=True)
        if reply is None:
            reply = Reply(task_id=task.id, verdict="declined")
            await self._close(task.id, reply)
        if reply.verdict == "approved" and wanted_key(outcome) is not None:
            return joined("Go on: that call is allowed.", reply.text)
        return reply.text if reply.verdict == "answered" else None

    def post_call_question(
        self, task: Task, paused: PausedAttempt, *, attempt: int, work: AttemptTimes
    ) -> None:
        text = call_question(task, paused.calls)
        self._record_question(task.id, text, paused=paused, attempt=attempt, work=work)

    async def ask_about_calls(self, task: Task) -> bool:
        return await self._reply(task.id, patiently=True) is not None

    def post_plan_question(self, question: str) -> None:
        """Record the question of `approve_plan`, unless it has a reply already."""
        if self._recorder.state.reply is None:
            self._record_question(None, question)

    async def approve_plan(
        self,
        question: str,
        *,
        problems: Callable[[Plan], Sequence[str]],
        patiently: bool,
    ) -> Reply | None:
        """After a plan with problems they are asked again, `UNSOUND_PLANS` times."""
        state = self._recorder.state
        self.post_plan_question(question)
        for _ in range(UNSOUND_PLANS):
            reply = state.reply
            if reply is None:
                reply = await self._reply(None, patiently=patiently)
            if reply is None and self._around is not None and not self._breaks_down:
                # A nested team has a default worker, or escalates its task.
                reply = Reply(verdict="declined")
                await self._close(None, reply)
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
        if id not in self._recorder.state.questions:
            self._recorder.record(
                events.ApprovalRequested(
                    **self._recorder.stamp(),
                    **work,
                    task_id=id,
                    attempt=attempt,
                    question=text,
                    calls=paused.calls if paused is not None else (),
                    conversation=paused.conversation if paused is not None else None,
                    expires_s=self._expires_s(id),
                )
            )

    def _expires_s(self, id: str | None) -> float | None:
        """As the task's worker says, its team, or the team around that."""
        task = self._recorder.state.tasks[id] if id is not None else None
        worker = self._team.worker(task.worker) if task is not None else None
        for one in (worker, self._team):
            if one is not None and one.expires_s is not None:
                return one.expires_s
        return self._around._expires_s(self._recorder.path.split("/")[-2]) if self._around else None

    async def _expire(self, at: dt.datetime) -> None:
        """Once it is so late, close what no reply in the journal is about."""
        await asyncio.sleep(max((at - self._recorder.now()).total_seconds(), 0))
        found: Sequence[RunMessage] = ()
        with contextlib.suppress(JournalError):
            found = await self._journal.messages(self._recorder.run_id)
        with contextlib.suppress(JournalError):
            await self._first.take_replies(found, by=at)

    async def _reply(self, id: str | None, *, patiently: bool) -> Reply | None:
        """The first reply, from the person here or, if `patiently`, from the journal."""
        await self._recorder.commit()
        question, first = question_about(self._recorder.state, id, self._recorder.path), self._first
        replied = first._replied[question.task_id] = asyncio.Event()
        await first.take_replies(await self._journal.messages(self._recorder.run_id))
        if question.task_id in first._replies:
            replied.set()
        reply: Reply | None = None
        at = question.expires_at
        expiring = asyncio.ensure_future(self._expire(at)) if at is not None else None
        try:
            if self._ask is not None and not replied.is_set():
                with contextlib.suppress(Cancelled):
                    reply = await run_until(replied, self._asked_here(self._ask, question))
                if self._ask is None and self._wake_up is not None:
                    self._wake_up()
            if self._ask is None and reply is None and patiently:
                await replied.wait()
        finally:
            if expiring is not None:
                expiring.cancel()
        if replied.is_set():
            reply = first._replies[question.task_id].reply
        if reply is not None:
            await self._close(id, reply)
        return reply

    async def _close(self, id: str | None, reply: Reply) -> None:
        self._rest(waits=False)
        calls = reply.on_calls(call.id for call in calls_asked(self._recorder.state, id))
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
        message = self._first._replies.pop(place(id, self._recorder.path), None)
        if message is not None:
            await self._journal.drop(message)

    async def take_replies(
        self, found: Sequence[RunMessage], *, by: dt.datetime | None = None
    ) -> None:
        """Take the last reply to each question in these messages; delete those to no open one.

        Those that expire now, or `by` then, and have none are closed.
        """
        unused: list[RunMessage] = []
        asked = {one[0].task_id: one for one in questions_asked(self._recorder.state)}
        for message in found:
            if message.reply is None:
                continue
            id = message.reply.task_id
            known = self._replies.get(id)
            if known is not None and known.id >= message.id:
                continue
            question, event = asked.get(id, (None, None))
            if (
                question is None
                or event is None
                or message.is_before(event.seq)
                or not names_calls(message.reply, question.calls)
            ):
                unused.append(message)
                continue
            if known is not None:
                unused.append(known)
            self._replies[id] = message
        now = max(by or self._recorder.now(), self._recorder.now())
        for id, (question, _) in asked.items():
            if id not in self._replies and question.has_expired(now):
                reply = expired_reply(question)
                self._replies[id] = RunMessage(run_id=self._recorder.run_id, reply=reply)
        for id in self._replies.keys() & self._replied.keys():
            self._replied[id].set()
        for message in unused:
            await self._journal.drop(message)

    async def _asked_here(self, ask: Ask, question: Question) -> Reply | None:
        """The reply of `ask`; `None` if there is none, if it is `unfit`, or if `ask` fails."""
        try:
            asked = ask(question)
            given = await asked if inspect.isawaitable(asked) else asked
        except BaseException as error:
            # Whatever it raises is contained, but not the cancellation of this task.
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            why = " ".join(failure_of(error).message.split())
            _log.warning("a person could not be asked: %s", why)
            return None
        try:
            return reply_of(given, question)
        except InputError as error:
            self._first.unfit = self._first.unfit or error
            return None
