"""A user's script overrides what the roles answer: rules, a function, a seed."""

import pytest
from openai import OpenAI

from leadhand.errors import InputError, ToolError
from leadhand.testing import Request, ScriptedServer
from leadhand.testing.exchange import Role
from tests.testing.asking import FINAL, TEXT, asked, plan_schema, tool
from tests.testing.scripts import answer_in_capitals


def said(server: ScriptedServer, text: str) -> str:
    return asked(server, "openai", text).text or ""


def test_the_first_rule_that_matches_answers_and_a_used_up_one_gives_way(
    server: ScriptedServer,
) -> None:
    server.reset(
        script=[
            {"match": {"contains": "apples"}, "reply": {"text": "first"}, "times": 1},
            {"match": {"contains": "apples"}, "reply": {"text": "second"}},
        ]
    )
    assert [said(server, "apples"), said(server, "apples"), said(server, "apples")] == [
        "first",
        "second",
        "second",
    ]
    assert "pears" in said(server, "and pears?")


def test_a_rule_can_be_for_the_nth_request_of_a_role(server: ScriptedServer) -> None:
    server.reset(script=[{"match": {"role": "plain", "nth": 2}, "reply": {"text": "second"}}])
    asked(server, "openai", "one", output=FINAL)
    assert [said(server, f"question {n}") == "second" for n in range(3)] == [False, True, False]


def test_a_rule_can_look_at_tools_and_steps(server: ScriptedServer) -> None:
    call = {"name": "search", "arguments": {"query": "always this"}}
    server.reset(script=[{"match": {"tool": "search", "step": 1}, "reply": {"tool_calls": [call]}}])
    search = tool("search", {"query": TEXT})
    response = asked(server, "openai", "anything", tools=[search], output=FINAL)
    assert [one.args_as_dict() for one in response.tool_calls] == [{"query": "always this"}]
    assert said(server, "without tools").startswith("On 'without tools'")


def test_json_goes_where_the_request_wants_its_answer(server: ScriptedServer) -> None:
    server.reset(script=[{"reply": {"json": {"answer": "mine"}}}])
    by_tool = asked(server, "anthropic", "q", output=FINAL)
    assert by_tool.tool_calls[0].args_as_dict() == {"answer": "mine"}
    assert asked(server, "openai", "q", schema=plan_schema(["a"])).text == '{"answer":"mine"}'


def test_a_function_scripts_what_it_wants_and_leaves_the_rest_to_the_role(
    server: ScriptedServer,
) -> None:
    server.reset(script="tests.testing.scripts:answer_in_capitals")
    assert said(server, "speak up") == "SPEAK UP"
    assert asked(server, "openai", "speak", output=FINAL).tool_calls[0].tool_name == "final_answer"


def test_the_client_sees_that_a_script_function_raised(server: ScriptedServer) -> None:
    server.reset(script="tests.testing.scripts:answer_in_capitals")
    with pytest.raises(Exception, match="the script raised ZeroDivisionError: on purpose"):
        said(server, "raise")


def test_a_script_may_be_the_function_itself(server: ScriptedServer) -> None:
    server.reset(script=answer_in_capitals)
    assert said(server, "hello") == "HELLO"


def test_a_script_that_the_server_cannot_import_is_refused(server: ScriptedServer) -> None:
    def within(request: Request, role: Role) -> None: ...

    with pytest.raises(InputError, match="define it at the top of a module"):
        server.configure(script=within)


WRONG: list[tuple[dict[str, object], str]] = [
    ({"script": [{"match": {"rolle": "plain"}, "reply": {}}]}, "rolle"),
    ({"script": [{"match": {}}]}, "no `reply`"),
    ({"script": [{"reply": {"misbehave": {"slowly": True}}}]}, "'slowly'"),
    ({"script": "no_such_module:function"}, "no_such_module"),
    ({"script": "tests.testing.scripts:nothing"}, "nothing"),
    ({"faults": {"429": 0.7, "500": 0.6}}, "at most 1"),
    ({"faults": {"fire": 0.1}}, "'fire'"),
    ({"latency": 5}, "latency=5; it has script, faults, seed, latency_ms"),
]


@pytest.mark.parametrize(("settings", "problem"), WRONG)
def test_an_invalid_setting_is_refused_in_one_line_and_changes_nothing(
    server: ScriptedServer, settings: dict[str, object], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        server.configure(**settings)
    assert said(server, "still there?")


def test_a_server_with_a_wrong_setting_does_not_start() -> None:
    with pytest.raises(InputError, match="fire"):
        ScriptedServer(faults={"fire": 1.0}).start()


def test_a_server_that_does_not_run_says_so() -> None:
    with pytest.raises(ToolError, match="not running"):
        ScriptedServer().stats()


def test_faults_come_by_chance_and_the_same_seed_gives_the_same_ones(
    server: ScriptedServer,
) -> None:
    def failures() -> list[bool]:
        server.reset(faults={"unknown_tool": 0.4}, seed=7)
        with OpenAI(base_url=server.url, api_key="dummy", max_retries=0) as client:
            answers = (
                client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "hello"}]
                )
                for _ in range(25)
            )
            return [bool(answer.choices[0].message.tool_calls) for answer in answers]

    first = failures()
    assert first == failures()
    assert 4 < sum(first) < 16
    assert server.stats().misbehaved == {"unknown_tool": sum(first)}
