"""The runs of one supervisor: starts, resumes and stops them, any number at once."""

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leadhand.contracts.answer import Answer
from leadhand.contracts.people import Occasion, RunMessage
from leadhand.contracts.role import code_name
from leadhand.contracts.task import EarlierRun, Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Listener, Recorder
from leadhand.engine.shared_workers import SharedWorkers, Slots
from leadhand.errors import InputError, RunExists, RunInterrupted, RunTaken
from leadhand.journal.codec import Redact
from leadhand.models.choice import is_auto
from leadhand.models.ledger import Account, Ledger
from leadhand.models.writing import watching
from leadhand.plans.nesting import with_inherited_models
from leadhand.ports import Clock, Journal
from leadhand.run.admission import admitted, until_turn
from leadhand.run.connections import SharedConnections, with_found_models
from leadhand.run.people import Ask, People
from leadhand.run.questions import unread_replies
from leadhand.run.queue import RunQueue
from leadhand.run.reading import Readers
from leadhand.run.restoring import ContextRules
from leadhand.run.roles import OwnRoles, Roles, open_roles
from leadhand.run.run import Execution
from leadhand.run.settings import OnFinished, RunOptions, RunSettings, request_of
from leadhand.run.step_context import ActiveRun, StepContext, record_interruption, watch_messages
from leadhand.run.stored import (
    StoredRun,
    bounded_runs,
    check_decider,
    check_known_id,
    check_resumable,
    check_run_id,
    check_same_run,
    earlier_runs,
    is_over,
    own_plan_rejected,
    tasks_from,
)
from leadhand.run.waiting import (
    INBOX_POLL_S,
    Callers,
    HeldRuns,
    answer_within,
    new_run_id,
)

if TYPE_CHECKING:
    from leadhand.tools.files.inputs import Inputs

STOP_PATIENCE_S = 2.0

_log = logging.getLogger("leadhand")


@dataclass(kw_only=True, eq=False)
class RunHost:
    """Runs the requests of one supervisor; `Supervisor.__init__` explains the fields."""

    team: Team
    journal: Journal
    clock: Clock
    settings: RunSettings
    """Of new runs for which no others are given."""
    concurrency: int
    max_concurrency: int | None = None
    queue: RunQueue | None = None
    contexts: ContextRules
    occasions: tuple[Occasion, ...] = ()
    person: Ask | None = None
    on_finished: OnFinished | None = None
    own: OwnRoles = field(default_factory=OwnRoles)
    redact: Redact = str
    listeners: tuple[Listener, ...] = ()
    active: dict[str, ActiveRun] = field(init=False, default_factory=dict[str, ActiveRun])
    """The runs that are under way here, by id."""
    callers: Callers = field(init=False, default_factory=Callers)
    connections: SharedConnections = field(init=False)

    def __post_init__(self) -> None:
        self.team = with_inherited_models(self.team)
        store: object = getattr(self.journal, "store", None)
        self.connections = SharedConnections(getattr(store, "folder", None))
        self.held = HeldRuns(self.journal)
        self.readers = Readers(self.journal, self.held, self.callers, redact=self.redact)
        self.listeners = (*self.listeners, self.readers)
        self.shared_workers = SharedWorkers(
            self.team, lock=threading.RLock(), max_concurrency=self.max_concurrency
        )
        self._has_models = not is_auto(self.team)

    async def start(self, new: RunOptions, run_id: str) -> Answer:
        """The answer of a new run, or of one that exists already, if `new` says so."""
        since_s = self.clock.monotonic()
        if self.contexts.type is not None:
            self.contexts.check_new(new.context)
        await self.find_models()
        goal = new.plan.goal if new.plan is not None else ""
        text = new.request if new.request is not None else goal
        request, inputs = request_of(text, new.inputs, new.batches)
        fingerprint = new.fingerprint(self.team.name, request)
        settings = replace(new.settings(self.settings), fingerprint=fingerprint)
        while True:
            answer: Answer | None = None
            async with AsyncExitStack() as stack:
                if await self._is_new(run_id, settings.opening_s, stack):
                    recorder = self._recorder(StoredRun(run_id), new, since_s)
                    parts = (stack, self.journal, recorder, settings)
                    settings = await admitted(*parts, team=self.team, queue=self.queue)
                    if settings.uploaded:
                        files = (*new.inputs, *settings.uploaded)
                        request, inputs = request_of(text, files, new.batches)
                    if new.after is not None or new.earlier:
                        before = await self.runs_before(new, settings)
                        request = replace(request, after=before)
                    parts = (stack, recorder, request, inputs, settings)
                    answer = await self._to_answer(*parts, context=new.context, plan=new.plan)
            if answer is not None:
                return await self.reported(answer)
            if new.if_exists == "error":
                raise RunExists(run_id)
            if events := await self.journal.events(run_id):
                state = StoredRun.of(run_id, events).state
                check_same_run(state, self.team.name, text, fingerprint)
                if new.if_exists == "join":
                    return await self.join(run_id, new)
                if answer := state.answer or state.waiting:
                    return answer
                raise RunExists(run_id, "it has no answer yet")
            # Its first event is still to come, or its process ended before that.
            await asyncio.sleep(INBOX_POLL_S)

    def id_of(self, new: RunOptions) -> str:
        """The id of a new run. Raises `InputError` if it can't be started."""
        if new.request is None and new.plan is None:
            raise InputError("nothing to run: give a request or a plan")
        if new.run_id is None:
            return new_run_id(self.clock.now())
        check_run_id(new.run_id)
        return new.run_id

    async def _is_new(self, run_id: str, limit_s: float | None, stack: AsyncExitStack) -> bool:
        """Whether there is no such run. If so, it is held until `stack` closes."""
        try:
            hold = self.held.hold(run_id, limit_s=limit_s)
            return not await stack.enter_async_context(hold)
        except RunTaken:
            return False

    async def runs_before(self, new: RunOptions, settings: RunSettings) -> tuple[EarlierRun, ...]:
        """The run that a new one follows and those before it, the latest first. Raises `InputError`
        if there is none, or it has no answer yet."""
        if new.after is None:
            return bounded_runs(new.earlier)
        check_known_id(new.after)
        events = await answer_within(settings.opening_s, self.journal.events(new.after))
        before = earlier_runs(StoredRun.of(new.after, events).state)
        return bounded_runs((*before, *new.earlier))

    async def answer(self, run_id: str) -> Answer:
        """The answer of a run that is over or waits. Raises `RunInterrupted` for an idle one."""
        check_known_id(run_id)
        async with self.callers.waiting(run_id):
            await self.held.until_released(run_id)
            state = StoredRun.of(run_id, await self.journal.events(run_id)).state
            if (answer := state.answer or state.waiting) is None:
                raise RunInterrupted(run_id, "no process works on it; resume it")
            return answer

    async def join(self, run_id: str, options: RunOptions) -> Answer:
        """The answer of a run once it is finished, or waits with all replies read.

        It is resumed if no process does it and something is to do.
        """
        tried: set[int] = set()
        while True:
            await self.held.until_released(run_id, on_wait=options.under_way.set)
            state = StoredRun.of(run_id, await self.journal.events(run_id)).state
            if state.answer is not None:
                return state.answer
            messages = await self.journal.messages(run_id)
            unread = {message.id for message in unread_replies(state, messages)}
            if state.waiting is not None and unread <= tried:
                return state.waiting
            tried |= unread
            self.callers.check_open(run_id)
            try:
                answer = await self.resume(run_id, options)
            except RunTaken:
                continue  # another caller was faster
            if answer.status != "waiting":
                return answer

    async def resume(
        self,
        run_id: str,
        options: RunOptions,
        *,
        from_task: str | None = None,
        stored: StoredRun | None = None,
    ) -> Answer:
        """The answer of a run that was stopped, lost with its process, or waits for a person."""
        check_known_id(run_id)
        since_s = self.clock.monotonic()
        await self.find_models()
        opening_s = options.settings(self.settings).opening_s
        hold = self.held.hold(run_id, limit_s=opening_s)
        async with hold as last_seq, AsyncExitStack() as stack:
            stored = stored or StoredRun(run_id)
            if not stored.events or stored.events[-1].seq != last_seq:
                read = self.journal.events(run_id)
                stored.replace(await answer_within(opening_s, read))
            recorder = self._recorder(stored, options, since_s)
            state = recorder.state
            settings = options.settings(self.settings.kept(state))
            again = tasks_from(state, from_task) if from_task is not None else ()
            check_resumable(state, run_id, self.team, again)
            if self.own.planner is None:
                check_decider(state, run_id, code_name(self.team.planner))
            context = None
            if again or not is_over(state):
                context = await self.contexts.of_resumed_run(
                    options.context, recorder, self.journal, limit_s=settings.deadline_s
                )
            over = is_over(state) and not again
            parts = (stack, self.journal, recorder, settings)
            settings = await admitted(*parts, team=self.team, queue=self.queue, over=over)
            files = (*state.inputs, *settings.uploaded)
            request, inputs = request_of(state.request, files, options.batches, state.after)
            replies = await record_interruption(recorder, self.journal)
            options.under_way.set()
            before = state.answer
            parts = (stack, recorder, request, inputs, settings)
            answer = await self._to_answer(*parts, context=context, again=again, replies=replies)
        return answer if answer is before else await self.reported(answer)

    async def reported(self, answer: Answer) -> Answer:
        """The answer of a run that is released, after `on_finished` if the run has ended."""
        if self.on_finished is not None and answer.status != "waiting":
            try:
                done = self.on_finished(answer)
                if inspect.isawaitable(done):
                    await done
            except Exception:
                _log.exception("run %s: on_finished failed", answer.run_id)
        return answer

    async def find_models(self) -> None:
        """Have models in place of `auto`. Raises `InputError`, `TeamError`."""
        if not self._has_models:
            self.team, self._has_models = await with_found_models(self.team), True

    async def _to_answer(
        self,
        stack: AsyncExitStack,
        recorder: Recorder,
        request: PlanRequest,
        inputs: "Inputs | None",
        settings: RunSettings,
        *,
        context: object,
        plan: Plan | None = None,
        again: tuple[str, ...] = (),
        replies: Sequence[RunMessage] = (),
    ) -> Answer:
        run_id, turn = recorder.run_id, settings.turn
        asks = self.occasions if settings.approve is None else settings.approve
        people = People(recorder, self.journal, team=self.team, occasions=asks, ask=self.person)
        stack.enter_context(watching(lambda _: self.readers.text_listener(run_id)))
        active = self.active[run_id] = ActiveRun()
        stack.callback(self.active.pop, run_id)
        active.on_stop.append(lambda _: recorder.limit_commits(STOP_PATIENCE_S))
        if recorder.past:  # also of a question that has expired meanwhile
            await people.take_replies(replies)
        await stack.enter_async_context(watch_messages(self.journal, run_id, active, people))
        if turn is not None and not turn.is_set():
            await until_turn(turn, recorder, request, settings, self.team, active, plan)
            plan = None  # stored, as that of any resumed run
        roles = self.roles(recorder, request, settings, inputs, context)
        step = StepContext(
            team=self.team,
            recorder=recorder,
            roles=await stack.enter_async_context(roles),
            active=active,
            people=people,
            settings=settings,
            concurrency=self.concurrency,
            shared_workers=self.shared_workers,
            slots=Slots(self.concurrency),
        )
        answer = await Execution(step).to_answer(request, plan, again=again)
        if answer.status == "waiting" and people.unfit is not None:
            raise people.unfit
        return answer

    def _recorder(self, stored: StoredRun, options: RunOptions, since_s: float) -> Recorder:
        """The recorder of a run, which is resumed if it has events; its call came at `since_s`."""

        def committed() -> None:
            if not own_plan_rejected(stored.state):
                options.under_way.set()

        on_commit: Callable[[], object] | None = None
        if not stored.events:  # a resumed run begins later: its context may be lost
            on_commit = options.under_way.set if options.plan is None else committed
        own = () if options.listener is None else (options.listener,)
        return Recorder(
            stored.run_id,
            self.journal,
            clock=self.clock,
            listeners=(*self.listeners, *own),
            past=stored.events,
            state=stored.state,
            since_s=since_s,
            on_commit=on_commit,
        )

    def roles(
        self,
        recorder: Recorder,
        request: PlanRequest,
        settings: RunSettings | None = None,
        inputs: "Inputs | None" = None,
        context: object = None,
    ) -> AbstractAsyncContextManager[Roles]:
        """Work that is no run has the budget of one."""
        if settings is None:
            budget = self.settings.budget
            account = None if budget is None else Account(Ledger(budget))
            settings = replace(self.settings, account=account)
        return open_roles(
            self.team,
            recorder,
            request,
            settings,
            own=self.own,
            connections=self.connections,
            inputs=inputs,
            run_context=context,
        )
