"""The main of a worker process: takes calls from a socket, one at a time, and answers each.

Imports only what a call needs, since its start is part of the first answer's time. It ends when
the other end of the socket does, whatever the worker function is busy with.
"""

import fcntl
import functools
import inspect
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from typing import NoReturn, cast

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json

from leadhand.contracts.outcome import Failed, Handoff, Outcome
from leadhand.workers.output import failure_of, outcome_of
from leadhand.workers.reference import Reference

HEADER = struct.Struct(">Q")
"""Before each message: its length in bytes."""


class Call(BaseModel):
    """What a worker process is asked to do."""

    model_config = ConfigDict(frozen=True)

    reference: Reference
    handoff: Handoff


def main(descriptor: int, max_output_bytes: int, max_memory_bytes: int) -> None:
    """Serve the socket `descriptor` until it closes; a `max_memory_bytes` of 0 is no limit."""
    del sys.argv[1:]
    if max_memory_bytes:
        resource.setrlimit(resource.RLIMIT_AS, (max_memory_bytes, max_memory_bytes))
    os.set_inheritable(descriptor, False)
    # A fork of this process must not keep the socket open when this process is gone.
    os.register_at_fork(after_in_child=functools.partial(os.close, descriptor))
    channel = socket.socket(fileno=descriptor)
    threading.Thread(target=_end_with_parent, args=(descriptor,), daemon=True).start()
    while True:
        call = _receive(channel)
        with _ending_with_parent(descriptor):
            answer = _answer(call, max_output_bytes)
        channel.sendall(HEADER.pack(len(answer)) + answer)


def _receive(channel: socket.socket) -> bytearray:
    (size,) = HEADER.unpack(_exactly(channel, HEADER.size))
    return _exactly(channel, size)


def _exactly(channel: socket.socket, size: int) -> bytearray:
    message = bytearray(size)
    rest = memoryview(message)
    while rest:
        count = channel.recv_into(rest)
        if count == 0:
            _end()
        rest = rest[count:]
    return message


def _answer(message: bytearray, max_output_bytes: int) -> bytes:
    outcome = _outcome(message)
    for stream in (sys.stdout, sys.stderr):
        # A worker may have closed or replaced them.
        with suppress(Exception):
            stream.flush()
    try:
        answer = to_json(outcome)
    except Exception as error:
        answer = to_json(failure_of(error))
    if len(answer) > max_output_bytes:
        too_much = Failed(
            kind="invalid_output",
            message=f"the output takes {len(answer):,} bytes, more than the {max_output_bytes:,} "
            "that a worker process may return: write it to a file and return the path",
        )
        answer = to_json(too_much)
    return answer


def _outcome(message: bytearray) -> Outcome:
    try:
        call = Call.model_validate_json(message)
        reference = call.reference
        value = _load(reference)(call.handoff, **reference.keywords)
        if inspect.isawaitable(value):
            value = _awaited(cast("Awaitable[object]", value))
        return outcome_of(value)
    except BaseException as error:
        return failure_of(error)


_functions: dict[str, Callable[..., object]] = {}


def _load(reference: Reference) -> Callable[..., object]:
    """The function, found once: a process belongs to one run, and so to one script."""
    function = _functions.get(reference.function)
    if function is None:
        function = _functions[reference.function] = reference.load()
    return function


def _awaited(value: Awaitable[object]) -> object:
    # Here, since most workers in a process are not async and asyncio takes long to import.
    import asyncio

    async def wait() -> object:
        return await value

    return asyncio.run(wait())


# Ending with the parent


def _end() -> NoReturn:
    """End this process and all it started."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _end_with_parent(descriptor: int) -> None:
    """Wait until the other end is closed, then end, whatever the main thread does."""
    poller = select.poll()
    poller.register(descriptor, 0)
    poller.poll()
    _end()


@contextmanager
def _ending_with_parent(descriptor: int) -> Generator[None]:
    """Within, the system itself ends this process when the parent is gone.

    The thread above can't while a worker holds the interpreter's lock, as a regular expression
    does. Linux then sends SIGIO for the closed socket, and its default action is to terminate.
    Nothing else happens on the socket during a call.
    """
    if sys.platform != "linux" or os.getpgrp() != os.getpid():
        yield
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpid())
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)
    try:
        yield
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
