"""A worker's tools: checked, run concurrently, with errors as text for the model."""

import asyncio
import threading

import pytest
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.tools import Tool

from leadhand import Limits
from leadhand.testing import ScriptedServer
from tests.patience import HANG_S
from tests.workers.model_runs import (
    after,
    call,
    calls,
    inside,
    one_task,
    run,
    steps,
    team,
    told,
    worker,
)

# Calls


def test_calls_in_one_answer_are_made_at_once(model_server: ScriptedServer) -> None:
    met = asyncio.Barrier(3)

    async def meet(name: str) -> str:
        """Comes back when three have come."""
        await met.wait()
        return name

    made = calls(*(("meet", {"name": name}) for name in "abc"))
    done = after(model_server, meet, made=made)
    assert done.answer.status == "complete"
    assert [inside(one) for one in told(model_server)] == ["a", "b", "c"]


def test_functions_that_block_are_made_at_once_too_and_not_on_the_loop(
    model_server: ScriptedServer,
) -> None:
    met = threading.Barrier(2)

    def meet(name: str) -> str:
        """Comes back when two have come."""
        met.wait(HANG_S)
        return threading.current_thread().name

    done = after(model_server, meet, made=calls(("meet", {"name": "a"}), ("meet", {"name": "b"})))
    assert done.answer.status == "complete"
    assert "MainThread" not in "".join(told(model_server))


def test_a_tool_that_wants_to_be_alone_is(model_server: ScriptedServer) -> None:
    under_way = 0
    most = 0

    async def write(line: str) -> str:
        """Writes a line."""
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return line

    made = calls(("write", {"line": "a"}), ("write", {"line": "b"}))
    done = after(model_server, Tool(write, sequential=True), made=made)
    assert done.answer.status == "complete"
    assert most == 1


@pytest.mark.parametrize(
    ("raised", "said_of_it"),
    [
        (ValueError("no such tower"), "ValueError: no such tower"),
        (ModelRetry("name a building"), "name a building"),
        (ToolFailed("the archive is closed"), "the archive is closed"),
        (TimeoutError(), "took too long"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError(), "CancelledError"),
        (GeneratorExit(), "GeneratorExit"),
        (RuntimeError("odd \ud800"), "RuntimeError: odd \ufffd"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("side_by_side", [False, True])
def test_whatever_a_tool_raises_is_reported_to_the_model(
    model_server: ScriptedServer,
    raised: BaseException,
    said_of_it: str,
    is_async: bool,
    side_by_side: bool,
) -> None:
    """F38"""

    def fail(name: str) -> str:
        """Fails."""
        raise raised

    async def fail_async(name: str) -> str:
        """Fails."""
        raise raised

    tool = Tool(fail_async, name="fail") if is_async else fail
    made = [("fail", {"name": name}) for name in ("a", "b")[: 1 + side_by_side]]
    done = after(model_server, tool, made=calls(*made))
    assert done.answer.status == "complete"
    assert all(said_of_it in one for one in told(model_server))
    assert [tool.error is not None for tool in done.tools] == [True] * (1 + side_by_side)


def test_arguments_of_the_wrong_type_are_named_and_nothing_is_called(
    model_server: ScriptedServer,
) -> None:
    made: list[int] = []

    def measure(floor: int, unit: str = "m") -> str:
        """Measures a floor."""
        made.append(floor)
        return "3 m"

    done = after(model_server, measure, made=call("measure", floor="third", unit=7))
    assert made == []
    (text,) = told(model_server)
    assert "floor: Input should be a valid integer" in text
    assert "unit: Input should be a valid string" in text
    assert "Nothing was done." in text
    assert done.answer.status == "complete"


@pytest.mark.parametrize("fault", ["unknown_tool", "misspelt_tool"])
def test_a_tool_that_does_not_exist_is_refused_and_those_that_do_are_named(
    model_server: ScriptedServer, fault: str
) -> None:
    """F08"""

    def measure(floor: int) -> str:
        """Measures a floor."""
        return "3 m"

    done = after(
        model_server, measure, made={**call("measure", floor=3), "misbehave": {fault: True}}
    )
    (text,) = told(model_server)
    assert "There is no tool" in text
    assert "The tools are: measure, read_more" in text
    assert ("Did you mean 'measure'?" in text) == (fault == "misspelt_tool")
    assert done.tools[0].error is not None
    assert done.answer.status == "complete"


def test_a_tool_may_have_a_time_limit_of_its_own(model_server: ScriptedServer) -> None:
    async def wait() -> str:
        """Waits for ever."""
        await asyncio.Event().wait()
        return ""

    done = after(model_server, Tool(wait, timeout=0.05), made=call("wait"))
    assert done.answer.status == "complete"
    assert "took too long" in told(model_server)[0] or "Timed out" in told(model_server)[0]


def test_a_tool_that_never_returns_ends_with_the_attempt(model_server: ScriptedServer) -> None:
    """F38"""
    hung, release = threading.Event(), threading.Event()

    def hang() -> str:
        """Never returns."""
        hung.set()
        release.wait()
        return ""

    model_server.configure(script=steps(call("hang")))
    task = one_task(limits=Limits(timeout_s=100))
    done = run(team(worker(tools=(hang,))), task, hangs=hung.is_set, threads_hang=True)
    release.set()
    assert done.gap == "no answer within 100 s"
    assert done.answer.metrics.makespan_s == 100
