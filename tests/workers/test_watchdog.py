"""What blocks the event loop is logged at once; a worker is blamed if its code is on the stack."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, ModelCalled, TaskDispatched, WorkerStuck
from leadhand.journal import MemoryJournal
from leadhand.synthesis.merge import Merge
from leadhand.workers.watchdog import Watchdog
from tests.patience import HANG_S

pytestmark = pytest.mark.wall_clock

PLAN = Plan(goal="", tasks=(Task(id="t1", worker="w", intent="Do it."),))


class Heard(logging.Handler):
    """Knows when the watchdog has logged something."""

    def __init__(self) -> None:
        super().__init__()
        self.event = threading.Event()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        self.event.set()

    def of(self, name: str) -> list[str]:
        """What was logged of what has that name; a slow machine may block the loop as well."""
        return [message for message in self.messages if message.startswith(f"{name} has ")]

    def block_until(self, is_heard: Callable[[], object]) -> None:
        """Block until the watchdog, which must not need the loop for it, has logged that."""
        while not is_heard():
            assert self.event.wait(HANG_S)
            self.event.clear()

    def block_until_named(self, name: str) -> None:
        """Block until the watchdog has logged that something of this name blocks."""
        self.block_until(lambda: self.of(name))

    def block_until_placed(self) -> None:
        """Block until it has logged that this function blocks."""
        self.block_until(lambda: [one for one in self.messages if ".wait" in one])


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler = Heard()
    logger = logging.getLogger("leadhand")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


async def test_the_task_that_blocks_the_loop_is_named_once_a_blockage(heard: Heard) -> None:
    """F38."""
    names = ["task 'one'", "task 'two'"]

    async def block(name: str) -> None:
        heard.block_until_named(name)

    with Watchdog(threshold_s=0.05):
        for name in names:
            await asyncio.create_task(block(name), name=name[6:-1])
    ((first,), (_,)) = (heard.of(name) for name in names)
    assert first.startswith("task 'one' has blocked the event loop for ")
    assert "in Event.wait" in first or "in Condition.wait" in first


async def test_a_callback_that_blocks_is_reported_as_one(heard: Heard) -> None:
    with Watchdog(threshold_s=0.05):
        asyncio.get_running_loop().call_soon(heard.block_until_named, "a callback")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert len(heard.of("a callback")) == 1


# Who is blamed


def blamed(
    worker: Worker,
    *,
    listener: Callable[[Event], None] | None = None,
    journal: MemoryJournal | None = None,
) -> set[tuple[str, str]]:
    """The workers and tasks that are recorded as stuck in two runs of a plan at once."""
    stuck: set[tuple[str, str]] = set()

    def listen(event: Event) -> None:
        if isinstance(event, WorkerStuck):
            assert "blocked the event loop for" in event.message
            stuck.add((event.worker, event.task_id))
        if listener is not None:
            listener(event)

    async def main() -> None:
        supervisor = Supervisor(Team("t", workers=(worker,)), journal=journal, synthesizer=Merge())
        with Watchdog(threshold_s=0.05):
            runs = [supervisor.run(plan=PLAN, listener=listen) for _ in range(2)]
            answers = await asyncio.gather(*runs)
            assert {answer.status for answer in answers} == {"complete"}

    asyncio.run(main())
    return stuck


def model_that(calls: str = "", then: Callable[[], None] = lambda: None) -> FunctionModel:
    """A model that calls the tool `calls` twice at once, does `then`, and answers."""

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if calls and len(messages) == 1:
            return ModelResponse([ToolCallPart(calls, {"n": 1}), ToolCallPart(calls, {"n": 2})])
        then()
        ending: dict[str, object] = {
            "answer": "done",
            "summary": "",
            "confidence": 90,
            "evidence": [],
        }
        name = info.output_tools[0].name if info.output_tools else "final_answer"
        return ModelResponse([ToolCallPart(name, {**ending, "plan_impact": "none"})])

    return FunctionModel(answer)


def test_a_function_that_blocks_is_blamed(heard: Heard) -> None:
    """F38."""

    async def block(handoff: Handoff) -> str:
        heard.block_until_named("worker 'w'")
        return "done"

    assert blamed(Worker("w", "", run=block)) == {("w", "t1")}
    assert "in task 't1', at " in heard.of("worker 'w'")[0]


def test_a_worker_is_blamed_for_its_tool(heard: Heard) -> None:
    """The calls of one response run in tasks of their own."""

    async def look(n: int) -> str:
        """Look."""
        heard.block_until_named("worker 'w'")
        return "seen"

    assert blamed(Worker("w", "", model=model_that("look"), tools=(look,))) == {("w", "t1")}


def test_a_worker_is_blamed_for_a_tool_of_its_agent(heard: Heard) -> None:
    async def look(n: int) -> str:
        """Look."""
        heard.block_until_named("worker 'w'")
        return "seen"

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        called = [ToolCallPart("look", {"n": 1})] if len(messages) == 1 else []
        return ModelResponse([*called] or [ToolCallPart("final_result", {"response": 1})])

    agent = Agent(FunctionModel(answer), tools=[look], output_type=int)
    assert blamed(Worker("w", "", run=agent)) == {("w", "t1")}


def test_no_worker_is_blamed_for_its_model(heard: Heard) -> None:
    worker = Worker("w", "", model=model_that(then=heard.block_until_placed))
    assert blamed(worker) == set()


@pytest.mark.parametrize("kind", [TaskDispatched, ModelCalled])
def test_no_worker_is_blamed_for_a_listener(heard: Heard, kind: type[Event]) -> None:
    """Not even for one that is called while the worker works."""

    def listen(event: Event) -> None:
        if isinstance(event, kind):
            heard.block_until_placed()

    assert blamed(Worker("w", "", model=model_that()), listener=listen) == set()


def test_no_worker_is_blamed_for_a_callback_of_the_program(heard: Heard) -> None:
    async def wait(handoff: Handoff) -> str:
        called = asyncio.Event()

        def callback() -> None:
            heard.block_until_placed()
            called.set()

        asyncio.get_running_loop().call_soon(callback)
        await called.wait()
        return "done"

    assert blamed(Worker("w", "", run=wait)) == set()


def test_no_worker_is_blamed_for_the_journal(heard: Heard) -> None:
    class Slow(MemoryJournal):
        def append(self, event: Event) -> None:
            if isinstance(event, ModelCalled):
                heard.block_until_placed()
            super().append(event)

    assert blamed(Worker("w", "", model=model_that()), journal=Slow()) == set()


# Its thread


async def test_nothing_is_said_of_a_loop_that_turns(heard: Heard) -> None:
    turned_s: list[float] = []
    with Watchdog(threshold_s=0.2):
        for _ in range(40):
            turned_s.append(time.monotonic())
            await asyncio.sleep(0.01)
    # On a machine that stood still, the loop may not have turned.
    if max(later - earlier for earlier, later in pairwise(turned_s)) < 0.2:
        assert heard.messages == []


async def test_its_thread_ends_when_it_is_stopped() -> None:
    with Watchdog(threshold_s=0.04):
        thread = next(t for t in threading.enumerate() if t.name == "leadhand-watchdog")
    thread.join(HANG_S)
    assert not thread.is_alive()


def test_a_blockage_that_outlasts_the_loop_is_still_logged(heard: Heard) -> None:
    async def block() -> None:
        heard.block_until_named("task 'last'")
        raise RuntimeError

    async def main() -> None:
        Watchdog(threshold_s=0.05).__enter__()  # and never left
        await asyncio.create_task(block(), name="last")

    with pytest.raises(RuntimeError):
        asyncio.run(main())
    assert len(heard.of("task 'last'")) == 1


async def test_all_runs_of_a_loop_share_one_thread() -> None:
    def watching() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "leadhand-watchdog"}

    before = watching()  # those of other tests may be ending
    with Watchdog.shared(), Watchdog.shared():
        assert len(watching() - before) == 1
