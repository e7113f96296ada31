"""Child processes: what an exit status says, and how a child ends with its parent.

A child imports this, so it imports little.
"""

import fcntl
import os
import select
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn


def exit_description(status: int) -> str:
    """The end of a process that gave no answer, for the name of the process to stand before it."""
    if status >= 0:
        return f"ended with status {status} before it answered"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = ", perhaps because memory ran out" if -status == signal.SIGKILL else ""
    return f"was killed by {name}{hint}"


def end_process_group() -> NoReturn:
    """End this process and all it started."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def end_with_parent(descriptor: int) -> None:
    """Wait until the other end of a socket is closed, then end, whatever the main thread does."""
    _closed(descriptor, None)
    end_process_group()


def _closed(descriptor: int, timeout_ms: int | None) -> bool:
    poller = select.poll()
    poller.register(descriptor, 0)
    return bool(poller.poll(timeout_ms))


@contextmanager
def ending_with_parent(descriptor: int) -> Generator[None]:
    """Within, the system itself ends this process when the parent is gone.

    The thread of `end_with_parent` can't while the main thread holds the interpreter's lock, as a
    regular expression does. Linux then sends SIGIO for the closed socket, and its default action is
    to terminate.
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
    if _closed(descriptor, 0):  # before there was a signal for it
        end_process_group()
    try:
        yield
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
