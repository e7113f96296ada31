"""A worker's time limit counts from when its process is ready; the start has a limit of its own."""

import asyncio
import contextlib
import importlib
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import cast

import pytest

from leadhand.contracts.outcome import Failed, Outcome
from leadhand.contracts.team import WorkFunction
from leadhand.workers.processes import ProcessPool, ProcessWorker
from tests.engine.attempt_time import attempt_time
from tests.workers.process_ids import said
from tests.workers.worker_samples import BOUND_S, make_handoff

MODULE = """
import os
from tests.workers.worker_samples import say_pid, wait_until_there

if os.getpid() != {parent}:
    say_pid({folder!r} + "/importing")
    wait_until_there({folder!r} + "/import")

def work(handoff):
    say_pid({folder!r} + "/working")
    wait_until_there({folder!r} + "/work")
    return handoff.intent
"""


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkFunction]:
    """A function that another process imports and runs only once the test has written a file."""
    source = MODULE.format(parent=os.getpid(), folder=str(tmp_path))
    (tmp_path / "slow_to_import.py").write_text(source)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield cast("WorkFunction", importlib.import_module("slow_to_import").work)
    del sys.modules["slow_to_import"]


@pytest.mark.wall_clock
async def test_the_time_limit_stands_still_until_the_process_has_imported_the_function(
    slow: WorkFunction, tmp_path: Path
) -> None:
    blocks: list[str] = []

    @contextlib.contextmanager
    def pause() -> Generator[None]:
        blocks.append("stopped")
        yield
        blocks.append("counting")

    async with asyncio.timeout(BOUND_S), ProcessPool(1) as pool:
        worker = ProcessWorker(slow, pool)
        with attempt_time(BOUND_S, pause=pause):
            call = asyncio.create_task(worker.run(make_handoff()))
            await said(tmp_path / "importing")
            assert blocks == ["stopped"]
            (tmp_path / "import").touch()
            await said(tmp_path / "working")
            assert blocks == ["stopped", "counting"]
            (tmp_path / "work").touch()
            await call
            await worker.run(make_handoff())
    assert blocks == ["stopped", "counting"], "a process imports a function once"


def test_a_process_that_is_not_ready_in_time_is_a_failure_that_says_so(slow: WorkFunction) -> None:
    async def main() -> Outcome:
        async with asyncio.timeout(BOUND_S), ProcessPool(1, max_start_s=0) as pool:
            return await ProcessWorker(slow, pool).run(make_handoff())

    message = (
        "the worker's process was not ready after 0 s, in which it had to start and to import "
        "slow_to_import"
    )
    assert asyncio.run(main()) == Failed(kind="crashed", message=message, transient=True)
