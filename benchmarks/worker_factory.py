"""Workers made for a plan beside the same workers in a static registry.

    python -m benchmarks.worker_factory [--rounds 15]

Ten tasks for ten workers with a tool each. One team declares the workers; the other has the tools
in the catalogue of its worker factory, and the planner's answer describes the workers. Both run in
turn in this process, each with a scripted server that answers at once, so that wall and CPU time
are ours. The server counts tokens (characters divided by four), also those of the descriptions.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Callable
from statistics import median

from leadhand import Supervisor, Team, Worker, WorkerFactory, events
from leadhand.plans.checks import check
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.testing import ModelReply, Request, ScriptedServer, exchange
from leadhand.testing.json_data import Json, Object, mapping

METALS = ["copper", "zinc", "tin", "lead", "nickel", "iron", "gold", "silver", "cobalt", "lithium"]
REQUEST = "What do copper, zinc and eight other metals cost, and what moved their prices?"
RUNS = 5
"""Runs of each team in a round."""
MAX_CPU_MS = 1.0
"""The target: CPU time for a made worker beyond that of a declared one."""


def instructions(metal: str) -> str:
    """What a worker is told, as long as a model writes it."""
    return (
        f"You know the market of {metal}. Find the price that you are asked for, in dollars a ton, "
        "with its date and source. Say which events moved it. Leave other metals to others, and "
        "say so if two sources disagree."
    )


def tool_of(metal: str) -> Callable[[str], str]:
    """A tool of its own for each metal."""

    def price(month: str) -> str:
        return f"{metal} in {month}: 9,000"

    price.__name__ = f"{metal}_price"
    price.__doc__ = f"Gives the price of {metal} in a month."
    return price


def described(metal: str) -> Object:
    """A worker as the planner describes it."""
    return {
        "name": f"{metal}-analyst",
        "description": f"Knows prices of {metal} and what moves them",
        "instructions": instructions(metal),
        "tools": [f"{metal}_price"],
        "tier": None,
        "output": None,
    }


def reply(request: Request, role: exchange.Role) -> ModelReply | None:
    """The same ten tasks for both teams; the workers too if the plan may describe them."""
    if role == "worker":
        return ModelReply(json={"answer": "9,000 dollars a ton, because mines were closed."})
    if role != "planner":
        return None
    tasks: list[Json] = [
        {
            "id": metal,
            "worker": f"{metal}-analyst",
            "intent": f"Find the price of {metal} in May and what moved it.",
            "depends_on": [],
        }
        for metal in METALS
    ]
    plan: Object = {"tasks": tasks, "synthesis": "merge", "instruction": ""}
    if "workers" in mapping(request.tools[0].parameters.get("properties")):
        plan["workers"] = [described(metal) for metal in METALS]
    return ModelReply(json=plan)


def teams() -> dict[str, Team]:
    """The two teams."""
    tools = {metal: tool_of(metal) for metal in METALS}
    workers = [
        Worker(
            f"{metal}-analyst",
            f"Knows prices of {metal} and what moves them",
            instructions=instructions(metal),
            tools=[tool],
        )
        for metal, tool in tools.items()
    ]
    factory = WorkerFactory([*tools.values()], max_workers=len(METALS))
    model = "openai-chat:scripted"
    return {
        "static registry": Team("registry", model=model, workers=workers),
        "made for the plan": Team("factory", model=model, worker_factory=factory),
    }


async def measured(supervisor: Supervisor) -> dict[str, float]:
    """Wall and CPU time, tokens and calls of a run."""
    calls: list[events.ModelCalled] = []

    def note(event: events.Event) -> None:
        if isinstance(event, events.ModelCalled):
            calls.append(event)

    wall, cpu = time.perf_counter(), time.process_time()
    answer = await supervisor.run(REQUEST, listener=note)
    found = {"wall ms": time.perf_counter() - wall, "CPU ms": time.process_time() - cpu}
    if (answer.status, len(answer.tasks)) != ("complete", len(METALS)):
        raise SystemExit(f"the run was not what it should be: {answer.status}, {answer.gaps}")
    return {
        **{name: 1_000 * seconds for name, seconds in found.items()},
        "tokens in": sum(call.input_tokens for call in calls),
        "tokens out": sum(call.output_tokens for call in calls),
        "calls": len(calls),
    }


async def compared(rounds: int) -> dict[str, dict[str, float]]:
    """The medians of each team, which take turns."""
    supervisors = {name: Supervisor(team) for name, team in teams().items()}
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in supervisors}
    for number in range(rounds + 1):
        for name, supervisor in supervisors.items():
            runs = [await measured(supervisor) for _ in range(RUNS)]
            if number:  # the first round warms up
                rows[name] += runs
    return {
        name: {key: median(row[key] for row in found) for key in found[0]}
        for name, found in rows.items()
    }


async def making_ms() -> float:
    """CPU time for a made worker, of checking its plan and making the team."""
    team = teams()["made for the plan"]
    plan = await Supervisor(team).plan(REQUEST)
    times: list[float] = []
    for _ in range(200):
        cpu = time.process_time()
        check(plan, team, author="model")
        with_planned_workers(team, plan)
        times.append(time.process_time() - cpu)
    return 1_000 * median(times) / len(METALS)


def main() -> None:
    """Measure both, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds: int = parser.parse_args().rounds
    with ScriptedServer(script="benchmarks.worker_factory:reply") as server:
        os.environ.update(server.env())
        found = asyncio.run(compared(rounds))
        alone_ms = asyncio.run(making_ms())
    (_, static), (_, made) = found.items()
    print(f"{len(METALS)} tasks for {len(METALS)} workers; medians of {rounds * RUNS} runs")
    for key, value in static.items():
        print(f"{key:10} {value:10,.1f} {made[key]:10,.1f}   {made[key] / value:.2f} times")
    more_ms = (made["CPU ms"] - static["CPU ms"]) / len(METALS)
    met = "met" if more_ms < MAX_CPU_MS else "missed"
    print(f"CPU for a made worker: {more_ms:.2f} ms more (target {MAX_CPU_MS:g}: {met}), of which")
    print(f"{alone_ms:.2f} ms are the check of its description and the team with it")
    same = "none" if made["calls"] == static["calls"] else f"{made['calls'] - static['calls']:g}"
    print(f"additional calls: {same}")


if __name__ == "__main__":
    main()
