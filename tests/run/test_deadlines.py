"""Deadlines, through the real scheduler and real HTTP: the answer is there in time, whatever hangs.

The answer has to exist half a second after the deadline, in virtual time, and the process has to
end.
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Answer, Synthesis
from leadhand.contracts.events import Event, TaskCompleted
from leadhand.contracts.outcome import Handoff, TaskResult
from leadhand.contracts.task import PlanRequest
from leadhand.contracts.team import WorkFunction
from leadhand.journal import MemoryStore, StoreJournal
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from tests.handles import resumed
from tests.hanging import run_hanging

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


def answered(
    team: Team,
    hangs: Callable[[], object],
    *,
    plan: Plan | None = PLAN,
    beside: str = "quick",
    threads_hang: bool = False,
    **roles: object,
) -> Answer:
    """The answer, which is there in time. The clock stands still until the run `hangs` and the task
    `beside` is done, if there is one."""
    events: list[Event] = []
    supervisor = Supervisor(team, deadline_s=DEADLINE_S, **roles)  # pyright: ignore[reportArgumentType]
    work = supervisor.run(None if plan else REQUEST, plan=plan, listener=events.append)

    def goes_no_further() -> bool:
        done = {event.task_id for event in events if isinstance(event, TaskCompleted)}
        return bool(hangs()) and (not beside or beside in done)

    answer, took_s = run_hanging(work, goes_no_further, threads_hang=threads_hang)
    assert took_s < LATEST_S
    return answer


def check(answer: Answer) -> None:
    """With what was done, and clear about what was not."""
    statuses = {task.id: task.status for task in answer.tasks}
    assert statuses == {"slow": "cancelled", "quick": "completed", "last": "cancelled"}
    assert (answer.status, answer.ended_by) == ("partial", "deadline")
    assert [gap.task_id for gap in answer.gaps] == ["slow", "last"]
    assert "the run's deadline of 1 s " in answer.answer


async def deaf() -> None:
    """Goes on whatever it is told."""
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


# Workers


def test_a_model_that_sends_a_byte_now_and_then(model_server: ScriptedServer) -> None:
    """F04"""
    model_server.configure(faults={"slow:0.3": 1.0})
    check(answered(model_team(), lambda: model_server.stats().requests))


def test_an_async_tool_that_hangs_and_will_not_be_cancelled(model_server: ScriptedServer) -> None:
    """F38"""
    called = threading.Event()

    async def find_invoices(query: str) -> str:
        """Finds invoices."""
        called.set()
        await deaf()
        return "never"

    check(answered(model_team(find_invoices), called.is_set))


def test_a_sync_tool_that_never_returns(model_server: ScriptedServer) -> None:
    """F38"""
    called, never = threading.Event(), threading.Event()

    def find_invoices(query: str) -> str:
        """Finds invoices."""
        called.set()
        never.wait()
        return "late"

    check(answered(model_team(find_invoices), called.is_set, threads_hang=True))
    never.set()


def test_a_sync_worker_that_never_returns() -> None:
    """F38"""
    called, never = threading.Event(), threading.Event()

    def wait(handoff: Handoff) -> None:
        called.set()
        never.wait()

    check(answered(function_team(wait), called.is_set, threads_hang=True))
    never.set()


def test_an_async_worker_that_will_not_be_cancelled() -> None:
    """F38"""
    called = threading.Event()

    async def wait(handoff: Handoff) -> None:
        called.set()
        await deaf()

    check(answered(function_team(wait), called.is_set))


# Planners and synthesizers


class Stubborn:
    """A planner and synthesizer that goes on whatever it is told."""

    name = "stubborn"
    calls_model = True

    def __init__(self) -> None:
        self.called = threading.Event()

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        self.called.set()
        await deaf()
        return PLAN

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        self.called.set()
        await deaf()
        return self.by_code(plan, results)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return Synthesis(answer=f"{len(results)} results.")


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_planner_that_hangs(model_server: ScriptedServer, stubborn: bool) -> None:
    hanging = {"match": {"role": "planner"}, "reply": {"misbehave": {"latency_ms": 600_000}}}
    model_server.configure(script=[hanging])
    planner = Stubborn() if stubborn else None
    hangs = planner.called.is_set if planner else lambda: model_server.stats().requests
    answer = answered(model_team(), hangs, plan=None, beside="", planner=planner)
    assert (answer.status, answer.ended_by) == ("failed", "deadline")
    [gap] = answer.gaps
    assert gap.task_id == "plan"
    taken_s = 0.9 if stubborn else 0.8  # one that will not stop has a little time to do so
    assert gap.why == f"no plan came in {taken_s} s, with the run's deadline of 1 s"


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_synthesizer_that_hangs(model_server: ScriptedServer, stubborn: bool) -> None:
    hanging = {"match": {"role": "synthesizer"}, "reply": {"misbehave": {"slow": 0.3}}}
    model_server.configure(script=[hanging])
    synthesizer = Stubborn() if stubborn else None
    hangs = (
        synthesizer.called.is_set
        if synthesizer
        else lambda: model_server.stats().by_role.get("synthesizer")
    )
    answer = answered(model_team(), hangs, synthesizer=synthesizer)
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

    called = threading.Event()

    class Hanging(FunctionToolset[None]):
        async def __aenter__(self) -> "Hanging":
            if where == "opening":
                called.set()
                await asyncio.sleep(3600)
            return self

        async def __aexit__(self, *error: object) -> None:
            called.set()
            await asyncio.sleep(3600)

    beside = "quick" if where == "closing" else ""
    answer = answered(model_team(Hanging()), called.is_set, beside=beside, synthesizer=Merge())
    if where == "closing":
        assert [task.status for task in answer.tasks] == ["completed"] * 3
    else:
        assert {task.status for task in answer.tasks} == {"cancelled", "completed"}
        assert answer.ended_by == "deadline"


# The process


PROGRAM = """
import asyncio, threading
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
    answer = Supervisor(Team("t", workers=workers), deadline_s=1.0).run_sync(
        plan=Plan(goal="g", tasks=tasks)
    )
    print(answer.status, answer.ended_by)
"""


def test_the_process_ends_with_its_run(tmp_path: Path) -> None:
    """F38: nothing that went on holds it: no thread, no coroutine, no process of its own."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["failed", "deadline"]


class SlowStore(MemoryStore):
    """A store that takes longer to open a run than the run has."""

    blocks = True

    @contextmanager
    def hold(self, run_id: str) -> Generator[int]:
        """The lock, after a while."""
        threading.Event().wait(0.05)
        with super().hold(run_id) as last_seq:
            yield last_seq


async def test_an_answer_at_the_deadline_is_kept(tmp_path: Path) -> None:
    """No reserve is left where code makes the answer: work lasts until the deadline."""

    async def hang(handoff: Handoff) -> None:
        await asyncio.Event().wait()

    supervisor = Supervisor(function_team(hang), home=tmp_path, deadline_s=60)
    plan = Plan(goal=REQUEST, tasks=PLAN.tasks[:1])
    answer = await supervisor.run(plan=plan, run_id="r")
    assert (answer.status, answer.ended_by) == ("failed", "deadline")
    assert [gap.task_id for gap in answer.gaps] == [PLAN.tasks[0].id]
    assert (await supervisor.handle("r").view()).answer == answer
    assert await supervisor.resume_interrupted() == []
    await supervisor.close()


def test_a_deadline_that_is_shorter_than_opening_the_run_gives_an_answer_all_the_same() -> None:
    async def hang(handoff: Handoff) -> None:
        await asyncio.Event().wait()

    async def run_and_resume() -> list[Answer]:
        journal = StoreJournal(SlowStore())
        supervisor = Supervisor(function_team(hang), journal=journal, deadline_s=0.01)
        plan = Plan(goal=REQUEST, tasks=PLAN.tasks[:1])
        return [await supervisor.run(plan=plan, run_id="r"), await resumed(supervisor, "r")]

    for answer in asyncio.run(run_and_resume()):
        assert (answer.status, answer.ended_by) == ("failed", "deadline")
        assert "deadline of 0.01 s" in answer.gaps[0].why
