"""The staff of a run: a runner for each worker of a team, and what they share while it goes on."""

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, cast

from leadhand.contracts.outcome import Failed, Handoff
from leadhand.contracts.retry import Retry
from leadhand.contracts.team import Team, Worker
from leadhand.engine.attempts import Slots
from leadhand.engine.failures import class_name, failure_of
from leadhand.errors import LeadhandError
from leadhand.plans.payloads import PayloadForm
from leadhand.policies.rungs import JITTER
from leadhand.ports import Runner, TeamRunner
from leadhand.untrusted.fence import Fence
from leadhand.workers.confidence import WithConfidence
from leadhand.workers.function import Function, FunctionWorker
from leadhand.workers.nested import Informed, NestedWorker
from leadhand.workers.offline import (
    OfflineFallback,
    OfflineSwitch,
    Unready,
    WithInputs,
    WithPayload,
)
from leadhand.workers.processes import ProcessPool, ProcessWorker
from leadhand.workers.threads import DaemonThreads
from leadhand.workers.unread import WithUnread

if TYPE_CHECKING:
    from leadhand.models import Caller

_log = logging.getLogger("leadhand")

ToolMaker = Callable[[str], object | None]
"""Gives the ready-made tool of a name, none where it is switched off. Raises `InputError`."""


class Runners:
    """Runners by worker name. Threads, processes and tools end with the `async with` block."""

    def __init__(
        self,
        team: Team,
        *,
        processes: int | None = None,
        caller: "Caller | None" = None,
        fence: Fence | None = None,
        make_tool: ToolMaker | None = None,
        given: Handoff | None = None,
        inputs: Callable[[], tuple[str, ...]] = tuple,
        unread: Callable[[], tuple[str, ...]] = tuple,
        offline_switch: OfflineSwitch | None = None,
    ) -> None:
        """`processes` is how many worker processes there may be; by default one a processor.

        `caller` and `fence` are there where the team has models; `make_tool` makes tools that are
        given by name; `given` is the task of the run around a nested one, which its workers are
        shown. `inputs` gives what was handed in with the request, `unread` what of it the tools
        could not read, and `offline_switch` says whether models are available. Raises `InputError`
        for a worker that can't be run.
        """
        self._team = team
        self._processes = processes or processors()
        self._threads = DaemonThreads()
        self._pool: ProcessPool | None = None
        self._stack = AsyncExitStack()
        self._caller = caller
        self._fence = fence or Fence("none")
        self._make_tool = make_tool
        self._given = given
        self._inputs = inputs
        self._unread = unread
        self._offline_switch = offline_switch or OfflineSwitch()
        self.teams: TeamRunner | None = None
        """Runs the teams that are workers; set before the block is entered, where there are any."""
        self.runners: dict[str, Runner] = {}
        self.slots: dict[str, tuple[Slots, ...]] = {}
        """What a task of a worker takes besides the run's own slot: a process, if it needs one."""
        shared = (Slots(self._processes),)
        for worker in team.workers:
            work = work_of(worker, team)
            if worker.team is not None:
                continue
            if callable(work) and worker.isolate == "process":
                self._pool = self._pool or ProcessPool(self._processes)
                on = worker.retry.on if isinstance(worker.retry, Retry) else None
                output = None if isinstance(worker.output, Mapping) else worker.output
                self.runners[worker.name] = ProcessWorker(
                    work, self._pool, output=output, retry_on=on
                )
                self.slots[worker.name] = shared
            elif callable(work):
                self.runners[worker.name] = self._by_code(worker, cast("Function", work))
            if callable(worker.run) and worker.min_confidence is not None:
                runner = self.runners[worker.name]
                self.runners[worker.name] = WithConfidence(runner, worker.min_confidence)

    @property
    def abandoned(self) -> tuple[Handoff, ...]:
        """What sync workers still work on though nobody waits for it."""
        calls = self._threads.abandoned
        return tuple(call.argument for call in calls if isinstance(call.argument, Handoff))

    async def __aenter__(self) -> "Runners":
        if self._pool is not None:
            await self._pool.warm(self._processes)
        for worker in self._team.workers:
            if worker.team is not None and self.teams is not None:
                self.runners[worker.name] = NestedWorker(worker, worker.team, self.teams)
        if self._caller is not None:
            for worker in self._team.workers:
                if worker.name not in self.runners:
                    self.runners[worker.name] = await self._started(worker, self._caller)
        if self._given is not None:
            for name, runner in self.runners.items():
                self.runners[name] = Informed(runner, self._given)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.close()
        await self._stack.aclose()
        if self._pool is not None:
            await self._pool.close()

    def _by_code(self, worker: Worker, work: Function) -> Runner:
        runner = FunctionWorker(
            work, threads=self._threads, output=worker.output, retry_on=_retry_on(worker)
        )
        form = PayloadForm(worker.input) if worker.input is not None else None
        typed = WithPayload(runner, form) if form is not None and form.is_type else runner
        return typed if worker.run is not None else WithInputs(typed, self._inputs)

    async def _started(self, worker: Worker, caller: "Caller") -> Runner:
        """The worker with its tools; if they can't be started, one whose tasks fail and say so."""
        try:
            return await self._with_model(worker, caller)
        except LeadhandError:
            raise
        except Exception as error:
            _log.debug("the tools of worker %r did not start", worker.name, exc_info=error)
            why = f"the tools of worker {worker.name!r} did not start: {failure_of(error).message}"
            return Unready(Failed(kind="tool_error", message=why))

    async def _with_model(self, worker: Worker, caller: "Caller") -> Runner:
        # What these import weighs seconds; a run without a model never gets here.
        from leadhand.workers.agent import AgentWorker, as_agent

        if worker.run is not None:
            return AgentWorker(
                as_agent(worker),
                caller,
                self._fence,
                retry_on=_retry_on(worker),
                max_calls=worker.max_tool_calls,
            )
        by_model = await self._by_model(worker, caller)
        if worker.offline is None or worker.isolate == "process":
            return by_model
        longest_s = max(self._team.retry.backoff_s, default=0.0) * (1 + JITTER)
        by_code = self._by_code(worker, worker.offline)
        return OfflineFallback(
            by_model,
            by_code,
            self._offline_switch,
            patience_s=longest_s,
            offline_s=worker.offline_s,
        )

    async def _by_model(self, worker: Worker, caller: "Caller") -> Runner:
        from leadhand.workers.loop import ModelWorker
        from leadhand.workers.toolsets import toolset_of

        made = [self._tool(tool) for tool in worker.tools]
        toolset = toolset_of([tool for tool in made if tool is not None], self._threads)
        by_model = ModelWorker(
            worker,
            self._team.tiers,
            toolset=await self._stack.enter_async_context(toolset),
            caller=caller,
            fence=self._fence,
        )
        return WithUnread(by_model, self._unread) if worker.tools else by_model

    def _tool(self, tool: object) -> object | None:
        return self._make_tool(tool) if isinstance(tool, str) and self._make_tool else tool


def _retry_on(worker: Worker) -> frozenset[str] | None:
    """The names of the exceptions that are transient, if the worker lists them."""
    if not isinstance(worker.retry, Retry) or worker.retry.on is None:
        return None
    return frozenset(map(class_name, worker.retry.on))


def work_of(worker: Worker, team: Team) -> object | None:
    """The function or agent that does a worker's work; none where a model does it."""
    if worker.run is not None:
        return worker.run
    has_model = worker.model is not None or bool(team.tiers)
    return None if has_model else worker.offline


def needs_model(team: Team) -> bool:
    """Whether anyone in the team may call a model."""
    roles = [role.model for role in team.roles.values()]
    return bool(team.tiers or any(roles)) or any(
        worker.model is not None
        or (worker.run is not None and not callable(worker.run))
        or (worker.team is not None and needs_model(worker.team))
        for worker in team.workers
    )


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
