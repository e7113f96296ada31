"""Runs whose context `restore` does not make, or makes late: tried three times, then held with
the reason."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from leadhand import InputError, Supervisor, Team, Worker
from leadhand.errors import RunInterrupted
from leadhand.trace.run_history import RunHistory
from tests.handles import resumed
from tests.run.people.desk import PAINT, RUN, Desk, answered
from tests.run.test_service import ONE, Gate

SECRET = "sk-proj-" + "9fK2mQ7xV4bT8nR1wZ6cY3hJ5pL0dG"


async def test_a_run_without_a_context_three_times_waits_with_the_reason_until_it_is_resumed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gate, known = Gate(), set[str]()

    def restored(origin: object) -> str:
        if not known:
            raise LookupError(f"no such customer for {SECRET}")
        return "context"

    def supervisor() -> Supervisor[str]:
        workers = [Worker("worker", "w", run=gate.work)]
        return Supervisor(Team("gate", workers=workers), home=tmp_path, restore=restored)

    first = supervisor()
    running = asyncio.create_task(first.run(plan=ONE, run_id="lost", context="context"))
    await gate.begun.wait()
    await first.shutdown(grace_s=0)
    with pytest.raises(RunInterrupted):
        await running
    await first.close()
    for sweep in range(5):  # each by a new process, as far as the journal knows
        one = supervisor()
        assert await one.resume_interrupted() == []
        status = (await one.handle("lost").view()).status
        assert status == ("interrupted" if sweep < 2 else "waiting")
        await one.shutdown()
        await one.close()
    assert caplog.text.count("no such customer") == 3
    last = supervisor()
    (held,) = await last.runs(status="waiting")
    assert held.run_id == "lost"
    found = (await last.handle("lost").view()).answer
    assert found is not None
    assert found.gaps[0].task_id == "context"
    assert (
        "restore raised LookupError: no such customer for [redacted] (3 times)" in found.gaps[0].why
    )
    assert SECRET not in f"{await last.journal.events('lost')}"
    assert SECRET not in f"{await last.journal.messages('lost')}"
    shown = RunHistory.of(await last.journal.events("lost")).notices[-1]
    assert "no such customer" in shown.words
    with pytest.raises(InputError, match="no such customer"):
        await resumed(last, "lost")
    assert await last.resume_interrupted() == []
    known.add("context")
    gate.open.set()
    assert (await resumed(last, "lost")).status == "complete"
    assert not await last.journal.messages("lost")
    await last.close()


async def test_a_run_with_a_reply_and_without_a_context_three_times_is_not_tried_at_each_sweep(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(origin: object) -> str:
        raise LookupError("no such customer")

    supervisor = Supervisor(Desk().team(), approve=["escalation"], restore=fails)
    await supervisor.run(plan=PAINT, run_id=RUN, context="context")
    await supervisor.handle(RUN).reply(answered("blue"), resume=False)
    for _ in range(5):
        assert await supervisor.resume_interrupted() == []
    assert caplog.text.count("no such customer") == 3
    view = await supervisor.handle(RUN).view()
    assert (view.status, len(view.questions)) == ("waiting", 1)
    assert (await resumed(supervisor, RUN, context="context")).status == "complete"
    await supervisor.close()


async def test_a_run_that_another_process_finishes_meanwhile_is_not_called_resumed(
    tmp_path: Path,
) -> None:
    gate, asked, finished = Gate(), asyncio.Event(), asyncio.Event()

    async def restore(_: object) -> str:
        asked.set()
        await finished.wait()
        return "context"

    def supervisor(restore: Callable[[object], str | Awaitable[str]]) -> Supervisor[str]:
        return Supervisor(gate.supervisor(None).team, home=tmp_path, restore=restore)

    fast, slow = supervisor(lambda _: "context"), supervisor(restore)
    for run_id in ("r1", "r2"):
        await fast.start(plan=ONE, run_id=run_id, context="context")
    await fast.shutdown(grace_s=0)
    await fast.close()
    fast = supervisor(lambda _: "context")
    gate.open.set()
    resuming = asyncio.create_task(slow.resume_interrupted())
    await asked.wait()
    assert await fast.resume_interrupted(where=lambda run: run.run_id == "r1") == ["r1"]
    await fast.handle("r1").answer()
    finished.set()
    assert await resuming == ["r2"]
    for one in (fast, slow):
        await one.shutdown(grace_s=60)
        await one.close()
