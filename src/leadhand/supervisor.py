"""The supervisor: has requests planned, worked on and answered. It does no work itself.

This is the library's front door. The life of a run is in `run.run`, from top to bottom.
"""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from leadhand import run as running
from leadhand.clock import SystemClock
from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget
from leadhand.contracts.health import Health, ModelHealth
from leadhand.contracts.people import Occasion, Reply, RunMessage
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.errors import InputError, JournalError, ModelError, PlanError
from leadhand.journal import open_journal
from leadhand.plans.checks import check, errors_in
from leadhand.plans.nesting import with_inherited_models
from leadhand.ports import Clock, Journal, Planner, Remedies, Synthesizer
from leadhand.run.intake import (
    Batches,
    check_known_id,
    check_options,
    check_run_id,
    check_storage,
    input_paths,
    inputs_of,
    new_run_id,
    occasions,
    planner_request,
    valid_reply,
    with_models,
)
from leadhand.untrusted import redaction

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.engine.recorder import Listener
    from leadhand.run.people import Ask
    from leadhand.run.roles import PlannerMaker, Roles, SynthesizerMaker
    from leadhand.run.stored import StoredRun
    from leadhand.tools.files.inputs import Inputs

MIN_OPENING_S = 1.0
"""How long the journal has to open a run at least; a shorter deadline counts from then."""
STOP_PATIENCE_S = 2.0
"""How long a run that is to stop waits for the journal."""

_log = logging.getLogger("leadhand")


class Supervisor:
    """Runs requests with one team. Any number of runs may be under way at once."""

    def __init__(
        self,
        team: Team,
        *,
        deadline_s: float | None = 600.0,
        budget: Budget | None = None,
        concurrency: int = 64,
        planner: "Planner | PlannerMaker | None" = None,
        synthesizer: "Synthesizer | SynthesizerMaker | None" = None,
        remedies: Remedies | None = None,
        home: str | Path | None = None,
        approve: Collection[Occasion] | None = None,
        person: "Ask | None" = None,
        journal: Journal | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`deadline_s` is seconds from a run's start to its answer; `budget` is what one run may
        spend on models; `concurrency` is tasks at once.

        `planner`, `synthesizer` and `remedies` replace the team's own. The first two may be
        functions that make one for each run, from the caller that asks models and the run's fence.

        With a `home`, a folder or the URL of a Postgres database, runs are stored and can be
        resumed; `journal` is a storage of your own. Without either, runs stay in memory.

        `approve` says when a person is asked: about the `plan` before it is carried out, about an
        `escalation` that no worker can resolve. `person` asks the question. Without it the run
        waits for a `reply`, and returns with `Answer.waiting` when nothing else is left to do.

        A team without a model is deterministic, whatever the environment holds. For
        `Team(model="auto")` the first request looks for one, as the command line does.

        Raises `TeamError` naming every problem of the team, and `InputError` for other arguments.
        """
        # Imported here because it imports every event.
        from leadhand.trace.logs import Logs

        check_options(team, deadline_s, concurrency, budget)
        check_storage(home, journal)
        self._occasions = occasions(approve, person)
        self.team = with_inherited_models(team)
        redact = redaction.Redactor.of(os.environ)
        self._logs = Logs(redact=redact)
        redaction.redact_logger(_log, redact)
        own = open_journal(home, redact=redact) if home is not None else running.MemoryJournal()
        self.journal: Journal = journal or own
        self._person = person
        self._deadline_s = deadline_s
        self._budget = budget
        self._concurrency = concurrency
        self._planner = planner
        self._synthesizer = synthesizer
        self._remedies = remedies
        self._clock: Clock = clock or SystemClock()
        self._active: dict[str, running.ActiveRun] = {}
        self._shared_workers = running.SharedWorkers(self.team, lock=threading.RLock())

    async def plan(
        self,
        request: str,
        *,
        inputs: Sequence[str | Path] = (),
        batches: Batches | None = None,
        listener: "Listener | None" = None,
    ) -> Plan:
        """The plan for `request`, checked; no work is done.

        Raises `PlanError`, and `ModelError` if no model gave one.
        """
        self.team = await with_models(self.team)
        paths = input_paths(inputs)
        given = inputs_of(paths)
        listeners = (listener,) if listener else ()
        recorder = running.Recorder(
            "plan", running.MemoryJournal(), clock=self._clock, listeners=listeners
        )
        plan_request = planner_request(request, given, paths, batches)
        try:
            async with self._roles(recorder, plan_request.text, given) as roles:
                async with asyncio.timeout(self._deadline_s):
                    plan = await roles.planner.plan(plan_request, self.team)
        except TimeoutError as error:
            why = f"the planner gave no plan within {self._deadline_s:g} s"
            raise ModelError(why, transient=True) from error
        problems = errors_in(check(plan, self.team, request=request))
        if problems:
            raise PlanError(problems)
        return plan

    async def run(
        self,
        request: str | None = None,
        *,
        plan: Plan | None = None,
        amend: bool = False,
        run_id: str | None = None,
        inputs: Sequence[str | Path] = (),
        batches: Batches | None = None,
        origin: dict[str, JsonValue] | None = None,
        listener: "Listener | None" = None,
    ) -> Answer:
        """The answer to `request`, or to the goal of a `plan` of your own. There always is one.

        Your own plan is binding: no task is added, and a change that a result asks for is a gap of
        the answer. With `amend` the plan may be amended. A plan that a person approved is amended
        only after the person approves of that too. This also holds when the run is resumed.

        `inputs` are files and folders that the workers' tools may read. `listener` is called with
        every event as it happens. `origin` is stored with the run, for the program that resumes it.
        If neither the planner nor the team's template or offline code gives a sound plan, the
        answer says so. Raises `PlanError` if your own plan has errors, `InputError` if there is
        neither request nor plan, an input is missing, or `run_id` is taken, and `JournalError`.
        """
        if request is None and plan is None:
            raise InputError("nothing to run: give a request or a plan")
        if plan is not None and not isinstance(plan, Plan):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"plan is {type(plan).__name__}; it must be a leadhand.Plan")
        if amend and plan is None:
            raise InputError("amend is for a plan of your own: give `plan` as well")
        if run_id is None:
            run_id = new_run_id(self._clock.now())
        check_run_id(run_id)
        self.team = await with_models(self.team)
        paths = input_paths(inputs)
        given = inputs_of(paths)
        text = request if request is not None else plan.goal if plan is not None else ""
        plan_request = planner_request(text, given, paths, batches)
        given_paths = tuple(str(path.absolute()) for path in paths)
        settings = running.RunSettings(
            self._budget, given_paths, origin or {}, plan is None or amend
        )
        async with running.hold_run(self.journal, run_id, limit_s=self._opening_s):
            if await running.call_journal(
                self.journal, self.journal.has, run_id, limit_s=self._opening_s
            ):
                raise InputError(f"run {run_id!r} exists already: give another run_id")
            recorder = running.Recorder(
                run_id, self.journal, clock=self._clock, listeners=self._listeners(listener)
            )
            return await self._to_answer(
                recorder, plan_request, given, settings=settings, plan=plan
            )

    async def resume(
        self,
        run_id: str,
        *,
        from_task: str | None = None,
        batches: Batches | None = None,
        listener: "Listener | None" = None,
        stored: "StoredRun | None" = None,
    ) -> Answer:
        """The answer of a run that was stopped, lost with its process, or waits for a person.

        Completed work is kept; work that was in flight is done again, under the same keys. The plan
        is the recorded one, whatever the team's prompts and code are now. With `from_task` that
        task and all that depend on it are done again from the beginning. A run that is over gives
        its answer as it is. The deadline counts from now; the budget is that of the whole run,
        including what it has spent. `stored` is the run as the caller has read it: it is read again
        only if it has changed since.

        Raises `InputError` if there is no such run or task, or this team can't resume the run, and
        `RunTaken` if another process works on it.
        """
        check_known_id(run_id)
        self.team = await with_models(self.team)
        async with running.hold_run(self.journal, run_id, limit_s=self._opening_s):
            stored = stored or running.StoredRun(run_id)
            await running.call_journal(
                self.journal, stored.read, self.journal, limit_s=self._opening_s
            )
            recorder = running.Recorder(
                run_id,
                self.journal,
                clock=self._clock,
                listeners=self._listeners(listener),
                past=stored.events,
                state=stored.state,
            )
            await running.record_interruption(recorder, self.journal)
            state = recorder.state
            paths = input_paths(state.inputs)
            given = inputs_of(paths)
            plan_request = planner_request(state.request, given, paths, batches)
            settings = running.RunSettings(self._budget, state.inputs, state.origin)
            from_there = running.tasks_from(state, from_task) if from_task is not None else ()
            running.check_resumable(state, run_id, self.team, from_there)
            return await self._to_answer(
                recorder, plan_request, given, settings=settings, again=from_there
            )

    async def _to_answer(
        self,
        recorder: "running.Recorder",
        plan_request: PlanRequest,
        given: "Inputs | None",
        *,
        settings: "running.RunSettings",
        plan: Plan | None = None,
        again: tuple[str, ...] = (),
    ) -> Answer:
        run_id = recorder.run_id
        active = running.ActiveRun()
        active.on_stop.append(lambda _: recorder.limit_commits(STOP_PATIENCE_S))
        self._active[run_id] = active
        people = running.People.of(
            recorder, self.journal, occasions=self._occasions, ask=self._person
        )
        try:
            async with (
                running.watch_messages(self.journal, run_id, active, people),
                self._roles(recorder, plan_request.text, given) as roles,
            ):
                run = running.Run(
                    self.team,
                    recorder,
                    roles,
                    active=active,
                    deadline_s=self._deadline_s,
                    capacity=running.Capacity.of(self._concurrency, self._shared_workers),
                    settings=settings,
                    people=people,
                )
                return await run.to_answer(plan_request, plan, again=again)
        finally:
            del self._active[run_id]

    def health(self) -> Health:
        """The load, latency and breaker of each worker over all runs, and the models' rates.

        All runs share the workers: a run waits its turn for a busy worker, and gives no task to one
        whose breaker is open.
        """
        # A process that has asked no model has not imported this module.
        rates = sys.modules.get("leadhand.models.rates")
        models: tuple[ModelHealth, ...] = ()
        if rates is not None:
            with suppress(RuntimeError):  # outside of an event loop
                models = rates.health()
        return Health(
            runs=tuple(self._active),
            workers=self._shared_workers.health(self._clock),
            models=models,
        )

    def close(self) -> None:
        """Close the journal's files and connections, also of a `journal` of your own."""
        self.journal.close()

    def reply(self, run_id: str, reply: Reply) -> None:
        """Reply to a question of a run, which takes the reply at once or when it is resumed.

        The last reply that comes before the run takes one counts. Raises `InputError` if the run
        asks no such question, or the reply does not answer it.
        """
        check_known_id(run_id)
        reply = valid_reply(reply)
        running.check_reply(reply, running.StoredRun.of(self.journal, run_id).state)
        self.journal.post(RunMessage(run_id=run_id, reply=reply))

    def run_sync(
        self, request: str | None = None, *, plan: Plan | None = None, amend: bool = False
    ) -> Answer:
        """`run` for a program without a running event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(request, plan=plan, amend=amend))
        raise InputError("an event loop is running here: use `await supervisor.run(...)`")

    async def stream(
        self,
        request: str | None = None,
        *,
        plan: Plan | None = None,
        amend: bool = False,
        run_id: str | None = None,
    ) -> "AsyncGenerator[Event, None]":
        """The events of `run` as they happen. Leaving the loop early cancels the run."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.ensure_future(
            self.run(request, plan=plan, amend=amend, run_id=run_id, listener=queue.put_nowait)
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
            self._active[id].stop(reason)

    def post_interruption(self) -> None:
        """Tell the journal that this process ends now, and that no worker has crashed it.

        Blocks; may be called from any thread.
        """
        with suppress(JournalError):
            for id in list(self._active):
                self.journal.post(RunMessage(run_id=id, interrupted=True))

    @property
    def _opening_s(self) -> float | None:
        return None if self._deadline_s is None else max(self._deadline_s, MIN_OPENING_S)

    def _listeners(self, listener: "Listener | None") -> "tuple[Listener, ...]":
        return (self._logs,) if listener is None else (self._logs, listener)

    def _roles(
        self, recorder: "running.Recorder", request: str, inputs: "Inputs | None"
    ) -> "AbstractAsyncContextManager[Roles]":
        return running.open_roles(
            self.team,
            recorder,
            request=request,
            planner=self._planner,
            synthesizer=self._synthesizer,
            remedies=self._remedies,
            inputs=inputs,
            account=running.account_of(self._budget, recorder),
        )
