"""The runs of one supervisor: starts, resumes and stops them, any number at once."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from leadhand.contracts.answer import Answer
from leadhand.contracts.people import Reply, RunMessage
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import SharedWorkers
from leadhand.errors import (
    InputError,
    JournalError,
    ModelError,
    PlanError,
    RunExists,
    RunTaken,
)
from leadhand.journal.store_journal import MemoryJournal
from leadhand.models.writing import watching
from leadhand.planners.routing import plan_or_default
from leadhand.plans.checks import check, errors_in
from leadhand.plans.nesting import with_inherited_models
from leadhand.plans.planned_workers import with_chosen_tools
from leadhand.run.calls import Calls, Works, answer_so_far, joined_answer, rested_answer
from leadhand.run.connections import SharedConnections
from leadhand.run.context import StepContext, account_of
from leadhand.run.following import runs_before
from leadhand.run.intake import (
    check_known_id,
    check_run_id,
    check_same_run,
    input_paths,
    inputs_of,
    new_run_id,
    planner_request,
    with_models,
)
from leadhand.run.messages import record_interruption, resumed_context, watch_messages
from leadhand.run.people import People
from leadhand.run.questions import messages_of, valid_reply
from leadhand.run.reading import Readers
from leadhand.run.resumption import (
    check_decider,
    check_resumable,
    is_over,
    own_plan_rejected,
    tasks_from,
)
from leadhand.run.roles import open_roles
from leadhand.run.run import Execution
from leadhand.run.service import check_journal, prepare, report
from leadhand.run.settings import HostSettings, NewRun, RunOptions, RunSettings
from leadhand.run.stopping import ActiveRun
from leadhand.run.stored import INBOX_POLL_S, HeldRuns, StoredRun, answer_within

if TYPE_CHECKING:
    from leadhand.run.roles import Roles
    from leadhand.tools.files.inputs import Inputs

STOP_PATIENCE_S = 2.0
"""How long a run that is to stop waits for the journal."""


class RunHost:
    """Does the runs of one supervisor. `Supervisor` says what its methods do."""

    def __init__(self, team: Team, settings: HostSettings) -> None:
        self.team = with_inherited_models(team)
        self.journal = settings.journal
        self._settings = settings
        self.on_finished = settings.on_finished
        self.active: dict[str, ActiveRun] = {}
        """The runs that are under way here, by id."""
        self.held = HeldRuns(settings.journal)
        self.calls = Calls()
        self.readers = Readers(self.journal, self.held, self.calls)
        self._ended: dict[str, Answer] = {}
        """The answers of runs that have ended and are still held."""
        self.works = Works()
        self.clock = settings.clock
        self.listeners = (*settings.listeners, self.readers)
        self.shared_workers = SharedWorkers(
            self.team, lock=threading.RLock(), max_concurrency=settings.max_concurrency
        )
        self.connections = SharedConnections()

    async def ready(self) -> None:
        """Do now what the first run would do, and raise what it would raise; no model is asked."""
        await check_journal(self.journal)
        await self._find_models()
        await prepare(self.team)
        recorder = Recorder("ready", MemoryJournal(), clock=self.clock)
        async with self._roles(recorder, PlanRequest(""), None, self._settings.run):
            await self.connections.keep(self.team)

    async def plan(self, new: NewRun) -> Plan:
        """The plan for a request, checked; no work is done."""
        await self._find_models()
        paths = input_paths(new.inputs)
        given = inputs_of(paths)
        own = (new.listener,) if new.listener else ()
        memory = MemoryJournal()
        recorder = Recorder("plan", memory, clock=self.clock, listeners=own)
        settings = self._settings.run
        after = await runs_before(self.journal, new.after, limit_s=settings.opening_s)
        request = planner_request(new.request or "", given, paths, new.batches, after)
        try:
            async with asyncio.timeout(settings.deadline_s):
                async with self._roles(recorder, request, given, settings) as roles:
                    plan = await plan_or_default(roles.planner, request, self.team)
                    plan = with_chosen_tools(plan, self.team)
        except TimeoutError as error:
            why = f"the planner gave no plan within {settings.deadline_s:g} s"
            raise ModelError(why, transient=True) from error
        found = check(plan, self.team, request=request.text, earlier=request.earlier)
        problems = errors_in(found)
        if problems:
            raise PlanError(problems)
        return plan

    async def start(self, new: NewRun, run_id: str) -> Answer:
        """The answer of a new run, or of one that exists already, if `new` says so."""
        since_s = self.clock.monotonic()
        context = self._settings.contexts.of_new_run(new.context)
        settings = new.settings(self._settings.run)
        async with self.calls.call(run_id):
            await self._find_models()
            paths = input_paths(new.inputs)
            given = inputs_of(paths)
            goal = new.plan.goal if new.plan is not None else ""
            text = new.request if new.request is not None else goal
            request = planner_request(text, given, paths, new.batches)
            settings = replace(
                settings,
                inputs=tuple(str(path.absolute()) for path in paths),
                origin=new.origin or {},
                amend=new.plan is None or new.amend,
                has_context=context is not None,
                fingerprint=new.fingerprint(self.team.name, request),
            )
            while True:
                async with AsyncExitStack() as stack:
                    if await self._is_new(run_id, settings.opening_s, stack):
                        after = await runs_before(
                            self.journal, new.after, limit_s=settings.opening_s
                        )
                        recorder = self._recorder(StoredRun(run_id), new, since_s)
                        return await self._to_answer(
                            recorder,
                            replace(request, after=after),
                            given,
                            settings,
                            context=new.context,
                            plan=new.plan,
                        )
                if new.if_exists == "error":
                    raise RunExists(run_id)
                if events := await self.journal.events(run_id):
                    stored = StoredRun.of(run_id, events)
                    check_same_run(stored.state, self.team.name, text, settings.fingerprint)
                    if new.if_exists == "join":
                        return await self._joined(run_id, new)
                    return answer_so_far(stored)
                # Its first event is still to come, or its process ended before that.
                await asyncio.sleep(INBOX_POLL_S)

    def id_of(self, new: NewRun) -> str:
        """The id of a new run. Raises `InputError` if it can't be started."""
        new.check()
        run_id = new.run_id if new.run_id is not None else new_run_id(self.clock.now())
        check_run_id(run_id)
        return run_id

    async def _is_new(self, run_id: str, limit_s: float | None, stack: AsyncExitStack) -> bool:
        """Whether there is no such run; then it is held until `stack` closes."""
        try:
            hold = self._hold(run_id, limit_s)
            return not await stack.enter_async_context(hold)
        except RunTaken:
            return False

    async def answer(self, run_id: str) -> Answer:
        """The answer of a run once it is over or waits, whoever works on it.

        Raises `RunInterrupted` if no process does.
        """
        check_known_id(run_id)
        async with self.calls.call(run_id):
            return await rested_answer(self.journal, self.held, run_id)

    async def post(self, run_id: str, replies: Sequence[Reply], options: RunOptions | None) -> None:
        """Leave replies to questions of a run in the journal. With `options` it is to be resumed.

        Raises `InputError`, and then none of them is left there.
        """
        check_known_id(run_id)
        if not replies:
            raise InputError("nothing to reply: give a Reply")
        given = [valid_reply(one) for one in replies]
        stored = StoredRun.of(run_id, await self.journal.events(run_id))
        state = stored.state
        resumable = options is not None and not is_over(state)
        if options is not None and resumable and await self.journal.holder(run_id) is None:
            check_resumable(state, run_id, self.team)
            self._settings.contexts.check_resumable(options.context, state)
        for message in messages_of(stored.events, state, given):
            await self.journal.post(message)

    async def join(self, run_id: str, options: RunOptions) -> Answer:
        """The answer of a run once it is finished, or waits with all replies read."""
        async with self.calls.call(run_id):
            return await self._joined(run_id, options)

    async def _joined(self, run_id: str, options: RunOptions) -> Answer:
        async def resume() -> Answer:
            self.calls.check_open(run_id)
            return await self._resume(run_id, options)

        return await joined_answer(
            self.journal, self.held, run_id, resume, on_wait=options.begun.set
        )

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
        async with self.calls.call(run_id):
            return await self._resume(run_id, options, from_task=from_task, stored=stored)

    async def _resume(
        self,
        run_id: str,
        options: RunOptions,
        *,
        from_task: str | None = None,
        stored: StoredRun | None = None,
    ) -> Answer:
        since_s = self.clock.monotonic()
        await self._find_models()
        opening_s = options.settings(self._settings.run).opening_s
        async with self._hold(run_id, opening_s) as last_seq:
            stored = stored or StoredRun(run_id)
            if not stored.events or stored.events[-1].seq != last_seq:
                read = self.journal.events(run_id)
                stored.replace(await answer_within(opening_s, read))
            recorder = self._recorder(stored, options, since_s)
            state = recorder.state
            paths = input_paths(state.inputs)
            given = inputs_of(paths)
            request = planner_request(state.request, given, paths, options.batches, state.after)
            settings = options.settings(self._settings.run.kept(state))
            again = tasks_from(state, from_task) if from_task is not None else ()
            check_resumable(state, run_id, self.team, again)
            if self._settings.planner is None:
                check_decider(state, run_id)
            context = None
            if again or not is_over(state):
                contexts, limit_s = self._settings.contexts, settings.deadline_s
                context = await resumed_context(
                    contexts, options.context, recorder, self.journal, limit_s
                )
            replies = await record_interruption(recorder, self.journal)
            options.begun.set()
            return await self._to_answer(
                recorder,
                request,
                given,
                settings,
                context=context,
                again=again,
                replies=replies,
            )

    @asynccontextmanager
    async def _hold(self, run_id: str, limit_s: float | None) -> AsyncGenerator[int]:
        """Hold a run during the block, and report its end once it is released."""
        async with self.held.hold(run_id, limit_s=limit_s) as last_seq:
            yield last_seq
        if (answer := self._ended.pop(run_id, None)) is not None:
            await report(self.on_finished, answer)

    def post_interruption(self) -> None:
        """Tell the journal that this process ends now, and that no worker has crashed it."""

        async def post() -> None:
            for id in list(self.active):
                await self.journal.post(RunMessage(run_id=id, interrupted=True))

        with suppress(JournalError):
            asyncio.run(post())  # the loop of the runs may be blocked

    async def _find_models(self) -> None:
        self.team = await with_models(self.team)

    async def _to_answer(
        self,
        recorder: Recorder,
        request: PlanRequest,
        given: "Inputs | None",
        settings: RunSettings,
        *,
        context: object,
        plan: Plan | None = None,
        again: tuple[str, ...] = (),
        replies: Sequence[RunMessage] = (),
    ) -> Answer:
        run_id, common = recorder.run_id, self._settings
        active = ActiveRun()
        active.on_stop.append(lambda _: recorder.limit_commits(STOP_PATIENCE_S))
        self.active[run_id] = active
        people = People.of(recorder, self.journal, occasions=common.occasions, ask=common.person)
        try:
            await people.take_replies(replies)
            with watching(lambda _: self.readers.text_listener(run_id)):
                async with (
                    watch_messages(self.journal, run_id, active, people),
                    self._roles(recorder, request, given, settings, context) as roles,
                ):
                    begun = StepContext.of(
                        self.team,
                        recorder,
                        roles,
                        active=active,
                        deadline_s=settings.deadline_s,
                        concurrency=common.concurrency,
                        shared_workers=self.shared_workers,
                        people=people,
                    )
                    run = Execution(begun, settings)
                    before = recorder.state.answer
                    answer = await run.to_answer(request, plan, again=again)
                    if answer.status != "waiting" and answer is not before:
                        self._ended[run_id] = answer
                    return people.given(answer)
        finally:
            del self.active[run_id]

    def _recorder(self, stored: StoredRun, options: RunOptions, since_s: float) -> Recorder:
        """The recorder of a run, which is resumed if it has events; its call came at `since_s`."""

        def committed() -> None:
            if not own_plan_rejected(stored.state):
                options.begun.set()

        own = () if options.listener is None else (options.listener,)
        return Recorder(
            stored.run_id,
            self.journal,
            clock=self.clock,
            listeners=(*self.listeners, *own),
            past=stored.events,
            state=stored.state,
            since_s=since_s,
            # A resumed run begins later: its context may be lost.
            on_commit=None if stored.events else committed,
        )

    def _roles(
        self,
        recorder: Recorder,
        request: PlanRequest,
        inputs: "Inputs | None",
        settings: RunSettings,
        context: object = None,
    ) -> "AbstractAsyncContextManager[Roles]":
        return open_roles(
            self.team,
            recorder,
            request=request.text,
            after=request.after,
            planner=self._settings.planner,
            synthesizer=self._settings.synthesizer,
            remedies=self._settings.remedies,
            inputs=inputs,
            account=account_of(settings.budget, recorder),
            run_context=context,
            connections=self.connections,
            deadline_s=settings.deadline_s,
        )
