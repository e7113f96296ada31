"""What a model call costs and who takes it: CPU time layer by layer, each over the one below it.

    python -m benchmarks.call [--tasks 200] [--rounds 15]

Every layer asks the same model server, a process of its own, the same short question, 64 at once.
Layers take turns in one process, and differences are taken within a round, so that they stand on a
busy machine too. `by hand` builds and parses the JSON without the SDK and pydantic-ai: what is
between it and pydantic-ai's layer is what an encoder of our own could save.
"""

import argparse
import asyncio
import gc
import os
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import aiohttp
import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient
from pydantic_core import from_json, to_json

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.clients import model_client
from leadhand.models.connections import Connections
from leadhand.models.structured import first_message
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json

MODEL = "gpt-4o-mini"
SPEC = f"openai-chat:{MODEL}"
SYSTEM = "You are WORKER writer. Do the task you are given and answer in one sentence."
QUESTION = "Examine item {} of the catalogue and report the two most relevant facts."
ANSWER = "The item was examined, two facts were confirmed and one open point was noted."
AT_ONCE = 64
TEAM = Team("call", model=SPEC, workers=(Worker("writer", "", instructions=SYSTEM, plain=True),))

Call = Callable[[str], Awaitable[object]]
Layer = Callable[[int], Awaitable[None]]
"""Makes so many calls."""


def body(question: str) -> dict[str, object]:
    """A request as the API takes it."""
    asked = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    return {"model": MODEL, "messages": asked}


def text_in(answer: bytes) -> str:
    """The text of a response."""
    return from_json(answer)["choices"][0]["message"]["content"]


async def all_at_once(call: Call, count: int) -> None:
    """Ask `count` questions, `AT_ONCE` at a time."""
    free = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with free:
            await call(QUESTION.format(number))

    await asyncio.gather(*(one(number) for number in range(count)))


def posting(client: httpx2.AsyncClient, url: str) -> Call:
    """Calls by hand over `client`."""

    async def call(question: str) -> str:
        headers = {"authorization": "Bearer x", "content-type": "application/json"}
        answer = await client.post(url, content=to_json(body(question)), headers=headers)
        return text_in(answer.content)

    return call


def asking(sdk: AsyncOpenAI) -> Call:
    """Calls by the SDK."""

    async def call(question: str) -> object:
        messages = cast("Any", body(question)["messages"])
        return await sdk.chat.completions.create(model=MODEL, messages=messages)

    return call


@asynccontextmanager
async def layers(base: str) -> AsyncGenerator[dict[str, Layer]]:
    """By name, from the bottom up. All but whole runs keep their connections, as SDK users do."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        plain = await stack.enter_async_context(DefaultAioHttpClient())
        guarded = await stack.enter_async_context(model_client())
        connections = await stack.enter_async_context(Connections())
        url = f"{base}/chat/completions"

        async def bare(question: str) -> str:
            async with session.post(url, data=to_json(body(question))) as answer:
                return text_in(await answer.read())

        async def pydantic_ai(question: str) -> object:
            asked = [first_message(question, request)]
            model = connections.to(SPEC).model
            return await model.request([*asked], None, request.parameters)

        async def ours(count: int) -> None:
            # A recorder of its own for each batch, as each run has: it keeps all its events.
            caller = Caller(connections, Recorder("call", MemoryJournal(), clock=SystemClock()))

            async def call(question: str) -> object:
                asked = [first_message(question, request)]
                worker = Requester("worker")
                return await caller.ask(worker, [*asked], request=request, models=[SPEC])

            await all_at_once(call, count)

        request = CallRequest(SYSTEM)
        calls: dict[str, Call] = {
            "aiohttp": bare,
            "transport": posting(plain, url),
            "SDK": asking(AsyncOpenAI(http_client=plain, max_retries=0)),
            "by hand": posting(guarded, url),
            "guarded SDK": asking(AsyncOpenAI(http_client=guarded, max_retries=0)),
            "pydantic-ai": pydantic_ai,
        }

        def layer(call: Call) -> Layer:
            return lambda count: all_at_once(call, count)

        yield {
            **{name: layer(call) for name, call in calls.items()},
            "call": ours,
            "run": lambda count: run(count, None),
            "kept run": kept_run,
        }


async def run(count: int, home: str | None) -> None:
    """A whole run of so many tasks, kept at `home`."""
    tasks = tuple(
        Task(id=str(number), worker="writer", intent=QUESTION.format(number))
        for number in range(count)
    )
    supervisor = Supervisor(TEAM, synthesizer=Merge(), concurrency=AT_ONCE, home=home)
    answer = await supervisor.run("Examine the catalogue.", plan=Plan(goal="", tasks=tasks))
    assert answer.status == "complete", answer.gaps


async def kept_run(count: int) -> None:
    """The same, kept in a folder."""
    with tempfile.TemporaryDirectory() as home:
        await run(count, home)


@dataclass(frozen=True, slots=True)
class Share:
    """What one part of a call takes: a layer less the one below it."""

    part: str
    of: str
    less: str | None


SHARES = (
    Share("transport (httpx2 on aiohttp), JSON by hand", "transport", None),
    Share("SDK: building, response models", "SDK", "transport"),
    Share("the bare SDK in all", "SDK", None),
    Share("limit and redirect checks of the client (ours)", "guarded SDK", "SDK"),
    Share("pydantic-ai: mapping, checking", "pydantic-ai", "guarded SDK"),
    Share("call: admission, replay key, events (ours)", "call", "pydantic-ai"),
    Share("run: scheduler, worker, answer (ours)", "run", "call"),
    Share("a run in all", "run", None),
    Share("journal: SQLite (ours)", "kept run", "run"),
    Share("an encoder of our own would save", "pydantic-ai", "by hand"),
    Share("the same without httpx2", "pydantic-ai", "aiohttp"),
)


async def measured(base: str, *, tasks: int, rounds: int) -> list[dict[str, float]]:
    """CPU milliseconds a call by layer, round by round; the first round only warms up."""
    found: list[dict[str, float]] = []
    async with layers(base) as by_name:
        for _ in range(rounds + 1):
            took: dict[str, float] = {}
            for name, layer in by_name.items():
                gc.collect()
                before_s = time.process_time()
                await layer(tasks)
                took[name] = 1_000 * (time.process_time() - before_s) / tasks
            found.append(took)
    return found[1:]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    script: list[Mapping[str, Json]] = [{"reply": {"text": ANSWER}}]
    with ScriptedServer(script, keep_bodies=0) as server:
        os.environ.update(server.env())
        base = os.environ["OPENAI_BASE_URL"]
        rounds = asyncio.run(measured(base, tasks=options.tasks, rounds=options.rounds))
    print(f"load {os.getloadavg()[0]:.1f}; CPU, medians of {len(rounds)} rounds")
    print(f"{'part':52} {'ms a call':>9} {'of the bare SDK':>16}")
    for share in SHARES:
        took = [one[share.of] - (one[share.less] if share.less else 0.0) for one in rounds]
        ratios = [ms / one["SDK"] for ms, one in zip(took, rounds, strict=True)]
        print(f"{share.part:52} {statistics.median(took):9.3f} {statistics.median(ratios):16.2f}")


if __name__ == "__main__":
    main()
