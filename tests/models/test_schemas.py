"""A provider's form of a schema is worked out once, and again if the schema changes."""

from pydantic_ai import JsonSchemaTransformer
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition

from leadhand.models.schemas import remember_schemas

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
