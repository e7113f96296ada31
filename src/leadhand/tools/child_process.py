"""How child processes end, and how to end them with their parent. They import it: keep it small."""

import fcntl
import json
import os
import resource
import select
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NoReturn


def python_command(code: str, *options: str) -> list[str]:
    """An interpreter that runs `code`, with `sys` imported and our path.

    `-P` (or `-I`) keeps the current folder, which others may write to, off the path until then.
    """
    path = json.dumps([entry or os.getcwd() for entry in sys.path])
    start = f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); {code}"
    isolated = "-I" if sys.flags.isolated else "-P"
    return [sys.executable, isolated, *options, "-c", start, path]


def exit_description(status: int) -> str:
    """How a process that gave no answer ended; the name of the process goes before it."""
    if status >= 0:
        return f"ended with status {status} before it answered"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    is_memory = -status in (signal.SIGKILL, signal.SIGABRT)
    hint = ", perhaps because memory ran out" if is_memory else ""
    return f"was killed by {name}{hint}"


def limit_resource(what: int, soft: int, hard: int | None = None) -> None:
    """Limit what this process takes; some systems lack some of the limits."""
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (soft, soft if hard is None else hard))


def limit_data(pid: int, most: int) -> None:
    """Limit the data of another process, in bytes, where the system can; it may have ended."""
    if sys.platform == "linux":
        with suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


def end_process_group() -> NoReturn:
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def end_with_parent(descriptor: int) -> None:
    """Wait until the other end of a socket closes, then end, whatever the main thread does."""
    _closed(descriptor, None)
    end_process_group()


def _closed(descriptor: int, timeout_ms: int | None) -> bool:
    poller = select.poll()
    poller.register(descriptor, 0)
    return bool(poller.poll(timeout_ms))


@contextmanager
def ending_with_parent(descriptor: int) -> Generator[None]:
    """Within the block, the kernel ends this process when its parent has ended.

    The thread of `end_with_parent` cannot run while a regular expression, for example, holds the
    interpreter's lock. Linux sends SIGIO when the socket closes, so nothing else may use it in the
    block.
    """
    if sys.platform != "linux" or os.getpgrp() != os.getpid():
        yield
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpid())
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)
    if _closed(descriptor, 0):  # it closed before the signal was set up
        end_process_group()
    try:
        yield
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
