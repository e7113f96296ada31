"""What the planner by model asks, and whom, over real HTTP."""

import asyncio

import pytest
from anthropic import AsyncAnthropic
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider

from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Role, Team
from leadhand.errors import ModelError
from leadhand.models.prompts import prompt
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object, compact, items, mapping
from tests.planners.planners import REQUEST, SOUND, answers, planned, proposing, said, team
from tests.test_house import WITHOUT_MODELS, loaded_by


def wire(server: ScriptedServer) -> list[Object]:
    return [mapping(body["body"]) for body in server.stats().bodies]


def test_the_request_goes_out_as_the_user_said_it_with_the_team_after_the_rules(
    server: ScriptedServer,
) -> None:
    plan = asyncio.run(planned(team(), PlanRequest("Compare copper and zinc", inputs="two tables")))
    (asked,) = server.stats().bodies
    (system,) = said(asked, "system")
    assert system == (
        prompt("leadhand.planners", "planner")
        + "\n\n- `search`: Finds passages in the reports"
        + "\n- `count`: Computes figures from the price table"
    )
    text = "Plan this request:\n\nCompare copper and zinc\n\nInputs: two tables"
    assert said(asked, "user") == [text]
    assert plan.goal == "Compare copper and zinc"
    assert {task.worker for task in plan.tasks} == {"search", "count"}


def test_a_request_with_nothing_handed_in_is_all_that_is_to_be_planned(
    server: ScriptedServer,
) -> None:
    asyncio.run(planned(team()))
    assert said(server.stats().bodies[0], "user") == [f"Plan this request:\n\n{REQUEST.text}"]


def test_only_the_team_can_be_named_and_nothing_but_a_plan_can_be_given(
    server: ScriptedServer,
) -> None:
    asyncio.run(planned(team()))
    (offered,) = items(wire(server)[0]["tools"])
    function = mapping(mapping(offered)["function"])
    parameters = mapping(mapping(function["parameters"])["properties"])
    tasks = mapping(mapping(mapping(parameters["tasks"])["items"])["properties"])
    assert function["name"] == "propose_plan"
    assert wire(server)[0]["tool_choice"] == "required"
    assert list(parameters) == ["tasks"]
    assert {"id", "worker", "intent", "depends_on"} <= tasks.keys()
    assert mapping(tasks["worker"])["enum"] == ["search", "count"]


def test_a_plan_comes_over_anthropics_protocol_too(server: ScriptedServer) -> None:
    async def over_anthropic() -> Plan:
        url = server.anthropic_url
        async with AsyncAnthropic(base_url=url, api_key="dummy", max_retries=0) as client:
            provider = AnthropicProvider(anthropic_client=client)
            return await planned(team(model=AnthropicModel("claude-opus-5-5", provider=provider)))

    server.reset(script=proposing(SOUND))
    assert [task.id for task in asyncio.run(over_anthropic()).tasks] == ["a", "b"]
    assert server.stats().bodies[0]["protocol"] == "anthropic"


def test_the_planners_own_model_settings_and_instructions_are_used(server: ScriptedServer) -> None:
    role = Role(
        model="openai-chat:own",
        settings={"temperature": 0.25},
        instructions="Give every search a year.",
    )
    asyncio.run(planned(team(planner=role)))
    assert wire(server)[0]["model"] == "own"
    assert wire(server)[0]["temperature"] == 0.25
    (system,) = said(server.stats().bodies[0], "system")
    assert system.startswith(prompt("leadhand.planners", "planner"))
    assert system.endswith("price table\n\nGive every search a year.")


def test_without_a_model_of_its_own_the_planner_asks_its_tiers(server: ScriptedServer) -> None:
    made = Team(
        "tiers",
        workers=team().workers,
        models={"fast": ("openai-chat:small",), "strong": ("openai-chat:large",)},
        planner=Role(tier="strong"),
    )
    asyncio.run(planned(made))
    assert wire(server)[0]["model"] == "large"


def test_a_team_without_a_model_has_no_model_planner(server: ScriptedServer) -> None:
    with pytest.raises(ModelError, match="no model"):
        asyncio.run(planned(team(model=None)))
    assert server.stats().requests == 0


def test_a_plain_planner_gets_only_its_instructions_and_answers_in_text(
    server: ScriptedServer,
) -> None:
    server.reset(script=answers({"text": compact(SOUND)}))
    role = Role(plain=True, instructions="Plan for search and count, as JSON.")
    plan = asyncio.run(planned(team(planner=role)))
    assert len(plan.tasks) == 2
    assert said(server.stats().bodies[0], "system") == ["Plan for search and count, as JSON."]
    assert "tools" not in wire(server)[0]


def test_a_model_with_native_json_is_given_the_form_as_a_schema() -> None:
    seen: list[AgentInfo] = []

    def native(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return ModelResponse([TextPart(compact(SOUND))])

    profile = ModelProfile(
        supports_json_schema_output=True, default_structured_output_mode="native"
    )
    plan = asyncio.run(planned(team(model=FunctionModel(native, profile=profile))))
    assert len(plan.tasks) == 2
    (info,) = seen
    assert info.model_request_parameters.output_object is not None
    assert (info.function_tools, info.output_tools) == ([], [])


def test_the_planner_without_a_model_is_imported_without_a_models_weight() -> None:
    loaded = loaded_by(WITHOUT_MODELS)
    assert "leadhand.planners.template" in loaded
    assert "pydantic_ai" not in loaded
