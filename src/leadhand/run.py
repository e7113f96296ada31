"""One run, step by step: plan, work, answer. Every step is written down and ends in time.

Who plays the roles is the crew's business, when a task starts the scheduler's; here is what holds
whoever plays them. An answer comes in the end: where a role fails, code stands in for it.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext, suppress

from leadhand.active import ActiveRun, Cancelled
from leadhand.attempts import Slots
from leadhand.contracts.answer import Answer, EndedBy, Gap, Synthesis
from leadhand.contracts.event import (
    ConflictFound,
    PlanAccepted,
    PlanProposed,
    RunFinished,
    RunStarted,
    SynthesisStarted,
    TaskCancelled,
    WorkerStuck,
)
from leadhand.contracts.event import PlanRejected as PlanRejectedEvent
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.crew import Crew
from leadhand.errors import BudgetUsedUp, InputError, LeadhandError, ModelError, PlanRejected
from leadhand.models.choice import roles
from leadhand.planning import TemplatePlanner
from leadhand.ports import Request
from leadhand.recorder import Recorder
from leadhand.scheduler import GRACE_S, Scheduler
from leadhand.state import RunState
from leadhand.synthesis.merge import merge
from leadhand.trace.ending import confidence_of, gaps_of, results_of, status_of, with_gaps
from leadhand.trace.metrics import metrics, task_report
from leadhand.validation import check
from leadhand.workers.nested import request_of
from leadhand.workers.staff import Staff
from leadhand.workers.watchdog import Watchdog, naming

_log = logging.getLogger("leadhand")

RESERVE = 0.2
"""The share of the time that is kept for a synthesis by a model."""
MAX_RESERVE_S = 60.0
CLOSING_S = 0.1
"""How long threads, processes and tools have to end where there is no time left."""
MAX_CLOSING_S = 5.0


NESTED_SLACK_S = 0.05
"""How long a nested run has for its answer, once all its work has stopped."""
NESTED_GRACE = 0.6
"""How much of the time to stop in a nested run has of that of the run around it."""


class _Unplanned(Exception):
    """Time or budget did not reach for a plan; the message says which."""


class Run:
    """A run under way; `active` is how it is told to stop."""

    def __init__(
        self,
        team: Team,
        recorder: Recorder,
        crew: Crew,
        *,
        active: ActiveRun,
        deadline_s: float | None,
        concurrency: int,
        slots: Slots | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        """`concurrency` is tasks at once, of which a tree of runs shares the `slots`; `grace_s` is
        how long what was told to stop may take."""
        self._team = team
        self._recorder = recorder
        self._crew = crew
        self._active = active
        self._deadline_s = deadline_s
        self._concurrency = concurrency
        self._slots = slots or Slots(concurrency)
        self._grace_s = grace_s
        self._unplanned: str | None = None
        """Why there is no plan, where time or budget did not reach for one."""
        self._late = False
        """Whether planning or synthesis was given up at its deadline."""

    async def to_answer(self, asked: Request, plan: Plan | None) -> Answer:
        """Plan, unless there is a `plan`; work; answer. Raises what `Supervisor.run` says."""
        self._recorder.start()
        if await self._planned(asked, plan):
            await self._work()
        return await self._answer()

    async def run_team(self, team: Team, handoff: Handoff) -> RunState:
        """`handoff`'s task done by `team`, as `TeamRunner` says: a run within this one."""
        recorder, journal = self._recorder.nested(handoff.task_id)
        asked = request_of(handoff)
        active = ActiveRun()
        try:
            async with self._crew.nested(team, recorder, handoff, request=asked.text) as crew:
                run = Run(
                    team,
                    recorder,
                    crew,
                    active=active,
                    deadline_s=self._nested_deadline_s(handoff.limits.timeout_s),
                    concurrency=self._concurrency,
                    slots=self._slots,
                    grace_s=self._grace_s * NESTED_GRACE,
                )
                try:
                    await run.to_answer(asked, None)
                except asyncio.CancelledError:
                    active.stop("the task was stopped")
                    if recorder.state.answer is None:
                        await run._answer()
            return recorder.state
        finally:
            journal.close()

    def _nested_deadline_s(self, timeout_s: float | None) -> float | None:
        """Seconds for a nested run that starts now, to end before its task or this run's work."""
        until_s = self._work_until_s()
        left_s = None if until_s is None else until_s - self._recorder.elapsed_s()
        bounds = [bound for bound in (timeout_s, left_s) if bound is not None]
        if not bounds:
            return None
        least_s = max(min(bounds), 0.0)
        slack_s = self._grace_s * NESTED_GRACE + NESTED_SLACK_S
        return round(least_s - min(slack_s, least_s / 2), 3)

    async def _planned(self, asked: Request, plan: Plan | None) -> bool:
        """Whether there is an accepted plan now; there is none where the run was cancelled."""
        self._recorder.record(
            RunStarted(
                **self._recorder.stamp(),
                team=self._team.name,
                request=asked.text,
                engine="model" if self._team.tiers else "deterministic",
                deadline_s=self._deadline_s,
                models=roles(self._team) if self._team.tiers else {},
            )
        )
        author = "person"
        if plan is None:
            try:
                author, plan = await self._plan(asked)
            except Cancelled:
                return False
            except _Unplanned as error:
                self._unplanned = str(error)
                said = (self._unplanned,)
                self._recorder.record(PlanRejectedEvent(**self._recorder.stamp(), problems=said))
                return False
            except LeadhandError as error:
                problems = getattr(error, "problems", ())
                said = tuple(problem.message for problem in problems) or (str(error),)
                self._recorder.record(PlanRejectedEvent(**self._recorder.stamp(), problems=said))
                await self._recorder.commit()
                raise
        self._recorder.record(PlanProposed(**self._recorder.stamp(), plan=plan, by=author))
        problems = check(plan, self._team, request=asked.text)
        errors = [problem for problem in problems if problem.severity == "error"]
        if errors:
            messages = tuple(problem.message for problem in errors)
            self._recorder.record(PlanRejectedEvent(**self._recorder.stamp(), problems=messages))
            await self._recorder.commit()
            raise PlanRejected(errors)
        warnings = tuple(problem.message for problem in problems)
        self._recorder.record(PlanAccepted(**self._recorder.stamp(), warnings=warnings))
        await self._recorder.commit()
        return True

    async def _plan(self, asked: Request) -> tuple[str, Plan]:
        """Who planned, and the plan; the team's template where no model could be asked."""
        planner = self._crew.planner
        try:
            work = planner.plan(asked, self._team)
            until_s = self._loop_time(self._work_until_s())
            plan = await self._active.unless_told(work, until_s=until_s)
            return planner.name, plan
        except BudgetUsedUp as error:
            failure: Exception = _Unplanned(str(error))
        except (ModelError, PlanRejected) as error:
            failure = error
        except TimeoutError:
            self._late = True
            why = f"there was no plan in time for the run's deadline of {self._deadline_s:g} s"
            failure = _Unplanned(why)
        if not self._team.template:
            raise failure
        try:
            plan = await TemplatePlanner().plan(asked, self._team)
        except InputError:
            raise failure from None
        _log.warning("planned by the team's template, because %s", failure)
        return TemplatePlanner.name, plan

    def _loop_time(self, elapsed_s: float | None) -> float | None:
        return None if elapsed_s is None else self._recorder.monotonic(elapsed_s)

    def _work_until_s(self) -> float | None:
        """Seconds into the run when work has to stop, so that the synthesis has its time."""
        if self._deadline_s is None or not self._crew.synthesizer.calls_model:
            return self._deadline_s
        return self._deadline_s - min(RESERVE * self._deadline_s, MAX_RESERVE_S)

    async def _work(self) -> None:
        async with self._staff() as staff:
            if staff is None:
                return
            scheduler = Scheduler(
                self._recorder,
                self._team,
                staff.runners,
                concurrency=self._concurrency,
                slots=self._slots,
                shared_slots=staff.slots,
                remedies=self._crew.remedies,
                grace_s=self._grace_s,
            )
            self._active.works_with(scheduler)
            if self._crew.account is not None:
                self._crew.account.on_used_up = scheduler.start_no_more
            # One watches over the whole tree of runs.
            with nullcontext() if self._recorder.path else Watchdog(naming(self._recorder)):
                await scheduler.run(deadline_s=self._work_until_s())
            for given in staff.abandoned:
                id, name = given.task_id, given.to_agent
                self._recorder.record(
                    WorkerStuck(
                        **self._recorder.task_stamp(id, given.attempt),
                        worker=name,
                        message=f"worker {name!r} goes on with task {id!r} in an abandoned thread",
                    )
                )

    @asynccontextmanager
    async def _staff(self) -> AsyncGenerator[Staff | None]:
        """The crew's staff, at work; none where its tools were not ready in time."""
        staff = self._crew.staff
        staff.teams = self
        until_s = self._loop_time(self._work_until_s())
        try:
            try:
                async with asyncio.timeout_at(until_s):
                    await staff.__aenter__()
            except TimeoutError:
                self._cancel_all(
                    f"the run's deadline of {self._deadline_s:g} s came before the tools were ready"
                )
                yield None
            else:
                yield staff
        finally:
            left_s = MAX_CLOSING_S
            if until_s is not None:
                left_s = min(left_s, until_s - asyncio.get_running_loop().time())
            with suppress(TimeoutError):
                async with asyncio.timeout(max(left_s, CLOSING_S)):
                    await staff.__aexit__(None, None, None)

    def _cancel_all(self, reason: str) -> None:
        for id in self._recorder.state.tasks:
            self._recorder.record(TaskCancelled(**self._recorder.task_stamp(id, 0), reason=reason))

    async def _answer(self) -> Answer:
        state = self._recorder.state
        synthesis = Synthesis(answer="The run was cancelled before there was a plan.")
        missing: tuple[Gap, ...] = ()
        if self._unplanned is not None:
            synthesis = Synthesis(answer="There is no answer, because there is no plan.")
            missing = (Gap(task_id="plan", why=self._unplanned),)
        if state.plan is not None:
            strategy = self._crew.synthesizer.name
            self._recorder.record(SynthesisStarted(**self._recorder.stamp(), strategy=strategy))
            synthesis, missing = await self._synthesis(state.standing_plan or state.plan)
        known = {(one.task_ids, one.about) for one in state.conflicts}
        for conflict in synthesis.conflicts:
            if (conflict.task_ids, conflict.about) not in known:
                self._recorder.record(ConflictFound(**self._recorder.stamp(), conflict=conflict))
        gaps = (*gaps_of(state, self._team), *missing)
        account = self._crew.account
        if account is not None and account.ledger.passed is not None and not gaps:
            _log.warning("everything was done, but %s", account.ledger.passed)
        answer = Answer(
            run_id=self._recorder.run_id,
            status=status_of(state, gaps, cancelled=self._active.reason is not None),
            ended_by=self._ended_by() if gaps or state.plan is None else None,
            engine="model" if state.usage.requests else "deterministic",
            team=self._team.name,
            request=state.request,
            answer=with_gaps(synthesis.answer, gaps),
            output=synthesis.output,
            confidence=confidence_of(synthesis.confidence, state),
            gaps=gaps,
            conflicts=state.conflicts,
            sources=synthesis.sources,
            tasks=tuple(task_report(task) for task in state.tasks.values()),
            metrics=metrics(state, self._recorder.elapsed_s()),
        )
        self._recorder.record(RunFinished(**self._recorder.stamp(), answer=answer))
        await self._recorder.commit()
        return answer

    def _ended_by(self) -> EndedBy | None:
        """What kept the run from doing everything, where it was not the work itself."""
        account = self._crew.account
        if self._active.reason is not None:
            return "person"
        if self._late:
            return "deadline"
        if account is not None and account.used_up is not None:
            return "budget"
        tasks = self._recorder.state.tasks.values()
        return "deadline" if any(task.status == "cancelled" for task in tasks) else None

    async def _synthesis(self, plan: Plan) -> tuple[Synthesis, tuple[Gap, ...]]:
        """What the synthesizer makes of the results; where it can't, they and that as a gap."""
        results = results_of(self._recorder.state)
        synthesizer = self._crew.synthesizer
        deadline_s = self._deadline_s if synthesizer.calls_model else None
        try:
            if not synthesizer.calls_model:  # quick, and wanted of a cancelled run too
                return await synthesizer.synthesize(plan, results), ()
            work = synthesizer.synthesize(plan, results)
            until_s = self._loop_time(deadline_s)
            return await self._active.unless_told(work, until_s=until_s), ()
        except Cancelled:
            why = f"was not done: {self._active.reason}"
        except TimeoutError:
            self._late = True
            why = f"was not done by the deadline of {deadline_s:g} s"
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
