"""Agents of other frameworks as workers. Each adapter imports its framework when a task runs."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable

from leadhand.contracts.outcome import Completed, Failed, Handoff, Outcome
from leadhand.engine.recorder import Recorder
from leadhand.errors import BudgetUsedUp, InputError
from leadhand.models.ledger import Account
from leadhand.untrusted.fence import Fence
from leadhand.workers import briefing
from leadhand.workers.foreign import agno, crewai, langgraph, openai_agents
from leadhand.workers.foreign.meter import LimitReached, Meter
from leadhand.workers.output import outcome_of

Adapter = Callable[[object, str, Handoff, Meter], Awaitable[object]]
"""Returns an outcome, or a value as a function would, and tells the meter of its model calls."""

_ADAPTERS: dict[tuple[str, str], Adapter] = {
    ("langgraph", "Pregel"): langgraph.run,
    ("agents", "Agent"): openai_agents.run,
    ("agno", "Agent"): agno.run,
    ("agno", "Team"): agno.run,
    ("crewai", "Agent"): crewai.run,
    ("crewai", "Crew"): crewai.run,
}
"""By the top-level package and the name of an agent's class, or of one of its bases."""


def function_of(
    agent: object, fence: Fence, recorder: Recorder, account: Account | None
) -> Callable[[Handoff], Awaitable[object]]:
    """An async function that has the agent, or the one at `module:attribute`, do a task.

    Raises `InputError` if there is no such agent, or no adapter for it.
    """
    agent = _imported(agent) if isinstance(agent, str) else agent
    adapter = adapter_of(agent)

    async def work(handoff: Handoff) -> object:
        meter = Meter(handoff, recorder, account)
        outcome = await _metered(
            adapter(agent, briefing.opening(handoff, fence), handoff, meter), meter
        )
        if isinstance(outcome, Completed):
            if outcome.result.output in (None, "") and not outcome.result.summary:
                return Failed(kind="invalid_output", message="the agent ended without output")
            return outcome.result.model_copy(update={"usage": meter.usage})
        if meter.refused is not None:
            kind = "budget" if isinstance(meter.refused, BudgetUsedUp) else "error"
            kind = "step_limit" if isinstance(meter.refused, LimitReached) else kind
            return Failed(kind=kind, message=str(meter.refused))
        return outcome

    return work


async def _metered(work: Awaitable[object], meter: Meter) -> Outcome:
    """The outcome of an attempt. What its last calls failed with is what the attempt ends with."""
    commits = asyncio.create_task(meter.commits())
    try:
        outcome = outcome_of(await work)
        meter.close()
        return outcome
    except Exception as error:
        meter.close(error)
        if meter.refused is None:
            raise
        return Failed(kind="error", message=str(error))
    finally:
        meter.close()
        commits.cancel()


def adapter_of(agent: object) -> Adapter:
    """Raises `InputError` if there is none."""
    for base in type(agent).__mro__:
        adapter = _ADAPTERS.get((base.__module__.partition(".")[0], base.__name__))
        if adapter is not None:
            return adapter
    kind = f"{type(agent).__module__}.{type(agent).__qualname__}"
    raise InputError(
        f"`agent` is {kind}: it must be a compiled LangGraph graph, an Agent of OpenAI Agents, an "
        "Agent or Team of Agno, or an Agent or Crew of crewAI; give anything else as a function, "
        "`run`"
    )


def _imported(name: str) -> object:
    module, _, attributes = name.partition(":")
    try:
        found: object = importlib.import_module(module)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"`agent` {name!r} can't be imported: {error}") from error
    return found
