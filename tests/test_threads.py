"""Calls in daemon threads: reused, abandoned when cancelled, and never delaying an exit."""

import asyncio
import contextvars
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest

from leadhand.threads import DaemonThreads
from tests.patience import HANG_S, wait_until

pytestmark = pytest.mark.wall_clock

REQUEST: contextvars.ContextVar[str] = contextvars.ContextVar("REQUEST")


def identity(_: object) -> threading.Thread:
    return threading.current_thread()


class Blocked:
    """A function that runs until it is released."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.release = threading.Event()
        self.returned = threading.Event()
        self.thread: threading.Thread | None = None

    def __call__(self, value: str) -> str:
        self.thread = threading.current_thread()
        self.started.set()
        self.release.wait()
        self.returned.set()
        return value


async def abandon(threads: DaemonThreads, blocked: Blocked, name: str = "stuck") -> None:
    """Start a call of `blocked` and cancel the task that waits for it."""
    task = asyncio.create_task(threads.call(blocked, "late", name=name))
    await asyncio.to_thread(blocked.started.wait, HANG_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_idle_thread_is_used_again() -> None:
    threads = DaemonThreads()
    seen = {await threads.call(identity, None, name="who") for _ in range(20)}
    assert len(seen) == 1
    assert seen.pop().daemon


async def test_there_are_as_many_threads_as_calls_at_once() -> None:
    threads = DaemonThreads()
    together = threading.Barrier(20, timeout=HANG_S)

    def meet(_: int) -> threading.Thread:
        together.wait()
        return threading.current_thread()

    calls = [threads.call(meet, number, name="meet") for number in range(20)]
    assert len(set(await asyncio.gather(*calls))) == 20


async def test_what_the_function_raises_is_raised_to_the_caller() -> None:
    class Custom(BaseException):
        pass

    def fail(_: None) -> None:
        raise Custom

    threads = DaemonThreads()
    with pytest.raises(Custom):
        await threads.call(fail, None, name="fail")
    assert await threads.call(str, 7, name="after") == "7"


async def test_the_caller_s_context_variables_are_seen_and_not_changed() -> None:
    def change(value: str) -> str:
        seen = REQUEST.get()
        REQUEST.set(value)
        return seen

    REQUEST.set("mine")
    assert await DaemonThreads().call(change, "theirs", name="change") == "mine"
    assert REQUEST.get() == "mine"


def test_one_pool_serves_one_event_loop_after_another() -> None:
    threads = DaemonThreads()
    runs = [asyncio.run(threads.call(identity, None, name="who")) for _ in range(3)]
    assert len(set(runs)) == 1


def test_one_pool_serves_event_loops_in_several_threads() -> None:
    threads = DaemonThreads()
    results: list[list[str]] = []

    async def many() -> list[str]:
        calls = [threads.call(str, number, name="many") for number in range(200)]
        return list(await asyncio.gather(*calls))

    loops = [threading.Thread(target=lambda: results.append(asyncio.run(many()))) for _ in range(4)]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    assert results == [[str(number) for number in range(200)]] * 4


def test_a_cancelled_call_is_abandoned_and_named_until_it_ends() -> None:
    """F38."""
    threads = DaemonThreads()
    blocked = Blocked()
    before = time.monotonic()
    asyncio.run(abandon(threads, blocked, "worker 'a', task 'b'"))
    (left,) = threads.abandoned
    assert left.name == "worker 'a', task 'b'"
    assert before <= left.since_s <= time.monotonic()
    blocked.release.set()
    wait_until(lambda: threads.abandoned == ())


async def test_what_an_abandoned_call_returns_late_is_dropped() -> None:
    """F38: also where the loop that waited is closed by then."""
    threads = DaemonThreads()
    early, late = Blocked(), Blocked()
    await abandon(threads, early)
    early.release.set()
    wait_until(lambda: len(threads.abandoned) == 0)
    # The loop turns after the late result, and nothing comes of it.
    assert await threads.call(str, 1, name="next") == "1"
    await abandon(threads, late)
    late.release.set()
    assert late.returned.wait(HANG_S)


async def test_the_thread_of_an_abandoned_call_is_not_used_again() -> None:
    threads = DaemonThreads()
    blocked = Blocked()
    await abandon(threads, blocked)
    blocked.release.set()
    assert blocked.thread is not None
    wait_until(lambda: blocked.thread is not None and not blocked.thread.is_alive())
    assert await threads.call(identity, None, name="who") is not blocked.thread


def test_a_loop_that_ends_abandons_its_calls() -> None:
    threads = DaemonThreads()
    blocked = Blocked()

    async def main() -> None:
        asyncio.get_running_loop().create_task(threads.call(blocked, "x", name="left behind"))
        await asyncio.to_thread(blocked.started.wait, HANG_S)

    asyncio.run(main())
    assert [call.name for call in threads.abandoned] == ["left behind"]
    blocked.release.set()


async def test_an_idle_thread_ends_after_a_while_and_another_takes_its_place() -> None:
    threads = DaemonThreads(idle_s=0.01)
    first = await threads.call(identity, None, name="first")
    wait_until(lambda: not first.is_alive())
    assert await threads.call(identity, None, name="second") is not first


async def test_closing_lets_idle_threads_end_at_once() -> None:
    threads = DaemonThreads(idle_s=3600)
    thread = await threads.call(identity, None, name="who")
    threads.close()
    wait_until(lambda: not thread.is_alive())


def test_an_idle_thread_keeps_no_result_alive() -> None:
    class Large:
        pass

    threads = DaemonThreads()

    async def main() -> weakref.ref[Large]:
        return weakref.ref(await threads.call(lambda _: Large(), None, name="large"))

    gone = asyncio.run(main())
    wait_until(lambda: gone() is None)


def test_a_thread_that_never_returns_does_not_keep_the_process_from_its_exit() -> None:
    """F38: the process ends at once, with its own status."""
    program = """
        import asyncio, sys, threading, time
        from leadhand.threads import DaemonThreads

        started = threading.Event()

        def sleep(seconds):
            started.set()
            time.sleep(seconds)

        async def main():
            task = asyncio.create_task(DaemonThreads().call(sleep, 3600, name="sleeper"))
            while not started.is_set():
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

        asyncio.run(main())
        sys.exit(7)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        timeout=HANG_S,
        text=True,
        check=False,
    )
    assert ended.returncode == 7
    assert "sleeper did not stop when cancelled" in ended.stderr
    assert "Traceback" not in ended.stderr
