"""The first step of a run: a plan that its team can carry out, approved where people want to."""

import logging

from leadhand.contracts import events
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.engine.failures import failure_of
from leadhand.errors import (
    MAX_SHOWN_PROBLEMS,
    BudgetUsedUp,
    InputError,
    LeadhandError,
    ModelError,
    PlanError,
)
from leadhand.planners import TemplatePlanner
from leadhand.plans.checks import Problem, check, errors_in
from leadhand.ports import PlanRequest
from leadhand.run.cancellation import Cancelled
from leadhand.run.conditions import Conditions

_log = logging.getLogger("leadhand")

QUESTION = "Is this plan to be carried out?"
PLANNING_SHARE = 0.4
"""The share of the time for work that planning may take where a template can stand in for it."""


class _Unplanned(Exception):
    """Time or budget did not reach for a plan; the message says which."""


class PlanStep:
    """Has a request planned."""

    def __init__(self, conditions: Conditions) -> None:
        self._of = conditions
        self._recorder = conditions.recorder

    async def planned(self, asked: PlanRequest, plan: Plan | None) -> bool:
        """Whether there is an accepted plan now: `plan`, one from before, or one made anew.

        There is none where the run was stopped, or a person has to approve of it first. Raises
        what `Supervisor.run` says.
        """
        known = self._recorder.state.proposed
        proposed = known or await self._proposed(asked, plan)
        if proposed is None:
            return False
        problems = await self._checked(proposed, asked, known=known is not None)
        approved = await self._approved(proposed, asked)
        if approved is None:
            return False
        if approved is not proposed:
            stamp = self._recorder.stamp()
            self._recorder.record(events.PlanProposed(**stamp, plan=approved, by="person"))
            problems = check(approved, self._of.team, request=asked.text)
        warnings = tuple(problem.message for problem in problems)
        people = self._of.people
        was_asked = people is not None and "plan" in people.occasions
        self._recorder.record(
            events.PlanAccepted(**self._recorder.stamp(), warnings=warnings, approved=was_asked)
        )
        await self._recorder.commit()
        return True

    async def _proposed(self, asked: PlanRequest, plan: Plan | None) -> Plan | None:
        author = "person"
        if plan is None:
            try:
                author, plan = await self._plan(asked)
            except Cancelled:
                return None
            except PlanError as error:
                # The user can't repair a plan that the planner wrote: the answer says why.
                self._of.unplanned = f"the planner gave no sound plan: {error}"
                messages = [problem.message for problem in error.problems[:MAX_SHOWN_PROBLEMS]]
                self._reject(tuple(messages))
                return None
            except (_Unplanned, ModelError) as error:
                self._of.unplanned = str(error)
                self._reject((str(error),))
                return None
            except LeadhandError as error:
                self._reject((str(error),))
                await self._recorder.commit()
                raise
        self._recorder.record(events.PlanProposed(**self._recorder.stamp(), plan=plan, by=author))
        return plan

    def _reject(self, problems: tuple[str, ...]) -> None:
        self._recorder.record(events.PlanRejected(**self._recorder.stamp(), problems=problems))

    async def _checked(self, plan: Plan, asked: PlanRequest, *, known: bool) -> list[Problem]:
        """The warnings about a plan. Raises `PlanError` if it has errors.

        A plan that was `known` before the run was resumed stays proposed: with the team as it was
        then, the run can still be resumed.
        """
        problems = check(plan, self._of.team, request=asked.text)
        if errors := errors_in(problems):
            if not known:
                self._reject(tuple(problem.message for problem in errors))
                await self._recorder.commit()
            raise PlanError(errors)
        return [*problems]

    async def _plan(self, asked: PlanRequest) -> tuple[str, Plan]:
        """Who planned, and the plan; the team's template where no model could be asked."""
        planner, term, team = self._of.roles.planner, self._of.term, self._of.team
        started_s = self._recorder.elapsed_s()
        try:
            work = planner.plan(asked, team)
            until_s = term.loop_time(self._until_s())
            plan = await self._of.active.unless_stopped(work, until_s=until_s)
            if errors := errors_in(check(plan, team, request=asked.text)):
                raise PlanError(errors)
            return planner.name, plan
        except BudgetUsedUp as error:
            failure: Exception = _Unplanned(str(error))
        except (ModelError, PlanError) as error:
            failure = error
        except TimeoutError:
            self._of.late = True
            taken_s = self._recorder.elapsed_s() - started_s
            why = (
                f"no plan came in {taken_s:.3g} s, with the run's deadline of {term.deadline_s:g} s"
            )
            failure = _Unplanned(why)
        except (Cancelled, LeadhandError):
            raise
        except Exception as error:
            # A planner of the user's own may raise anything.
            _log.warning("the planner failed", exc_info=error)
            failure = _Unplanned(f"the planner failed: {failure_of(error).message}")
        if not _can_do_without(team):
            raise failure
        try:
            plan = await TemplatePlanner().plan(asked, team)
        except InputError:
            raise failure from None
        _log.warning("planned by the team's template, because %s", failure)
        # What kept the planner from its model keeps everyone from theirs.
        for_all = not isinstance(failure, PlanError) and team.planner.model is None
        if for_all and self._of.roles.do_without_models(str(failure)):
            self._of.term.keep_nothing()
        return TemplatePlanner.name, plan

    def _until_s(self) -> float | None:
        """Seconds into the run when there has to be a plan; where the team can do without one of a
        model's, that is so early that there is time to do it."""
        until_s, now_s = self._of.term.work_until_s, self._recorder.elapsed_s()
        if until_s is None or not _can_do_without(self._of.team):
            return until_s
        return now_s + PLANNING_SHARE * (until_s - now_s)

    async def _approved(self, plan: Plan, asked: PlanRequest) -> Plan | None:
        """The plan that may be carried out: `plan`, or what a person made of it; none: neither.

        What they take to think about it is not taken from the run's time.
        """
        people = self._of.people
        if people is None or "plan" not in people.occasions:
            return plan

        def problems(given: Plan) -> list[str]:
            found = errors_in(check(given, self._of.team, request=asked.text))
            return [problem.message for problem in found]

        since_s = self._recorder.elapsed_s()
        asking = people.approve_plan(plan, QUESTION, problems=problems, patiently=False)
        try:
            reply = await self._of.active.unless_stopped(asking)
        except Cancelled:
            return None
        self._of.term.extend(self._recorder.elapsed_s() - since_s)
        if reply is None:
            return None
        if reply.verdict != "approved":
            why = f"a person refused the plan: {reply.text.strip()}".rstrip(": ")
            self._reject((why,))
            self._of.unplanned = why
            return None
        return reply.plan or plan


def _can_do_without(team: Team) -> bool:
    """Whether there is a plan of the team's own: its template, or one task for each worker where
    all of them have code for when there is no model."""
    return bool(team.template) or all(worker.offline is not None for worker in team.workers)
