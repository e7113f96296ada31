"""Runs worker functions in processes, which can be killed and may crash: for work that keeps a
processor busy or may never return. Only JSON is sent; a process serves one call after another."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable

from pydantic import ConfigDict, TypeAdapter

from leadhand.contracts.outcome import Completed, Failed, Handoff, Outcome, Result
from leadhand.engine.current_attempt import time_limit_paused
from leadhand.engine.failures import failure_of
from leadhand.engine.stopwatch import ExcludedTime
from leadhand.errors import InputError
from leadhand.threads import awaiting_outside_work
from leadhand.tools.child_process import exit_description, python_command
from leadhand.workers import reference
from leadhand.workers.child import HEADER, Call
from leadhand.workers.context_data import ContextData
from leadhand.workers.output import outcome_of
from leadhand.workers.reference import FunctionReference, class_name_there

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
MAX_START_S = 120.0
"""How long a process may take to start and to import the function of its first call."""

_EXIT_S = 0.1
"""Shorter than a cancelled attempt's grace period; leaves no zombie."""

_CRASH_S = 2.0
"""How long to wait for the exit status of a process that closed its socket."""

_MAIN = "from leadhand.workers.child import main; main(*map(int, sys.argv[2:]))"

_IMPORTED = Completed(result=Result())
_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome, config=ConfigDict(defer_build=True))


class ProcessWorker:
    """A `Runner` that calls an importable function in the processes of a pool."""

    __slots__ = ("_output", "_pool", "_reference", "_retry_on")

    def __init__(
        self,
        function: Callable[..., object],
        pool: "ProcessPool",
        *,
        output: object = None,
        retry_on: Iterable[type] | None = None,
    ) -> None:
        """With `retry_on`, only those exceptions are transient. Raises `InputError` for a
        function, such as a lambda, that another process could not import."""
        self._reference = FunctionReference.of(function)
        self._pool = pool
        self._output = output
        self._retry_on = None if retry_on is None else frozenset(map(class_name_there, retry_on))

    async def run(self, handoff: Handoff) -> Outcome:
        """Cancelling it kills the process."""
        try:
            context = handoff.run_context
            call = Call(
                reference=self._reference,
                handoff=handoff,
                retry_on=self._retry_on,
                context=None if context is None else ContextData.of(context),
            )
            outcome = await self._pool.call(call)
            if self._output is not None and isinstance(outcome, Completed):
                return outcome_of(outcome, self._output)
            return outcome
        except Exception as error:
            return failure_of(error)


class ProcessPool:
    """Up to `size` worker processes, started when needed and reused, for one event loop. They
    end with `close`, and with this process."""

    def __init__(
        self,
        size: int,
        *,
        max_output_bytes: int = MAX_OUTPUT_BYTES,
        max_start_s: float = MAX_START_S,
    ) -> None:
        if reference.is_loading():
            raise InputError(
                "this program starts a run as soon as it is imported, and a worker process has to "
                'import it: start the run under `if __name__ == "__main__":`'
            )
        self._size = size
        self._max_output_bytes = max_output_bytes
        self._max_start_s = max_start_s
        self._slots = asyncio.Semaphore(size)
        self._idle: list[_Process] = []
        self._alive: set[_Process] = set()
        self._closed = False
        self._has_started = False
        """Whether a start was counted: a run of one task at a time starts one process."""

    async def __aenter__(self) -> "ProcessPool":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def pids(self) -> frozenset[int]:
        """The ids of the running processes, idle or busy."""
        return frozenset(one.pid for one in self._alive if one.status() is None)

    async def warm(self, count: int) -> None:
        """Start processes until there are `count`, at most the pool's size, without waiting."""
        while not self._closed and len(self._alive) < min(count, self._size):
            self._idle.append(self._start())
            await asyncio.sleep(0)

    async def call(self, call: Call) -> Outcome:
        """The attempt's time limit counts from when the process has imported the function."""
        with ExcludedTime() as block:
            return await self._call(call, block)

    async def _call(self, call: Call, block: ExcludedTime) -> Outcome:
        async with self._slots:
            if self._closed:
                return Failed(kind="crashed", message="the worker processes were already closed")
            process = self._idle_process() or self._start()
            sent_s, start_s = time.monotonic(), 0.0
            try:
                with awaiting_outside_work():
                    outcome = await self._imported(process, call)
                    if isinstance(outcome, Completed):
                        start_s = 0.0 if self._has_started else time.monotonic() - sent_s
                        self._has_started, sent_s = True, time.monotonic()
                        outcome = await process.exchange(call, self._max_output_bytes)
            except _NotReady as error:
                await self._kill(process)
                return Failed(kind="crashed", message=str(error), transient=True)
            except ConnectionError:
                return await self._crashed(process)
            except ValueError as error:
                await self._kill(process)
                return Failed(kind="crashed", message=f"the worker's process misbehaved: {error}")
            except BaseException:
                await self._kill(process)
                raise
            finally:
                worked_s = start_s + (process.worked_s or time.monotonic() - sent_s)
                block.took(worked_s, worked_s)
            self._idle.append(process)
            return outcome

    async def _imported(self, process: "_Process", call: Call) -> Outcome:
        if call.reference.function in process.imported:
            return _IMPORTED
        try:
            with time_limit_paused():
                alone = call.model_copy(update={"handoff": None})
                work = process.exchange(alone, self._max_output_bytes)
                outcome = await asyncio.wait_for(work, self._max_start_s)
        except TimeoutError as error:
            raise _NotReady(
                f"the worker's process was not ready after {self._max_start_s:g} s, in which it "
                f"had to start and to import {call.reference.function.partition(':')[0]}"
            ) from error
        if isinstance(outcome, Completed):
            process.imported.add(call.reference.function)
        return outcome

    async def close(self) -> None:
        self._closed = True
        alive = list(self._alive)
        for process in alive:
            process.kill()
        # The calls that wait for busy processes disconnect those.
        for process in self._idle:
            process.disconnect()
        self._idle.clear()
        for process in alive:
            await self._gone(process, _CRASH_S)

    def _idle_process(self) -> "_Process | None":
        while self._idle:
            process = self._idle.pop()
            if process.status() is None:
                return process
            self._alive.discard(process)
            process.kill()
            process.disconnect()
        return None

    def _start(self) -> "_Process":
        self._alive = {process for process in self._alive if process.status() is None}
        process = _Process(self._max_output_bytes)
        self._alive.add(process)
        return process

    async def _kill(self, process: "_Process") -> None:
        process.kill()
        process.disconnect()
        await self._gone(process, _EXIT_S)

    async def _crashed(self, process: "_Process") -> Failed:
        process.disconnect()
        status = await self._gone(process, _CRASH_S)
        process.kill()
        if self._closed:
            return Failed(kind="crashed", message="the worker's process was stopped with the run")
        if status is None:
            return _lost("hung up")
        return _lost(exit_description(status))

    async def _gone(self, process: "_Process", within_s: float) -> int | None:
        """The exit status of a process that is about to end; None if it does not in time."""
        pause_s, until = 0.001, time.monotonic() + within_s
        while (status := process.status()) is None and time.monotonic() < until:
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.02)
        if status is not None:
            self._alive.discard(process)
        return status


class _NotReady(Exception):
    """The process did not start, or did not import its function, in time."""


class _Process:
    def __init__(self, max_output_bytes: int) -> None:
        self.worked_s = 0.0
        """The seconds of work behind its last answer; 0 before there is one."""
        self.imported: set[str] = set()
        """The functions that it can call at once, as their references name them."""
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._channel.setblocking(False)
            try:
                self._process = subprocess.Popen(
                    [*python_command(_MAIN), str(theirs.fileno()), str(max_output_bytes)],
                    stdin=subprocess.DEVNULL,
                    # Standard output is the program's own: what workers print goes to stderr.
                    stdout=2,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except BaseException:
                self._channel.close()
                raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def status(self) -> int | None:
        return self._process.poll()

    async def exchange(self, call: Call, max_bytes: int) -> Outcome:
        """Raises ConnectionError if the process ends before, ValueError for no outcome."""
        self.worked_s = 0.0
        request = call.model_dump_json().encode()
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._channel, HEADER.pack(len(request), 0.0) + request)
        size, self.worked_s = HEADER.unpack(await self._exactly(HEADER.size))
        if size > max_bytes:
            raise ValueError(f"its answer takes {size:,} bytes")
        return _OUTCOME.validate_json(await self._exactly(size))

    async def _exactly(self, size: int) -> bytearray:
        loop = asyncio.get_running_loop()
        message = bytearray(size)
        rest = memoryview(message)
        while rest:
            count = await loop.sock_recv_into(self._channel, rest)
            if count == 0:
                raise ConnectionResetError
            rest = rest[count:]
        return message

    def kill(self) -> None:
        """Kill it and its children. The group may outlive its leader."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def disconnect(self) -> None:
        self._channel.close()


def _lost(how: str) -> Failed:
    """Transient, because memory that ran out may be free again a moment later."""
    return Failed(kind="crashed", message=f"the worker's process {how}", transient=True)
