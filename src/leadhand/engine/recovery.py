"""Recovery: what is done about attempts that did not complete, as the team's ladder says.

Policies decide, this carries out: it asks for what needs judgement, writes down what was decided,
and tells the board what follows for the tasks. Where nobody has an answer the next rung is tried.
"""

from leadhand.contracts.event import (
    OpinionJudged,
    TaskEscalated,
    TaskFailed,
    TaskReassigned,
    TaskRefined,
    TaskRetried,
    TaskSplit,
    TierRaised,
)
from leadhand.contracts.outcome import Completed, Escalated, Result
from leadhand.contracts.team import Team
from leadhand.engine.advice import Advice, Advisers, Choice, Parts, Words
from leadhand.engine.attempts import PastAttempt
from leadhand.engine.board import Board
from leadhand.engine.consultations import Consultations
from leadhand.engine.handoffs import limits_of
from leadhand.policies import Action, History, Rules, decide
from leadhand.policies.actions import (
    RUNG_OF,
    Accept,
    AskPerson,
    Consult,
    GiveUp,
    Judge,
    RaiseTier,
    Reassign,
    Retry,
    SecondOpinion,
)
from leadhand.policies.history import Unsuccessful
from leadhand.policies.ladder import above
from leadhand.policies.reassign import candidates
from leadhand.policies.second_opinion import judged, surer
from leadhand.ports import Person, Remedies
from leadhand.recorder import Recorder


class Recovery:
    """The ladder of one run."""

    def __init__(
        self,
        recorder: Recorder,
        team: Team,
        board: Board,
        *,
        consultations: Consultations,
        remedies: Remedies | None = None,
        person: Person | None = None,
    ) -> None:
        self._recorder = recorder
        self._state = recorder.state
        self._team = team
        self._rules = Rules.of(team, judgement=remedies is not None, person=person is not None)
        self._board = board
        self._consultations = consultations
        self._advisers = Advisers(team, remedies, person)
        self._judging: dict[str, tuple[PastAttempt, Judge, bool]] = {}

    def open(self) -> None:
        """Go on with what was not decided yet when the run was stopped, or lost."""
        for task in list(self._state.tasks.values()):
            if task.doubt is not None and not task.ended:
                worker = self._team.worker(task.worker)
                limits = task.task.limits
                tier = limits_of(self._team, worker, limits).tier if worker else limits.tier
                past = PastAttempt(task, task.attempts, task.tried[-1], tier)
                if task.heard is not None or task.task.id in self._state.questions:
                    # Nobody else had anything to say, or a person would not have been asked.
                    past.passed = above("ask_person", task.doubt, self._team.ladder)
                self._go_on(past, task.doubt)

    def stop(self) -> None:
        """Have nothing judged any more: of two results the surer worker's counts."""
        for attempt, action, doubted in list(self._judging.values()):
            self._judge(attempt, action, None, doubted=doubted)

    def after(self, attempt: PastAttempt, outcome: Unsuccessful) -> None:
        """See to what follows from an attempt that did not complete."""
        history = self._history(attempt)
        action = decide(outcome, history, self._rules, self._recorder.elapsed_s())
        if self._board.stopped is not None and not isinstance(action, Accept | Judge):
            # Nobody will try again, whatever the ladder says.
            action = GiveUp(self._board.stopped)
        self._record(attempt, outcome, action)
        self._board.fared(history.worker)
        self._do(attempt, outcome, history, action)

    def second(self, attempt: PastAttempt, completed: Completed, first: Result) -> None:
        """See to a second opinion that came as it should."""
        action = judged(completed, self._history(attempt), first)
        if isinstance(action, Judge):
            self._have_judged(attempt, action, doubted=False)

    def _history(self, attempt: PastAttempt) -> History:
        task, state = attempt.task, self._state
        return History(
            attempt.worker,
            task.attempts_before + attempt.number - task.uncounted,
            task.tried[task.uncounted :],
            tier=attempt.tier,
            refined=task.refined,
            splits=task.splits,
            first=task.first,
            passed=attempt.passed,
            dispatched=state.dispatched,
            repeated=state.repeated,
            breakers=state.breakers,
        )

    def _do(
        self, attempt: PastAttempt, outcome: Unsuccessful, history: History, action: Action
    ) -> None:
        id, number = attempt.task.task.id, attempt.number
        match action:
            case Retry():
                stamp = self._recorder.task_stamp(id, number)
                self._recorder.record(
                    TaskRetried(**stamp, delay_s=action.delay_s, reason=action.reason)
                )
                self._board.again(id, delay_s=action.delay_s)
            case RaiseTier():
                self._recorder.record(
                    TierRaised(
                        **self._recorder.task_stamp(id, number),
                        old_tier=action.old_tier,
                        new_tier=action.new_tier,
                        reason=action.reason,
                    )
                )
                self._board.again(id)
            case Reassign() | SecondOpinion():
                opinion = isinstance(action, SecondOpinion)
                self._reassign(attempt, action.worker, action.reason, second_opinion=opinion)
            case Judge():
                self._have_judged(attempt, action, doubted=True)
            case Accept():
                self._board.complete(id, number, action.result, flag=action.reason)
            case GiveUp():
                self._board.lose(id)
            case _:
                self._consult(attempt, outcome, history, action)

    # What somebody has to be asked for first

    def _consult(
        self, attempt: PastAttempt, outcome: Unsuccessful, history: History, action: Consult
    ) -> None:
        task = attempt.task.task
        asks_person = isinstance(action, AskPerson)
        if asks_person and self._advisers.person is not None:
            self._advisers.person.put(task, outcome)
        workers = candidates(history, self._rules, self._recorder.elapsed_s())
        self._consultations.ask(
            f"{RUNG_OF[type(action)]} {task.id}",
            self._advisers.on(action, task, outcome, workers=workers),
            lambda advice: self._advised(attempt, outcome, action, advice),
            of_person=asks_person,
        )

    def _advised(
        self, attempt: PastAttempt, outcome: Unsuccessful, action: Consult, advice: Advice | None
    ) -> None:
        if self._board.stopped is not None:
            return
        task, number = attempt.task.task, attempt.number
        match advice:
            case None:
                self._pass_over(attempt, outcome, action)
            case Words():
                self._recorder.record(
                    TaskRefined(
                        **self._recorder.task_stamp(task.id, number),
                        old_intent=task.intent,
                        new_intent=advice.intent,
                        reason=action.reason,
                    )
                )
                self._board.again(task.id)
            case Choice():
                reason = f"{action.reason}; {advice.worker} was chosen"
                self._reassign(attempt, advice.worker, reason, second_opinion=False)
            case Parts():
                after = self._board.dependants(task.id)
                self._recorder.record(
                    TaskSplit(
                        **self._recorder.task_stamp(task.id, number),
                        parts=advice.parts,
                        rewired=tuple(other.id for other in after),
                        reason=action.reason,
                    )
                )
                now = [self._state.tasks[other.id] for other in after]
                # One that was skipped waits for nothing; but the plan that stands has no loose end.
                rewired = [
                    (old, new.task) for old, new in zip(after, now, strict=True) if not new.ended
                ]
                self._board.replace(task, advice.parts, rewired)

    def _pass_over(self, attempt: PastAttempt, outcome: Unsuccessful, action: Consult) -> None:
        """Go on with the next rung; the outcome is written down already, unless it is final now."""
        attempt.passed = attempt.passed.union((RUNG_OF[type(action)],))
        self._go_on(attempt, outcome)

    def _go_on(self, attempt: PastAttempt, outcome: Unsuccessful) -> None:
        history = self._history(attempt)
        following = decide(outcome, history, self._rules, self._recorder.elapsed_s())
        if isinstance(following, GiveUp):
            self._record(attempt, outcome.model_copy(update={"partial": None}), following)
        self._do(attempt, outcome, history, following)

    def _reassign(
        self, attempt: PastAttempt, worker: str, reason: str, *, second_opinion: bool
    ) -> None:
        id = attempt.task.task.id
        self._recorder.record(
            TaskReassigned(
                **self._recorder.task_stamp(id, attempt.number),
                worker=worker,
                reason=reason,
                second_opinion=second_opinion,
            )
        )
        self._board.again(id)

    # Two results

    def _have_judged(self, attempt: PastAttempt, action: Judge, *, doubted: bool) -> None:
        remedies = self._advisers.remedies
        if remedies is None or self._board.stopped is not None:
            self._judge(attempt, action, None, doubted=doubted)
            return
        task = attempt.task.task
        self._judging[task.id] = (attempt, action, doubted)
        self._consultations.ask(
            f"judge {task.id}",
            remedies.judge(task, action.first, action.second),
            lambda verdict: self._judge(attempt, action, verdict, doubted=doubted),
        )

    def _judge(
        self,
        attempt: PastAttempt,
        action: Judge,
        verdict: tuple[bool, str] | None,
        *,
        doubted: bool,
    ) -> None:
        """`verdict`: whether the second is better, and why; none: the surer worker's counts."""
        task = attempt.task
        id = task.task.id
        if task.ended:
            return
        self._judging.pop(id, None)
        second, why = verdict or surer(action.first, action.second, doubted=doubted)
        workers = (task.tried[-2], task.tried[-1])
        self._recorder.record(
            OpinionJudged(
                **self._recorder.task_stamp(id, attempt.number),
                workers=workers,
                taken="second" if second else "first",
                second=action.second,
                reason=why,
            )
        )
        sound = second and not doubted
        self._board.complete(
            id,
            attempt.number,
            action.second if second else action.first,
            flag=None if sound else f"accepted at low confidence: {workers[second]}'s, as {why}",
        )

    # The log

    def _record(self, attempt: PastAttempt, outcome: Unsuccessful, action: Action) -> None:
        final = isinstance(action, GiveUp)
        stamp = self._recorder.task_stamp(attempt.task.task.id, attempt.number)
        if isinstance(outcome, Escalated):
            self._recorder.record(
                TaskEscalated(
                    **stamp,
                    reason=outcome.reason,
                    message=outcome.message,
                    partial=outcome.partial,
                    call=outcome.call,
                    final=final,
                    decision=action.reason,
                )
            )
        else:
            self._recorder.record(
                TaskFailed(
                    **stamp,
                    kind=outcome.kind,
                    message=outcome.message,
                    partial=outcome.partial,
                    transient=outcome.transient,
                    final=final,
                    decision=action.reason,
                )
            )
