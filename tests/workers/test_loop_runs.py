"""Runs of workers with models: their calls are counted, and failures are reported."""

import json
from pathlib import Path

import pytest

from leadhand import Limits, Plan, Task
from leadhand.contracts.events import TaskDispatched, dump, parse
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object, items, mapping
from tests.models.asking import ANTHROPIC, BOTH, OPENAI, misbehaving
from tests.workers.model_runs import (
    bodies,
    call,
    ending,
    final,
    height,
    one_task,
    result,
    run,
    steps,
    team,
    worker,
)

SOURCE = Path(__file__).parents[2] / "src" / "leadhand"
both = pytest.mark.parametrize("model", BOTH)


# What a run is


@both
def test_a_task_is_done_with_tools_and_answered_in_the_workers_form(
    model_server: ScriptedServer, model: str
) -> None:
    model_server.configure(script=steps(call("height", building="tower"), final("324 m")))
    done = run(team(worker(tools=(height,)), model=model))
    assert done.answer.status == "complete"
    assert done.answer.engine == "model"
    assert result(done) == "324 m"
    (tool,) = done.tools
    assert (tool.tool, json.loads(tool.arguments), tool.output, tool.error) == (
        "height",
        {"building": "tower"},
        "tower: 324 m",
        None,
    )
    assert [(one.role, one.task_id, one.attempt) for one in done.calls] == [("worker", "t1", 1)] * 2


@both
def test_what_the_run_says_that_it_used_is_what_the_server_counted(
    model_server: ScriptedServer, model: str
) -> None:
    """F03"""
    plan = Plan(
        goal="survey",
        tasks=tuple(Task(id=f"t{n}", worker="surveyor", intent=f"Measure {n}") for n in range(5)),
    )
    told: list[Object] = [{"reply": {"text": json.dumps(ending())}}]
    model_server.configure(script=misbehaving({"reset_midway": True}, {"500": True}) + told)
    done = run(team(model=model), plan)
    stats = model_server.stats()
    metrics = done.answer.metrics
    assert done.answer.status == "complete"
    assert metrics.requests == stats.requests == len(done.calls) == 7
    assert metrics.output_tokens == sum(one.output_tokens for one in done.calls)
    assert metrics.input_tokens == sum(one.input_tokens for one in done.calls)
    answered = [one for one in done.calls if one.error is None]
    assert len(answered) == 5
    assert sum(task.output_tokens for task in done.answer.tasks) == metrics.output_tokens
    assert {task.attempts for task in done.answer.tasks} == {1}
    assert len(done.of(TaskDispatched)) == 5


@both
def test_one_byte_at_a_time_does_not_hold_a_task_beyond_its_timeout(
    model_server: ScriptedServer, model: str
) -> None:
    """F04"""
    model_server.configure(faults={"slow:60": 1.0})
    task = one_task(limits=Limits(timeout_s=100))
    done = run(team(model=model), task, hangs=lambda: model_server.stats().requests == 1)
    assert done.gap == "no answer within 100 s"
    assert done.answer.metrics.makespan_s == 100
    assert done.answer.metrics.requests == 1


@both
@pytest.mark.parametrize("fault", ["html", "deep", "nan"])
def test_what_is_no_answer_is_named_in_the_gap(
    model_server: ScriptedServer, model: str, fault: str
) -> None:
    """F06"""
    model_server.configure(faults={fault: 1.0})
    done = run(team(model=model))
    assert done.answer.status == "failed"
    named = ("the model sent an invalid response", "the model sent an answer that is no JSON")
    assert any(one in done.gap and one in done.answer.answer for one in named)


def test_arguments_nested_without_end_are_refused_and_named(model_server: ScriptedServer) -> None:
    """F06"""
    nested: Json = [{"name": "final_answer", "arguments": '{"answer":' * 20_000}]
    model_server.configure(script=[{"reply": {"tool_calls": nested}}])
    done = run(team())
    assert "final_answer are not valid JSON" in done.gap
    assert model_server.stats().requests == 3


def test_arguments_of_brackets_without_end_are_cut_off_in_a_way_that_is_set_too(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F06"""
    monkeypatch.setenv("LEADHAND_ANSWERS", "tool")
    model_server.configure(faults={"deep_arguments": 1.0})
    done = run(team())
    assert "its answer was cut off: it had no end" in done.gap
    assert model_server.stats().requests == 3


@both
def test_odd_characters_are_stored_so_that_the_log_is_utf8_json(
    model_server: ScriptedServer, model: str
) -> None:
    """F07"""
    odd: dict[str, Json] = {"odd_characters": True}
    model_server.configure(
        script=steps(
            {**call("height", building="tower"), "misbehave": odd},
            {"text": "done", "misbehave": odd},
        )
    )
    done = run(team(worker(tools=(height,)), model=model))
    assert done.answer.status == "complete"
    for event in done.events:
        assert parse(dump(event).encode()) == event
    assert json.loads(done.answer.model_dump_json().encode())["output"] == result(done)
    assert "\u202egnp.exe" in str(result(done))
    assert "\x00" in str(result(done))
    assert "\ud800" not in str(result(done))


def test_the_server_is_asked_for_the_model_by_its_name(model_server: ScriptedServer) -> None:
    run(team(model="openai-chat:my-own-model"))
    assert bodies(model_server)[0]["model"] == "my-own-model"


def test_a_team_with_two_models_uses_the_second_where_the_first_is_exhausted(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(script=misbehaving({"401": True}))
    done = run(team(model=None, models={"standard": (ANTHROPIC, OPENAI)}))
    assert done.answer.status == "complete"
    assert [one.model for one in done.calls] == [ANTHROPIC, OPENAI]
    (task,) = done.answer.tasks
    assert (task.attempts, task.model) == (1, OPENAI)


def test_failed_calls_say_when_they_are_made_again(model_server: ScriptedServer) -> None:
    model_server.configure(script=misbehaving({"429": 1}))
    done = run(team())
    refused, answered = done.calls
    assert refused.error is not None
    assert refused.error.startswith("the model is overloaded: HTTP 429")
    assert refused.retry_in_s is not None
    assert 1 <= refused.retry_in_s <= 1.25
    assert answered.error is None
    assert (done.answer.tasks[0].attempts, done.answer.status) == (1, "complete")


def test_an_answer_in_an_agents_way_is_a_failure_after_two_repairs(
    model_server: ScriptedServer,
) -> None:
    wrong = {key: value for key, value in ending().items() if key != "answer"}
    model_server.configure(script=steps({"json": wrong}))
    done = run(team())
    assert "answer: Field required" in done.gap
    assert model_server.stats().requests == 3
    assert isinstance(mapping(items(bodies(model_server)[0]["tools"])[0]), dict)
