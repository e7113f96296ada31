"""A provider's form of a schema is worked out once, and again if the schema changes; servers on
this machine get one with limits."""

import json

import pytest
from pydantic import JsonValue
from pydantic_ai import JsonSchemaTransformer
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition

from leadhand import Supervisor, Team, Worker
from leadhand.models.schemas import remember_schemas, with_short_texts
from leadhand.models.structured import object_schema
from leadhand.testing import ScriptedServer
from tests.models.asking import OPENAI

Schema = dict[str, object]


def test_a_schema_is_rewritten_once_until_its_author_changes_it() -> None:
    seen: list[object] = []

    class Marking(JsonSchemaTransformer):
        def transform(self, schema: Schema) -> Schema:
            seen.append(schema["title"])
            self.is_strict_compatible = schema["title"] != "Loose"
            return {**schema, "description": "rewritten"}

    def rewritten(schema: Schema, *, strict: bool | None = None) -> tuple[Schema, bool | None]:
        tool = ToolDefinition(name="t", parameters_json_schema=schema, strict=strict)
        parameters = ModelRequestParameters(function_tools=[tool])
        (tool,) = model.customize_request_parameters(parameters).function_tools
        return tool.parameters_json_schema, tool.strict

    model = TestModel(profile={"json_schema_transformer": Marking})
    remember_schemas(model)
    schema: Schema = {"type": "string", "title": "Name"}
    marked = {"type": "string", "title": "Name", "description": "rewritten"}
    assert [rewritten(schema) for _ in range(2)] == [(marked, True)] * 2
    assert seen == ["Name"]
    schema["title"] = "Loose"
    assert [rewritten(schema) for _ in range(2)] == [({**marked, "title": "Loose"}, False)] * 2
    assert rewritten(schema, strict=True)[1] is True
    assert seen == ["Name", "Loose", "Loose"]


def test_short_texts_of_a_form_get_a_limit_and_answers_and_names_none() -> None:
    kind: JsonValue = {"type": "string", "enum": ["rgb", "cmyk"]}
    user: JsonValue = {"type": "object", "properties": {"note": {"type": "string"}}}

    def form(text: JsonValue) -> dict[str, JsonValue]:
        null: JsonValue = {"anyOf": [text, {"type": "null"}]}
        rows: JsonValue = {"type": "array", "items": object_schema(why=text, kind=kind)}
        return object_schema(rows=rows, note=null, answer={"type": "string"}, output=user)

    limited = with_short_texts(form({"type": "string"}))
    assert limited == form({"type": "string", "maxLength": 2_000})


@pytest.mark.parametrize(("way", "is_limited"), [("native", True), ("tool", False)])
def test_a_server_on_this_machine_gets_limits_in_the_format_of_an_answer(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, way: str, is_limited: bool
) -> None:
    """OpenAI's strict schemas may have none."""
    monkeypatch.setenv("LEADHAND_ANSWERS", way)
    team = Team("t", model=OPENAI, workers=[Worker("a", "Finds"), Worker("b", "Counts")])
    Supervisor(team, deadline_s=60.0).run_sync("Compare copper and zinc")
    assert ("maxLength" in json.dumps(model_server.requests()[0])) == is_limited
