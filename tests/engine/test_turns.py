"""Steps that take long run one in each cycle of the loop, in the order in which they came."""

import asyncio

from leadhand.engine.turns import turn


async def test_each_cycle_of_the_loop_has_one_turn_and_other_work_goes_on() -> None:
    seen: list[str] = []

    async def step(name: str) -> None:
        await turn()
        seen.append(name)

    async def program(until: asyncio.Event) -> None:
        while not until.is_set():
            seen.append("-")
            await asyncio.sleep(0)

    done = asyncio.Event()
    beside = asyncio.create_task(program(done))
    await asyncio.gather(*(step(str(number)) for number in range(4)))
    done.set()
    await beside
    steps = "".join(seen).strip("-")
    assert steps.replace("-", "") == "0123"
    assert all(f"{n}{n + 1}" not in steps for n in range(3))


async def test_a_task_that_is_cancelled_gives_its_turn_to_the_next() -> None:
    await turn()
    tasks = [asyncio.create_task(turn()) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    tasks[1].cancel()
    await tasks[2]
    await turn()


async def test_a_turn_is_taken_at_once_if_nothing_waits() -> None:
    for _ in range(3):
        work = turn()
        try:
            work.send(None)
        except StopIteration:
            await asyncio.sleep(0.0)
            await asyncio.sleep(0.0)
            continue
        raise AssertionError("it waits")
