"""A model that ends a short answer may not end a long one, so each larger form is watched."""

import json
from pathlib import Path

import pytest

from leadhand.contracts.role import Answers
from leadhand.errors import ModelError
from leadhand.models import habits
from leadhand.models.calls import CallRequest
from leadhand.models.structured import output_tool
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object
from tests.models.test_answers import BLUE, asked, form, ways


def large(answers: Answers | None = None) -> CallRequest:
    """A request for colours with a larger schema."""
    text: Json = {"type": "string"}
    colours = output_tool(
        "paint", "Paint it.", answer=text, **{f"colour_{n}": text for n in range(9)}
    )
    return CallRequest("Answer in a word.", output=colours, answers=answers)


@pytest.mark.parametrize("given", [None, "tool"])
def test_a_larger_form_is_watched_until_such_an_answer_has_ended(
    model_server: ScriptedServer, tmp_path: Path, given: Answers | None
) -> None:
    """A model that ends an answer of one field may not end a plan. F54"""
    asked(form(answers=given), form(answers=given), large(given), large(given), home=tmp_path)
    habits.forget()
    asked(form(answers=given), large(given), home=tmp_path)
    streamed = [bool(body.get("stream")) for body in model_server.requests()]
    assert streamed == [True, False, True, False, False, False]


def test_a_way_that_works_for_a_small_form_is_left_when_a_larger_one_does_not_end(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    """F54"""
    endless = {"match": {"tool": "paint"}, "reply": {"text": "", "misbehave": {"endless": True}}}
    model_server.configure(script=[endless, {"reply": {"json": BLUE}}])
    asked(form(), home=tmp_path)
    found, calls = asked(large(), large(), home=tmp_path)
    assert [one.data for one in found] == [BLUE, BLUE]
    assert ways(model_server) == ["tool", "tool", "native", "native"]
    assert "it wrote without end as `tool`, so `native` is tried" in (calls[0].error or "")
    (entry,) = json.loads((tmp_path / habits.FILE).read_text()).values()
    assert entry["way"] == "native"


def test_an_answer_longer_than_double_its_limit_is_asked_for_shorter_and_no_longer_doubled(
    model_server: ScriptedServer,
) -> None:
    cut: Object = {"json": BLUE, "misbehave": {"length": True}}
    model_server.configure(script=[{"reply": cut}])
    with pytest.raises(ModelError, match="it had no end, or is longer"):
        asked(form())
    sent = [body["max_completion_tokens"] for body in model_server.requests()]
    assert sent == [4_000, 8_000, 8_000, 8_000]
