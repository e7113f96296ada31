"""The scripted server knows planner, worker, synthesizer and scorer by what a request offers."""

import json
from typing import cast

import jsonschema
import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team, Worker
from leadhand.plans.checks import check
from leadhand.testing import ScriptedServer
from tests.testing.asking import ESCALATE, FINAL, TEXT, Spoken, asked, obj, plan_schema, tool

BOTH = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
REQUEST = "Compare the revenue of Borealis and Cumulus in 2024"


def arguments(response: ModelResponse, name: str) -> dict[str, object]:
    """The arguments of the only call in a response."""
    (call,) = response.tool_calls
    assert call.tool_name == name
    return call.args_as_dict(raise_if_invalid=True)


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_a_planner_gets_a_plan_that_passes_the_check(
    server: ScriptedServer, protocol: Spoken, stream: bool
) -> None:
    schema = plan_schema(["reader", "analyst", "writer"])
    output = ToolDefinition(name="propose_plan", parameters_json_schema=schema)
    response = asked(server, protocol, f"Request: {REQUEST}", output=output, stream=stream)
    given = arguments(response, "propose_plan")
    jsonschema.validate(given, schema)
    plan = Plan.model_validate(given)
    names = ("reader", "analyst", "writer")
    workers = tuple(Worker(name, f"The {name}", run=str) for name in names)
    assert check(plan, Team("t", workers=workers), author="model", request=REQUEST) == ()
    assert [task.depends_on for task in plan.tasks] == [(), (), ("t1", "t2")]
    assert [task.worker for task in plan.tasks] == ["reader", "analyst", "writer"]
    assert all("Borealis" in task.intent for task in plan.tasks)
    assert server.stats().by_role == {"planner": 1}


@BOTH
def test_a_plan_can_be_asked_for_as_a_native_schema(
    server: ScriptedServer, protocol: Spoken
) -> None:
    schema = plan_schema(["only"])
    response = asked(server, protocol, REQUEST, schema=schema)
    plan: object = json.loads(response.text or "")
    jsonschema.validate(plan, schema)
    assert [task.worker for task in Plan.model_validate(plan).tasks] == ["only"]


def test_a_request_can_ask_for_so_many_independent_tasks(server: ScriptedServer) -> None:
    output = ToolDefinition(name="plan", parameters_json_schema=plan_schema(["a", "b"]))
    response = asked(server, "openai", f"{REQUEST} tasks=50", output=output)
    plan = Plan.model_validate(arguments(response, "plan"))
    assert len({task.id for task in plan.tasks}) == 50
    assert len({task.intent for task in plan.tasks}) == 50
    assert not any(task.depends_on for task in plan.tasks)
    assert {task.worker for task in plan.tasks} == {"a", "b"}


@BOTH
def test_a_worker_answers_from_the_question_with_its_form_filled_in(
    server: ScriptedServer, protocol: Spoken
) -> None:
    response = asked(server, protocol, REQUEST, output=FINAL)
    given = arguments(response, "final_answer")
    jsonschema.validate(given, FINAL.parameters_json_schema)
    assert "Borealis" in str(given["answer"])
    assert given["plan_impact"] == "none"
    assert server.stats().by_role == {"worker": 1}


@BOTH
def test_a_worker_first_finds_then_reads_then_answers_with_what_it_found(
    server: ScriptedServer, protocol: Spoken
) -> None:
    search = tool("search_files", {"query": TEXT, "limit": {"type": "integer"}}, required=["query"])
    read = tool("read_file", {"path": TEXT})
    delete = tool("remove_file", {"path": TEXT})
    said: list[ModelRequest | ModelResponse] = [ModelRequest([UserPromptPart(REQUEST)])]
    for name, result in (("search_files", "reports/cumulus.md: revenue"), ("read_file", "41 M")):
        tools = [search, read, delete]
        response = asked(server, protocol, "", tools=tools, output=FINAL, before=said)
        call = arguments(response, name)
        assert call == (
            {"query": "Compare revenue Borealis Cumulus"}
            if name == "search_files"
            else {"path": "reports/cumulus.md"}
        )
        identity = response.tool_calls[0].tool_call_id
        said += [response, ModelRequest([ToolReturnPart(name, result, identity)])]
    response = asked(server, protocol, "", tools=[search, read, delete], output=FINAL, before=said)
    given = arguments(response, "final_answer")
    assert "41 M" in str(given["answer"])
    assert given["evidence"] == ["reports/cumulus.md: revenue", "41 M"]


@BOTH
def test_a_worker_escalates_where_its_intent_says_so(
    server: ScriptedServer, protocol: Spoken
) -> None:
    text = "Sum up the contract ESCALATE:ambiguous_input which of the two?"
    response = asked(server, protocol, text, tools=[ESCALATE], output=FINAL)
    given = arguments(response, "escalate")
    assert given == {"reason": "ambiguous_input", "message": "which of the two?"}


def test_data_in_a_handoff_neither_escalates_nor_becomes_the_question(
    server: ScriptedServer,
) -> None:
    text = f'{REQUEST}\n\n<data-n1 from="t1">\nESCALATE:out_of_scope\nForty\n</data-n1>'
    response = asked(server, "openai", text, tools=[ESCALATE], output=FINAL)
    answer = str(arguments(response, "final_answer")["answer"])
    assert answer.startswith(f"On {REQUEST!r}")
    assert answer.endswith("Forty [t1]")


@BOTH
@pytest.mark.parametrize(
    "results", ["[t1] Forty\n\n[t2] Six\n\n[t3] no result (failed)", "Forty [t1] Six [t2]"]
)
def test_a_synthesizer_cites_the_tasks_whose_results_it_was_given(
    server: ScriptedServer, protocol: Spoken, results: str
) -> None:
    form = tool(
        "final_answer",
        {
            "answer": TEXT,
            "citations": {"type": "array", "items": TEXT},
            "contradictions": {"type": "array", "items": obj({"about": TEXT})},
        },
    )
    text = f"{REQUEST}\n<data-n1>\n{results}\n</data-n1>"
    given = arguments(asked(server, protocol, text, output=form), "final_answer")
    assert "Forty [t1] Six [t2]" in str(given["answer"])
    assert (given["citations"], given["contradictions"]) == (["t1", "t2"], [])
    assert server.stats().by_role == {"synthesizer": 1}


@BOTH
def test_a_choice_is_made_by_the_only_tool_that_takes_it(
    server: ScriptedServer, protocol: Spoken
) -> None:
    choose = tool("choose", {"choice": {"type": "string", "enum": ["t2", "t1"]}, "why": TEXT})
    given = arguments(asked(server, protocol, REQUEST, output=choose), "choose")
    assert (given["choice"], "Borealis" in str(given["why"])) == ("t2", True)
    assert server.stats().by_role == {"judge": 1}


@BOTH
def test_a_scorer_gives_a_score_within_its_bounds(server: ScriptedServer, protocol: Spoken) -> None:
    schema = obj({"score": {"type": "integer", "minimum": 0, "maximum": 100}, "why": TEXT})
    response = asked(server, protocol, REQUEST, schema=schema)
    given = cast("dict[str, object]", json.loads(response.text or ""))
    assert given["score"] == 85
    assert "Borealis" in str(given["why"])
    assert server.stats().by_role == {"scorer": 1}


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_plain_text_is_derived_from_the_question(
    server: ScriptedServer, protocol: Spoken, stream: bool
) -> None:
    response = asked(server, protocol, "How tall is the tower of Pisa?", stream=stream)
    assert "tower of Pisa" in (response.text or "")
    assert server.stats().by_role == {"plain": 1}


@BOTH
def test_a_single_tool_is_called_once_and_its_result_is_used(
    server: ScriptedServer, protocol: Spoken
) -> None:
    weather = tool("weather", {"city": {"type": "string", "enum": ["Oslo", "Rome"]}})
    asking = ModelRequest([UserPromptPart("Is it warm?")])
    first = asked(server, protocol, "", tools=[weather], before=[asking])
    assert arguments(first, "weather") == {"city": "Oslo"}
    result = ModelRequest(
        [ToolReturnPart("weather", "12 degrees", first.tool_calls[0].tool_call_id)]
    )
    second = asked(server, protocol, "", tools=[weather], before=[asking, first, result])
    assert "12 degrees" in (second.text or "")


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_usage_counts_characters_by_four_and_adds_up_in_the_stats(
    server: ScriptedServer, protocol: Spoken, stream: bool
) -> None:
    response = asked(server, protocol, "x" * 400, stream=stream)
    stats = server.stats()
    assert response.usage.input_tokens == stats.prompt_tokens == 100
    assert response.usage.output_tokens == stats.completion_tokens > 0
