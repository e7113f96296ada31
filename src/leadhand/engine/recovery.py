"""Recovery: carries out what the ladder says about attempts that did not complete.

Policies decide; this module asks for advice, records the decision and changes the run's tasks.
Without advice it tries the next rung.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from leadhand.contracts import events
from leadhand.contracts.events.fields import NO_TIMES
from leadhand.contracts.ladder import Rung
from leadhand.contracts.outcome import Escalated, Failed
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team, Worker
from leadhand.engine.advisers import (
    Advice,
    Advisers,
    Reassignment,
    Refinement,
    Split,
    Splits,
    for_another_worker,
)
from leadhand.engine.attempts import EndedAttempt
from leadhand.engine.consultations import Approvals, Consultations
from leadhand.engine.handoffs import limits_of
from leadhand.engine.opinions import Opinions
from leadhand.engine.recorder import Recorder
from leadhand.engine.run_tasks import RunTasks
from leadhand.policies import Action, History, Rules, decide
from leadhand.policies.history import Unsuccessful
from leadhand.policies.ladder import rungs_before
from leadhand.policies.rungs import (
    RUNG_OF,
    AcceptResult,
    AskPerson,
    Fallback,
    GiveUp,
    JudgeOpinions,
    NeedsAdvice,
    RaiseTier,
    RetryTask,
    SecondOpinion,
    SplitTask,
    candidates,
    jitter,
)
from leadhand.ports import Person, Remedies
from leadhand.state.run_state import Binding

_NOT_ALLOWED: dict[Binding, frozenset[Rung]] = {
    "free": frozenset(), "asks": frozenset(), "fixed": frozenset({"split"}),
}  # fmt: skip
"""Rungs that a plan rules out because they would amend it."""
_REPEATS: frozenset[Rung] = frozenset({"retry", "refine", "raise_tier", "split"})
"""Rungs that would have a nested team do again what its own ladder gave up."""
_ALL: frozenset[Rung] = frozenset(get_args(Rung))


@dataclass(eq=False)
class Recovery:
    recorder: Recorder
    team: Team
    tasks: RunTasks
    consultations: Consultations
    approvals: Approvals
    remedies: Remedies | None
    person: Person | None
    work_ends_s: float | None = field(init=False, default=None)
    """Seconds into the run at which its work must stop."""

    @cached_property
    def opinions(self) -> Opinions:
        return Opinions(self.recorder, self.tasks, self.consultations, self.remedies)

    @cached_property
    def _splits(self) -> Splits:
        return Splits(self.recorder, self.tasks, self.approvals)

    @cached_property
    def _rules(self) -> Rules:
        remedies, person = self.remedies is not None, self.person is not None
        return Rules.of(self.team, remedies=remedies, person=person)

    def resume(self) -> None:
        """Decide about the outcomes that were undecided when the run ended, once it has a plan."""
        if self.tasks.growing:
            return
        for task in list(self.recorder.state.tasks.values()):
            if task.unresolved is not None and not task.ended:
                worker = self.team.worker(task.worker)
                limits = task.task.limits
                within = limits_of(self.team, worker, limits) if worker else limits
                past = EndedAttempt(task, task.attempts, task.tried[-1], within, NO_TIMES)
                if task.reply is not None or task.id in self.recorder.state.questions:
                    # A person was asked, so the rungs before had no advice.
                    past.ruled_out = rungs_before("ask_person", task.unresolved, self.team.ladder)
                parts = self._splits.open_for(task.id)
                if parts:
                    again = SplitTask(f"task {task.id!r} was to be split")
                    self._have_split(past, task.unresolved, again, parts)
                else:
                    self._next_rung(past, task.unresolved)

    def after(self, attempt: EndedAttempt, outcome: Unsuccessful) -> None:
        history = self._history(attempt)
        action = decide(outcome, history, self._rules, self.recorder.elapsed_s())
        if self.tasks.stopped is not None and not isinstance(action, AcceptResult | JudgeOpinions):
            # No task is tried again, whatever the ladder says.
            action = GiveUp(self.tasks.stopped)
        elif self.tasks.growing:
            self._record(attempt, outcome, "what follows is decided once there is a plan")
            return
        self._record(attempt, outcome, action.reason, final=isinstance(action, GiveUp))
        self._do(attempt, outcome, history, action)

    def refused(self, id: str, worker: Worker, reason: str) -> None:
        """End a task that no worker may take because breakers are open."""
        task = self.recorder.state.tasks[id]
        if task.first is not None:  # the worker was to give a second opinion
            flag = f"accepted at low confidence: there is no second opinion, as {reason}"
            self.tasks.complete(id, task.attempts, task.first, work=NO_TIMES, flag=flag)
            return
        limits = limits_of(self.team, worker, task.task.limits)
        attempt = EndedAttempt(task, task.attempts, worker.name, limits, NO_TIMES)
        outcome = Failed(kind="error", message=reason, transient=True)
        why = "given up: no attempt is made while the breaker is open"
        self._record(attempt, outcome, why, final=True)
        self.tasks.end_without_result(id)

    def _history(self, attempt: EndedAttempt) -> History:
        task, state = attempt.task, self.recorder.state
        return History(
            attempt.worker,
            task.attempts_before + attempt.number - task.uncounted,
            task.tried[task.uncounted :],
            timeouts=task.timeouts - (getattr(task.unresolved, "kind", "") == "timeout"),
            timeout_s=attempt.limits.timeout_s,
            work_ends_s=self.work_ends_s,
            jitter=jitter(f"{self.recorder.prefix}{task.id}/{attempt.number}"),
            tier=attempt.limits.tier,
            refined=task.refined,
            splits=task.splits,
            first=task.first,
            ruled_out=self._ruled_out(attempt),
            dispatched=state.dispatched,
            repeated=state.repeated,
            not_admitted=self.tasks.not_admitted(),
        )

    def _ruled_out(self, attempt: EndedAttempt) -> frozenset[Rung]:
        if attempt.worker == SUBPLANNER:
            return _ALL  # each of its tasks had the whole ladder
        repeats = _REPEATS if self._gave_up_inside(attempt) else frozenset[Rung]()
        return attempt.ruled_out | _NOT_ALLOWED[self.recorder.state.binding] | repeats

    def _gave_up_inside(self, attempt: EndedAttempt) -> bool:
        """Whether a nested team's own ladder gave up all its tasks, and nothing stopped it."""
        worker, nested = self.team.worker(attempt.worker), attempt.task.nested
        if worker is None or worker.team is None or nested is None or nested.answer is None:
            return False
        tried = any(task.attempts for task in nested.tasks.values())
        return tried and nested.answer.status == "failed" and nested.answer.ended_by is None

    def _do(
        self, attempt: EndedAttempt, outcome: Unsuccessful, history: History, action: Action
    ) -> None:
        id, number = attempt.task.id, attempt.number
        match action:
            case RetryTask():
                stamp = self.recorder.task_stamp(id, number)
                self.recorder.record(
                    events.TaskRetried(**stamp, delay_s=action.delay_s, reason=action.reason)
                )
                self.tasks.make_ready(id, delay_s=action.delay_s)
            case RaiseTier():
                self.recorder.record(
                    events.TierRaised(
                        **self.recorder.task_stamp(id, number),
                        old_tier=action.old_tier,
                        new_tier=action.new_tier,
                        reason=action.reason,
                    )
                )
                self.tasks.make_ready(id)
            case Fallback() | SecondOpinion():
                opinion = isinstance(action, SecondOpinion)
                self._reassign(attempt, action.worker, action.reason, second_opinion=opinion)
            case JudgeOpinions():
                self.opinions.judge(attempt, action, doubted=True)
            case AcceptResult():
                self.tasks.complete(
                    id, number, action.result, work=attempt.times, flag=action.reason
                )
            case GiveUp():
                self.tasks.end_without_result(id)
            case _:
                self._consult(attempt, outcome, history, action)

    # Advice

    def _consult(
        self, attempt: EndedAttempt, outcome: Unsuccessful, history: History, action: NeedsAdvice
    ) -> None:
        task = attempt.task.task
        asks_person = isinstance(action, AskPerson)
        workers = candidates(history, self._rules)
        if asks_person and self.person is not None:
            others = workers if for_another_worker(outcome) else ()
            self.person.post_question(task, outcome, others=others)
        earlier = self.recorder.state.earlier
        advisers = Advisers(self.team, self.remedies, self.person, earlier)
        self.consultations.ask(
            f"{RUNG_OF[type(action)]} {task.id}",
            advisers.advise(action, task, outcome, workers=workers),
            lambda advice: self._advised(attempt, outcome, action, advice),
            patiently=asks_person,
        )

    def _advised(
        self,
        attempt: EndedAttempt,
        outcome: Unsuccessful,
        action: NeedsAdvice,
        advice: Advice | None,
    ) -> None:
        if self.tasks.stopped is not None:
            return
        task, number = attempt.task.task, attempt.number
        match advice:
            case None:
                self._pass_over(attempt, outcome, action)
            case Refinement():
                self.recorder.record(
                    events.TaskRefined(
                        **self.recorder.task_stamp(task.id, number),
                        old_intent=task.intent,
                        new_intent=advice.intent,
                        reason=action.reason,
                    )
                )
                self.tasks.make_ready(task.id)
            case Reassignment():
                reason = f"{action.reason}; {advice.worker} was chosen"
                self._reassign(attempt, advice.worker, reason, second_opinion=False)
            case Split():
                self._have_split(attempt, outcome, action, advice.parts)

    def _have_split(
        self,
        attempt: EndedAttempt,
        outcome: Unsuccessful,
        action: NeedsAdvice,
        parts: tuple[Task, ...],
    ) -> None:
        self._splits.split(
            attempt,
            parts,
            reason=action.reason,
            by=self.remedies.name if self.remedies else "planner",
            otherwise=lambda: self._pass_over(attempt, outcome, action),
        )

    def _pass_over(self, attempt: EndedAttempt, outcome: Unsuccessful, action: NeedsAdvice) -> None:
        attempt.ruled_out = attempt.ruled_out.union((RUNG_OF[type(action)],))
        self._next_rung(attempt, outcome)

    def _next_rung(self, attempt: EndedAttempt, outcome: Unsuccessful) -> None:
        history = self._history(attempt)
        following = decide(outcome, history, self._rules, self.recorder.elapsed_s())
        if isinstance(following, GiveUp):
            self._record(attempt, _without_details(outcome), following.reason, final=True)
        self._do(attempt, outcome, history, following)

    def _reassign(
        self, attempt: EndedAttempt, worker: str, reason: str, *, second_opinion: bool
    ) -> None:
        id = attempt.task.id
        self.recorder.record(
            events.TaskReassigned(
                **self.recorder.task_stamp(id, attempt.number),
                worker=worker,
                reason=reason,
                second_opinion=second_opinion,
            )
        )
        self.tasks.make_ready(id)

    # The log

    def _record(
        self, attempt: EndedAttempt, outcome: Unsuccessful, decision: str, *, final: bool = False
    ) -> None:
        stamp = self.recorder.task_stamp(attempt.task.id, attempt.number)
        if isinstance(outcome, Escalated):
            self.recorder.record(
                events.TaskEscalated(
                    **stamp,
                    **attempt.times,
                    reason=outcome.reason,
                    message=outcome.message,
                    partial=outcome.partial,
                    call=outcome.call,
                    final=final,
                    decision=decision,
                )
            )
        else:
            self.recorder.record(
                events.TaskFailed(
                    **stamp,
                    **attempt.times,
                    kind=outcome.kind,
                    message=outcome.message,
                    partial=outcome.partial,
                    transient=outcome.transient,
                    raised=outcome.raised,
                    final=final,
                    decision=decision,
                )
            )


def _without_details(outcome: Unsuccessful) -> Unsuccessful:
    """The outcome without what the first event about it has already."""
    if isinstance(outcome, Failed) and outcome.raised is not None:
        raised = outcome.raised.model_copy(update={"traceback": ""})
        return outcome.model_copy(update={"partial": None, "raised": raised})
    return outcome.model_copy(update={"partial": None})
