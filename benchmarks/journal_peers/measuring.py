"""How each tool is measured: a warm-up, the work, and what it left on the disk, as a line of JSON.

    python DRIVER.py independent|chain TASKS FOLDER|-

With `-` nothing is kept. Standard library only: every tool's interpreter runs this.
"""

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

Work = Callable[[str, int], Awaitable[None]]
"""Does so many tasks of a shape, `independent` (all in flight at once) or `chain`, durably."""
Opened = Callable[[Path | None], AbstractAsyncContextManager[Work]]
"""The tool, with what it keeps in a folder; without one it keeps nothing."""


async def noop(intent: str) -> str:
    """What every task does: the loop has one turn, and there is a result."""
    await asyncio.sleep(0)
    return f"x {len(intent)}"


def intent(number: int) -> str:
    """What a task is told."""
    return f"count to {number}"


async def measure(opened: Opened, shape: str, tasks: int, home: Path | None) -> dict[str, float]:
    """Seconds on the wall and of CPU; bytes in the folder at the end and once all is closed."""
    async with opened(home) as work:
        await work("independent", 10)
        await work("chain", 2)
        gc.collect()
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        await work(shape, tasks)
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        open_bytes = _size(home)
    return {"wall_s": wall_s, "cpu_s": cpu_s, "open_bytes": open_bytes, "closed_bytes": _size(home)}


def main(opened: Opened) -> None:
    """Measure what the arguments name."""
    shape, tasks, folder = sys.argv[1:]
    home = None if folder == "-" else Path(folder)
    print(json.dumps(asyncio.run(measure(opened, shape, int(tasks), home))))


def _size(home: Path | None) -> int:
    files = [] if home is None else [path for path in home.rglob("*") if path.is_file()]
    return sum(file.stat().st_size for file in files)
