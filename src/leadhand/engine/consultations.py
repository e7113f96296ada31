"""Questions to models and people while tasks run, with callbacks for the answers.

Only the task in question waits. A question that fails or takes too long has the answer `None`. An
amendment of an approved plan needs an approval: people see the whole amended plan, one amendment at
a time. An attempt whose tool calls need an approval takes no slot, and its timeout does not run.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from leadhand.contracts import events
from leadhand.contracts.events.fields import NO_TIMES, AttemptTimes
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.people import EXPIRY, Reply
from leadhand.contracts.task import Plan, Task
from leadhand.engine.attempts import GRACE_S, AbandonableTask
from leadhand.engine.recorder import Recorder
from leadhand.engine.run_tasks import RunTasks
from leadhand.ports import Person

PATIENCE_S = 60.0

T = TypeVar("T")

_log = logging.getLogger("leadhand")


@dataclass(slots=True, eq=False)
class Consultations:
    wake_up: Callable[[], None]
    waiting: "dict[asyncio.Task[None], AbandonableTask[object]]" = field(
        init=False, default_factory=dict
    )
    answered: deque[Callable[[], None]] = field(init=False, default_factory=deque)
    """The callbacks of the answers that have arrived, to be called."""
    _closed: bool = field(init=False, default=False)

    @property
    def open(self) -> int:
        return len(self.waiting) + len(self.answered)

    def ask(
        self,
        what: str,
        question: Coroutine[object, object, T],
        then: Callable[[T | None], None],
        *,
        patiently: bool = False,
    ) -> None:
        """Start `question`, and call `then` with the answer. Without `patiently`, which is for
        people, it has a time limit."""
        abandonable = AbandonableTask(question)
        patience_s = None if patiently else PATIENCE_S
        asking = asyncio.get_running_loop().create_task(
            self._ask(what, abandonable, then, patience_s), name=f"consultation:{what}"
        )
        self.waiting[asking] = abandonable
        asking.add_done_callback(self._forget)
        if patiently:
            return
        # The time limit is a cancellation, which the question may ignore as well.
        end = asyncio.get_running_loop().call_later(
            PATIENCE_S + GRACE_S, _abandon, asking, abandonable
        )
        asking.add_done_callback(lambda _: end.cancel())

    async def close(self, grace_s: float) -> None:
        self._closed = True
        for asking in list(self.waiting):
            asking.cancel()
        try:
            if self.waiting:
                await asyncio.wait(list(self.waiting), timeout=grace_s)
        finally:  # the run may be cancelled meanwhile
            for asking, abandonable in list(self.waiting.items()):
                _abandon(asking, abandonable)
            self.answered.clear()

    async def _ask(
        self,
        what: str,
        abandonable: AbandonableTask[T],
        then: Callable[[T | None], None],
        patience_s: float | None,
    ) -> None:
        answer: T | None = None
        try:
            async with asyncio.timeout(patience_s):
                answer = await abandonable
        except asyncio.CancelledError:
            if self._closed:
                raise
        except TimeoutError:
            _log.warning("there was no answer to %r within %g s", what, PATIENCE_S)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever it is, the run must not wait for an answer
            _log.warning("there was no answer to %r: %s", what, error)
        # First: the scheduler that this wakes must not count the question as open.
        self._forget(asyncio.current_task())
        self.answered.append(lambda: then(answer))
        self.wake_up()

    def _forget(self, asking: "asyncio.Task[None] | None") -> None:
        abandonable = self.waiting.pop(asking, None) if asking is not None else None
        if abandonable is not None:
            abandonable.drop()


def _abandon(asking: asyncio.Task[None], abandonable: AbandonableTask[T]) -> None:
    abandonable.abandon()
    asking.cancel()


REFUSED = "a person refused the amended plan"


@dataclass(frozen=True, slots=True)
class Proposal:
    task_id: str
    why: str
    """The reason for the person, in one line."""
    by: str
    plan: Callable[[], Plan]
    """Returns the whole amended plan, as of the moment when it is shown."""
    problems: Callable[[Plan], Sequence[str]]
    """Returns what is wrong with a plan that the person gives instead."""
    then: Callable[[Plan | str], None]
    """Called with the approved plan, or with the reason why the plan is not amended."""


@dataclass(slots=True, eq=False)
class Approvals:
    recorder: Recorder
    consultations: Consultations
    person: Person | None
    unanswered: int = field(init=False, default=0)
    """Questions that a person who was asked left open."""
    _waiting: deque[Proposal] = field(init=False, default_factory=deque)
    _open: Proposal | None = field(init=False, default=None)

    def request(self, proposal: Proposal) -> None:
        """Ask for an approval, after those that were requested before."""
        if self._open is not None:
            self._waiting.append(proposal)
            return
        if self.person is None:
            proposal.then("no person can be asked")
            return
        self._open = proposal
        state = self.recorder.state
        if not (state.amendment_open and state.proposed_for == proposal.task_id):
            stamp = self.recorder.stamp()
            self.recorder.record(
                events.PlanProposed(
                    **stamp, plan=proposal.plan(), by=proposal.by, task_id=proposal.task_id
                )
            )
        plan = state.proposed or proposal.plan()
        question = f"{proposal.why}\nIs the plan to be amended like this?"
        self.person.post_plan_question(question)
        self.consultations.ask(
            f"approve the plan amended after {proposal.task_id}",
            self.person.approve_plan(question, problems=proposal.problems, patiently=True),
            lambda reply: self._answered(proposal, plan, reply),
            patiently=True,
        )

    def _answered(self, proposal: Proposal, plan: Plan, reply: Reply | None) -> None:
        if reply is None:
            self.unanswered = 1
            return
        self._open = None
        if reply.verdict == "approved":
            proposal.then(reply.plan or plan)
        else:
            expired = reply.by == EXPIRY
            said = "the amended plan was refused" if expired else REFUSED
            proposal.then(f"{said}: {reply.text.strip()}".rstrip(": "))
        if self._waiting:
            self.request(self._waiting.popleft())


@dataclass(slots=True, eq=False)
class CallApprovals:
    recorder: Recorder
    tasks: RunTasks
    consultations: Consultations
    person: Person | None
    unanswered: int = field(init=False, default=0)
    _postponed: list[tuple[Task, PausedAttempt, int, AttemptTimes]] = field(
        init=False, default_factory=list
    )

    def resume(self) -> None:
        for task in list(self.recorder.state.tasks.values()):
            if task.paused is not None and task.waits_for_approval and not task.ended:
                self.pause(task.task, task.paused, attempt=task.attempts)

    def pause(
        self, task: Task, paused: PausedAttempt, *, attempt: int, work: AttemptTimes = NO_TIMES
    ) -> bool:
        """Ask about the calls of an attempt; False if no person can be asked."""
        person = self.person
        if person is None:
            return False
        if self.tasks.growing and self.tasks.stopped is None:
            self._postponed.append((task, paused, attempt, work))
            return True
        person.post_call_question(task, paused, attempt=attempt, work=work)
        if self.tasks.stopped is not None:
            # A run that is resumed asks again.
            self.tasks.cancel(task.id, attempt, reason=self.tasks.stopped)
            return True
        self.consultations.ask(
            f"approve calls of {task.id}",
            person.ask_about_calls(task),
            lambda replied: self._replied(task.id, replied=bool(replied)),
            patiently=True,
        )
        return True

    def ask_postponed(self) -> None:
        """Ask about the attempts that paused before there was a plan, as far as it has them."""
        for task, paused, attempt, work in self._postponed:
            now = self.recorder.state.tasks.get(task.id)
            if now is not None and (now.status == "running" or now.waits_for_approval):
                self.pause(task, paused, attempt=attempt, work=work)
        self._postponed.clear()

    def _replied(self, id: str, *, replied: bool) -> None:
        if not replied:
            self.unanswered += 1
        elif self.tasks.stopped is None:
            self.tasks.make_ready(id)
