"""What an attempt took itself, in virtual time, which only waiting takes."""

import asyncio
from collections.abc import Awaitable, Callable

from leadhand.contracts.events.fields import AttemptTimes
from leadhand.engine.attempts import AbandonableTask
from leadhand.engine.stopwatch import ExcludedTime
from leadhand.testing import run_virtual


def work(
    worked_s: float, *, high_s: float | None = None, path_s: float | None = None
) -> AttemptTimes:
    return AttemptTimes(worked_s=worked_s, worked_high_s=high_s, path_s=path_s)


def timed(attempt: Callable[[], Awaitable[None]]) -> AttemptTimes:
    """What is said of an attempt once it has ended, and two seconds later still."""

    async def measure() -> AttemptTimes:
        async def steps() -> None:
            await attempt()

        measured = AbandonableTask(steps())
        await measured
        await asyncio.sleep(2)
        return measured.watch.work()

    return run_virtual(measure())


def test_waiting_for_something_of_its_own_counts() -> None:
    assert timed(lambda: asyncio.sleep(3)) == work(3.0)


def test_what_is_timed_apart_counts_as_is_said_and_no_more_than_it_took() -> None:
    async def queue() -> None:
        await asyncio.sleep(1)
        with ExcludedTime() as waiting:
            await asyncio.sleep(4)
        assert waiting.elapsed_s == 4.0

    async def thread() -> None:
        await asyncio.sleep(1)
        with ExcludedTime() as block:
            await asyncio.sleep(4)
            block.took(2.0, 3.0)

    async def bold() -> None:
        with ExcludedTime() as block:
            await asyncio.sleep(4)
            block.took(9.0, 9.0)

    assert timed(queue) == work(1.0)
    assert timed(thread) == work(3.0, high_s=4.0)
    assert timed(bold) == work(4.0)


def test_of_blocks_within_each_other_the_first_counts() -> None:
    async def attempt() -> None:
        with ExcludedTime() as outer:
            with ExcludedTime() as inner:
                await asyncio.sleep(4)
                inner.took(4.0, 4.0)
            outer.took(1.0, 1.0)
        with ExcludedTime() as later:
            await asyncio.sleep(2)
            later.took(2.0, 2.0)

    assert timed(attempt) == work(3.0)


def test_several_things_at_once_may_take_more_than_their_block() -> None:
    async def attempt() -> None:
        await asyncio.sleep(1)
        with ExcludedTime() as block:
            await asyncio.sleep(4)
            block.took(7.0, 8.0, path_s=3.0)

    assert timed(attempt) == work(8.0, high_s=9.0, path_s=4.0)


async def test_an_attempt_under_way_is_timed_until_now_and_one_not_begun_took_nothing() -> None:
    measured = AbandonableTask(asyncio.sleep(5))
    before = measured.watch.work()
    attempt = asyncio.ensure_future(measured)
    await asyncio.sleep(2)
    during = measured.watch.work()
    await attempt
    assert (before, during) == (work(0.0), work(2.0))


async def test_a_block_outside_an_attempt_only_measures() -> None:
    with ExcludedTime() as block:
        await asyncio.sleep(3)
    assert block.elapsed_s == 3.0
