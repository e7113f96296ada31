"""Many runs at once, as a service has them: CPU per run, latency, loop lag, and the first run.

    python -m benchmarks.service [--runs 50] [--rounds 5] [--latency-ms 150]

A run makes five model calls: the planner's, those of three workers with tools (the third needs the
results of the other two), and the synthesizer's. `SDK` makes the same calls, with the request
bodies that leadhand sent, in the same order over the same transport. Both take turns in one
process, and ratios are taken within a round. The model server is a process of its own.
"""

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from openai import AsyncOpenAI, DefaultAioHttpClient
from pydantic import BaseModel

from leadhand import Supervisor, Team, Worker
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import mapping

MODEL = "gpt-4o-mini"
REQUEST = "I was charged twice in May, and the app crashes when I open the invoice"
CALLS = 5
ALONE = 5
"""Runs alone in each round; their median counts."""
LAG_TICK_S = 0.005
MAX_CPU, MAX_P95, MAX_LAG_MS, MAX_FIRST = 1.6, 3.0, 50.0, 1.2

Work = Callable[[], Awaitable[object]]


class Invoice(BaseModel):
    """One invoice of a customer."""

    number: str
    month: str
    amount_eur: float
    paid: bool = False


def charge_for(month: str, customer: str = "") -> Invoice:
    """The charge of a customer in a month such as 2026-05."""
    return Invoice(number="1", month=month, amount_eur=9.0)


async def refund(invoice: Invoice, reason: str, amount_eur: float | None = None) -> str:
    """Refund an invoice, or a part of it."""
    return f"{invoice.number}: {reason} {amount_eur}"


def status_of(component: str, since: str | None = None) -> list[str]:
    """Incidents of a component of the app."""
    return [f"{component} {since}"]


async def crash_report(version: str, device: str, lines: int = 20) -> str:
    """The stack trace of the last crash on a device."""
    return f"{version} {device} {lines}"


def phrase(topic: str, tone: str = "friendly") -> str:
    """An approved sentence on a topic."""
    return f"{topic} {tone}"


TEAM = Team(
    "support",
    model=f"openai-chat:{MODEL}",
    workers=(
        Worker(
            "billing",
            "Invoices, refunds, payment failures",
            instructions="You clear up questions on invoices and payments.",
            tools=(charge_for, refund),
        ),
        Worker(
            "technical",
            "Error diagnosis and set-up",
            instructions="You find out why something does not work.",
            tools=(status_of, crash_report),
        ),
        Worker(
            "writer",
            "Writes to the customer",
            instructions="You write letters to customers.",
            tools=(phrase,),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Burst:
    """What many runs at once took."""

    cpu_ms: float
    """Per run, user and system time of this process."""
    latencies_s: Sequence[float]
    lags_ms: Sequence[float]
    """How late the loop was, every few milliseconds."""


class LoopLag:
    """Measures how late the event loop is while the block lasts."""

    def __init__(self) -> None:
        self.ms: list[float] = []

    async def __aenter__(self) -> "LoopLag":
        self._task = asyncio.create_task(self._measure())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _measure(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + LAG_TICK_S
            await asyncio.sleep(LAG_TICK_S)
            self.ms.append(1_000 * (loop.time() - due_s))


async def timed(work: Work) -> float:
    """Seconds that `work` takes."""
    started_s = time.perf_counter()
    await work()
    return time.perf_counter() - started_s


async def burst(work: Work, runs: int) -> Burst:
    """`runs` of `work`, started at once."""
    gc.collect()
    async with LoopLag() as lag:
        before_s = time.process_time()
        latencies_s = await asyncio.gather(*(timed(work) for _ in range(runs)))
        cpu_s = time.process_time() - before_s
    return Burst(1_000 * cpu_s / runs, latencies_s, lag.ms)


async def alone_s(work: Work) -> float:
    """Seconds of a run with nothing beside it."""
    return statistics.median([await timed(work) for _ in range(ALONE)])


async def run(supervisor: Supervisor) -> None:
    """One run by the front door."""
    answer = await supervisor.run(REQUEST)
    assert answer.status == "complete", answer.gaps


async def recorded(server: ScriptedServer) -> list[dict[str, object]]:
    """The request bodies of a run, in order."""
    server.reset(keep_bodies=CALLS)
    await run(Supervisor(TEAM))
    stats = server.stats()
    assert stats.requests == CALLS, stats.by_role
    server.reset(keep_bodies=0)
    return [dict(mapping(one["body"])) for one in stats.bodies]


def by_sdk(sdk: AsyncOpenAI, bodies: Sequence[Mapping[str, object]]) -> Work:
    """The calls of one run by the SDK: plan, two workers at once, the third, synthesis."""

    async def ask(body: Mapping[str, object]) -> object:
        answer: object = await cast("Any", sdk.chat.completions).create(**body)
        return answer

    async def work() -> None:
        plan, first, second, third, synthesis = bodies
        await ask(plan)
        await asyncio.gather(ask(first), ask(second))
        await ask(third)
        await ask(synthesis)

    return work


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a round."""

    alone_s: float
    burst: Burst


async def measured(server: ScriptedServer, *, runs: int, rounds: int) -> dict[str, list[Side]]:
    """Both sides, round by round; what comes before the first round only warms up."""
    bodies = await recorded(server)
    found: dict[str, list[Side]] = {"SDK": [], "leadhand": []}
    supervisor = Supervisor(TEAM)
    await supervisor.ready()
    async with DefaultAioHttpClient() as client:
        sides: dict[str, Work] = {
            "SDK": by_sdk(AsyncOpenAI(http_client=client, max_retries=0), bodies),
            "leadhand": lambda: run(supervisor),
        }
        for work in sides.values():
            await burst(work, 5)
        for _ in range(rounds):
            for name, work in sides.items():
                found[name].append(Side(await alone_s(work), await burst(work, runs)))
    await supervisor.shutdown()
    return found


FIRST = """
import asyncio, json, time
from benchmarks import service
from leadhand import Supervisor

async def main():
    supervisor = Supervisor(service.TEAM)
    await supervisor.ready()
    took = []
    for _ in range(2):
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        await service.run(supervisor)
        took.append((time.perf_counter() - wall_s, time.process_time() - cpu_s))
    await supervisor.shutdown()
    print(json.dumps(took))

asyncio.run(main())
"""


def first_and_second() -> tuple[tuple[float, float], tuple[float, float]]:
    """Wall and CPU seconds of a process's first and second run after `ready`."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST], check=True, stdout=subprocess.PIPE, text=True
    )
    (wall_1, cpu_1), (wall_2, cpu_2) = json.loads(done.stdout)
    return (wall_1, cpu_1), (wall_2, cpu_2)


def share(values: Sequence[float], part: float) -> float:
    """The value that `part` of them do not exceed."""
    return sorted(values)[min(int(part * len(values)), len(values) - 1)]


def row(name: str, sides: Sequence[Side]) -> str:
    """The medians of the rounds."""

    def median(figure: Callable[[Side], float]) -> float:
        return statistics.median(map(figure, sides))

    return (
        f"{name:10} {median(lambda one: one.burst.cpu_ms):10.1f} "
        f"{median(lambda one: one.alone_s):9.2f} "
        f"{median(lambda one: share(one.burst.latencies_s, 0.5)):8.2f} "
        f"{median(lambda one: share(one.burst.latencies_s, 0.95)):8.2f} "
        f"{median(lambda one: share(one.burst.lags_ms, 0.99)):11.0f} "
        f"{median(lambda one: max(one.burst.lags_ms)):9.0f}"
    )


def shown(what: str, figure: float, most: float) -> None:
    """Print a figure beside its target."""
    print(f"{what}: {figure:.2f}, at most {most:g}: {'met' if figure <= most else 'MISSED'}")


def report(found: Mapping[str, Sequence[Side]]) -> None:
    """Print the table, and each target with whether it was met."""
    ours, sdk = found["leadhand"], found["SDK"]
    print(
        f"{'':10} {'CPU ms/run':>10} {'alone s':>9} {'p50 s':>8} {'p95 s':>8} "
        f"{'lag p99 ms':>11} {'max ms':>9}"
    )
    for name, sides in found.items():
        print(row(name, sides))
    cpu = [a.burst.cpu_ms / b.burst.cpu_ms for a, b in zip(ours, sdk, strict=True)]
    p95 = [share(one.burst.latencies_s, 0.95) / one.alone_s for one in ours]
    shown("CPU per run over the SDK's", statistics.median(cpu), MAX_CPU)
    shown("p95 over a run alone", statistics.median(p95), MAX_P95)
    lag = statistics.median(share(one.burst.lags_ms, 0.99) for one in ours)
    shown("loop lag p99, ms", lag, MAX_LAG_MS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency-ms", type=float, default=150.0)
    options = parser.parse_args()
    with ScriptedServer(latency_ms=options.latency_ms, model=MODEL, keep_bodies=0) as server:
        os.environ.update(server.env())
        print(f"load {os.getloadavg()[0]:.1f}; {options.runs} runs at once, {CALLS} calls each")
        report(asyncio.run(measured(server, runs=options.runs, rounds=options.rounds)))
        pairs = [first_and_second() for _ in range(options.rounds)]
    for number, what in enumerate(("wall", "CPU")):
        times = [first[number] / second[number] for first, second in pairs]
        shown(f"first run over the second, {what}", statistics.median(times), MAX_FIRST)


if __name__ == "__main__":
    main()
