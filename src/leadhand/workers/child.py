"""The main of a worker process: takes calls from a socket, one at a time, and answers each.

Imports only what a call needs, since its start is part of the first answer's time. It ends when
the other end of the socket does, whatever the worker function is busy with.
"""

import functools
import inspect
import os
import resource
import socket
import struct
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

from pydantic_core import to_json

from leadhand.contracts.outcome import Failed, Handoff, Outcome
from leadhand.contracts.record import Record
from leadhand.engine.failures import failure_of
from leadhand.tools.child_process import end, end_with_parent, ending_with_parent
from leadhand.workers.output import outcome_of
from leadhand.workers.reference import Reference

HEADER = struct.Struct(">Qd")
"""Before each message: its length in bytes, and how many seconds were worked for it."""


class Call(Record):
    """What a worker process is asked to do."""

    reference: Reference
    handoff: Handoff | None
    """What to call the function with; None: import it and complete without output."""
    retry_on: frozenset[str] | None = None
    """The names of the exceptions that are transient; None: all but the permanent ones."""


def main(descriptor: int, max_output_bytes: int, max_memory_bytes: int) -> None:
    """Serve the socket `descriptor` until it closes; a `max_memory_bytes` of 0 is no limit."""
    del sys.argv[1:]
    if max_memory_bytes:
        resource.setrlimit(resource.RLIMIT_AS, (max_memory_bytes, max_memory_bytes))
    os.set_inheritable(descriptor, False)
    # A fork of this process must not keep the socket open when this process is gone.
    os.register_at_fork(after_in_child=functools.partial(os.close, descriptor))
    channel = socket.socket(fileno=descriptor)
    threading.Thread(target=end_with_parent, args=(descriptor,), daemon=True).start()
    while True:
        call = _receive(channel)
        started_s = time.perf_counter()
        with ending_with_parent(descriptor):
            answer = _answer(call, max_output_bytes)
        worked_s = time.perf_counter() - started_s
        channel.sendall(HEADER.pack(len(answer), worked_s) + answer)


def _receive(channel: socket.socket) -> bytearray:
    size, _ = HEADER.unpack(_exactly(channel, HEADER.size))
    return _exactly(channel, size)


def _exactly(channel: socket.socket, size: int) -> bytearray:
    message = bytearray(size)
    rest = memoryview(message)
    while rest:
        count = channel.recv_into(rest)
        if count == 0:
            end()
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
    call: Call | None = None
    try:
        call = Call.model_validate_json(message)
        reference = call.reference
        function = _load(reference)
        if call.handoff is None:
            return outcome_of(None)
        value = function(call.handoff, **reference.keywords)
        if inspect.isawaitable(value):
            value = _awaited(cast("Awaitable[object]", value))
        if value is None:
            # Here, since most workers return something.
            from leadhand.workers.returns import outcome_of_nothing

            return outcome_of_nothing(function, None, worker=call.handoff.to_agent)
        return outcome_of(value)
    except BaseException as error:
        return failure_of(error, on=call.retry_on if call is not None else None)


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
