"""`leadhand eval` and `compare` with models: recordings, the judge, and tools that write."""

import json
from pathlib import Path

import pytest

from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object
from tests.cli.program import leadhand
from tests.programs import Ended

TEAM = '''\
from leadhand import Team, Worker


def find_invoice(customer: int) -> str:
    """Finds the last invoice of a customer."""
    return f"Invoice 17 of customer {customer}: 40.00"


def pay_back(customer: int) -> str:
    """Pays a customer back."""
    open("paid.txt", "a").write("paid")
    return "paid"


team = Team(
    "support",
    model="openai-chat:scripted",
    workers=[
        Worker(
            "billing",
            "Invoices and refunds",
            instructions="You work in billing.",
            tools=[find_invoice, pay_back],
        ),
        Worker("reply", "Writes replies", instructions="You write replies."),
    ],
)
'''
CASES = """\
- name: refund
  request: Customer 4711 was charged twice.
  plan: {tasks: [{id: a, worker: billing}, {id: b, worker: reply}]}
  routing: {primary: billing}
  synthesis: {rubric: [{question: "Is it polite?", label: true}]}
"""
ALONE = """\
- request: Pay customer 1 back.
  workers:
    - {worker: billing, must_call: [pay_back], must_not_call: [other]}
"""
OTHER = ("--judge", "openai-chat:other")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.py").write_text(TEAM, encoding="utf-8")
    (tmp_path / "cases.yaml").write_text(CASES, encoding="utf-8")
    return tmp_path


def program(*words: str, folder: Path, server: ScriptedServer | None = None) -> Ended:
    env = {"LEADHAND_HOME": str(folder / "runs"), **(server.env() if server else {})}
    return leadhand(*words, folder=folder, env=env)


def scores(ended: Ended) -> dict[str, float]:
    assert ended.status == 0, ended.err
    (team,) = json.loads(ended.out)["teams"]
    return {name: figure["mean"] for name, figure in team["scores"].items()}


def test_a_plan_of_a_model_is_scored_against_its_gold_graph(
    folder: Path, scripted: ScriptedServer
) -> None:
    found = scores(program("eval", "desk.py", "--json", folder=folder, server=scripted))
    assert found["plan.nodes"] == found["plan.edges"] == found["plan.valid_at_once"] == 1
    assert found["routing.primary"] == 1


def test_a_plan_that_needed_a_repair_is_not_valid_at_once(
    folder: Path, scripted: ScriptedServer
) -> None:
    bad = {"tasks": [{"id": "a", "worker": "nobody", "intent": "Look up the invoice"}]}
    rule = {"match": {"role": "planner", "nth": 1}, "reply": {"json": bad}}
    scripted.configure(script=[rule])
    found = scores(program("eval", "desk.py", "--json", folder=folder, server=scripted))
    assert (found["plan.valid_at_once"], found["plan.valid"]) == (0, 1)


def test_a_recording_answers_without_a_model_and_names_a_prompt_that_changed(
    folder: Path, scripted: ScriptedServer
) -> None:
    words = ("eval", "desk.py", "--json", *OTHER)
    recorded = program(*words, "--record", "a.jsonl", folder=folder, server=scripted)
    replayed = program(*words, "--replay", "a.jsonl", folder=folder)
    assert scores(replayed) == scores(recorded)
    one, other = (json.loads(each.out)["teams"][0]["costs"] for each in (recorded, replayed))
    assert one["tokens"] == other["tokens"]
    kind = TEAM.replace("You work in billing.", "You work in billing. Be kind.")
    (folder / "desk.py").write_text(kind, encoding="utf-8")
    refused = program(*words, "--replay", "a.jsonl", folder=folder)
    assert refused.status == 2
    changed = "the prompt of worker 'billing' changed: 'You work in billing.' is now"
    assert changed in refused.err
    assert refused.err.count("told something else") == 0, "which follows from that"


def test_a_model_that_writes_without_end_is_cut_off_while_it_is_recorded(
    folder: Path, scripted: ScriptedServer
) -> None:
    """It is asked in another way, as without a recording, and so is the replay."""
    endless: Object = {"match": {"role": "planner", "nth": 1}, "reply": {"text": "\n" * 5_000}}
    scripted.configure(script=[endless])
    words = ("eval", "desk.py", "--json", *OTHER)
    recorded = program(*words, "--record", "a.jsonl", folder=folder, server=scripted)
    assert scores(recorded)["plan.valid"] == 1
    kept = (folder / "a.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(kept[0])["response"]
    assert first["finish_reason"] == "length"
    assert len(first["parts"][0]["content"]) < 5_000
    replayed = program(*words, "--replay", "a.jsonl", folder=folder)
    assert scores(replayed) == scores(recorded)


def test_a_recording_has_no_secrets(folder: Path, scripted: ScriptedServer) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "abcdef"
    (folder / "cases.yaml").write_text(f"- request: My token is {secret}\n", encoding="utf-8")
    program("eval", "desk.py", "--record", "a.jsonl", folder=folder, server=scripted)
    kept = (folder / "a.jsonl").read_text(encoding="utf-8")
    assert "My token is" in kept
    assert secret not in kept
    assert program("eval", "desk.py", "--replay", "a.jsonl", folder=folder).status == 0


def test_a_recording_that_can_not_answer_is_no_failure_of_the_team(
    folder: Path, scripted: ScriptedServer
) -> None:
    words = ("eval", "desk.py", *OTHER)
    program(*words, "--record", "a.jsonl", folder=folder, server=scripted)
    kept = (folder / "a.jsonl").read_text(encoding="utf-8")
    for text, why in [
        (kept[:-20], "b.jsonl is no recording of `eval --record`"),
        (kept.replace('"parts"', '"pats"'), "b.jsonl is no recording of `eval --record`"),
        (kept.split("\n", 1)[1], "the recording b.jsonl no longer fits: the role that calls"),
    ]:
        (folder / "b.jsonl").write_text(text, encoding="utf-8")
        refused = program(*words, "--replay", "b.jsonl", folder=folder)
        assert refused.status == 2
        assert why in refused.err
        assert refused.out == ""


def test_a_recording_of_an_evaluation_that_goes_on_keeps_what_it_has(
    folder: Path, scripted: ScriptedServer
) -> None:
    words = ("eval", "desk.py", "--json", *OTHER, "--record", "a.jsonl")
    first = program(*words, folder=folder, server=scripted)
    kept = (folder / "a.jsonl").read_text(encoding="utf-8")
    eval_id = json.loads(first.out)["id"]
    program(*words, "--resume", eval_id, folder=folder, server=scripted)
    assert (folder / "a.jsonl").read_text(encoding="utf-8") == kept


@pytest.mark.parametrize(
    ("verdicts", "rubric", "agrees", "abstained"),
    [(("yes", "yes"), 1, 1, 0), (("no", "no"), 0, 0, 0), (("yes", "no"), None, None, 1)],
)
def test_the_judge_is_asked_twice_and_abstains_if_the_order_decides(
    verdicts: tuple[str, str],
    rubric: float | None,
    agrees: float | None,
    abstained: float,
    folder: Path,
    scripted: ScriptedServer,
) -> None:
    orders = ("Answer yes, no or unsure", "Answer no, yes or unsure")
    answers = [
        {"match": {"contains": order}, "reply": {"json": _final({"why": "", "verdict": said})}}
        for order, said in zip(orders, verdicts, strict=True)
    ]
    scripted.configure(script=answers)
    ended = program("eval", "desk.py", "--json", *OTHER, folder=folder, server=scripted)
    found = scores(ended)
    assert found.get("synthesis.rubric") == rubric
    assert found.get("judge.agreement") == agrees
    assert found["judge.abstained"] == abstained


def _final(answer: object) -> dict[str, object]:
    ending: dict[str, object] = {
        "summary": "Judged.",
        "confidence": 90,
        "evidence": [],
        "plan_impact": "none",
    }
    return {"answer": answer, **ending, "contradictions": []}


def test_by_default_the_judge_is_no_model_of_a_worker(
    folder: Path, scripted: ScriptedServer
) -> None:
    silent = program("eval", "desk.py", folder=folder, server=scripted)
    assert "rubrics are not judged, because no model is at hand that is no worker's" in silent.err
    both = 'models={"standard": ["openai-chat:scripted"], "strong": ["openai-chat:other"]}'
    team = TEAM.replace('model="openai-chat:scripted"', both)
    (folder / "desk.py").write_text(team, encoding="utf-8")
    judged = program("eval", "desk.py", "--json", folder=folder, server=scripted)
    assert "judge" not in judged.err
    assert "judge.abstained" in scores(judged)


@pytest.mark.parametrize(
    "tools",
    [
        "find_invoice, pay_back",
        "Tool(find_invoice), Tool(pay_back)",
        "FunctionToolset([find_invoice, pay_back])",
    ],
)
def test_a_tool_that_may_write_is_called_only_if_that_is_wanted(
    tools: str, folder: Path, scripted: ScriptedServer
) -> None:
    imports = "from pydantic_ai import FunctionToolset, Tool\n"
    team = imports + TEAM.replace("tools=[find_invoice, pay_back]", f"tools=[{tools}]")
    (folder / "desk.py").write_text(team, encoding="utf-8")
    (folder / "cases.yaml").write_text(ALONE, encoding="utf-8")
    call = {"tool_calls": [{"name": "pay_back", "arguments": {"customer": 1}}]}
    rule = {"match": {"role": "worker", "step": 1}, "reply": call}
    scripted.configure(script=[rule])
    refused = program("eval", "desk.py", "--json", folder=folder, server=scripted)
    assert scores(refused)["workers.tools"] == 1
    (trial,) = json.loads(refused.out)["teams"][0]["trials"]
    assert "pay_back" in trial["refused"]
    assert not (folder / "paid.txt").exists()
    given = f"{ALONE}  tools: {{pay_back: paid already}}\n"
    (folder / "cases.yaml").write_text(given, encoding="utf-8")
    stood_in = program("eval", "desk.py", "--json", folder=folder, server=scripted)
    (trial,) = json.loads(stood_in.out)["teams"][0]["trials"]
    assert "pay_back" not in trial["refused"]
    assert "paid already" in program("trace", trial["run_ids"][0], folder=folder).out
    assert not (folder / "paid.txt").exists()
    (folder / "cases.yaml").write_text(ALONE, encoding="utf-8")
    words = ("eval", "desk.py", "--json", "--allow-writes")
    assert scores(program(*words, folder=folder, server=scripted))["workers.tools"] == 1
    assert (folder / "paid.txt").read_text(encoding="utf-8") == "paid"


def test_a_team_is_compared_with_one_worker_that_has_everything(
    folder: Path, scripted: ScriptedServer
) -> None:
    words = ("compare", "cases.yaml", "--team", "desk.py", "--single")
    shown = program(*words, folder=folder, server=scripted)
    assert shown.status == 0, shown.err
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["support", "support", "(single)"] in lines
    (requests,) = [line for line in lines if line[0] == "requests"]
    assert float(requests[2]) < float(requests[1]), "it needs no planner and no synthesis"
    asked = json.dumps(scripted.requests()[-1])
    assert "find_invoice" in asked
    assert "You work in billing." in asked
    assert "You write replies." in asked
    found = json.loads(program(*words, "--json", folder=folder, server=scripted).out)
    assert [team["team"] for team in found["teams"]] == ["support", "support (single)"]


def test_two_teams_are_compared_and_code_can_not_be_one_worker(
    folder: Path, scripted: ScriptedServer
) -> None:
    (folder / "b.py").write_text(TEAM.replace('"support"', '"other"'), encoding="utf-8")
    words = ("compare", "cases.yaml", "--team", "desk.py", "--team", "b.py")
    shown = program(*words, folder=folder, server=scripted)
    assert shown.out.split()[:2] == ["support", "other"]
    page = program(*words, "--format", "html", folder=folder, server=scripted).out
    assert "<h2>support</h2>" in page
    assert "<h2>other</h2>" in page
    alone = program("compare", "cases.yaml", "--team", "desk.py", folder=folder)
    assert alone.status == 2
    assert "compare needs two: --team TEAM --single, or --team A --team B" in alone.err
    code = "from leadhand import Team, Worker\n"
    code += 'team = Team("t", workers=[Worker("count", "Counts", run=len)])\n'
    (folder / "c.py").write_text(code, encoding="utf-8")
    refused = program("compare", "cases.yaml", "--team", "c.py", "--single", folder=folder)
    assert refused.status == 2
    assert "worker 'count' of team 't' is code" in refused.err
    assert "[1/1]" not in refused.err, "said before the team was run"
