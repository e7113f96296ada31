"""The JSON trace: whoever has it has the run."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Metrics
from leadhand.contracts.events import Event, parse
from leadhand.state.fold import fold
from leadhand.testing import ScriptedServer
from leadhand.trace.document import document
from tests.trace import runs


def written(events: Sequence[Event]) -> dict[str, Any]:
    """The document, parsed."""
    return json.loads("".join(document(events)))


@pytest.mark.parametrize("run", [runs.flow, runs.nested], ids=["flow", "nested"])
def test_the_answer_can_be_rebuilt_from_the_trace_alone(run: Any) -> None:
    answer, events = run()
    trace = written(events)
    again = [parse(json.dumps(event)) for event in trace["events"]]
    assert fold(again).answer == answer
    assert again == list(events)
    assert trace["run_id"] == answer.run_id
    assert Metrics(**trace["metrics"]) == answer.metrics


def test_a_run_at_any_moment_has_a_trace_and_figures() -> None:
    """Under way, waiting or lost: the document is whole however far the run came."""
    events = runs.trouble().log()
    for number in range(1, len(events) + 1):
        trace = written(events[:number])
        assert list(trace) == ["run_id", "plan", "events", "metrics"]
        assert len(trace["events"]) == number
        assert (trace["plan"] is not None) == (number >= 3)
        assert trace["metrics"]["makespan_s"] == events[number - 1].elapsed_s


def test_the_plan_is_the_one_that_was_accepted_not_what_became_of_it() -> None:
    trace = written(runs.trouble().log())
    ids = [task["id"] for task in trace["plan"]["tasks"]]
    assert ids == ["fails", "big", "never", "unsure", "plain", "after", "lost"]


def test_every_event_has_its_stamp_and_those_of_tasks_their_attempt() -> None:
    trace = written(runs.nested()[1])
    for event in trace["events"]:
        assert {"seq", "at", "elapsed_s", "run_id", "type"} <= event.keys()
        if event["type"].startswith("task_"):
            assert {"task_id", "attempt"} <= event.keys()
    seqs = [event["seq"] for event in trace["events"]]
    assert seqs == [*range(1, len(seqs) + 1)]


def test_f07_f34_nothing_in_a_trace_acts_on_a_terminal() -> None:
    hostile = Task(id="t", worker="w", intent="say \x9b31m and \u202e and \x1b]52;c;eA==\x07")

    def evil(handoff: object) -> str:
        return "\x1b[2J\u2066\u009d0;gone\x07"

    team = Team("t", workers=(Worker("w", "d", run=evil),))
    answer, events = runs.ran(team, Plan(goal="g", tasks=(hostile,)))
    text = "".join(document(events))
    assert text.isascii()
    assert all(character.isprintable() or character == "\n" for character in text)
    assert fold([parse(json.dumps(event)) for event in json.loads(text)["events"]]).answer == answer


def test_every_call_of_a_model_is_in_the_trace(model_server: ScriptedServer) -> None:
    workers = (
        Worker("billing", "Invoices", instructions="You know invoices."),
        Worker("writing", "Letters", instructions="You write letters."),
    )
    team = Team("support", model="openai-chat:scripted", workers=workers)
    events: list[Event] = []
    answer = asyncio.run(Supervisor(team).run("Which invoices?", listener=events.append))
    calls = [event for event in written(events)["events"] if event["type"] == "model_called"]
    assert len(calls) == answer.metrics.requests == model_server.stats().requests
    assert {call["role"] for call in calls} == {"planner", "worker", "synthesizer"}
