"""Odd arguments and odd orders of calls: one clear line, and no harm to other runs."""

import asyncio
import math
import threading
from pathlib import Path
from typing import cast

import pytest
from pydantic import JsonValue

from leadhand import Answer, InputError, Supervisor, Team, Worker
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from leadhand.errors import RunInterrupted
from tests.handles import replied, resumed
from tests.patience import HANG_S
from tests.plans.samples import plan, task
from tests.run.people.desk import answered

ONE = plan(task("t1"))


def done(handoff: Handoff) -> str:
    return "done"


def team(work: object = done) -> Team:
    return Team("t", workers=(Worker("worker", "w", run=work),))  # pyright: ignore[reportArgumentType, reportCallIssue]


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "origin",
    [
        5,
        "abc",
        [1],
        {1: 2},
        {"a": math.nan},
        {"a": math.inf},
        {"a": object()},
        {"a": 10**5_000},
        {"a": nested(3_000)},
    ],
    ids=["number", "text", "list", "name", "nan", "infinity", "object", "digits", "levels"],
)
async def test_an_origin_that_is_no_json_is_refused_and_spoils_no_other_run(origin: object) -> None:
    supervisor = Supervisor(team())
    await supervisor.run(plan=ONE, run_id="good", origin={"a": [1, None, {"b": 1e22}]})
    for call in (
        supervisor.run(plan=ONE, run_id="bad", origin=origin),  # pyright: ignore[reportArgumentType]
        supervisor.runs(origin=origin),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(InputError, match="origin "):
            await call
    assert [run.run_id for run in await supervisor.runs()] == ["good"]


async def test_arguments_of_a_wrong_type_are_named() -> None:
    supervisor = Supervisor(team())
    with pytest.raises(InputError, match="reason is None; it must be text"):
        await supervisor.handle("r").cancel(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="amend is 2; it must be true or false"):
        await supervisor.run(plan=ONE, amend=2)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="deadline_s is 1000"):
        await supervisor.run(plan=ONE, deadline_s=10**400)
    with pytest.raises(InputError, match="after_seq is '11'; it must be a whole number"):
        await anext(supervisor.handle("r").events(after_seq="11"))  # pyright: ignore[reportArgumentType]


async def test_runs_in_memory_are_dropped_only_if_they_have_ended() -> None:
    gate = asyncio.Event()

    async def work(handoff: Handoff) -> Outcome:
        if handoff.task_id == "held":
            await gate.wait()
        if handoff.task_id == "asks" and "blue" not in handoff.intent:
            return Escalated(reason="ambiguous_input", message="which colour?")
        return Completed(result=Result(output=handoff.task_id))

    supervisor = Supervisor(team(work), approve=["escalation"])
    held = asyncio.create_task(supervisor.run(plan=plan(task("held")), run_id="held"))
    await supervisor.run(plan=plan(task("asks")), run_id="asks")
    for number in range(101):
        await supervisor.run(plan=ONE, run_id=f"r{number}")
    assert (await supervisor.handle("held").view()).status == "running"
    assert (await replied(supervisor, "asks", answered("blue", "asks"))).status == "complete"
    gate.set()
    assert await held == (await supervisor.handle("held").view()).answer
    with pytest.raises(InputError, match="there is no run 'r0'"):
        await supervisor.handle("r0").view()


def test_a_run_of_another_threads_loop_is_joined() -> None:
    begun, release = threading.Event(), threading.Event()

    def work(handoff: Handoff) -> str:
        begun.set()
        assert release.wait(HANG_S)
        return "done"

    supervisor = Supervisor(team(work))
    answers: list[Answer] = []

    def run() -> None:
        call = supervisor.run(plan=ONE, run_id="r", if_exists="join", deadline_s=HANG_S)
        answers.append(asyncio.run(call))

    owner = threading.Thread(target=run)
    owner.start()
    assert begun.wait(HANG_S)
    joiners = [threading.Thread(target=run) for _ in range(2)]
    for joiner in joiners:
        joiner.start()
    release.set()
    for thread in (owner, *joiners):
        thread.join(HANG_S)
    assert [answer.status for answer in answers] == ["complete"] * 3


async def left_behind(home: Path, run_id: str) -> None:
    """Leave a run with a context, which was interrupted."""
    begun = asyncio.Event()

    async def work(handoff: Handoff) -> None:
        begun.set()
        await asyncio.Event().wait()

    supervisor = Supervisor(team(work), home=home)
    running = asyncio.create_task(
        supervisor.run(plan=ONE, run_id=run_id, context=run_id, origin={"customer": run_id})
    )
    await begun.wait()
    await supervisor.shutdown(grace_s=0)
    with pytest.raises(RunInterrupted):
        await running
    await supervisor.close()


async def test_a_restore_that_hangs_ends_with_the_deadline(tmp_path: Path) -> None:
    async def restore(origin: object) -> object:
        await asyncio.Event().wait()
        return origin

    await left_behind(tmp_path, "r")
    supervisor = Supervisor(team(), home=tmp_path, restore=restore, deadline_s=60)
    with pytest.raises(InputError, match="'r' can't be resumed: restore raised TimeoutError"):
        await resumed(supervisor, "r")
    assert (await supervisor.handle("r").view()).status == "interrupted"
    await supervisor.close()


async def test_a_run_without_its_context_keeps_no_other_from_being_resumed(tmp_path: Path) -> None:
    def restore(origin: object) -> object:
        if origin == {"customer": "gone"}:
            raise KeyError("there is no such customer")
        return origin

    for run_id in ("here", "gone"):
        await left_behind(tmp_path, run_id)
    supervisor = Supervisor(team(), home=tmp_path, restore=restore)
    assert await supervisor.resume_interrupted(limit=1) == ["here"]
    await supervisor.shutdown(grace_s=60)
    await supervisor.close()


@pytest.mark.parametrize("in_thread", [False, True])
async def test_what_a_worker_does_to_its_data_is_seen_by_no_other(*, in_thread: bool) -> None:
    def work(handoff: Handoff) -> JsonValue:
        if handoff.task_id == "first":
            return {"rows": [1, 2]}
        rows = cast("dict[str, list[JsonValue]]", handoff.inputs["first"])["rows"]
        seen: JsonValue = [[*rows], {**handoff.origin}, [*cast("list[JsonValue]", handoff.payload)]]
        rows.append(handoff.task_id)
        handoff.origin["changed"] = True
        cast("list[JsonValue]", handoff.payload).append(9)
        return seen

    async def work_here(handoff: Handoff) -> JsonValue:
        return work(handoff)

    later = [task(id, "first") for id in ("second", "third")]
    given = [task("first"), *(one.model_copy(update={"payload": [1]}) for one in later)]
    supervisor = Supervisor(team(work if in_thread else work_here))
    answer = await supervisor.run(plan=plan(*given), run_id="r", origin={"customer": 7})
    fresh = [[1, 2], {"customer": 7}, [1]]
    assert answer.output == {"first": {"rows": [1, 2]}, "second": fresh, "third": fresh}
    assert [one.payload for one in given] == [None, [1], [1]]
