"""Budgets and deadlines on the command line: an answer comes, and says what is missing and why."""

import json
from pathlib import Path

import pytest

from leadhand.contracts.task import Plan, Task
from leadhand.testing import ScriptedServer
from tests.cli.program import leadhand
from tests.programs import Ended
from tests.team_folders import worker, write_team

ROOT = Path(__file__).parents[2]
PRICED = "openai-chat:gpt-5-mini"
UNPRICED = "openai-chat:scripted"


def team(folder: Path) -> Path:
    files = {"clerk": worker("description: Looks invoices up", "You know invoices. " * 80)}
    return write_team(folder / "office", "name: office\n", **files)


def plan(folder: Path, count: int = 12) -> Path:
    tasks = tuple(
        Task(id=f"t{number}", worker="clerk", intent=f"List the invoices of day {number}.")
        for number in range(count)
    )
    file = folder / "plan.json"
    file.write_text(Plan(goal="List all invoices.", tasks=tasks).model_dump_json())
    return file


def run(folder: Path, server: ScriptedServer, *options: str, command: str = "run") -> Ended:
    env = {**server.env(), "PYTHONPATH": str(ROOT)}
    return leadhand(command, "--team", str(team(folder)), *options, folder=folder, env=env)


def test_a_budget_of_tokens_ends_a_run_with_status_4(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    options = ("--model", UNPRICED, "--budget-tokens", "9000", "--json")
    ended = run(tmp_path, model_server, "--plan", str(plan(tmp_path)), *options)
    assert ended.status == 4, ended.err
    answer = json.loads(ended.out)
    stats = model_server.stats()
    assert (answer["status"], answer["ended_by"]) == ("partial", "budget")
    assert 0 < stats.prompt_tokens + stats.completion_tokens <= 9_000
    assert "the budget of 9,000 tokens is used up" in answer["answer"]


def test_a_tiny_budget_says_what_is_missing(model_server: ScriptedServer, tmp_path: Path) -> None:
    options = ("--model", PRICED, "--budget-usd", "0.000001")
    ended = run(tmp_path, model_server, "Compare the invoices.", *options)
    assert ended.status == 4, ended.err
    assert model_server.stats().requests == 0
    assert "## What is missing" in ended.out
    assert "`: the budget of $0.000001 is too small: a call may take $" in ended.out


def test_dollars_without_a_price_are_refused_in_one_line(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    options = ("--model", UNPRICED, "--budget-usd", "1", "--quiet")
    ended = run(tmp_path, model_server, "Compare the invoices.", *options)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        f"leadhand: the price of '{UNPRICED}' is unknown, so a budget in US dollars can't be "
        "enforced: give one in tokens instead (--budget-tokens)\n"
    )
    assert model_server.stats().requests == 0


@pytest.mark.parametrize("command", ["run", "plan"])
@pytest.mark.parametrize(
    ("option", "amount"),
    [
        ("--budget-usd", "0"),
        ("--budget-usd", "-1"),
        ("--budget-usd", "nan"),
        ("--budget-tokens", "0"),
    ],
)
def test_a_budget_of_nothing_is_refused(
    model_server: ScriptedServer, tmp_path: Path, command: str, option: str, amount: str
) -> None:
    ended = run(tmp_path, model_server, "x", option, amount, command=command)
    assert ended.status == 2
    (_, refused) = ended.err.splitlines()  # after the line that the team is loaded
    assert refused.startswith(f"leadhand: {option} is {amount}: give more than 0")


def test_a_plan_shows_the_budget_beside_what_it_may_cost(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    options = ("--model", PRICED, "--budget-usd", "0.005", "--budget-tokens", "70000")
    ended = run(tmp_path, model_server, "Compare the invoices.", *options, command="plan")
    assert ended.status == 0, ended.err
    line = ended.out.rstrip().splitlines()[-1]
    assert line.startswith("about $")
    assert "; the budget is $0.0050 and 70,000 tokens" in line


@pytest.mark.parametrize("role", ["planner", "worker", "synthesizer"])
def test_a_deadline_ends_a_run_with_status_4_whoever_hangs(
    model_server: ScriptedServer, tmp_path: Path, role: str
) -> None:
    hanging = {"match": {"role": role}, "reply": {"misbehave": {"latency_ms": 600_000}}}
    model_server.configure(script=[hanging])
    options = ("--model", UNPRICED, "--deadline", "1s", "--json")
    given = () if role == "planner" else ("--plan", str(plan(tmp_path, 3)))
    ended = run(tmp_path, model_server, "Compare the invoices.", *given, *options)
    assert ended.status == 4, ended.err
    answer = json.loads(ended.out)
    assert answer["ended_by"] == "deadline"
    assert "deadline of " in answer["answer"]


def test_a_review_takes_a_budget_and_spends_nothing_without_a_model(tmp_path: Path) -> None:
    patch = tmp_path / "change.diff"
    patch.write_text("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n")
    ended = leadhand("review", "--diff", str(patch), "--budget-usd", "0.01", folder=tmp_path)
    assert ended.status == 0, ended.err
