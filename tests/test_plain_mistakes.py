"""Mistakes of a first day, each answered in one line that says what to do."""

import asyncio
from typing import Any

import pytest
from pydantic_ai.exceptions import ApprovalRequired

from leadhand import Handoff, InputError, Supervisor, Team, Worker


def test_a_model_without_its_key_names_the_variable_and_the_way_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for model, name in (("openai:gpt-5-mini", "OPENAI"), ("anthropic:claude-x", "ANTHROPIC")):
        team = Team("desk", model=model, workers=[Worker("a", "Replies", instructions="Reply.")])
        with pytest.raises(InputError) as refused:
            Supervisor(team).run_sync("Hello")
        way = f'set {name}_API_KEY, or have leadhand look for a model: `model="auto"`'
        assert str(refused.value) == f"model {model!r} can't be used: {way}"
        assert refused.value.__suppress_context__  # no traceback of another library


def test_a_function_that_wants_an_approval_is_told_that_only_tools_ask() -> None:
    def asks(handoff: Handoff) -> str:
        raise ApprovalRequired

    answer = Supervisor(Team("desk", workers=[Worker("a", "Asks", run=asks)])).run_sync("Hello")
    assert answer.status == "failed"
    assert "only tools can ask for an approval" in answer.gaps[0].why


def test_an_argument_that_a_run_does_not_take_is_named_with_the_call() -> None:
    supervisor = Supervisor(Team("desk", workers=[Worker("a", "Replies", run=str)]))
    for name in ("if_exist", "under_way"):
        wrong: dict[str, Any] = {name: None}
        with pytest.raises(TypeError, match=rf"^Supervisor\.start\(\) got .* argument '{name}'$"):
            supervisor.run_sync("Hello", **wrong)
        run = supervisor.handle("r")
        with pytest.raises(TypeError, match=rf"^Run\.resume\(\) got .* argument '{name}'$"):
            asyncio.run(run.resume(**wrong))


def test_work_that_is_no_function_is_named_as_it_was_written() -> None:
    wrong: Any = 3
    with pytest.raises(InputError, match=r"^Worker 'a': `run` is 3 and must be callable$"):
        Worker("a", "Counts", run=wrong)
