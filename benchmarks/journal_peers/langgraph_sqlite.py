# pyright: basic, reportMissingImports=false
"""LangGraph: a graph with its SQLite checkpointer, each step on the disk before the next."""

import operator
import uuid
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from measuring import Work, intent, main, noop


class State(TypedDict):
    """What the graph remembers."""

    tasks: int
    done: Annotated[list[str], operator.add]


async def task(state: dict) -> dict:
    """One of many that are sent out."""
    return {"done": [await noop(state["intent"])]}


async def step(state: State) -> dict:
    """The next one of a chain."""
    return {"done": [await noop(intent(len(state["done"])))]}


def spread(state: State) -> list[Send]:
    """All of them at once."""
    return [Send("task", {"intent": intent(i)}) for i in range(state["tasks"])]


def onward(state: State) -> str:
    """Whether there is one more."""
    return "step" if len(state["done"]) < state["tasks"] else END


def graphs() -> dict[str, StateGraph]:
    """By shape."""
    independent = StateGraph(State)
    independent.add_node("task", task)
    independent.add_conditional_edges(START, spread, ["task"])
    chain = StateGraph(State)
    chain.add_node("step", step)
    chain.add_edge(START, "step")
    chain.add_conditional_edges("step", onward, ["step", END])
    return {"independent": independent, "chain": chain}


@asynccontextmanager
async def opened(home: Path | None) -> AsyncGenerator[Work]:
    """As it ships, but for `durability`: by default a step does not wait for the one before."""
    async with AsyncExitStack() as stack:
        saver = None
        if home is not None:
            path = str(home / "checkpoints.db")
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(path))
        compiled = {shape: graph.compile(saver) for shape, graph in graphs().items()}

        async def work(shape: str, tasks: int) -> None:
            config = {
                "configurable": {"thread_id": uuid.uuid4().hex},
                "recursion_limit": tasks + 10,
                "max_concurrency": 1_000,
            }
            durable = {} if saver is None else {"durability": "sync"}
            state = {"tasks": tasks, "done": []}
            ended = await compiled[shape].ainvoke(state, config, **durable)
            assert len(ended["done"]) == tasks

        yield work


if __name__ == "__main__":
    main(opened)
