"""How models answer in a structure: in three ways, found out and remembered, and with an end."""

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from leadhand import Role, Supervisor, Team, Worker
from leadhand.contracts.budget import Budget
from leadhand.contracts.events import ModelCalled
from leadhand.contracts.role import Answers
from leadhand.errors import InputError, ModelError
from leadhand.models import habits
from leadhand.models.calls import Caller, CallRequest
from leadhand.models.connections import Connections
from leadhand.models.ledger import Account, Ledger
from leadhand.models.structured import StructuredAnswer, ask_structured
from leadhand.teams.loader import load
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object, mapping
from tests.models.asking import ANTHROPIC, ASKER, COLOUR, OPENAI, recorder
from tests.models.raw_endpoint import RawEndpoint, head, serving

BLUE: Json = {"answer": "blue"}
WORDS: Object = {"reply": {"text": "I think that it is blue."}}


def asked(
    *requests: CallRequest,
    home: Path | None = None,
    answers: dict[str, Answers] | None = None,
    budget: Budget | None = None,
    model: str = OPENAI,
) -> tuple[list[StructuredAnswer], Sequence[ModelCalled]]:
    """The answers to requests, one after the other, and every call."""

    async def story() -> tuple[list[StructuredAnswer], Sequence[ModelCalled]]:
        pen, found = recorder(), list[StructuredAnswer]()
        account = Account(Ledger(budget)) if budget is not None else None
        async with Connections(seed=1, home=home, answers=answers) as connections:
            caller = Caller(connections, pen, account=account)
            for request in requests:
                answer = await ask_structured(
                    caller, ASKER, "Which?", request=request, models=[model], read=lambda a: a
                )
                found.append(answer)
        return found, [event for event in pen.log() if isinstance(event, ModelCalled)]

    return asyncio.run(story())


def form(**fields: object) -> CallRequest:
    """A request for a colour."""
    return CallRequest("Answer in a word.", output=COLOUR, **fields)  # pyright: ignore[reportArgumentType]


def way(body: Object) -> str:
    """The way in which a request was put."""
    if "tools" in body:
        return "tool"
    kind = mapping(body.get("response_format")).get("type")
    return "native" if kind == "json_schema" else "prompted"


def ways(server: ScriptedServer) -> list[str]:
    """Those of all requests."""
    return [way(body) for body in server.requests()]


def once(reply: Object) -> list[Object]:
    """A script with one such reply, and then the answer."""
    return [{"reply": reply, "times": 1}, {"reply": {"json": BLUE}}]


def words_unless(*able: str) -> str:
    """The script for a model that answers in words, but for these ways."""
    return f"tests.models.scripts:able_{'_'.join(able)}"


def test_the_models_own_way_comes_first(model_server: ScriptedServer) -> None:
    found, calls = asked(form(), form())
    assert [one.data is not None for one in found] == [True, True]
    assert ways(model_server) == ["tool", "tool"]
    assert [call.error for call in calls] == [None, None]


@pytest.mark.parametrize(
    ("able", "tried"),
    [("native", ["tool", "native"]), ("prompted", ["tool", "native", "prompted"])],
)
def test_after_an_answer_in_words_the_next_way_is_tried_and_kept(
    model_server: ScriptedServer, able: str, tried: list[str]
) -> None:
    model_server.configure(script=words_unless(able))
    found, calls = asked(form(), form())
    assert [one.data for one in found] == [BLUE, BLUE]
    assert ways(model_server) == [*tried, able]
    assert [call.error is None for call in calls] == [False] * (len(tried) - 1) + [True, True]
    assert "it answered in words as `tool`, so `native` is tried" in (calls[0].error or "")
    assert all(call.input_tokens for call in calls)


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ('Sure: {"answer": "blue"}\n{"answer": "blue"}', True),
        ('Here:\n```json\n{"answer": "blue"}\n```\nSet {x} as you like.', True),
        ('{"answer": "red"} or rather {"answer": "blue"}', False),
        ('{"answer": "red"}\n{\n  "answer": "blue"\n}', False),
        ('{"answer": "blue"} {"answer": "bl', True),
        ('{"answer": {"answer": "blue"}', False),
    ],
)
def test_an_object_is_read_if_no_other_one_follows(
    model_server: ScriptedServer, text: str, is_read: bool
) -> None:
    model_server.configure(script=[{"reply": {"text": text}}])
    found, _ = asked(form())
    assert (found[0].data == BLUE) == is_read


def test_what_works_is_remembered_in_the_home_for_a_week(
    model_server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.configure(script=words_unless("native"))
    asked(form(), home=tmp_path)
    habits.forget()
    model_server.reset()
    asked(form(), home=tmp_path)
    assert ways(model_server) == ["native"]
    kept = json.loads((tmp_path / habits.FILE).read_text())
    (entry,) = kept.values()
    assert entry["way"] == "native"
    assert next(iter(kept)).endswith("/v1 scripted")
    entry["at"] = time.time() - habits.KEPT_S - 1
    (tmp_path / habits.FILE).write_text(json.dumps(kept))
    habits.forget()
    model_server.reset()
    asked(form(), home=tmp_path)
    assert ways(model_server) == ["tool", "native"]


@pytest.mark.parametrize("damage", ["", "[]", '{"x": 1}', '{"x": {"at": "soon"}}', "[" * 100_000])
def test_a_damaged_file_is_as_good_as_none(
    model_server: ScriptedServer, tmp_path: Path, damage: str
) -> None:
    (tmp_path / habits.FILE).write_text(damage)
    asked(form(), home=tmp_path)
    assert json.loads((tmp_path / habits.FILE).read_text())


def test_a_home_that_can_not_be_written_is_no_failure(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert asked(form(), home=tmp_path / "file" / "home")[0][0].data


@pytest.mark.parametrize("given", ["tool", "native", "prompted"])
def test_the_way_can_be_set_by_role_by_model_and_for_all(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, given: Answers
) -> None:
    asked(form(answers=given))
    asked(form(), answers={OPENAI: given})
    monkeypatch.setenv(habits.VARIABLE, given)
    team = Team("t", model=OPENAI, workers=[Worker("w", "Does it")], planner="ahead")
    Supervisor(team).run_sync("Find out how high the tower in the park is")
    assert {*ways(model_server)} == {given}


def test_a_role_in_python_and_in_a_folder_says_its_way(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "team.yaml").write_text(
        f"name: t\nmodel: {OPENAI}\nanswers:\n  {OPENAI}: prompted\nplanner: {{answers: native}}\n"
    )
    (tmp_path / "workers").mkdir()
    (tmp_path / "workers" / "w.md").write_text("---\nname: w\ndescription: Does it\n---\nDo it.\n")

    team = load(str(tmp_path))
    assert (team.planner.answers, team.answers) == ("native", {OPENAI: "prompted"})
    assert Role(answers="native").answers == "native"


def test_a_way_that_is_none_is_refused(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(habits.VARIABLE, "json")
    team = Team("t", model=OPENAI, workers=[Worker("w", "Does it")])
    with pytest.raises(InputError, match="write one of tool, native, prompted"):
        Supervisor(team).run_sync("Find out how high the tower is")


def test_a_way_that_is_set_is_not_left(model_server: ScriptedServer) -> None:
    model_server.configure(script=[WORDS])
    asked(form(answers="tool"))
    assert ways(model_server) == ["tool"]


# No answer without end


def test_an_answer_without_end_is_cut_off_and_its_object_counts(
    model_server: ScriptedServer,
) -> None:
    """F54"""
    endless = once({"json": BLUE, "misbehave": {"endless": True}})
    model_server.configure(script=endless, tokens_per_s=50_000)
    found, calls = asked(form(), form())
    assert found[0].data == BLUE
    assert ways(model_server) == ["tool", "native"]  # the next one is put so that it ends
    assert [call.error for call in calls] == [None, None]
    assert calls[0].estimated
    assert 300 <= calls[0].output_tokens < 1_000
    assert calls[0].input_tokens > 0
    assert [body.get("stream") for body in model_server.requests()] == [True, True]


def test_what_an_endpoint_said_before_a_cut_is_not_all_that_was_used(
    model_server: ScriptedServer,
) -> None:
    endless = once({"text": "Well:", "misbehave": {"endless": True}})
    model_server.configure(script=endless, tokens_per_s=50_000)
    _, calls = asked(form(), model=ANTHROPIC)
    assert calls[0].estimated
    assert 300 <= calls[0].output_tokens < 1_000
    assert calls[0].input_tokens == 41


@pytest.mark.parametrize("phrase", [True, "so it is, "])
def test_words_without_end_are_cut_off_and_the_next_way_is_tried(
    model_server: ScriptedServer, phrase: JsonValue
) -> None:
    """F54"""
    script = [{"reply": {"text": "Well: ", "misbehave": {"endless": phrase}}, "times": 1}]
    model_server.configure(script=[*script, {"reply": {"json": BLUE}}])
    found, calls = asked(form())
    assert found[0].data == BLUE
    assert ways(model_server) == ["tool", "native"]
    assert "it wrote without end" in (calls[0].error or "")
    assert calls[0].estimated
    assert calls[0].output_tokens > 0


def test_a_model_that_wrote_without_end_is_streamed_in_the_next_process_too(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    endless = once({"text": "Well:", "misbehave": {"endless": True}})
    model_server.configure(script=endless)
    asked(form(), form(), home=tmp_path)
    habits.forget()
    asked(form(), home=tmp_path)
    assert all(body.get("stream") for body in model_server.requests())


def test_only_the_first_structured_request_to_an_unknown_model_is_streamed(
    model_server: ScriptedServer,
) -> None:
    asked(form(), form())
    assert [bool(body.get("stream")) for body in model_server.requests()] == [True, False]


@pytest.mark.parametrize(
    ("request_tokens", "set_at"), [(16_000, 16_000), (4_000, 4_000), (700, 700)]
)
def test_a_structured_request_has_a_limit_by_what_it_needs(
    model_server: ScriptedServer, request_tokens: int, set_at: int
) -> None:
    asked(form(tokens=request_tokens))
    assert model_server.requests()[0]["max_completion_tokens"] == set_at


def test_a_limit_of_the_user_stays(model_server: ScriptedServer) -> None:
    asked(form(settings={"max_tokens": 77}))
    assert model_server.requests()[0]["max_completion_tokens"] == 77


def test_a_model_that_thinks_may_write_twice_as_much(model_server: ScriptedServer) -> None:
    asked(form(settings={"thinking": True}))
    assert model_server.requests()[0]["max_completion_tokens"] == 8_000


def test_the_limit_is_within_the_servers_context(model_server: ScriptedServer) -> None:
    """F10"""
    model_server.configure(context_tokens=2_000)
    asked(form())
    limit = model_server.requests()[0]["max_completion_tokens"]
    assert isinstance(limit, int)
    assert 1_000 < limit < 2_000


def test_what_does_not_fit_is_said_before_it_is_sent(model_server: ScriptedServer) -> None:
    """F10"""
    model_server.configure(context_tokens=500)
    with pytest.raises(
        ModelError, match=r"takes about 5,\d{3} tokens, and the model's context has 500"
    ):
        asked(CallRequest("Be brief. " * 2_000, output=COLOUR))
    assert model_server.stats().requests == 0


def test_the_limit_is_within_the_budget_and_not_what_is_reserved(
    model_server: ScriptedServer,
) -> None:
    asked(form(tokens=16_000), budget=Budget(tokens=3_000))
    limit = model_server.requests()[0]["max_completion_tokens"]
    assert isinstance(limit, int)
    assert 2_000 < limit < 3_000


def test_a_refusal_of_the_limit_is_repeated_once_with_less_and_remembered(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(max_tokens=1_024)
    _, calls = asked(form(), form())
    sent = [body["max_completion_tokens"] for body in model_server.requests()]
    assert sent == [4_000, 1_024, 1_024]
    assert [call.error is None for call in calls] == [False, True, True]


@pytest.mark.parametrize(
    ("refusal", "sent"),
    [
        ("refuse_beyond_context", [4_000, 3_500]),
        ("refuse_any_limit", [4_000, None]),
        ("refuse_without_a_number", [4_000, 2_000]),
        ("refuse_with_a_number_in_a_name", [4_000, 3_000]),
    ],
)
def test_a_refusal_of_the_limit_is_read_however_it_is_said(
    model_server: ScriptedServer, refusal: str, sent: list[int | None]
) -> None:
    model_server.configure(script=f"tests.models.scripts:{refusal}")
    found, _ = asked(form())
    assert found[0].data is not None
    assert [body.get("max_completion_tokens") for body in model_server.requests()] == sent


def test_what_the_context_left_for_one_answer_is_no_limit_of_others(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    model_server.configure(script="tests.models.scripts:refuse_beyond_context")
    asked(form(), form(tokens=3_000), home=tmp_path)
    sent = [body["max_completion_tokens"] for body in model_server.requests()]
    assert sent == [4_000, 3_500, 3_000]
    (entry,) = json.loads((tmp_path / habits.FILE).read_text()).values()
    assert entry["max_tokens"] is None


def test_the_limit_is_within_a_budget_in_dollars(model_server: ScriptedServer) -> None:
    model = "openai-chat:gpt-5-mini"  # two dollars for a million tokens that it writes
    asked(form(tokens=16_000), budget=Budget(usd=0.01), model=model)
    limit = model_server.requests()[0]["max_completion_tokens"]
    assert isinstance(limit, int)
    assert 4_500 < limit < 5_000


def test_thoughts_without_end_are_cut_off_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """F54"""
    delta = {"index": 0, "delta": {"reasoning_content": "I wonder. "}, "finish_reason": None}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    event = f"data: {json.dumps({**chunk, 'choices': [delta]})}\n\n".encode()
    endpoint = RawEndpoint(head(content_type="text/event-stream"), event, times=None)
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    with serving(endpoint):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        with pytest.raises(ModelError, match="it had no end, or is longer"):
            asked(form())
    assert len(endpoint.requests) == 5


def test_an_answer_cut_off_at_its_limit_is_asked_once_more_with_double(
    model_server: ScriptedServer,
) -> None:
    """F05"""
    cut = once({"json": BLUE, "misbehave": {"length": True}})
    model_server.configure(script=cut)
    found, calls = asked(form())
    assert found[0].data == BLUE
    sent = [body["max_completion_tokens"] for body in model_server.requests()]
    assert sent == [4_000, 8_000]
    assert "cut off at 4,000 tokens" in (calls[0].error or "")
    assert ways(model_server) == ["tool", "tool"]
