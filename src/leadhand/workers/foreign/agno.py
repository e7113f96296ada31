"""Runs an `Agent` or a `Team` of Agno."""

from contextlib import aclosing
from typing import Any, cast

from leadhand.contracts.outcome import Escalated, Failed, Handoff
from leadhand.workers.foreign.meter import Meter


async def run(agent: object, prompt: str, handoff: Handoff, meter: Meter) -> object:
    """The content of the response; a paused run is an escalation, an error a failure.

    The run is streamed, because only then does Agno say when a model is called.
    """
    session = f"{handoff.run_id}/{handoff.task_id}/{handoff.attempt}"
    stream = cast("Any", agent).arun(
        prompt, session_id=session, stream=True, stream_events=True, yield_run_output=True
    )
    last: Any = None
    async with aclosing(stream) as events:
        async for event in events:
            kind = str(getattr(event, "event", "")).removeprefix("Team")
            if kind == "ModelRequestStarted":
                meter.starting(event.run_id, model=event.model)
            elif kind == "ModelRequestCompleted":
                meter.answered(event.run_id, event.model, event.input_tokens, event.output_tokens)
            elif kind == "RunError":
                meter.failed(event.run_id, event.content)
            last = event
    status = getattr(last, "status", None)
    if getattr(last, "event", "") in ("RunError", "TeamRunError"):
        return Failed(kind="error", message=f"the agent failed: {last.content}", transient=True)
    if str(getattr(status, "value", status)).casefold() == "paused":
        return Escalated(reason="ambiguous_input", message="the agent waits for a person")
    return last.content
