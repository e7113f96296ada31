"""`python -m tests.tools.sql.forks`: a process that has DuckDB loaded and forks for each request.

What a fork does with a request, and within which bounds, is what a new interpreter would do; it
saves the start and the imports, which are nearly all that a small request costs.
"""

import atexit
import functools
import io
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import cast

from leadhand.tools.sql.messages import SqlRequest


def in_fork(request: SqlRequest, folder: Path, timeout_s: float) -> tuple[int, bytes]:
    """As `in_new_process`, one request after another."""
    process, lock = _server()
    assert process.stdin is not None
    assert process.stdout is not None
    with lock:
        process.stdin.write(json.dumps([request, str(folder), timeout_s]) + "\n")
        process.stdin.flush()
        status, output = cast("tuple[int | None, str]", json.loads(process.stdout.readline()))
    if status is None:
        raise subprocess.TimeoutExpired("a fork", timeout_s)
    return status, output.encode()


@functools.cache
def _server() -> tuple["subprocess.Popen[str]", threading.Lock]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", "tests.tools.sql.forks"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    atexit.register(process.__exit__, None, None, None)
    return process, threading.Lock()


def serve() -> None:
    """Answer each line of standard input with one of standard output."""
    from leadhand.tools.sql.child import main  # Only here: it loads DuckDB.

    for line in sys.stdin:
        request, folder, timeout_s = cast("tuple[SqlRequest, str, float]", json.loads(line))
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(writing, sys.stdout.fileno())
                os.close(writing)
                os.chdir(folder)
                os.environ.clear()
                os.environ["HOME"] = folder
                sys.stdin = io.StringIO(json.dumps(request))
                main()
            finally:
                os._exit(1)
        os.close(writing)
        print(json.dumps(_ended(pid, reading, timeout_s)), flush=True)


def _ended(pid: int, reading: int, timeout_s: float) -> tuple[int | None, str]:
    """The exit status of a fork, if it ended in time, and what it wrote."""
    until, output, in_time = time.monotonic() + timeout_s, b"", True
    with os.fdopen(reading, "rb", buffering=0) as stream:
        while in_time := bool(select.select([stream], [], [], max(0, until - time.monotonic()))[0]):
            if not (chunk := stream.read(1 << 16)):
                break
            output += chunk
    if not in_time:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status if in_time else None, output.decode()


if __name__ == "__main__":
    serve()
