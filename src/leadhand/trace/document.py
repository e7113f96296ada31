"""The trace of a run as one JSON document, whose events fold to the state and the answer again."""

import json
from collections.abc import Iterator, Sequence

from leadhand.contracts import events
from leadhand.contracts.task import Plan
from leadhand.state.fold import fold
from leadhand.state.times import metrics


def document(log: Sequence[events.Event]) -> Iterator[str]:
    """The document, in pieces of ASCII, which is safe on a terminal.

    `plan` is null if none was accepted; without an answer `metrics` are as of the last event.
    """
    state = fold(log)
    plan = accepted_plan(log)
    answer = state.answer
    figures = answer.metrics if answer is not None else metrics(state, log[-1].elapsed_s)
    yield f'{{\n"run_id": {json.dumps(state.run_id)},\n'
    yield f'"plan": {_ascii(plan.model_dump_json() if plan is not None else "null")},\n'
    yield '"events": [\n'
    for position, event in enumerate(log):
        yield f"{_ascii(events.dump(event))}{',' if position < len(log) - 1 else ''}\n"
    yield f'],\n"metrics": {_ascii(figures.model_dump_json())}\n}}\n'


def accepted_plan(log: Sequence[events.Event]) -> Plan | None:
    """The accepted plan, before splits and amendments."""
    proposed: Plan | None = None
    accepted: Plan | None = None
    for event in log:
        if isinstance(event, events.PlanProposed) and not event.within:
            proposed = event.plan
        elif isinstance(event, events.PlanAccepted) and not event.within:
            accepted = proposed
    return accepted


def _ascii(text: str) -> str:
    return text if text.isascii() else json.dumps(json.loads(text))
