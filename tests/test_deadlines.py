"""Deadlines, through the real scheduler and real HTTP: the answer is there in time, whatever hangs.

The answer has to exist half a second after the deadline, and the process has to end.
"""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Answer, Synthesis
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.team import WorkFunction
from leadhand.ports import Request, TaskResult
from leadhand.testing import ScriptedServer

DEADLINE_S = 1.0
LATEST_S = DEADLINE_S + 0.5
REQUEST = "How do the invoices of March compare with those of April?"


def model_team(*tools: object) -> Team:
    return Team(
        "support",
        model="openai-chat:scripted",
        workers=(
            Worker("billing", "Invoices and refunds", instructions="Know.", tools=tools),
            Worker("counter", "Counts", run=count),
        ),
    )


def function_team(slow: WorkFunction) -> Team:
    workers = (Worker("billing", "Invoices", run=slow), Worker("counter", "Counts", run=count))
    return Team("support", workers=workers)


def count(handoff: Handoff) -> int:
    return len(handoff.intent)


PLAN = Plan(
    goal=REQUEST,
    tasks=(
        Task(id="slow", worker="billing", intent="List the invoices of March."),
        Task(id="quick", worker="counter", intent="Count them."),
        Task(id="last", worker="counter", intent="Count again.", depends_on=("slow",)),
    ),
)


def answered(supervisor: Supervisor, plan: Plan | None = PLAN) -> tuple[Answer, float]:
    """The answer, and the seconds until it came."""

    async def main() -> tuple[Answer, float]:
        started_s = time.monotonic()
        answer = await supervisor.run(None if plan else REQUEST, plan=plan)
        return answer, time.monotonic() - started_s

    return asyncio.run(main())


def warm(team: Team) -> None:
    """Import what a first run imports, which is not what is timed here."""
    asyncio.run(Supervisor(team).run(plan=Plan(goal="x", tasks=PLAN.tasks[1:2])))


def check(answer: Answer, took_s: float) -> None:
    """In time, with what was done, and clear about what was not."""
    assert took_s < LATEST_S
    statuses = {task.id: task.status for task in answer.tasks}
    assert statuses == {"slow": "cancelled", "quick": "completed", "last": "cancelled"}
    assert (answer.status, answer.ended_by) == ("partial", "deadline")
    assert [gap.task_id for gap in answer.gaps] == ["slow", "last"]
    assert "the run's deadline of 1 s " in answer.answer


# Workers


def test_a_model_that_sends_a_byte_now_and_then(model_server: ScriptedServer) -> None:
    """F04"""
    warm(model_team())
    model_server.configure(faults={"slow:0.3": 1.0})
    check(*answered(Supervisor(model_team(), deadline_s=DEADLINE_S)))


def test_an_async_tool_that_hangs_and_will_not_be_cancelled(model_server: ScriptedServer) -> None:
    """F38"""

    async def find_invoices(query: str) -> str:
        """Finds invoices."""
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    warm(model_team())
    check(*answered(Supervisor(model_team(find_invoices), deadline_s=DEADLINE_S)))


def test_a_sync_tool_that_never_returns(model_server: ScriptedServer) -> None:
    """F38"""
    never = threading.Event()

    def find_invoices(query: str) -> str:
        """Finds invoices."""
        never.wait()
        return "late"

    warm(model_team())
    answer, took_s = answered(Supervisor(model_team(find_invoices), deadline_s=DEADLINE_S))
    never.set()
    check(answer, took_s)


def test_a_sync_worker_that_never_returns() -> None:
    """F38"""
    never = threading.Event()

    def wait(handoff: Handoff) -> None:
        never.wait()

    answer, took_s = answered(Supervisor(function_team(wait), deadline_s=DEADLINE_S))
    never.set()
    check(answer, took_s)


def test_an_async_worker_that_will_not_be_cancelled() -> None:
    """F38"""

    async def wait(handoff: Handoff) -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    check(*answered(Supervisor(function_team(wait), deadline_s=DEADLINE_S)))


# Planners and synthesizers


class Stubborn:
    """A planner and synthesizer that goes on whatever it is told."""

    name = "stubborn"
    calls_model = True

    async def plan(self, request: Request, team: Team) -> Plan:
        await self._go_on()
        return PLAN

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        await self._go_on()
        return self.by_code(plan, results)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return Synthesis(answer=f"{len(results)} results.")

    async def _go_on(self) -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_planner_that_hangs(model_server: ScriptedServer, stubborn: bool) -> None:
    warm(model_team())
    hanging = {"match": {"role": "planner"}, "reply": {"misbehave": {"latency_ms": 60_000}}}
    model_server.configure(script=[hanging])
    planner = Stubborn() if stubborn else None
    supervisor = Supervisor(model_team(), deadline_s=DEADLINE_S, planner=planner)
    answer, took_s = answered(supervisor, None)
    assert took_s < LATEST_S
    assert (answer.status, answer.ended_by) == ("failed", "deadline")
    [gap] = answer.gaps
    assert gap.task_id == "plan"
    assert gap.why.startswith("no plan came in 0.")
    assert gap.why.endswith("s, with the run's deadline of 1 s")


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_synthesizer_that_hangs(model_server: ScriptedServer, stubborn: bool) -> None:
    warm(model_team())
    hanging = {"match": {"role": "synthesizer"}, "reply": {"misbehave": {"slow": 0.3}}}
    model_server.configure(script=[hanging])
    synthesizer = Stubborn() if stubborn else None
    supervisor = Supervisor(model_team(), deadline_s=DEADLINE_S, synthesizer=synthesizer)
    answer, took_s = answered(supervisor)
    assert took_s < LATEST_S
    assert {task.status for task in answer.tasks} == {"completed"}
    assert (answer.status, answer.ended_by) == ("partial", "deadline")
    assert [gap.task_id for gap in answer.gaps] == ["synthesis"]
    assert "was not done by the deadline of 1 s" in answer.gaps[0].why


# What surrounds the work


@pytest.mark.parametrize("where", ["opening", "closing"])
def test_tools_that_hang_while_they_are_opened_or_closed(
    model_server: ScriptedServer, where: str
) -> None:
    from pydantic_ai.toolsets import FunctionToolset

    class Hanging(FunctionToolset[None]):
        async def __aenter__(self) -> "Hanging":
            if where == "opening":
                await asyncio.sleep(3600)
            return self

        async def __aexit__(self, *error: object) -> None:
            await asyncio.sleep(3600)

    warm(model_team())
    supervisor = Supervisor(model_team(Hanging()), deadline_s=DEADLINE_S)
    answer, took_s = answered(supervisor)
    assert took_s < LATEST_S
    if where == "closing":
        assert [task.status for task in answer.tasks] == ["completed"] * 3
    else:
        assert {task.status for task in answer.tasks} == {"cancelled"}
        assert "before the tools were ready" in answer.answer
        assert answer.ended_by == "deadline"


# The process


PROGRAM = """
import asyncio, threading, time
from leadhand import Plan, Supervisor, Task, Team, Worker

def blocks(handoff):
    threading.Event().wait()

async def refuses(handoff):
    while True:
        try:
            await asyncio.sleep(3600)
        except BaseException:
            pass

def burns(handoff):
    while True:
        pass

if __name__ == "__main__":
    workers = (
        Worker("blocks", "Blocks", run=blocks),
        Worker("refuses", "Refuses", run=refuses),
        Worker("burns", "Burns", run=burns, isolate="process"),
    )
    tasks = tuple(Task(id=w.name, worker=w.name, intent="Go on.") for w in workers)
    started = time.monotonic()
    answer = Supervisor(Team("t", workers=workers), deadline_s=1.0).run_sync(
        plan=Plan(goal="g", tasks=tasks)
    )
    print(answer.status, answer.ended_by, round(time.monotonic() - started, 2))
"""


def test_the_process_ends_with_its_run(tmp_path: Path) -> None:
    """F38: nothing that went on holds it: no thread, no coroutine, no process of its own."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    started_s = time.monotonic()
    ended = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=30
    )
    assert ended.returncode == 0, ended.stderr
    status, ended_by, took_s = ended.stdout.split()
    assert (status, ended_by) == ("failed", "deadline")
    assert float(took_s) < LATEST_S
    assert time.monotonic() - started_s < 10
