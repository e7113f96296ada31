"""Final answers: validated against the declared type, and sent back twice with the problems."""

import asyncio
import dataclasses
import datetime as dt
import enum
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from leadhand.contracts.outcome import NO_USAGE, Completed, Escalated, Outcome, PlanImpact
from leadhand.models.structured import BadAnswer, StructuredAnswer
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object, mapping
from leadhand.workers.endings import FinalAnswer
from tests.workers.model_runs import (
    attempted,
    bodies,
    call,
    ending,
    escalate,
    final,
    handoff,
    result,
    run,
    said,
    steps,
    team,
    tools,
    worker,
)


class Kind(enum.Enum):
    TOWER = "tower"
    BRIDGE = "bridge"


class Part(BaseModel):
    name: str
    floors: int = Field(ge=1)


class Building(BaseModel):
    """What is known of a building."""

    model_config = ConfigDict(strict=True, extra="forbid")

    kind: Kind
    built: dt.date
    parts: tuple[Part, ...] = ()


@dataclasses.dataclass
class Height:
    metres: float
    source: str = "measured"


SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        "best": {"$ref": "#/definitions/Best"},
    },
    "required": ["parts"],
    "additionalProperties": False,
    "$defs": {"Part": {"type": "object", "required": ["name"]}},
    "definitions": {"Best": {"type": "string", "minLength": 2}},
}
BUILDING: Json = {"kind": "tower", "built": "1889-03-31", "parts": [{"name": "top", "floors": 3}]}
FORMS: list[tuple[object, Json, Json]] = [
    (Building, BUILDING, {"kind": "castle", "built": "soon", "colour": "grey"}),
    (Height, {"metres": 324.0, "source": "map"}, {"metres": "high"}),
    (list[Part], [{"name": "a", "floors": 1}], [{"name": "a", "floors": 0}]),
    (dict[str, int], {"a": 1}, {"a": "one"}),
    (Literal["high", "low"], "high", "middling"),
    (int, 324, "many"),
    (SCHEMA, {"parts": [{"name": "a"}], "best": "ab"}, {"parts": [{}], "best": "a", "x": 1}),
]
forms = pytest.mark.parametrize(
    ("output", "right", "wrong"), FORMS, ids=[str(form[0])[:40] for form in FORMS]
)


@forms
def test_an_answer_of_the_declared_type_is_taken(
    model_server: ScriptedServer, output: object, right: Json, wrong: Json
) -> None:
    model_server.configure(script=steps(final(right)))
    done = run(team(worker(output=output)))
    assert done.answer.gaps == ()
    assert result(done) == right
    assert model_server.stats().requests == 1


@forms
def test_an_answer_that_does_not_fit_is_sent_back_with_what_is_wrong_and_then_taken(
    model_server: ScriptedServer, output: object, right: Json, wrong: Json
) -> None:
    model_server.configure(script=steps(final(wrong), final(right)))
    done = run(team(worker(output=output)))
    assert result(done) == right
    (told,) = said(bodies(model_server)[1], "tool")
    assert "`final_answer" in told
    assert "Fix this and call it again:\\n- " in told


@forms
def test_an_answer_that_never_fits_fails_after_two_repairs(
    model_server: ScriptedServer, output: object, right: Json, wrong: Json
) -> None:
    model_server.configure(script=steps(final(wrong)))
    done = run(team(worker(output=output)))
    assert "was not accepted" in done.gap
    assert model_server.stats().requests == 3


def test_every_problem_is_named_at_once(model_server: ScriptedServer) -> None:
    model_server.configure(
        script=steps(final({"kind": "castle", "built": "soon", "colour": "grey"}), final(BUILDING))
    )
    run(team(worker(output=Building)))
    (told,) = said(bodies(model_server)[1], "tool")
    assert all(name in told for name in ("kind", "built", "colour"))


def test_the_declared_type_is_what_the_model_is_asked_for(model_server: ScriptedServer) -> None:
    model_server.configure(script=steps(final(BUILDING)))
    run(team(worker(output=Building)))
    offered = json.dumps(bodies(model_server)[0]["tools"])
    assert "What is known of a building." in offered
    assert '"#/$defs/Kind"' in offered
    assert '"$defs": {' in offered


def test_the_servers_own_answer_fits_any_form(model_server: ScriptedServer) -> None:
    """The schema is enough to fill in the arguments."""
    for output, _, _ in FORMS:
        assert run(team(worker(output=output))).answer.status == "complete"


@pytest.mark.parametrize(
    "text",
    ["The tower is 324 m high.", '{"height": 324}', "```json\n[1, 2]\n```"],
    ids=["prose", "object", "code"],
)
def test_a_worker_without_a_type_may_answer_in_plain_text(
    model_server: ScriptedServer, text: str
) -> None:
    model_server.configure(script=steps({"text": text}))
    done = run(team())
    assert result(done) == text
    assert model_server.stats().requests == 1


def test_an_answer_as_json_text_is_read_like_a_call(model_server: ScriptedServer) -> None:
    text = "```json\n" + json.dumps(ending(BUILDING, confidence=77)) + "\n```"
    model_server.configure(script=steps({"text": text}))
    done = run(team(worker(output=Building)))
    assert result(done) == BUILDING


def test_plain_text_is_no_answer_for_a_worker_with_a_type(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADHAND_ANSWERS", "tool")
    model_server.configure(script=steps({"text": "It is high."}, final(BUILDING)))
    done = run(team(worker(output=Building)))
    assert result(done) == BUILDING
    told = said(bodies(model_server)[1], "user")[-1]
    assert told == "Answer by calling `final_answer` with all of its fields."


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_answer_is_sent_back(model_server: ScriptedServer, empty: Json) -> None:
    model_server.configure(script=steps(final(empty), final("324 m")))
    done = run(team())
    assert result(done) == "324 m"
    assert model_server.stats().requests == 2


def test_summary_confidence_and_evidence_are_kept() -> None:
    given = ending("x", summary="s", confidence=55, evidence=["a", "b"])
    kept = FinalAnswer().result(StructuredAnswer(given), NO_USAGE)
    assert (kept.summary, kept.confidence, kept.evidence) == ("s", 55, ("a", "b"))


@pytest.mark.parametrize(
    ("given", "kept"), [(0.85, 85), (1, 1), (0, 0), (150, 100), (-3, 0), (None, None), (72.6, 73)]
)
def test_confidence_is_a_percentage_whatever_the_model_gives(
    given: float | None, kept: int | None
) -> None:
    assert (
        FinalAnswer().result(StructuredAnswer(ending("x", confidence=given)), NO_USAGE).confidence
        == kept
    )


def test_fields_that_are_left_out_do_not_cost_a_repair() -> None:
    assert FinalAnswer().result(StructuredAnswer({"answer": "x"}), NO_USAGE).output == "x"


def test_a_form_that_is_not_filled_in_says_what_is_missing() -> None:
    with pytest.raises(BadAnswer, match="answer: Field required"):
        FinalAnswer(int).result(
            StructuredAnswer({"summary": "x"}, call=ToolCallPart("final_answer", {"summary": "x"})),
            NO_USAGE,
        )


# Whatever the provider does best


@asynccontextmanager
async def speaking(server: ScriptedServer, mode: str) -> AsyncGenerator[OpenAIChatModel]:
    """A model whose structured output is native or prompted."""
    profile: ModelProfile = {
        "default_structured_output_mode": mode,  # pyright: ignore[reportAssignmentType]
        "supports_json_schema_output": True,
        "supports_json_object_output": mode == "prompted",
    }
    async with AsyncOpenAI(base_url=server.url, api_key="dummy", max_retries=0) as client:
        provider = OpenAIProvider(openai_client=client)
        yield OpenAIChatModel("scripted", provider=provider, profile=profile)


def attempt(server: ScriptedServer, mode: str, **fields: object) -> Outcome:
    """One attempt with such a model."""

    async def story() -> Outcome:
        async with speaking(server, mode) as model:
            return await attempted(worker(**fields), handoff(), model=model)

    return asyncio.run(story())


modes = pytest.mark.parametrize("mode", ["native", "prompted"])


@modes
def test_a_schema_takes_the_place_of_the_answering_tool(
    model_server: ScriptedServer, mode: str
) -> None:
    model_server.configure(script=steps({"text": json.dumps(ending(BUILDING))}))
    outcome = attempt(model_server, mode, output=Building)
    assert isinstance(outcome, Completed)
    assert outcome.result.output == BUILDING
    (body,) = bodies(model_server)
    assert tools(body) == ["escalate"]
    form = mapping(body.get("response_format"))
    if mode == "native":
        assert form["type"] == "json_schema"
    else:
        assert "What is known of a building." in json.dumps(body["messages"])


@modes
def test_tools_escalation_and_repairs_work_the_same_there(
    model_server: ScriptedServer, mode: str
) -> None:
    def height(building: str) -> str:
        """How high a building is."""
        return "324 m"

    model_server.configure(
        script=steps(
            call("height", building="tower"),
            {"text": json.dumps(ending({"kind": "castle"}))},
            {"text": json.dumps(ending(BUILDING))},
        )
    )
    outcome = attempt(model_server, mode, output=Building, tools=(height,))
    assert isinstance(outcome, Completed)
    assert "was not accepted" in said(bodies(model_server)[2], "user")[-1]
    model_server.configure(script=steps(escalate("out_of_scope", "ask the mason")))
    outcome = attempt(model_server, mode, output=Building)
    assert isinstance(outcome, Escalated)
    assert outcome.message == "ask the mason"


@pytest.mark.parametrize(
    "filled",
    [None, "", " ", "none", "None", "no", "null", "N/A", "the tower is gone", True, [], {}, 7],
)
def test_f14_a_plan_impact_that_is_filled_in_by_habit_means_none(filled: Json) -> None:
    """Each one that counts costs a call to the planner."""
    given: Object = {**ending(), "plan_impact": filled, "impact_reason": "No impact."}
    assert FinalAnswer().result(StructuredAnswer(given), NO_USAGE).plan_impact is None


@pytest.mark.parametrize("kind", ["blocks", "adds"])
def test_an_impact_is_an_explicit_choice_with_its_reason(kind: Literal["blocks", "adds"]) -> None:
    given: Object = {**ending(), "plan_impact": kind, "impact_reason": "it is gone"}
    found = FinalAnswer().result(StructuredAnswer(given), NO_USAGE).plan_impact
    assert found == PlanImpact(kind=kind, reason="it is gone")
    bare: Object = {**ending(), "plan_impact": kind}
    found = FinalAnswer().result(StructuredAnswer(bare), NO_USAGE).plan_impact
    assert found == PlanImpact(kind=kind, reason="It is 324 m.")
