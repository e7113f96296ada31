"""Runs an `Agent` or a `Crew` of crewAI."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from leadhand.contracts.outcome import Failed, Handoff
from leadhand.workers.foreign.meter import Meter


async def run(agent: object, prompt: str, handoff: Handoff, meter: Meter) -> object:
    """The typed output of the agent or crew, or else its text.

    An agent gets the prompt, a crew its placeholders: from a payload that is a mapping, and for the
    one that is left, the prompt.
    """
    own: Any = cast("Any", agent).copy()
    given = prompt if hasattr(own, "role") else _inputs(own.fetch_inputs(), prompt, handoff)
    if isinstance(given, Failed):
        return given
    sinks: Any = import_module("crewai.events.stream_context")

    def count(_source: object, event: Any) -> None:
        match event.type:
            case "llm_call_started":
                meter.starting(event.call_id, model=event.model)
            case "llm_call_completed":
                used: dict[str, object] = event.usage or {}
                tokens = used.get("prompt_tokens"), used.get("completion_tokens")
                meter.answered(event.call_id, event.model, *tokens)
            case "llm_call_failed":
                meter.failed(event.call_id, event.error)
            case _:
                pass

    token = sinks.add_stream_sink(count)
    try:
        output = await own.akickoff(given)
    finally:
        sinks.reset_stream_sinks(token)
    typed = output.pydantic or getattr(output, "json_dict", None)
    return output.raw if typed is None else typed


def _inputs(names: set[str], prompt: str, handoff: Handoff) -> dict[str, object] | Failed:
    payload = handoff.payload
    given = dict(cast("Mapping[str, object]", payload)) if isinstance(payload, Mapping) else {}
    missing = sorted(names - given.keys())
    if len(missing) == 1:
        given[missing.pop()] = prompt
    if missing:
        named = ", ".join(missing)
        why = f"this crew has several placeholders: give the task a payload with {named}"
        return Failed(kind="error", message=why)
    if not given:
        why = "this crew has no placeholder such as {topic}, so it can't be told its task"
        return Failed(kind="error", message=why)
    return given
