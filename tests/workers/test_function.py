"""Functions as workers: whatever one does, the result is an outcome."""

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable

import pytest

from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.threads import DaemonThreads
from leadhand.workers.function import FunctionWorker
from tests.patience import HANG_S
from tests.workers.worker_samples import echo, echo_async, escalate, fail, make_handoff, message_of

pytestmark = pytest.mark.wall_clock

HANDOFF = make_handoff()


def run(function: Callable[[Handoff], object], output: object = None) -> Outcome:
    return asyncio.run(FunctionWorker(function, output=output).run(HANDOFF))


def output_of(function: Callable[[Handoff], object]) -> object:
    outcome = run(function)
    assert isinstance(outcome, Completed), outcome
    return outcome.result.output


class Custom(BaseException):
    """Neither an `Exception` nor one that Python knows."""


class AsyncCallable:
    async def __call__(self, handoff: Handoff) -> str:
        return f"called with {handoff.intent}"


class Clerk:
    def work(self, handoff: Handoff) -> str:
        return f"worked on {handoff.intent}"


def test_sync_and_async_functions_give_their_value_as_output() -> None:
    assert output_of(echo) == "do it"
    assert run(echo_async) == Completed(result=Result(output="do it", confidence=90))


def test_anything_that_can_be_called_is_a_worker() -> None:
    async def shout(handoff: Handoff, *, mark: str) -> str:
        return handoff.intent + mark

    assert output_of(functools.partial(shout, mark="!")) == "do it!"
    assert output_of(AsyncCallable()) == "called with do it"
    assert output_of(Clerk().work) == "worked on do it"
    assert output_of(lambda handoff: handoff.task_id) == "t1"


def test_a_sync_function_may_return_what_is_to_be_awaited() -> None:
    def later(handoff: Handoff) -> Awaitable[Result]:
        return echo_async(handoff)

    assert output_of(later) == "do it"


def test_an_outcome_of_its_own_is_passed_on() -> None:
    assert run(escalate) == Escalated(reason="out_of_scope", message="ask billing")


def test_async_functions_run_in_the_loop_and_sync_ones_in_daemon_threads() -> None:
    async def in_loop(handoff: Handoff) -> bool:
        return threading.current_thread() is threading.main_thread()

    def elsewhere(handoff: Handoff) -> list[bool]:
        thread = threading.current_thread()
        return [thread is threading.main_thread(), thread.daemon]

    assert output_of(in_loop) is True
    assert output_of(elsewhere) == [False, True]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad"), Custom("bad"), SystemExit("bad"), KeyboardInterrupt("bad"),
        GeneratorExit("bad"), StopIteration("bad"), StopAsyncIteration("bad"),
        asyncio.CancelledError("bad"), BaseExceptionGroup("bad", [Custom("worse")]),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_whatever_it_raises_is_a_failure(error: BaseException) -> None:
    """F38: BaseException, and a cancellation that was not requested."""

    def sync_worker(handoff: Handoff) -> None:
        raise error

    async def async_worker(handoff: Handoff) -> None:
        raise error

    for worker in (sync_worker, async_worker):
        outcome = run(worker)
        assert isinstance(outcome, Failed)
        assert outcome.kind == "error"
        # Python itself wraps a StopIteration that leaves a coroutine.
        if not (isinstance(error, StopIteration) and worker is async_worker):
            assert outcome.message.startswith(f"{type(error).__name__}: bad")


async def test_siblings_are_unharmed_by_one_that_raises_a_base_exception() -> None:
    """F38."""
    siblings_done = asyncio.Event()

    async def sibling(handoff: Handoff) -> str:
        await siblings_done.wait()
        return "done"

    def rude(handoff: Handoff) -> None:
        raise SystemExit(1)

    waiting = asyncio.create_task(FunctionWorker(sibling).run(HANDOFF))
    first = await FunctionWorker(rude).run(HANDOFF)
    siblings_done.set()
    failed, done = [first, await waiting]
    assert message_of(failed) == "SystemExit: 1"
    assert done == Completed(result=Result(output="done"))


@pytest.mark.parametrize("worker", [echo, echo_async])
def test_a_value_of_another_type_than_declared_is_a_failure(
    worker: Callable[[Handoff], object],
) -> None:
    """F38: the wrong type."""
    outcome = run(worker, output=list[int])
    assert isinstance(outcome, Failed)
    assert outcome.kind == "invalid_output"


def test_a_call_that_does_not_fit_the_function_is_a_failure() -> None:
    def takes_nothing() -> str:
        return "never"

    outcome = run(takes_nothing)  # pyright: ignore[reportArgumentType]
    assert isinstance(outcome, Failed)
    assert outcome.message.startswith("TypeError")


async def test_the_cancellation_of_its_own_task_is_raised() -> None:
    started = asyncio.Event()

    async def wait(handoff: Handoff) -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(FunctionWorker(wait).run(HANDOFF))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_failure_while_it_is_cancelled_is_still_a_value() -> None:
    started = asyncio.Event()

    async def clumsy(handoff: Handoff) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            fail(handoff)

    task = asyncio.create_task(FunctionWorker(clumsy).run(HANDOFF))
    await started.wait()
    task.cancel()
    assert message_of(await task) == "ValueError: no such invoice"


async def test_one_that_ignores_its_cancellations_still_ends_with_an_outcome() -> None:
    """F38: nothing is thrown at the scheduler; that it need not wait is the scheduler's own."""
    told, heard, enough = 0, asyncio.Event(), asyncio.Event()

    async def stubborn(handoff: Handoff) -> str:
        nonlocal told
        while not enough.is_set():
            heard.set()
            try:
                await enough.wait()
            except asyncio.CancelledError:
                told += 1
        return "finished all the same"

    task = asyncio.create_task(FunctionWorker(stubborn).run(HANDOFF))
    await heard.wait()
    for _ in range(3):
        heard.clear()
        task.cancel()
        await heard.wait()
    assert not task.done()
    enough.set()
    assert (told, await task) == (3, Completed(result=Result(output="finished all the same")))


async def test_a_sync_worker_that_never_returns_is_abandoned_and_named() -> None:
    """F38."""
    threads = DaemonThreads()
    started, release = threading.Event(), threading.Event()

    def stuck(handoff: Handoff) -> None:
        started.set()
        release.wait()

    task = asyncio.create_task(FunctionWorker(stuck, threads=threads).run(HANDOFF))
    await asyncio.to_thread(started.wait, HANG_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # Siblings continue in other threads of the same pool.
    assert await FunctionWorker(echo, threads=threads).run(HANDOFF) == Completed(
        result=Result(output="do it")
    )
    assert [call.name for call in threads.abandoned] == ["worker 'worker', task 't1'"]
    release.set()
