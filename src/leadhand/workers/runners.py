"""The runners of a run, by worker, with the threads and processes that they share."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, cast

from leadhand.contracts.ladder import JITTER_SHARE, Retry
from leadhand.contracts.outcome import Failed, Handoff
from leadhand.contracts.team import Team, Worker
from leadhand.contracts.worker import ForeignAgent
from leadhand.engine.failures import class_name
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import Slots
from leadhand.errors import InputError, LeadhandError
from leadhand.models.ledger import Account
from leadhand.plans.nesting import all_teams
from leadhand.plans.payloads import DeclaredType
from leadhand.ports import Runner, TeamRunner
from leadhand.threads import DaemonThreads
from leadhand.untrusted.fence import Fence
from leadhand.workers import wrappers
from leadhand.workers.context_data import ContextData
from leadhand.workers.foreign import function_of
from leadhand.workers.function import Function, FunctionWorker
from leadhand.workers.nested import NestedWorker
from leadhand.workers.offline import OfflineFallback, OfflineSwitch
from leadhand.workers.open_toolsets import OpenToolsets, RunToolsets, ToolsNotStarted
from leadhand.workers.processes import ProcessPool, ProcessWorker

if TYPE_CHECKING:
    from leadhand.models.calls import Caller
    from leadhand.workers.loop import ModelWorker

CLOSING_S = 0.1
"""How long threads, processes and tools have to end when there is no time left."""
MAX_CLOSING_S = 5.0

_log = logging.getLogger("leadhand")

MakeTool = Callable[[str], object | None]
"""Makes the ready-made tool of a name, None if it is switched off. Raises `InputError`."""


class Runners:
    def __init__(
        self,
        team: Team,
        *,
        recorder: Recorder,
        account: Account | None = None,
        caller: "Caller | None" = None,
        fence: Fence | None = None,
        make_tool: MakeTool | None = None,
        toolsets: OpenToolsets | None = None,
        outer_task: Handoff | None = None,
        inputs: Callable[[], tuple[str, ...]] = tuple,
        unread: Callable[[], tuple[str, ...]] = tuple,
        offline_switch: OfflineSwitch | None = None,
    ) -> None:
        """Calls of other frameworks' agents go to `recorder` and `account`. A team with models
        needs `caller` and `fence`. `make_tool` makes the tools that workers name; `toolsets` are
        shared with other runs. `outer_task` is what a nested team does. `unread` gives the
        inputs that tools could not read. Raises `InputError` for a worker that can't be run."""
        self._team = team
        self._processes = processor_count()
        self._threads = DaemonThreads()
        self._pool: ProcessPool | None = None
        self._shared_toolsets = toolsets
        self._toolsets: RunToolsets | None = None
        self._caller = caller
        self._fence = fence or Fence("none")
        self._make_tool = make_tool
        self._outer_task = outer_task
        self._inputs = inputs
        self._unread = unread
        self._offline_switch = offline_switch or OfflineSwitch()
        self.runners: dict[str, Runner] = {}
        self.slots: dict[str, tuple[Slots, ...]] = {}
        """By worker name: what its tasks take besides the run's own slot, such as a process."""
        shared = (Slots(self._processes),)
        for worker in team.workers:
            work = own_code(worker, team)
            if isinstance(work, ForeignAgent):
                work = function_of(work.agent, self._fence, recorder, account)
            if worker.team is not None:
                continue
            if callable(work) and worker.isolate == "process":
                self._pool = self._pool or ProcessPool(self._processes)
                self.runners[worker.name] = _in_process(worker, work, self._pool)
                self.slots[worker.name] = shared
            elif callable(work):
                self.runners[worker.name] = self._by_code(worker, cast("Function", work))
            if callable(worker.run) and worker.min_confidence is not None:
                runner = self.runners[worker.name]
                self.runners[worker.name] = wrappers.WithMinConfidence(
                    runner, worker.min_confidence
                )

    @property
    def abandoned(self) -> tuple[Handoff, ...]:
        """The tasks that sync workers still work on though their attempts have ended."""
        given = [call.argument for call in self._threads.abandoned]
        return tuple(cast("Handoff", one) for one in given if isinstance(one, Handoff))

    @asynccontextmanager
    async def opened(self, teams: TeamRunner, *, until_s: float | None) -> AsyncGenerator[None]:
        """The runners, during the block; `teams` runs those that are teams.

        Raises `TimeoutError` if the tools are not ready at the event loop's time `until_s`. Closing
        takes until then, or `CLOSING_S` after it.
        """
        try:
            async with asyncio.timeout_at(until_s):
                await self._start(teams)
            yield
        finally:
            left_s = MAX_CLOSING_S
            if until_s is not None:
                left_s = min(left_s, until_s - asyncio.get_running_loop().time())
            with suppress(TimeoutError):
                async with asyncio.timeout(max(left_s, CLOSING_S)):
                    await self._close()

    async def _start(self, teams: TeamRunner) -> None:
        if self._pool is not None:
            await self._pool.warm(self._processes)
        for worker in self._team.all_workers:
            if worker.team is not None:
                self.runners[worker.name] = NestedWorker(worker, worker.team, teams)
        for worker in self._team.workers:
            if worker.name not in self.runners:
                self.runners[worker.name] = self._runner(worker)
        if self._outer_task is not None:
            for name, runner in self.runners.items():
                self.runners[name] = wrappers.WithOuterContext(runner, self._outer_task)

    async def _close(self) -> None:
        self._threads.close()
        if self._toolsets is not None:
            await self._toolsets.close()
        if self._pool is not None:
            await self._pool.close()

    def _by_code(self, worker: Worker, work: Function) -> Runner:
        output = worker.output if worker.draft is None else None  # what its model adds
        runner = FunctionWorker(
            work, threads=self._threads, output=output, retry_on=_retry_on(worker)
        )
        form = DeclaredType(worker.input) if worker.input is not None else None
        typed = runner
        if form is not None and form.is_type:
            typed = wrappers.WithTypedPayload(runner, form)
        return typed if worker.run is not None else wrappers.WithInputs(typed, self._inputs)

    def _runner(self, worker: Worker) -> Runner:
        """The worker with its tools; if these can't be used, a runner that fails and says why."""
        if self._caller is None:
            why = self._offline_switch.why or "there is no model"
            if worker.draft is not None:
                return self._with_draft(worker, worker.draft)
            return self._or_by_code(worker, wrappers.NotStarted(Failed(kind="error", message=why)))
        try:
            return self._with_model(worker, self._caller)
        except LeadhandError:
            raise
        except Exception as error:
            _log.debug("the tools of worker %r can't be used", worker.name, exc_info=error)
            return wrappers.NotStarted(ToolsNotStarted(worker.name, error).failure)

    def _with_model(self, worker: Worker, caller: "Caller") -> Runner:
        # These imports take seconds; a run without a model never gets here.
        from leadhand.workers.agent import AgentWorker, as_agent

        self._toolsets = toolsets = self._toolsets or RunToolsets(self._shared_toolsets)
        if worker.run is not None:
            return AgentWorker(
                as_agent(worker),
                caller,
                self._fence,
                toolsets=toolsets,
                deps=worker.deps,
                retry_on=_retry_on(worker),
                max_calls=worker.max_tool_calls,
            )
        return self._or_by_code(worker, self._by_model(worker, caller, toolsets))

    def _or_by_code(self, worker: Worker, by_model: Runner) -> Runner:
        if worker.offline is None or worker.isolate == "process" or worker.draft is not None:
            return by_model
        longest_s = max(self._team.retry.backoff_s, default=0.0) * (1 + JITTER_SHARE)
        by_code = self._by_code(worker, worker.offline)
        return OfflineFallback(
            by_model,
            by_code,
            self._offline_switch,
            patience_s=longest_s,
            offline_s=worker.offline_s,
        )

    def _by_model(self, worker: Worker, caller: "Caller", toolsets: RunToolsets) -> Runner:
        from leadhand.workers.loop import ModelWorker
        from leadhand.workers.toolsets import toolset_of

        made = [self._tool(tool) for tool in worker.tools]
        toolset = toolset_of([tool for tool in made if tool is not None], self._threads)
        by_model = ModelWorker(
            worker,
            self._team.tiers,
            toolset=toolset,
            toolsets=toolsets,
            caller=caller,
            fence=self._fence,
        )
        runner: Runner = by_model
        if worker.draft is not None:
            runner = self._with_draft(worker, worker.draft, by_model)
        return wrappers.WithUnreadInputs(runner, self._unread) if worker.tools else runner

    def _with_draft(
        self, worker: Worker, draft: Function, by_model: "ModelWorker | None" = None
    ) -> Runner:
        from leadhand.workers.drafts import WithDraft  # most workers have none

        return WithDraft(by_model, self._by_code(worker, draft), self._offline_switch)

    def _tool(self, tool: object) -> object | None:
        return self._make_tool(tool) if isinstance(tool, str) and self._make_tool else tool


def _retry_on(worker: Worker) -> frozenset[str] | None:
    """The names of the transient exceptions, if the worker lists them."""
    if not isinstance(worker.retry, Retry) or worker.retry.on is None:
        return None
    return frozenset(map(class_name, worker.retry.on))


def own_code(worker: Worker, team: Team) -> object | None:
    """The function or agent that does a worker's work; None if a model does it."""
    if worker.run is not None:
        return worker.run
    has_model = worker.model is not None or bool(team.tiers)
    return None if has_model else worker.offline


def check_context(team: Team, context: object) -> None:
    """Raises `InputError` naming a worker whose process a run's context can't be sent to."""
    if context is None:
        return
    for one in all_teams(team):
        for worker in one.workers:
            if worker.isolate == "process" and callable(own_code(worker, one)):
                try:
                    ContextData.of(context)
                except InputError as error:
                    raise InputError(
                        f"the run's context can't be sent to the process of worker "
                        f"{worker.name!r}: {error}; make it a pydantic model or a dataclass of "
                        'plain data, or leave out `isolate="process"`'
                    ) from None


def needs_model(team: Team) -> bool:
    """Whether any role or worker of the team may call a model."""
    roles = [role.model for role in team.roles.values()]
    return bool(team.tiers or any(roles)) or any(
        worker.model is not None
        or (worker.run is not None and not callable(worker.run))
        or (worker.team is not None and needs_model(worker.team))
        for worker in team.workers
    )


def processor_count() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _in_process(worker: Worker, work: Callable[..., object], pool: ProcessPool) -> ProcessWorker:
    on = worker.retry.on if isinstance(worker.retry, Retry) else None
    output = None if isinstance(worker.output, Mapping) else worker.output
    return ProcessWorker(work, pool, output=output, retry_on=on)
