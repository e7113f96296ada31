"""Runs a compiled LangGraph graph."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol, cast

from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome
from leadhand.workers.foreign.meter import Meter


class _Graph(Protocol):
    def get_input_jsonschema(self) -> dict[str, Any]: ...

    async def ainvoke(self, input: object, config: object) -> object: ...


async def run(agent: object, prompt: str, handoff: Handoff, meter: Meter) -> object:
    """The last message of the graph, its `structured_response`, or else its whole final state.

    The prompt becomes the first of `messages`; a payload that is a mapping gives other keys of the
    state. An interrupt is an escalation.
    """
    graph = cast("_Graph", agent)
    payload = handoff.payload
    state = dict(cast("dict[str, object]", payload)) if isinstance(payload, dict) else {}
    if "messages" in graph.get_input_jsonschema().get("properties", {}):
        state["messages"] = [{"role": "user", "content": prompt}]
    if not state:
        why = (
            "the state of this graph has no `messages`: give the task a payload with the keys of "
            "its state"
        )
        return Failed(kind="error", message=why)
    thread = f"{handoff.run_id}/{handoff.task_id}/{handoff.attempt}"
    config = {"configurable": {"thread_id": thread}, "callbacks": [_callbacks(meter)]}
    final = await graph.ainvoke(state, config)
    if not isinstance(final, Mapping):
        return final
    return _value(cast("Mapping[str, object]", final), state)


def _callbacks(meter: Meter) -> object:
    """A handler that is told of each call of a model, wherever the graph makes it."""

    def started(_about: object, _prompts: object, *, run_id: object, **more: Any):
        given: dict[str, Any] = more.get("invocation_params") or {}
        about: dict[str, Any] = more.get("metadata") or {}
        name = given.get("model") or given.get("model_name") or about.get("ls_model_name")
        meter.starting(run_id, model=name if isinstance(name, str) else None)

    def answered(response: Any, *, run_id: object, **_: object) -> None:
        meter.answered(run_id, *_used(response))

    def failed(error: object, *, run_id: object, **_: object) -> None:
        meter.failed(run_id, error)

    handler: Any = import_module("langchain_core.callbacks").BaseCallbackHandler()
    # In the loop and in order; and what `started` raises stops the call.
    handler.run_inline = handler.raise_error = True
    handler.on_chat_model_start = handler.on_llm_start = started
    handler.on_llm_end, handler.on_llm_error = answered, failed
    return handler


def _used(response: Any) -> tuple[str | None, object, object]:
    """The model and the tokens, in and out, of the answer to a call."""
    first = next((one for row in response.generations for one in row), None)
    message = getattr(first, "message", None)
    counts: dict[str, object] = getattr(message, "usage_metadata", None) or {}
    about: dict[str, str] = getattr(message, "response_metadata", None) or {}
    return about.get("model_name"), counts.get("input_tokens"), counts.get("output_tokens")


def _value(final: Mapping[str, object], given: Mapping[str, object]) -> object | Outcome:
    interrupts = final.get("__interrupt__")
    if isinstance(interrupts, list | tuple) and interrupts:
        asked = "; ".join(
            str(getattr(one, "value", one)) for one in cast("list[object]", interrupts)
        )
        return Escalated(reason="ambiguous_input", message=f"the graph asks: {asked}")
    if final.get("structured_response") is not None:
        return final["structured_response"]
    messages = final.get("messages")
    if isinstance(messages, list) and messages:
        last = cast("list[object]", messages)[-1]
        if "messages" in given and getattr(last, "type", None) == "human":
            # The graph added none: what else it changed is its output.
            made = {key: value for key, value in final.items() if value != given.get(key)}
            return {key: made[key] for key in made if key != "messages"} or None
        # A method in older versions, which still compares equal to its text.
        return str(getattr(last, "text", last))
    return dict(final)
