"""Runs an `Agent` of the OpenAI Agents SDK."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from leadhand.contracts.outcome import Escalated, Handoff
from leadhand.workers.foreign.meter import Meter


async def run(agent: object, prompt: str, handoff: Handoff, meter: Meter) -> object:
    """The final output; a call that waits for an approval is an escalation.

    `max_steps` limits the turns. Calls of agents that are tools are counted when it is done: the
    SDK names them only in its sum.
    """
    sdk: Any = import_module("agents")
    contexts: list[Any] = []
    steps = handoff.limits.max_steps
    turns = {} if steps is None else {"max_turns": steps + 1}  # whose call the meter refuses
    try:
        hooks = _hooks(sdk, meter, contexts)
        result = await sdk.Runner.run(agent, prompt, hooks=hooks, **turns)
    finally:
        for context in contexts[:1]:  # all of one run share their sum
            used = context.usage
            meter.rest(_model(agent), used.requests, used.input_tokens, used.output_tokens)
    waiting: Sequence[Any] = getattr(result, "interruptions", ())
    if waiting:
        names = ", ".join(str(getattr(one, "name", one)) for one in waiting)
        message = f"the agent needs a person for {names}"
        return Escalated(reason="ambiguous_input", message=message)
    return result.final_output


def _hooks(sdk: Any, meter: Meter, contexts: list[Any]) -> object:
    """Hooks that are told of each model call of the run, one after the other for each agent."""

    async def started(context: Any, agent: Any, *_: object) -> None:
        contexts.append(context)
        used = context.usage  # with that of agents that are tools
        meter.starting(
            id(agent), model=_model(agent), calls=used.requests, tokens=used.total_tokens
        )

    async def answered(_: object, agent: Any, response: Any) -> None:
        used = response.usage
        meter.answered(id(agent), None, used.input_tokens, used.output_tokens)

    hooks = sdk.RunHooks()
    hooks.on_llm_start, hooks.on_llm_end = started, answered
    return hooks


def _model(agent: object) -> str | None:
    model: object = getattr(agent, "model", None)
    name = getattr(model, "model", model)
    return name if isinstance(name, str) else None
