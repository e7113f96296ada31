"""The main function of a worker process: reads calls from a socket and answers them one by one.

It imports only what a call needs, to be ready soon, and ends when the socket closes.
"""

import functools
import gc
import inspect
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

from pydantic_core import to_json

from leadhand.contracts.data import Record
from leadhand.contracts.outcome import Failed, Handoff, Outcome
from leadhand.engine.failures import failure_of
from leadhand.tools.child_process import end_process_group, end_with_parent, ending_with_parent
from leadhand.workers.context_data import ContextData
from leadhand.workers.output import outcome_of
from leadhand.workers.reference import FunctionReference

HEADER = struct.Struct(">Qd")
"""Before each message: its length in bytes, and the seconds of work behind it."""


class Call(Record):
    reference: FunctionReference
    handoff: Handoff | None
    """What to call the function with; None: import it and complete without output."""
    retry_on: frozenset[str] | None = None
    """The names of the transient exceptions; None means all but the permanent ones."""
    context: ContextData | None = None


def main(descriptor: int, max_output_bytes: int) -> None:
    del sys.argv[1:]
    # As in the command line's own process: work that keeps many objects would take twice as long.
    gc.set_threshold(50_000, 20, 20)
    os.set_inheritable(descriptor, False)
    # A fork of this process must not keep the socket open after this process has ended.
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
            end_process_group()
        rest = rest[count:]
    return message


def _answer(message: bytearray, max_output_bytes: int) -> bytes:
    outcome = _outcome(message)
    for stream in (sys.stdout, sys.stderr):
        # The worker function may have closed or replaced them.
        with suppress(Exception):
            stream.flush()
    try:
        answer = to_json(outcome)
    except Exception as error:
        answer = to_json(failure_of(error))
    if len(answer) > max_output_bytes:
        too_large = Failed(
            kind="invalid_output",
            message=f"the output takes {len(answer):,} bytes, more than the {max_output_bytes:,} "
            "that a worker process may return: write it to a file and return the path",
        )
        answer = to_json(too_large)
    return answer


def _outcome(message: bytearray) -> Outcome:
    call: Call | None = None
    try:
        call = Call.model_validate_json(message)
        reference = call.reference
        function = _load(reference)
        context = call.context.load() if call.context is not None else None
        if call.handoff is None:
            return outcome_of(None)
        handoff = call.handoff.model_copy(update={"run_context": context})
        value = function(handoff, **reference.keywords)
        if inspect.isawaitable(value):
            value = _awaited(cast("Awaitable[object]", value))
        if value is None:
            # Imported here because most workers return a value.
            from leadhand.workers.returns import outcome_of_none

            return outcome_of_none(function, None, worker=handoff.to_agent)
        return outcome_of(value)
    except BaseException as error:
        return failure_of(error, on=call.retry_on if call is not None else None)


_functions: dict[str, Callable[..., object]] = {}


def _load(reference: FunctionReference) -> Callable[..., object]:
    """The function, imported once: a process belongs to one run, and so to one script."""
    function = _functions.get(reference.function)
    if function is None:
        function = _functions[reference.function] = reference.load()
    return function


def _awaited(value: Awaitable[object]) -> object:
    # Imported here because it is slow and most workers in processes are not async.
    import asyncio

    async def wait() -> object:
        return await value

    return asyncio.run(wait())
