"""The runs of one supervisor: starts, resumes and stops them, any number at once."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from leadhand import run as running
from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget
from leadhand.contracts.health import Health, ModelHealth
from leadhand.contracts.people import Occasion, Reply, RunMessage
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.errors import InputError, JournalError, ModelError, PlanError
from leadhand.plans.checks import check, errors_in
from leadhand.plans.nesting import with_inherited_models
from leadhand.ports import Clock, Journal, Planner, Remedies, Synthesizer
from leadhand.run.intake import (
    Batches,
    check_known_id,
    check_limits,
    check_listener,
    check_run_id,
    fingerprint_of,
    input_paths,
    inputs_of,
    new_run_id,
    planner_request,
    valid_reply,
    with_models,
)
from leadhand.run.run_context import ContextRules

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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What a new run is to do."""

    request: str | None = None
    plan: Plan | None = None
    amend: bool = False
    run_id: str | None = None
    inputs: Sequence[str | Path] = ()
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run is done, each time that it is started or resumed."""

    deadline_s: float | None = None
    """`None`: no limit."""
    budget: Budget | None = None
    batches: Batches | None = None
    listener: "Listener | None" = None
    context: object = field(default=None, repr=False)
    """What its workers and tools receive."""

    def __post_init__(self) -> None:
        """Raises `InputError` for a listener that can't be called."""
        check_listener(self.listener)

    @property
    def opening_s(self) -> float | None:
        """How long the journal may take to open the run."""
        return None if self.deadline_s is None else max(self.deadline_s, MIN_OPENING_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """What all runs of a supervisor have in common."""

    journal: Journal
    clock: Clock
    concurrency: int
    contexts: ContextRules
    occasions: tuple[Occasion, ...] = ()
    person: "Ask | None" = None
    planner: "Planner | PlannerMaker | None" = None
    synthesizer: "Synthesizer | SynthesizerMaker | None" = None
    remedies: Remedies | None = None
    listeners: "tuple[Listener, ...]" = ()
    """Called with every event of every run."""


class RunHost:
    """Does the runs of one supervisor. `Supervisor` says what its methods do."""

    def __init__(self, team: Team, settings: HostSettings) -> None:
        self.team = with_inherited_models(team)
        self.journal = settings.journal
        self._settings = settings
        self._active: dict[str, running.ActiveRun] = {}
        self._shared_workers = running.SharedWorkers(self.team, lock=threading.RLock())
        self._connections = running.SharedConnections()

    async def plan(self, new: NewRun, options: RunOptions) -> Plan:
        """The plan for a request, checked; no work is done."""
        await self._find_models()
        paths = input_paths(new.inputs)
        given = inputs_of(paths)
        listeners = (options.listener,) if options.listener else ()
        recorder = running.Recorder(
            "plan", running.MemoryJournal(), clock=self._settings.clock, listeners=listeners
        )
        request = planner_request(new.request or "", given, paths, options.batches)
        try:
            async with self._roles(recorder, request.text, given, options) as roles:
                async with asyncio.timeout(options.deadline_s):
                    plan = await roles.planner.plan(request, self.team)
        except TimeoutError as error:
            why = f"the planner gave no plan within {options.deadline_s:g} s"
            raise ModelError(why, transient=True) from error
        problems = errors_in(check(plan, self.team, request=request.text))
        if problems:
            raise PlanError(problems)
        return plan

    async def start(self, new: NewRun, options: RunOptions) -> Answer:
        """The answer of a new run."""
        if new.request is None and new.plan is None:
            raise InputError("nothing to run: give a request or a plan")
        if new.plan is not None and not isinstance(new.plan, Plan):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"plan is {type(new.plan).__name__}; it must be a leadhand.Plan")
        if new.amend and new.plan is None:
            raise InputError("amend is for a plan of your own: give `plan` as well")
        run_id = new.run_id if new.run_id is not None else new_run_id(self._settings.clock.now())
        check_run_id(run_id)
        check_limits(options.deadline_s, options.budget)
        context = self._settings.contexts.of_new_run(options.context)
        await self._find_models()
        paths = input_paths(new.inputs)
        given = inputs_of(paths)
        goal = new.plan.goal if new.plan is not None else ""
        text = new.request if new.request is not None else goal
        request = planner_request(text, given, paths, options.batches)
        settings = running.RunSettings(
            options.budget,
            tuple(str(path.absolute()) for path in paths),
            new.origin,
            new.plan is None or new.amend,
            context is not None,
            fingerprint_of(self.team.name, request, new.plan, amend=new.amend),
        )
        async with running.hold_run(self.journal, run_id, limit_s=options.opening_s) as last_seq:
            if last_seq:
                raise InputError(f"run {run_id!r} exists already: give another run_id")
            recorder = running.Recorder(
                run_id,
                self.journal,
                clock=self._settings.clock,
                listeners=self._listeners(options),
            )
            return await self._to_answer(
                recorder, request, given, options, settings=settings, plan=new.plan
            )

    async def resume(
        self,
        run_id: str,
        options: RunOptions,
        *,
        from_task: str | None = None,
        stored: "StoredRun | None" = None,
    ) -> Answer:
        """The answer of a run that was stopped, lost with its process, or waits for a person."""
        check_known_id(run_id)
        check_limits(options.deadline_s, options.budget)
        await self._find_models()
        async with running.hold_run(self.journal, run_id, limit_s=options.opening_s) as last_seq:
            stored = stored or running.StoredRun(run_id)
            if not stored.events or stored.events[-1].seq != last_seq:
                read = self.journal.events(run_id)
                stored.replace(await running.answer_within(options.opening_s, read))
            recorder = running.Recorder(
                run_id,
                self.journal,
                clock=self._settings.clock,
                listeners=self._listeners(options),
                past=stored.events,
                state=stored.state,
            )
            replies = await running.record_interruption(recorder, self.journal)
            state = recorder.state
            paths = input_paths(state.inputs)
            given = inputs_of(paths)
            request = planner_request(state.request, given, paths, options.batches)
            settings = running.RunSettings(options.budget, state.inputs, state.origin)
            again = running.tasks_from(state, from_task) if from_task is not None else ()
            running.check_resumable(state, run_id, self.team, again)
            if again or not running.is_over(state):
                context = await self._settings.contexts.of_resumed_run(options.context, state)
                options = replace(options, context=context)
            return await self._to_answer(
                recorder, request, given, options, settings=settings, again=again, replies=replies
            )

    async def events_of(
        self, work: Callable[["Listener"], Coroutine[object, object, Answer]]
    ) -> "AsyncGenerator[Event, None]":
        """The events that `work` sends to its listener. Leaving the loop early cancels it."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        task = asyncio.ensure_future(work(queue.put_nowait))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])

    async def reply(self, run_id: str, reply: Reply) -> None:
        """Leave a reply to a question of a run in the journal."""
        check_known_id(run_id)
        reply = valid_reply(reply)
        stored = running.StoredRun.of(run_id, await self.journal.events(run_id))
        await self.journal.post(running.reply_message(reply, stored.state))

    def stop(self, run_id: str | None, reason: str) -> None:
        """Stop a run, or every run under way."""
        for id in [run_id] if run_id is not None else list(self._active):
            if id not in self._active:
                raise InputError(f"run {id!r} is not under way")
            self._active[id].stop(reason)

    def post_interruption(self) -> None:
        """Tell the journal that this process ends now, and that no worker has crashed it."""

        async def post() -> None:
            for id in list(self._active):
                await self.journal.post(RunMessage(run_id=id, interrupted=True))

        with suppress(JournalError):
            asyncio.run(post())  # the loop of the runs may be blocked

    def health(self) -> Health:
        """The load, latency and breaker of each worker over all runs, and the models' rates."""
        # A process that has asked no model has not imported this module.
        rates = sys.modules.get("leadhand.models.rates")
        models: tuple[ModelHealth, ...] = ()
        if rates is not None:
            with suppress(RuntimeError):  # outside of an event loop
                models = rates.health()
        return Health(
            runs=tuple(self._active),
            workers=self._shared_workers.health(self._settings.clock),
            models=models,
        )

    async def _find_models(self) -> None:
        self.team = await with_models(self.team)

    async def _to_answer(
        self,
        recorder: "running.Recorder",
        request: PlanRequest,
        given: "Inputs | None",
        options: RunOptions,
        *,
        settings: "running.RunSettings",
        plan: Plan | None = None,
        again: tuple[str, ...] = (),
        replies: Sequence[RunMessage] = (),
    ) -> Answer:
        run_id, common = recorder.run_id, self._settings
        active = running.ActiveRun()
        active.on_stop.append(lambda _: recorder.limit_commits(STOP_PATIENCE_S))
        self._active[run_id] = active
        people = running.People.of(
            recorder, self.journal, occasions=common.occasions, ask=common.person
        )
        try:
            if people is not None:
                await people.take_replies(replies)
            async with (
                running.watch_messages(self.journal, run_id, active, people),
                self._roles(recorder, request.text, given, options) as roles,
            ):
                run = running.Run(
                    self.team,
                    recorder,
                    roles,
                    active=active,
                    deadline_s=options.deadline_s,
                    capacity=running.Capacity.of(common.concurrency, self._shared_workers),
                    settings=settings,
                    people=people,
                )
                return await run.to_answer(request, plan, again=again)
        finally:
            del self._active[run_id]

    def _listeners(self, options: RunOptions) -> "tuple[Listener, ...]":
        own = () if options.listener is None else (options.listener,)
        return (*self._settings.listeners, *own)

    def _roles(
        self,
        recorder: "running.Recorder",
        request: str,
        inputs: "Inputs | None",
        options: RunOptions,
    ) -> "AbstractAsyncContextManager[Roles]":
        return running.open_roles(
            self.team,
            recorder,
            request=request,
            planner=self._settings.planner,
            synthesizer=self._settings.synthesizer,
            remedies=self._settings.remedies,
            inputs=inputs,
            account=running.account_of(options.budget, recorder),
            run_context=options.context,
            connections=self._connections,
        )
