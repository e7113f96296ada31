"""Mistakes of a first day, each answered in one line that says what to do."""

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
