"""What scores say about plans and texts of a model, and what each run costs."""

import asyncio
import sys
from pathlib import Path

import pytest

from leadhand import Handoff, Team, Worker
from leadhand.evals import Case, EvalReport, EvalSettings, TeamReport, evaluate
from leadhand.evals.preparation import REFUSED
from leadhand.evals.trials import CaseScore
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from tests.patience import HANG_S
from tests.workers.model_runs import call

TEAM = Team(
    "support",
    model="openai-chat:scripted",
    workers=[Worker("billing", "Invoices and refunds"), Worker("reply", "Writes replies")],
)


def measured(team: Team, *cases: dict[str, object], repeat: int = 1) -> TeamReport:
    """The report of the cases, whose names are their requests."""
    given = [Case.model_validate({"name": case["request"], **case}) for case in cases]
    return asyncio.run(evaluate(team, given, settings=EvalSettings(repeat=repeat, at_once=1)))


def scores(report: TeamReport, case: int = 0) -> dict[str, CaseScore]:
    return {score.name: score for score in report.trials[case].scores}


def plan(*intents: str, worker: str = "billing") -> Json:
    """A rule for the server: the plan of one task for each intent."""
    tasks: list[Json] = [
        {"id": f"t{number}", "worker": worker, "intent": intent}
        for number, intent in enumerate(intents, start=1)
    ]
    return {"match": {"role": "planner"}, "reply": {"json": {"tasks": tasks}}}


def test_tasks_that_are_vague_or_do_the_same_are_named(model_server: ScriptedServer) -> None:
    clear, twin = "List the invoices of customer 7 in May", "In May list the invoices of customer 7"
    case: dict[str, object] = {"request": "What does customer 7 owe for May?", "plan": {}}
    model_server.configure(script=[plan(clear, "Write to customer 7 what is due in May")])
    assert scores(measured(TEAM, case))["plan.clear"].value == 1
    model_server.configure(script=[plan(clear, twin)])
    overlap = scores(measured(TEAM, case))["plan.clear"]
    assert (overlap.value, overlap.why) == (0.5, "task 't2' overlaps with 't1'")
    model_server.configure(script=[plan(clear, "Handle the request")])
    vague = scores(measured(TEAM, case))["plan.valid"]
    assert (vague.value, "('Handle the request') says nothing about this task" in vague.why) == (
        0,
        True,
    ), "code does not let a vague plan through"


def test_the_same_plan_for_unlike_requests_is_named(model_server: ScriptedServer) -> None:
    one: dict[str, object] = {"request": "Customer 7 was charged twice in May", "plan": {}}
    other: dict[str, object] = {"request": "Where is our handbook on travel?", "plan": {}}
    model_server.configure(script=[plan("Find out all that helps with this")])
    report = measured(TEAM, one, other)
    assert report.scores["plan.distinct"].mean == 0
    assert scores(report)["plan.distinct"].why == f"it is the same plan as for {other['request']!r}"
    alike = measured(TEAM, one, {**other, "request": "Customer 8 was charged twice in May"})
    assert alike.scores["plan.distinct"].mean == 1
    assert "plan.distinct" not in scores(measured(TEAM, one, repeat=2)), "repeats are alike"


def test_a_citation_that_does_not_support_and_a_conflict_that_is_not_stated_fail(
    model_server: ScriptedServer,
) -> None:
    def may(handoff: Handoff) -> str:
        return "May had 41 sales in Berlin."

    def june(handoff: Handoff) -> str:
        return "June had 12 sales in Berlin."

    team = Team(
        "sales",
        model="openai-chat:scripted",
        workers=[
            Worker("may", "Knows May", run=may),
            Worker("june", "Knows June", run=june),
        ],
    )
    tasks: list[Json] = [
        {"id": name, "worker": name, "intent": f"Say how many sales {name} had"}
        for name in ("may", "june")
    ]
    case: dict[str, object] = {
        "request": "How many sales were there in May and June?",
        "synthesis": {"cites": True, "conflicts": ["number of shops"], "uses": ["may", "june"]},
    }

    def of(text: str) -> dict[str, CaseScore]:
        planner: Json = {"match": {"role": "planner"}, "reply": {"json": {"tasks": tasks}}}
        writer: Json = {"match": {"role": "synthesizer"}, "reply": {"json": {"answer": text}}}
        model_server.configure(script=[planner, writer])
        return scores(measured(team, case))

    right = of(
        "Berlin had 41 sales in May [may]. The number of shops is disputed. "
        "June had 12 sales [june]."
    )
    assert [right[f"synthesis.{name}"].value for name in ("citations", "supported", "used")] == [
        1,
        1,
        1,
    ]
    assert right["synthesis.conflicts"].value == 1
    wrong = of("Berlin had 41 sales in May [may]. It had 90 sales in June [june]. See also [july].")
    assert wrong["synthesis.supported"].value == 0.5
    assert "It had 90 sales in June [june]." in wrong["synthesis.supported"].why
    assert wrong["synthesis.citations"].value == pytest.approx(2 / 3)
    assert wrong["synthesis.citations"].why == "1 of 3 cite no result"
    assert wrong["synthesis.conflicts"].value == 0
    assert wrong["synthesis.conflicts"].why == "does not state 'number of shops'"
    unused = of("Berlin had 41 sales in May [may]. Nothing else is known.")
    assert unused["synthesis.used"].why == "does not use 'june'"
    assert of("Nothing is known.")["synthesis.citations"].why == "it cites no task"


def test_what_a_case_costs_is_what_its_runs_cost(model_server: ScriptedServer) -> None:
    report = measured(TEAM, {"request": "Customer 7 was charged twice"}, repeat=2)
    asked = model_server.stats()
    assert sum(trial.requests for trial in report.trials) == asked.requests > 0
    tokens = asked.prompt_tokens + asked.completion_tokens
    assert sum(trial.tokens for trial in report.trials) == tokens
    for name in ("requests", "tokens", "seconds"):
        values = [getattr(trial, name) for trial in report.trials]
        assert all(value > 0 for value in values)
        assert report.costs[name].mean == pytest.approx(sum(values) / 2)
    assert "cost_usd" not in report.costs, "the price of this model is unknown"
    document = EvalReport(id="a", teams=(report,)).model_dump_json()
    assert EvalReport.model_validate_json(document).teams[0].costs == report.costs


SERVER = """
import json
import pathlib
import sys

PATHS = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "look", "inputSchema": PATHS, "annotations": {"readOnlyHint": True}},
    {"name": "pay", "inputSchema": PATHS, "annotations": {"readOnlyHint": False}},
    {"name": "mystery", "inputSchema": PATHS},
]
for line in sys.stdin:
    asked = json.loads(line)
    params = asked.get("params", {})
    match asked["method"]:
        case "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "desk", "version": "1"},
            }
        case "tools/list":
            result = {"tools": TOOLS}
        case "tools/call":
            with pathlib.Path(sys.argv[1]).open("a") as file:
                file.write(params["name"] + "\\n")
            result = {"content": [{"type": "text", "text": params["name"] + " was called"}]}
        case _:
            result = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize("nested", [False, True])
def test_of_an_mcp_server_only_tools_that_it_calls_read_only_are_called(
    nested: bool, tmp_path: Path, model_server: ScriptedServer
) -> None:
    mcp = pytest.importorskip("pydantic_ai.mcp")
    pytest.importorskip("fastmcp")
    program, called = tmp_path / "desk.py", tmp_path / "called.txt"
    program.write_text(SERVER)
    server = {"command": sys.executable, "args": [str(program), str(called)]}
    config = {"mcpServers": {"desk": server}}
    worker = Worker("desk", "Pays", tools=[mcp.MCPToolset(config, init_timeout=HANG_S)])
    team = Team("store", model="openai-chat:scripted", workers=[worker])
    if nested:
        outer = Worker("store", "Pays", team=team)
        team = Team("outer", model="openai-chat:scripted", workers=[outer])
    names = ("look", "pay", "mystery")

    def run(allow_writes: bool, tools: dict[str, object]) -> tuple[set[str], list[str]]:
        script: list[Json] = [
            {"match": {"role": "worker", "step": step}, "reply": call(name)}
            for step, name in enumerate(names, start=1)
        ]
        model_server.configure(script=script)
        work = {"worker": team.workers[0].name, "intent": "Pay customer 7 what is due"}
        case = Case.model_validate({"request": "Pay", "workers": [work], "tools": tools})
        settings = EvalSettings(allow_writes=allow_writes)
        (trial,) = asyncio.run(evaluate(team, [case], settings=settings)).trials
        found = called.read_text().split() if called.exists() else []
        called.unlink(missing_ok=True)
        return {*trial.refused}, found

    assert run(False, {}) == ({"pay", "mystery"}, ["look"]), REFUSED
    assert run(False, {"pay": "paid"}) == ({"mystery"}, ["look"])
    assert run(True, {}) == (set(), [*names])
