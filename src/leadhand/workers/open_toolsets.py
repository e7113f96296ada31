"""The toolsets of workers, open from their first use to the run's end. Each has a task of its
own, so that a cancelled attempt waits for none."""

import asyncio
import gc
import logging
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Protocol, cast

from leadhand.contracts.outcome import Failed
from leadhand.engine.failures import failure_of

PING_S = 1.0
"""How long a server that is not known to work on something may take to answer a ping."""
_CONNECTION_CLOSED = -32000
"""The code of MCP for a request whose connection is closed."""

_TURNS = 100
"""Turns of the event loop in which calls end whose connection was closed."""

_LOOKS, _LOOK_S = 100, 0.01
"""How often, and after how long, it is asked whether a process that was killed has ended."""

_ending: set[asyncio.Task[None]] = set()
"""Toolsets that are closing after their run has ended."""
_log = logging.getLogger("leadhand")


class OpensOnce(AbstractAsyncContextManager[object], Protocol):
    """A toolset of pydantic-ai, whose import takes seconds."""

    def apply(self, visitor: Callable[..., None], /) -> None:
        """Call `visitor` with each toolset within."""


class _Client(Protocol):
    def is_connected(self) -> bool: ...
    async def ping(self) -> bool: ...
    async def close(self) -> None: ...


class _Server(OpensOnce, Protocol):
    client: _Client

    @property
    def is_running(self) -> bool: ...


class ToolsNotStarted(Exception):
    def __init__(self, worker: str, error: BaseException) -> None:
        cause = failure_of(error)
        why = f"the tools of worker {worker!r} did not start: {cause.message}"
        self.failure = Failed(kind="tool_error", message=why, transient=cause.transient)
        super().__init__(why)


class OpenToolsets:
    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}
        self.kept = False

    async def open(self, toolset: OpensOnce, user: object) -> "_Held":
        """Open it for `user`, again if it no longer answers."""
        held = self._held.get(id(toolset))
        while held is not None and held.is_open and not await held.answers():
            if self._held.get(id(toolset)) is held:
                held.end(force=True)
            held = self._held.get(id(toolset))
        if held is None or held.has_ended:
            held = self._held[id(toolset)] = _Held(toolset, held)
        held.users.add(user)
        await held.wait()
        return held

    async def release(self, user: object = None) -> None:
        """Close what `user` was the last one to use."""
        for held in self._held.values():
            held.users.discard(user)
        if self.kept:
            return
        unused = {key: held for key, held in self._held.items() if not held.users}
        for key, held in unused.items():
            held.end()
            _ending.add(held.task)
            held.task.add_done_callback(_ending.discard)
            del self._held[key]
        if unused:
            await asyncio.wait([held.task for held in unused.values()])


class RunToolsets:
    def __init__(self, shared: OpenToolsets | None = None) -> None:
        self._shared = shared or OpenToolsets()

    @asynccontextmanager
    async def use(self, toolsets: Sequence[OpensOnce], worker: str) -> AsyncGenerator[None]:
        """Open them side by side for an attempt. Raises `ToolsNotStarted`."""
        try:
            async with asyncio.TaskGroup() as group:
                opening = [group.create_task(self._shared.open(one, self)) for one in toolsets]
        except ExceptionGroup as error:
            raise ToolsNotStarted(worker, error.exceptions[0]) from error
        held = [one.result() for one in opening]
        for one in held:
            one.attempts += 1
        try:
            yield
        except asyncio.CancelledError:
            for one in held:
                one.may_hang = True
            raise
        finally:
            for one in held:
                one.attempts -= 1

    async def close(self) -> None:
        await self._shared.release(self)


class _Held:
    def __init__(self, toolset: OpensOnce, before: "_Held | None") -> None:
        """`before` held it until now, and ends first."""
        self._toolset = toolset
        self._ready, self._stop = asyncio.Event(), asyncio.Event()
        self._error: BaseException | None = None
        self._waiting = 0
        self._is_forced = False
        self.users: set[object] = set() if before is None else before.users
        self.attempts = 0
        self.may_hang = False
        """Whether an attempt that used it was cancelled."""
        self.task = asyncio.create_task(self._hold(before))

    @property
    def has_ended(self) -> bool:
        return self._stop.is_set() or self._error is not None

    @property
    def is_open(self) -> bool:
        return self._ready.is_set() and not self.has_ended

    def end(self, *, force: bool = False) -> None:
        """Close it; with `force` even if another supervisor has it open."""
        self._is_forced = force
        self._stop.set()
        if not self._ready.is_set():
            self.task.cancel()

    async def wait(self) -> None:
        """Wait until it is open. The last caller that stops waiting before ends it."""
        self._waiting += 1
        try:
            await self._ready.wait()
        finally:
            self._waiting -= 1
            if not self._waiting and not self._ready.is_set():
                self.end()
        if self._error is not None:
            raise self._error

    async def answers(self) -> bool:
        """Whether its servers answer, or are busy with the tasks of others."""
        for server in servers_in(self._toolset):
            try:
                async with asyncio.timeout(PING_S):
                    if server.is_running:
                        await server.client.ping()
            except TimeoutError:
                if self.may_hang or not self.attempts:
                    return False
            except Exception as error:
                if getattr(error, "code", _CONNECTION_CLOSED) == _CONNECTION_CLOSED:
                    return False
        self.may_hang = False
        return True

    async def _hold(self, before: "_Held | None") -> None:
        try:
            if before is not None:
                await asyncio.wait([before.task])
            async with self._toolset:
                for server in servers_in(self._toolset):
                    if server.is_running and not server.client.is_connected():
                        raise RuntimeError("calls that its server never answers hold it open")
                self._ready.set()
                await self._stop.wait()
        except Exception as error:
            self._error = error
        except asyncio.CancelledError as error:  # it did not start, or the event loop ends
            self._error = error
            await _dead(*servers_in(self._toolset))
        finally:
            self._ready.set()
            await self._end_processes()

    async def _end_processes(self) -> None:
        """Close the clients: those of processes keep these alive for the next connection."""
        for server in servers_in(self._toolset):
            if server.is_running and not self._is_forced:
                continue  # another supervisor has it open
            if self._is_forced:
                _kill_processes(server)  # it would be waited for
            try:
                await server.client.close()
            except asyncio.CancelledError:
                await _dead(server)
                raise
            except Exception as error:
                _log.debug("an MCP server did not end as it should", exc_info=error)
            for _ in range(_TURNS):  # until the calls that were under way have failed
                if server.is_running:
                    await asyncio.sleep(0)


async def _dead(*servers: _Server) -> None:
    """Kill their processes, and let the event loop hear of it before it ends."""
    killed = [one for server in servers for one in _kill_processes(server)]
    for _ in range(_LOOKS):
        if all(one.get_returncode() is not None for one in killed):
            break
        await asyncio.sleep(_LOOK_S)


def _kill_processes(server: _Server) -> list[asyncio.SubprocessTransport]:
    """Kill the processes of a server, which lead sessions of their own, and return them."""
    killed: list[asyncio.SubprocessTransport] = []
    transport: object = getattr(server.client, "transport", None)
    several = getattr(getattr(transport, "config", None), "mcpServers", None)
    parts = cast("Mapping[str, object]", several).values() if several else [transport]
    commands = [(getattr(one, "command", None), *getattr(one, "args", ())) for one in parts]
    loop = asyncio.get_running_loop()
    for one in gc.get_objects():
        if not issubclass(type(one), asyncio.SubprocessTransport):
            continue  # `isinstance` would make the lazy modules of others import themselves
        if getattr(one, "_loop", None) is loop:
            process = cast("subprocess.Popen[bytes]", one.get_extra_info("subprocess"))
            if process.args in commands and one.get_returncode() is None:
                with suppress(OSError):
                    os.killpg(one.get_pid(), signal.SIGKILL)
                one.close()  # the loop may end before it hears of the death
                killed.append(one)
    return killed


def servers_in(*toolsets: OpensOnce) -> list[_Server]:
    found: list[_Server] = []
    for toolset in toolsets:
        toolset.apply(found.append)
    return [one for one in found if hasattr(getattr(one, "client", None), "is_connected")]
