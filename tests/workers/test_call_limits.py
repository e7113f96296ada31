"""Limits of tool calls in a response, and of the size of responses and arguments (F39, F41)."""

from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand import InputError, Worker
from leadhand.teams.loader import load
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object
from leadhand.workers.loop import MAX_REFUSED_CALLS
from tests.team_folders import worker as front
from tests.team_folders import write_team
from tests.workers.model_runs import (
    bodies,
    call,
    calls,
    final,
    one_task,
    result,
    run,
    said,
    steps,
    team,
)
from tests.workers.model_runs import worker as model_worker

MB = 1_000_000


@pytest.fixture(autouse=True)
def known(without_habits: None, model_server: ScriptedServer) -> None:
    """A model that ended an answer is no longer streamed: megabytes in small pieces take long."""
    run(team())
    model_server.reset()


class Notes:
    """A tool that counts its calls."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def note(self, text: str) -> str:
        """Takes a note."""
        self.taken.append(text)
        return "noted"


@pytest.mark.parametrize(("fields", "most"), [({}, 32), ({"max_tool_calls": 3}, 3)])
def test_further_calls_of_one_response_are_refused_with_a_reply(
    model_server: ScriptedServer, fields: dict[str, object], most: int
) -> None:
    """F41"""
    notes = Notes()
    made = calls(*(("note", {"text": str(number)}) for number in range(500)))
    model_server.configure(script=steps(made, final("done")))
    done = run(team(model_worker(tools=[notes.note], **fields)))
    told = said(bodies(model_server)[-1], "tool")
    assert done.answer.status == "complete"
    assert sorted(notes.taken, key=int) == [str(number) for number in range(most)]
    assert len(told) == most + MAX_REFUSED_CALLS, "the rest would cost time and tokens for nothing"
    assert all("noted" in one for one in told[:most])
    refused = f"Refused: only the first {most} of 500 tool calls are run."
    assert len({*told[most:]}) == 1
    assert refused in told[most]
    errors = [event.error for event in done.tools if event.error is not None]
    assert len(done.tools) == most + 1
    assert len(errors) == 1
    assert errors[0].endswith(f"({500 - most:,} refused)")


def test_an_agent_does_not_see_the_calls_beyond_the_limit() -> None:
    """F41"""
    notes = Notes()

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart("note", {"text": str(n)}) for n in range(100)])

    agent: Agent[None, str] = Agent(FunctionModel(model), tools=[notes.note])
    worker = Worker("agent", "Takes notes", run=agent, max_tool_calls=5)
    done = run(team(worker, model=None), one_task("agent"))
    assert result(done) == "done"
    assert len(notes.taken) == 5


@pytest.mark.parametrize("text", ["x" * MB, "\u20ac" * (MB // 3 + 1)], ids=["ascii", "euro"])
def test_arguments_above_the_limit_are_refused_before_they_are_parsed(
    model_server: ScriptedServer, text: str
) -> None:
    """F39: they are not JSON, and nothing says so."""
    notes = Notes()
    long: Object = {"tool_calls": [{"name": "note", "arguments": '{"text": "' + text}]}
    model_server.configure(script=steps(long, final("done")))
    done = run(team(model_worker(tools=[notes.note])))
    (told,) = said(bodies(model_server)[-1], "tool")
    assert "The arguments of note may have at most 1,000,000 bytes" in told
    assert notes.taken == []
    assert done.answer.status == "complete"


def test_a_worker_may_take_longer_arguments_and_answers(model_server: ScriptedServer) -> None:
    notes = Notes()
    model_server.configure(script=steps(call("note", text="x" * MB), final("y" * MB)))
    done = run(team(model_worker(tools=[notes.note], max_output_mb=1.5)))
    assert done.answer.status == "complete"
    assert len(notes.taken[0]) == MB
    assert result(done) == "y" * MB


def test_an_answer_above_the_limit_is_asked_for_shorter(model_server: ScriptedServer) -> None:
    """F39"""
    model_server.configure(script=steps(final("y" * MB), final("short")))
    done = run(team())
    assert result(done) == "short"
    assert len(done.calls) == 2


@pytest.mark.parametrize(
    ("script", "fields"),
    [
        ([{"reply": {"tool_calls": [{"name": "final_answer", "arguments": '{"' + "y" * MB}]}}], {}),
        ([{"reply": {"text": '{"' + "y" * MB}}], {}),
        ([{"reply": {"text": "y" * (MB + 1)}}], {"plain": True}),
    ],
    ids=["tool", "text", "plain"],
)
def test_an_answer_that_stays_too_long_is_a_typed_failure(
    model_server: ScriptedServer, script: list[Object], fields: dict[str, object]
) -> None:
    """F39"""
    model_server.configure(script=script)
    done = run(team(model_worker(**fields)))
    assert "may have at most 1,000,000 bytes" in done.gap
    assert done.answer.status != "complete"


def test_folders_set_both_limits(tmp_path: Path) -> None:
    write_team(tmp_path, desk=front("max_tool_calls: 3\nmax_output_mb: 2.5"))
    (desk,) = load(str(tmp_path)).workers
    assert (desk.max_tool_calls, desk.max_output_mb) == (3, 2.5)


@pytest.mark.parametrize("fields", [{"max_tool_calls": 0}, {"max_output_mb": 11}])
def test_limits_are_checked(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(fields))):
        model_worker(**fields)
