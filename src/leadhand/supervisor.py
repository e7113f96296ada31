"""The supervisor: plans a request, checks the plan, has it run, and answers. It does no work.

This is the composition root: the one place that knows which planner, workers, journal and clock a
run uses. Roles never meet except here.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack

from leadhand.clock import SystemClock
from leadhand.contracts.answer import Answer, Gap, Status, Synthesis
from leadhand.contracts.event import (
    Event,
    PlanAccepted,
    PlanProposed,
    RunFinished,
    RunStarted,
    SynthesisStarted,
    WorkerStuck,
)
from leadhand.contracts.event import PlanRejected as PlanRejectedEvent
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError, PlanRejected, TeamError
from leadhand.journal import MemoryJournal
from leadhand.planning import TemplatePlanner
from leadhand.ports import Batch, Clock, Journal, Planner, Request, Synthesizer, TaskResult
from leadhand.recorder import Listener, Recorder
from leadhand.scheduler import Scheduler
from leadhand.state import RunState
from leadhand.synthesis.merge import Merge, merge
from leadhand.trace.metrics import metrics, task_report
from leadhand.validation import check, team_problems
from leadhand.workers.staff import Staff
from leadhand.workers.watchdog import Watchdog

_log = logging.getLogger("leadhand")

Batches = Mapping[str, Sequence[Batch]]


class Supervisor:
    """Runs requests with one team. Any number of runs may be under way at once."""

    def __init__(
        self,
        team: Team,
        *,
        deadline_s: float | None = 600.0,
        concurrency: int = 64,
        planner: Planner | None = None,
        synthesizer: Synthesizer | None = None,
        journal: Journal | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`deadline_s` is seconds from a run's start to its answer; `concurrency` is tasks at once.

        Raises `TeamError` naming every problem of the team, `InputError` for the numbers.
        """
        problems = team_problems(team)
        if problems:
            raise TeamError(team.name, problems)
        if concurrency < 1:
            raise InputError(f"concurrency is {concurrency}; it must be 1 or more")
        if deadline_s is not None and deadline_s <= 0:
            raise InputError(f"deadline_s is {deadline_s:g}; it must be more than 0, or None")
        self.team = team
        self.journal: Journal = journal or MemoryJournal()
        self._deadline_s = deadline_s
        self._concurrency = concurrency
        self._planner: Planner = planner or TemplatePlanner()
        self._synthesizer: Synthesizer = synthesizer or Merge()
        self._clock: Clock = clock or SystemClock()
        self._active: dict[str, Scheduler | None] = {}
        self._cancelled: dict[str, str] = {}

    async def plan(self, request: str, *, batches: Batches | None = None) -> Plan:
        """The plan for `request`, checked; no work is done. Raises `PlanRejected`."""
        plan = await self._planner.plan(Request(request, batches or {}), self.team)
        problems = [p for p in check(plan, self.team, request=request) if p.severity == "error"]
        if problems:
            raise PlanRejected(problems)
        return plan

    async def run(
        self,
        request: str | None = None,
        *,
        plan: Plan | None = None,
        run_id: str | None = None,
        batches: Batches | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """The answer to `request`, or to the goal of a `plan` of your own; it always comes.

        `listener` is called with every event as it happens. Raises `PlanRejected` where the plan
        has errors, and `InputError` where there is neither request nor plan or `run_id` is taken.
        """
        if request is None and plan is None:
            raise InputError("nothing to run: give a request or a plan")
        run_id = run_id or f"run-{self._clock.now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        if run_id in self._active or self.journal.events(run_id):
            raise InputError(f"run {run_id!r} exists already: give another run_id")
        listeners = (listener,) if listener else ()
        recorder = Recorder(run_id, self.journal, clock=self._clock, listeners=listeners)
        self._active[run_id] = None
        try:
            await self._accept(recorder, request, plan, batches or {})
            await self._work(recorder)
            return await self._answer(recorder)
        finally:
            del self._active[run_id]
            self._cancelled.pop(run_id, None)

    def run_sync(self, request: str | None = None, *, plan: Plan | None = None) -> Answer:
        """`run`, where no event loop is running."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(request, plan=plan))
        raise InputError("an event loop is running here: use `await supervisor.run(...)`")

    async def stream(
        self, request: str | None = None, *, plan: Plan | None = None, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """The same run as its events; leaving the loop early cancels the run."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.ensure_future(
            self.run(request, plan=plan, run_id=run_id, listener=queue.put_nowait)
        )
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await work
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait([work])

    def cancel(self, run_id: str | None = None, *, reason: str = "interrupted") -> None:
        """Stop a run, or every run under way; each still gives an answer, `status: cancelled`."""
        for id in [run_id] if run_id is not None else list(self._active):
            if id not in self._active:
                raise InputError(f"run {id!r} is not under way")
            self._cancelled[id] = reason
            scheduler = self._active[id]
            if scheduler is not None:
                scheduler.stop(reason)

    # The steps of a run

    async def _accept(
        self, recorder: Recorder, request: str | None, plan: Plan | None, batches: Batches
    ) -> None:
        """Plan if need be, check, and record what came of it."""
        asked = request if request is not None else plan.goal if plan is not None else ""
        # A lone surrogate, from an argument that was no UTF-8 say, could not be kept as JSON.
        asked = asked.encode("utf-8", "replace").decode()
        recorder.record(
            RunStarted(
                **recorder.stamp(),
                team=self.team.name,
                request=asked,
                engine="deterministic",
                deadline_s=self._deadline_s,
            )
        )
        author = "person"
        if plan is None:
            author = self._planner.name
            plan = await self._planner.plan(Request(asked, batches), self.team)
        recorder.record(PlanProposed(**recorder.stamp(), plan=plan, by=author))
        problems = check(plan, self.team, request=asked)
        errors = [problem for problem in problems if problem.severity == "error"]
        if errors:
            messages = tuple(problem.message for problem in errors)
            recorder.record(PlanRejectedEvent(**recorder.stamp(), problems=messages))
            await recorder.commit()
            raise PlanRejected(errors)
        warnings = tuple(problem.message for problem in problems)
        recorder.record(PlanAccepted(**recorder.stamp(), warnings=warnings))
        await recorder.commit()

    async def _work(self, recorder: Recorder) -> None:
        run_id = recorder.run_id
        async with AsyncExitStack() as stack:
            staff = await stack.enter_async_context(Staff(self.team))
            scheduler = Scheduler(
                recorder,
                self.team,
                staff.runners,
                concurrency=self._concurrency,
                shared_slots=staff.slots,
            )
            self._active[run_id] = scheduler
            if run_id in self._cancelled:
                scheduler.stop(self._cancelled[run_id])
            stack.enter_context(Watchdog(_naming(recorder)))
            await scheduler.run(deadline_s=self._deadline_s)
            for given in staff.abandoned:
                id, name = given.task_id, given.to_agent
                recorder.record(
                    WorkerStuck(
                        **recorder.task_stamp(id, given.attempt),
                        worker=name,
                        message=f"worker {name!r} goes on with task {id!r} in an abandoned thread",
                    )
                )

    async def _answer(self, recorder: Recorder) -> Answer:
        state = recorder.state
        plan = state.plan
        assert plan is not None, "work starts only on an accepted plan"
        recorder.record(SynthesisStarted(**recorder.stamp(), strategy=self._synthesizer.name))
        synthesis = await self._synthesize(plan, _results(state))
        status = _status(state, cancelled=recorder.run_id in self._cancelled)
        gaps = tuple(
            Gap(task_id=id, why=task.error or task.status)
            for id, task in state.tasks.items()
            if task.status != "completed"
        )
        answer = Answer(
            run_id=recorder.run_id,
            status=status,
            engine="deterministic",
            team=self.team.name,
            request=state.request,
            answer=_with_gaps(synthesis.answer, gaps),
            output=synthesis.output,
            confidence=synthesis.confidence,
            gaps=gaps,
            conflicts=synthesis.conflicts,
            sources=synthesis.sources,
            tasks=tuple(task_report(task) for task in state.tasks.values()),
            metrics=metrics(state, recorder.elapsed_s()),
        )
        recorder.record(RunFinished(**recorder.stamp(), answer=answer))
        await recorder.commit()
        return answer

    async def _synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        try:
            return await self._synthesizer.synthesize(plan, results)
        except Exception:
            # The results are there: they reach the user whatever becomes of their synthesis.
            _log.exception("the %s synthesis failed; results are merged", self._synthesizer.name)
            fallen_back = merge(plan, results)
            note = f"*The {self._synthesizer.name} synthesis failed; these are the bare results.*"
            return fallen_back.model_copy(update={"answer": f"{note}\n\n{fallen_back.answer}"})


def _naming(recorder: Recorder):
    """What the watchdog calls with the name of the asyncio task that blocked the loop."""

    def report(task_name: str, blocked_s: float) -> None:
        id = task_name.removeprefix("task:")
        task = recorder.state.tasks.get(id)
        if task is None:
            return
        message = f"worker {task.worker!r} blocked the event loop for {blocked_s:.1f} s in {id!r}"
        recorder.record(
            WorkerStuck(
                **recorder.task_stamp(id, task.attempts), worker=task.worker, message=message
            )
        )

    return report


def _results(state: RunState) -> list[TaskResult]:
    return [
        TaskResult(task.task, task.worker, task.status, task.result, task.error)
        for task in state.tasks.values()
    ]


def _status(state: RunState, *, cancelled: bool) -> Status:
    done = sum(task.status == "completed" for task in state.tasks.values())
    if done == len(state.tasks):
        return "complete"
    if cancelled:
        return "cancelled"
    return "partial" if done else "failed"


def _with_gaps(text: str, gaps: Sequence[Gap]) -> str:
    if not gaps:
        return text
    lines = "\n".join(f"- `{gap.task_id}`: {gap.why}" for gap in gaps)
    return f"{text}\n\n## What is missing\n\n{lines}".strip()
