"""The last step of a run: the answer, with all that is missing from it."""

import logging
from collections.abc import Iterator

from leadhand.contracts import events
from leadhand.contracts.answer import JOURNAL_GAP, Answer, EndedBy, Gap, Synthesis
from leadhand.contracts.people import Question
from leadhand.contracts.task import Plan
from leadhand.errors import ModelError
from leadhand.run.cancellation import Cancelled
from leadhand.run.conditions import Conditions
from leadhand.run.metrics import metrics, task_report
from leadhand.run.outcome import confidence_of, gaps_of, results_of, status_of, with_gaps
from leadhand.run.people import open_questions
from leadhand.synthesis.merge import merge

_log = logging.getLogger("leadhand")


class AnswerStep:
    """Puts the answer of a run together."""

    def __init__(self, conditions: Conditions) -> None:
        self._of = conditions
        self._recorder = conditions.recorder
        self._state = conditions.recorder.state

    async def last(self) -> Answer:
        """The answer of a run whose work is over; it ends here."""
        state, term = self._state, self._of.term
        self._recorder.keep_until(lambda: term.due_s)
        lacking = "its plan was approved" if state.proposed else "there was a plan"
        synthesis = Synthesis(answer=f"The run was cancelled before {lacking}.")
        missing: tuple[Gap, ...] = ()
        if self._of.unplanned is not None:
            synthesis = Synthesis(answer="There is no answer, because there is no plan.")
            missing = (Gap(task_id="plan", why=self._of.unplanned),)
        if state.plan is not None:
            if self._of.roles.account is not None:
                self._of.roles.account.begin_synthesis()
            strategy = self._of.roles.synthesizer.name
            self._recorder.record(
                events.SynthesisStarted(**self._recorder.stamp(), strategy=strategy)
            )
            synthesis, missing = await self._synthesis(state.standing_plan or state.plan)
        known = {(one.task_ids, one.about) for one in state.conflicts}
        for conflict in synthesis.conflicts:
            if (conflict.task_ids, conflict.about) not in known:
                self._recorder.record(
                    events.ConflictFound(**self._recorder.stamp(), conflict=conflict)
                )
        gaps = (*gaps_of(state, self._of.team), *synthesis.gaps, *missing)
        account = self._of.roles.account
        if account is not None and account.ledger.passed is not None and not gaps:
            _log.warning("everything was done, but %s", account.ledger.passed)
        contact = self._of.team.contact if self._unanswered() else None
        answer = self._answer(synthesis, gaps, contact)
        self._recorder.record(events.RunFinished(**self._recorder.stamp(), answer=answer))
        await self._recorder.commit()
        if self._recorder.unkept is not None and not self._recorder.path:
            self._of.late = term.deadline_s is not None
            unkept = self._not_kept(self._recorder.unkept)
            return self._answer(synthesis, (*gaps, unkept), contact)
        return answer

    def _not_kept(self, why: str) -> Gap:
        resume = f"leadhand resume {self._recorder.run_id}"
        return Gap(
            task_id=JOURNAL_GAP,
            why=f"{why}, so this answer is not kept; `{resume}` continues from what was kept",
        )

    async def waiting(self) -> Answer:
        """How things stand where a person has to say something first; the run has not ended."""
        questions = open_questions(self._state)
        answer = self._answer(Synthesis(answer=""), tuple(_open(questions)))
        await self._recorder.commit()
        known = {"status": "waiting", "ended_by": None, "waiting": questions}
        return answer.model_copy(update=known)

    def _unanswered(self) -> bool:
        """Whether there is something that no worker could answer."""
        if self._of.active.reason is not None:  # stopped by those who asked
            return False
        state = self._state
        return state.plan is None or any(
            task.status != "completed" for task in state.tasks.values()
        )

    def _answer(
        self, synthesis: Synthesis, gaps: tuple[Gap, ...], contact: str | None = None
    ) -> Answer:
        state = self._state
        return Answer(
            run_id=self._recorder.run_id,
            status=status_of(state, gaps, cancelled=self._of.active.reason is not None),
            ended_by=self._ended_by() if gaps or state.plan is None else None,
            engine="model" if state.usage.requests else "deterministic",
            team=self._of.team.name,
            request=state.request,
            answer=with_gaps(synthesis.answer, gaps, contact=contact),
            output=synthesis.output,
            confidence=confidence_of(synthesis.confidence, state),
            gaps=gaps,
            contact=contact,
            conflicts=state.conflicts,
            sources=synthesis.sources,
            tasks=tuple(task_report(task) for task in state.tasks.values() if task.ended),
            metrics=metrics(state, self._recorder.elapsed_s()),
        )

    def _ended_by(self) -> EndedBy | None:
        """What kept the run from doing everything, where it was not the work itself."""
        account = self._of.roles.account
        if self._of.active.reason is not None:
            return "person"
        if self._of.late:
            return "deadline"
        if account is not None and account.used_up is not None:
            return "budget"
        tasks = self._state.tasks.values()
        return "deadline" if any(task.status == "cancelled" for task in tasks) else None

    async def _synthesis(self, plan: Plan) -> tuple[Synthesis, tuple[Gap, ...]]:
        """What the synthesizer makes of the results; where it can't, they and that as a gap."""
        results = results_of(self._state)
        synthesizer, term = self._of.roles.synthesizer, self._of.term
        try:
            if not synthesizer.calls_model:  # quick, and wanted of a cancelled run too
                return await synthesizer.synthesize(plan, results), ()
            work = synthesizer.synthesize(plan, results)
            until_s = term.loop_time(term.due_s)
            return await self._of.active.unless_stopped(work, until_s=until_s), ()
        except Cancelled:
            why = f"was not done: {self._of.active.reason}"
        except TimeoutError:
            self._of.late = True
            why = f"was not done by the deadline of {term.deadline_s:g} s"
        except ModelError as error:
            why = f"failed: {error}"
        except Exception:
            _log.exception("the %s synthesis failed; it is done by code", synthesizer.name)
            why = "failed"
        try:
            left = synthesizer.by_code(plan, results)
        except Exception:
            # The results are there: they reach the user whatever becomes of their synthesis.
            _log.exception("the %s synthesis failed by code as well", synthesizer.name)
            left = merge(plan, results)
        gap = Gap(task_id="synthesis", why=f"the synthesis {why}; these are the bare results")
        return left, (gap,)


def _open(questions: tuple[Question, ...]) -> Iterator[Gap]:
    for question in questions:
        said = " ".join(question.text.split())
        yield Gap(task_id=question.task_id or "plan", why=f"waits for a person: {said}")
