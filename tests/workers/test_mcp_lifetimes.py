"""When MCP servers start and end, with servers that start slowly, die or hang (F55)."""

import asyncio
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel

from leadhand import Limits, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, ToolCalled
from leadhand.contracts.team import RetryRules
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from tests.models.asking import OPENAI
from tests.patience import HANG_S
from tests.workers import tool_server
from tests.workers.model_runs import call, final, steps
from tests.workers.process_ids import assert_gone, is_there

pytestmark = pytest.mark.wall_clock

SHORT = Limits(timeout_s=1.0)


@pytest.fixture(autouse=True)
def _one_call(model_server: ScriptedServer) -> None:
    model_server.configure(script=steps(call("look_up", word="lamp"), final("done")))


def server(folder: Path, *behaviour: str) -> MCPToolset[object]:
    """The toolset of a server that behaves like this; tests, not it, limit its start."""
    folder.mkdir(exist_ok=True)
    args = [tool_server.__file__, str(folder), *behaviour]
    config = {"mcpServers": {"words": {"command": sys.executable, "args": args}}}
    return MCPToolset(config, init_timeout=HANG_S)


def fifo(folder: Path) -> str:
    path = str(folder / "fifo")
    os.mkfifo(path)
    return path


def starts(folder: Path) -> list[int]:
    """The ids of the processes that were started, in order."""
    file = folder / "starts"
    return [*map(int, file.read_text().split())] if file.exists() else []


def supervisor(*workers: Worker, attempts: int = 1, shared: Sequence[str] = ()) -> Supervisor:
    retry = RetryRules(max_attempts=attempts, backoff_s=(0.0,))
    team = Team("t", model=OPENAI, workers=workers, retry=retry, shared_tools=shared)
    return Supervisor(team, synthesizer=Merge())


def asked(*tools: object, name: str = "a") -> Worker:
    return Worker(name, f"Does {name}", instructions="Look it up.", tools=tools)


def tasks(*of: str, limits: Limits | None = None) -> Plan:
    """A task for each of these workers, one after the other."""
    return Plan(
        goal="g",
        tasks=tuple(
            Task(
                id=f"t{number}",
                worker=name,
                intent=f"Look up {number}",
                depends_on=(f"t{number - 1}",) if number else (),
                limits=limits or Limits(),
            )
            for number, name in enumerate(of)
        ),
    )


def answering(events: Sequence[Event]) -> list[str]:
    """What the calls gave."""
    return [one.output or str(one.error) for one in events if isinstance(one, ToolCalled)]


def test_the_start_of_a_server_counts_in_the_timeout_of_the_task(tmp_path: Path) -> None:
    """F55"""
    slow = server(tmp_path, "never_starts")
    answer = supervisor(asked(slow)).run_sync(plan=tasks("a", limits=SHORT))
    assert [gap.why for gap in answer.gaps] == ["no answer within 1 s"]


async def test_a_cancel_does_not_wait_for_a_server_that_starts(tmp_path: Path) -> None:
    """F55"""
    started = fifo(tmp_path)
    slow = server(tmp_path, "never_starts", started)
    host = supervisor(asked(slow))
    work = asyncio.create_task(host.run(plan=tasks("a"), run_id="slow"))
    await asyncio.to_thread(Path(started).read_bytes)
    await host.handle("slow").cancel()
    assert (await work).status == "cancelled"
    (pid,) = starts(tmp_path)
    assert not is_there(pid)


def test_a_server_that_no_task_uses_is_not_started(tmp_path: Path) -> None:
    used, idle = tmp_path / "used", tmp_path / "idle"
    host = supervisor(asked(server(used)), asked(server(idle), name="b"))
    assert host.run_sync(plan=tasks("a")).status == "complete"
    assert (len(starts(used)), len(starts(idle))) == (1, 0)


def test_the_servers_of_a_worker_start_side_by_side(tmp_path: Path) -> None:
    meeting, one, other = fifo(tmp_path), tmp_path / "one", tmp_path / "other"
    both = (server(one, "waits", meeting).prefixed("x"), server(other, "lets_go", meeting))
    assert supervisor(asked(*both)).run_sync(plan=tasks("a")).status == "complete"


def test_a_server_that_died_is_started_again_for_the_next_task(tmp_path: Path) -> None:
    """F55"""
    events: list[Event] = []
    host = supervisor(asked(server(tmp_path, "dies")))
    answer = asyncio.run(host.run(plan=tasks("a", "a", "a"), listener=events.append))
    assert answer.status == "complete"
    first, second = starts(tmp_path)
    assert answering(events) == [f"by {first}", f"by {second}", f"by {second}"]


async def test_a_server_that_hangs_is_started_again_for_the_next_task(tmp_path: Path) -> None:
    """F55"""
    host = supervisor(asked(server(tmp_path, "hangs")))
    await host.ready()
    answers = await host.run(plan=tasks("a", limits=SHORT)), await host.run(plan=tasks("a"))
    await host.close()
    hung, after = answers
    assert [gap.why for gap in hung.gaps] == ["no answer within 1 s"]
    assert after.status == "complete"
    assert len(starts(tmp_path)) == 2
    assert not any(map(is_there, starts(tmp_path)))


def test_a_server_that_hangs_is_replaced_within_a_timeout_of_three_seconds(tmp_path: Path) -> None:
    """F55: the ping, the end of the old one and the start of the new one are in that time."""
    host = supervisor(asked(server(tmp_path, "hangs")), attempts=2)
    answer = host.run_sync(plan=tasks("a", limits=Limits(timeout_s=3.0)))
    assert (answer.status, len(starts(tmp_path))) == ("complete", 2)


def test_a_server_that_hangs_at_the_deadline_leaves_no_process(tmp_path: Path) -> None:
    """F55: there is no time left then, and the event loop ends with the run."""
    team = supervisor(asked(server(tmp_path, "hangs"))).team
    answer = Supervisor(team, synthesizer=Merge(), deadline_s=2).run_sync(plan=tasks("a"))
    assert answer.gaps
    for pid in starts(tmp_path):
        assert_gone(pid)


async def test_the_answer_of_a_run_that_is_cancelled_during_a_hung_call_is_kept(
    tmp_path: Path,
) -> None:
    """F37: to end the server takes as long as a run that is to stop waits for its journal."""
    called = fifo(tmp_path)
    team = supervisor(asked(server(tmp_path / "words", "hangs", called))).team
    host = Supervisor(team, synthesizer=Merge(), home=tmp_path)
    work = asyncio.create_task(host.run(plan=tasks("a"), run_id="hung"))
    await asyncio.to_thread(Path(called).read_bytes)
    await host.handle("hung").cancel()
    answer = await work
    assert [gap.task_id for gap in answer.gaps] == ["t0"]
    assert (await host.handle("hung").answer()).gaps == answer.gaps


class Lazy:
    """Stands for the lazy modules of other packages, which import themselves when looked at."""

    looked_at = 0

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        Lazy.looked_at += 1
        return Lazy

    @__class__.setter
    def __class__(self, kind: type) -> None: ...


def test_killing_a_server_wakes_no_lazy_module(tmp_path: Path) -> None:
    """F55: their imports would block the event loop for seconds."""
    lazy = [Lazy()]
    gc.collect()
    Lazy.looked_at = 0
    team = supervisor(asked(server(tmp_path, "hangs"))).team
    Supervisor(team, synthesizer=Merge(), deadline_s=2).run_sync(plan=tasks("a"))
    for pid in starts(tmp_path):
        assert_gone(pid)
    assert (len(lazy), Lazy.looked_at) == (1, 0)


def test_tasks_that_share_a_server_which_dies_at_each_call_all_end(tmp_path: Path) -> None:
    """F55"""
    names = [f"w{number}" for number in range(4)]
    toolset = server(tmp_path, "always_dies")
    toolset.id = "words"
    host = supervisor(*(asked(toolset, name=name) for name in names), shared=["words"])
    together = Plan(
        goal="g",
        tasks=tuple(Task(id=name, worker=name, intent=f"Look up {name}") for name in names),
    )
    answer = host.run_sync(plan=together)
    assert answer.status in ("complete", "partial", "failed")
    assert len(answer.tasks) == len(names)
    assert not any(map(is_there, starts(tmp_path)))


async def test_the_processes_of_servers_end_with_the_run(tmp_path: Path) -> None:
    host = supervisor(asked(server(tmp_path)))
    assert (await host.run(plan=tasks("a", "a"))).status == "complete"
    assert [is_there(pid) for pid in starts(tmp_path)] == [False]


async def test_runs_of_a_supervisor_that_is_ready_share_a_server_until_it_is_closed(
    tmp_path: Path,
) -> None:
    host = supervisor(asked(server(tmp_path)))
    await host.ready()
    found = [[is_there(pid) for pid in starts(tmp_path)]]
    for _ in range(2):
        await host.run(plan=tasks("a"))
        found.append([is_there(pid) for pid in starts(tmp_path)])
    await host.close()
    assert [*found, [is_there(pid) for pid in starts(tmp_path)]] == [[], [True], [True], [False]]


async def test_the_servers_of_an_agent_obey_the_same_limits(tmp_path: Path) -> None:
    """F55"""
    quick, slow = tmp_path / "quick", tmp_path / "slow"

    def agent(*behaviour: str, folder: Path) -> Agent[object, str]:
        return Agent(OpenAIChatModel("scripted"), toolsets=[server(folder, *behaviour)])

    workers = (
        Worker("a", "Does a", run=agent("dies", folder=quick)),
        Worker("b", "Does b", run=agent("never_starts", folder=slow)),
    )

    plan = tasks("a", "a", "b", limits=None)
    late = plan.tasks[2].model_copy(update={"limits": SHORT})
    plan = plan.model_copy(update={"tasks": (*plan.tasks[:2], late)})
    answer = await supervisor(*workers).run(plan=plan)
    running = [is_there(pid) for pid in (*starts(quick), *starts(slow))]
    assert {one.id: one.status for one in answer.tasks} == {
        "t0": "completed", "t1": "completed", "t2": "timed_out"
    }  # fmt: skip
    assert [gap.why for gap in answer.gaps] == ["no answer within 1 s"]
    assert running == [False, False, False]
