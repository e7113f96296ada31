"""Checks whether processes are running, for tests that kill or abandon them."""

import asyncio
import os
import sys
import time
from pathlib import Path

from tests.workers.worker_samples import BOUND_S


async def said(sign: Path) -> int:
    """The process id that another process writes to `sign`."""
    return await asyncio.to_thread(wait_for, sign)


def wait_for(sign: Path) -> int:
    until = time.monotonic() + BOUND_S
    while not sign.exists():
        assert time.monotonic() < until, "the process never came to say where it is"
        time.sleep(0.005)
    return int(sign.read_text())


def is_there(pid: int) -> bool:
    """Whether any thread of a process runs. Those of a zombie do not."""
    try:
        os.kill(pid, 0)
        if sys.platform != "linux":
            return True
        threads = os.listdir(f"/proc/{pid}/task")
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return len(threads) > 1 or status not in ("Z", "X")


def assert_gone(pid: int) -> None:
    until = time.monotonic() + BOUND_S
    while is_there(pid):
        assert time.monotonic() < until, f"process {pid} is still there"
        time.sleep(0.005)
