"""Runs of another process: read, joined, answered and continued here."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadhand.contracts.events import Event, RunFinished, RunResumed
from tests.handles import replied
from tests.programs import Program, forkserver
from tests.run.elsewhere import REQUEST, RUN, blue, supervisor
from tests.run.resuming.processes import Processes

pytestmark = pytest.mark.wall_clock


@pytest.fixture(name="process")
def _process(tmp_path: Path) -> Iterator[Program]:
    """Another process, which works on the run in `tmp_path`."""
    server = forkserver()
    yield Processes(server).start("tests.run.elsewhere:work", folder=tmp_path)
    server.clear()


async def begun(folder: Path) -> None:
    """Return once both tasks of the other process are under way, as the journal has it."""
    here = supervisor(folder)
    while not await here.journal.last_seq(RUN):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    async for event in here.handle(RUN).events():
        if event.type == "approval_requested":
            break
    await here.close()


async def test_a_run_of_another_process_is_read_answered_and_joined_here(
    process: Program, tmp_path: Path
) -> None:
    here = supervisor(tmp_path)

    async def read() -> list[Event]:
        return [event async for event in here.handle(RUN).events()]

    await begun(tmp_path)
    view = await here.handle(RUN).view()
    assert (view.status, view.origin) == ("running", {"customer": 7})
    assert [one.task_id for one in view.questions] == ["paint"]
    assert [run.run_id for run in await here.runs(status="running")] == [RUN]
    reader = asyncio.create_task(read())
    joined = asyncio.create_task(
        here.run(plan=REQUEST, run_id=RUN, origin={"customer": 7}, if_exists="join")
    )
    late = asyncio.create_task(replied(here, RUN, blue()))
    async for event in here.handle(RUN).events():
        if event.type == "task_completed":
            break
    assert [one.done() for one in (reader, joined, late)] == [False] * 3
    (tmp_path / "open").touch()
    answer = await joined
    assert answer.output == {"paint": "blue", "wait": "wait is done"}
    assert await late == answer
    events = await reader
    assert events == list(await here.journal.events(RUN))
    assert isinstance(events[-1], RunFinished)
    await here.close()
    assert process.ended().out == "complete\n"


async def test_a_run_whose_process_is_killed_goes_on_with_those_who_wait_for_it(
    process: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two callers join it, and one of them continues it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "open").unlink(missing_ok=True)
    here = supervisor(tmp_path)
    await begun(tmp_path)
    joining = [
        here.run(plan=REQUEST, run_id=RUN, origin={"customer": 7}, if_exists="join")
        for _ in range(2)
    ]
    joined = [asyncio.create_task(one) for one in (*joining, replied(here, RUN, blue()))]
    async for event in here.handle(RUN).events():
        if event.type == "approval_given":
            break
    process.kill(signal.SIGKILL)
    (tmp_path / "open").touch()
    answers = await asyncio.gather(*joined)
    await here.close()
    assert [answer.output for answer in answers] == [{"paint": "blue", "wait": "wait is done"}] * 3


async def test_a_run_of_another_process_is_cancelled_from_here(
    process: Program, tmp_path: Path
) -> None:
    here = supervisor(tmp_path)
    await begun(tmp_path)
    await here.handle(RUN).cancel("not needed any more")
    events = [event async for event in here.handle(RUN).events()]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].answer.status == "cancelled"
    assert "not needed any more" in events[-1].answer.answer
    await here.close()
    assert process.ended().out == "cancelled\n"


async def test_a_run_that_a_shutdown_interrupted_goes_on_in_another_process_as_if_nothing_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = forkserver()
    ended = Processes(server).run("tests.run.elsewhere:shut_down", folder=tmp_path)
    server.clear()
    assert (
        ended.out == f"RunInterrupted: run '{RUN}' was interrupted: the supervisor was shut down\n"
    )
    (tmp_path / "open").touch()
    here = supervisor(tmp_path)
    assert await here.resume_interrupted() == [RUN]
    answer = await replied(here, RUN, blue())
    assert answer.output == {"paint": "blue", "wait": "wait is done"}
    events = await here.journal.events(RUN)
    resumed = [event for event in events if isinstance(event, RunResumed)]
    assert [event.crashes for event in resumed] == [{}] * len(resumed)
    await here.close()
