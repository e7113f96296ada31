"""`leadhand teams advise` and `teams freeze`, through runs that a scripted model planned."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from leadhand import Event, Supervisor
from leadhand.journal.sqlite import FILE
from leadhand.teams.loader import load
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, items, mapping
from tests.advice.desks import REQUESTS, TEAM, TOWNS, Desk, task, two_tasks
from tests.run.kinds.kinds import deciding, decision
from tests.scripted_server import start_over
from tests.team_folders import worker

FROZEN = """\
name: desk  # the name of its runs
model: openai-chat:scripted

# A model plans.
planner:
  kind: template
  synthesis: merge
  template:
  - id: charges
    worker: billing
    intent: 'Invoices, refunds and payments: {request}'
  - id: reply
    worker: technical
    intent: Say how to find an invoice in the app
    depends_on:
    - charges
synthesizer: merge
"""


@pytest.fixture(name="desk")
def _desk(tmp_path: Path, model_server: ScriptedServer) -> Desk:
    return Desk(tmp_path, model_server)


def test_a_plan_that_is_always_the_same_is_frozen_and_saves_the_planners_call(
    desk: Desk, model_server: ScriptedServer
) -> None:
    desk.usual_runs(9)
    assert desk.kinds() == []
    assert any("fewer than 10 runs" in str(one) for one in items(desk.advice()["not_judged"]))
    last = desk.run(REQUESTS[9], two_tasks(TOWNS[9]))
    assert last.metrics.requests == model_server.stats().requests == 4
    shown = desk.command("advise", str(desk.folder))
    assert "1. the plan is always the same: all 10 plans that a model wrote have 2 tasks" in shown
    assert f"leadhand teams freeze {last.run_id} --into DIR" in shown
    assert "the planner's calls: 10 with" in shown
    assert "2. never used, no task and no attempt in 10 runs: legal" in shown

    told = desk.command("freeze", "last", "--into", str(desk.folder))
    assert "intents are made from 10 runs with 10 requests" in told
    assert (desk.folder / "team.yaml").read_text() == FROZEN
    assert "can be used" in desk.command("check", str(desk.folder))
    answer = desk.run("The customer from Bern was charged twice")
    assert answer.status == "complete"
    assert answer.metrics.requests == model_server.stats().requests == 3
    assert model_server.stats().by_role == {"worker": 2, "synthesizer": 1}
    bodies = [str(body) for body in model_server.stats().bodies]
    assert any("payments: The customer from Bern was charged twice" in one for one in bodies)

    assert desk.kinds() == ["unused_worker"]
    refused = desk.command("freeze", "last", "--into", str(desk.folder), status=1)
    assert "has a template of 2 entries: give --replace" in refused
    refused = desk.command("freeze", "last", "--replace", "--into", str(desk.folder), status=1)
    assert "its plan is the team's template already" in refused
    assert (desk.folder / "team.yaml").read_text() == FROZEN


def test_one_worker_that_does_everything_is_used_alone(desk: Desk) -> None:
    desk.runs(
        {one: [task("a", "billing", f"Say what {one} is about in detail")] for one in REQUESTS}
    )
    (advice,) = [mapping(one) for one in items(desk.advice()["advice"])]
    assert (advice["kind"], advice["about"]) == ("one_worker", ["billing", "legal", "technical"])
    assert "'billing' does everything, in each of 10 runs; a plan has 1 task" in str(advice)
    assert "(`routes: [{worker: billing}]`, and no kind of `planner`)" in str(advice["do"])
    routed = TEAM.replace("planner: ahead", "routes: [{worker: billing}]")
    (desk.folder / "team.yaml").write_text(routed)
    assert desk.run(REQUESTS[0]).metrics.requests == 1
    assert "one_worker" not in desk.kinds()


def test_workers_overlap_by_what_they_were_given_not_by_their_descriptions(desk: Desk) -> None:
    def plan(number: int) -> list[Json]:
        refund, fault = ("billing", "legal") if number % 2 else ("legal", "billing")
        town = TOWNS[number % 10]
        return [
            task("a", refund, f"Find the refund of the customer in {town} and its date"),
            task("b", fault, f"Find the refund of the customer in {town} and its amount"),
            task("c", "technical", f"Reproduce crash {number} of the app on a telephone"),
        ]

    desk.runs({request: plan(number) for number, request in enumerate(REQUESTS)})
    found = [mapping(one) for one in items(desk.advice()["advice"])]
    (advice,) = [one for one in found if one["kind"] == "overlap"]
    assert advice["about"] == ["billing", "legal"]
    found = str(advice["found"])
    assert "billing and legal (" in found
    assert found.count("'Find the refund of the customer in ") == 2


def test_workers_that_continue_each_others_work_on_one_subject_do_not_overlap(desk: Desk) -> None:
    def plan(number: int) -> list[Json]:
        subject = f"how {TOWNS[number % 10]} charges for parking and trams in the winter"
        return [
            task("a", "billing", f"Search the web about {subject}"),
            task("b", "legal", f"Write a report on {subject}", "a"),
        ]

    desk.runs({request: plan(number) for number, request in enumerate(REQUESTS)})
    assert "overlap" not in desk.kinds()


def test_advice_for_many_workers_is_at_most_ten_lines(desk: Desk) -> None:
    for number in range(9):
        file = desk.folder / "workers" / f"idle{number}.md"
        file.write_text(worker("description: Waits", f"Wait as number {number}."))
    desk.usual_runs()
    shown = desk.command("advise", str(desk.folder)).splitlines()
    assert sum(line.startswith(("1.", "2.", "3.", "   ->")) for line in shown) == 4
    assert "10 runs: idle0, idle1, idle2, idle3, idle4, and 5 more" in "\n".join(shown)
    assert len(shown) <= 12


def test_a_worker_that_always_fails_and_tools_that_are_never_called_are_named(desk: Desk) -> None:
    (desk.folder / "workers" / "technical.md").write_text(
        worker("description: Error diagnosis\nrun: tests.advice.desks:fails\nretry: false")
    )
    (desk.folder / "workers" / "billing.md").write_text(
        worker("description: Invoices\ntools: tests.advice.desks:invoice, calculate")
    )
    desk.usual_runs()
    advice = {str(mapping(one)["kind"]): mapping(one) for one in items(desk.advice()["advice"])}
    failing = str(advice["always_fails"]["found"])
    assert failing.startswith("always fail: technical (none of 10 attempts gave a result: ")
    assert "the line is dead" in failing
    assert advice["unused_tool"]["about"] == ["billing: invoice"]


def test_what_does_not_count_is_said(desk: Desk) -> None:
    assert "no runs to judge by" in desk.command("advise", str(desk.folder))
    desk.usual_runs(2)
    (desk.folder / "workers" / "legal.md").write_text(worker("description: Something else"))
    desk.run(REQUESTS[2], two_tasks(TOWNS[2]))
    stopped = Supervisor(load(desk.folder), home=desk.home)
    log: list[Event] = []

    async def stop() -> None:
        run = await stopped.start(REQUESTS[3])
        await run.cancel()
        log.extend([event async for event in run.events()])

    asyncio.run(stop())
    shown = desk.command("advise", str(desk.folder))
    assert "team 'desk': 1 run (" in shown
    assert "left out: 1 cancelled" in shown
    assert (
        "left out: 2 with another definition of the team, or by another release of leadhand"
        in shown
    )
    assert "nothing to advise from these runs" in shown
    assert "not judged: plans and unused workers with fewer than 10 runs" in shown


def test_damaged_and_older_runs_are_left_out_and_said(desk: Desk) -> None:
    desk.usual_runs(4)
    with closing(sqlite3.connect(desk.home / FILE)) as stored, stored:
        stored.execute("UPDATE events SET body = '{}' WHERE run = 4 AND seq = 4")
        (run_id,) = stored.execute("SELECT run_id FROM runs WHERE id = 4").fetchone()
    shown = desk.command("advise", str(desk.folder))
    assert "team 'desk': 3 runs (" in shown
    assert "left out: 1 damaged, or not readable here" in shown
    assert "older than" not in shown
    shown = desk.command("advise", str(desk.folder), "--runs", "2")
    assert "team 'desk': 1 run (" in shown
    assert "left out: 1 damaged, or not readable here" in shown
    assert "left out: 2 older than the latest 2; --runs reads more" in shown
    before = (desk.folder / "team.yaml").read_text()
    refused = desk.command("freeze", run_id, "--into", str(desk.folder), status=1)
    assert f"run '{run_id}' can't be frozen" in refused
    assert (desk.folder / "team.yaml").read_text() == before


def test_plans_for_made_workers_are_neither_frozen_nor_one_workers(desk: Desk) -> None:
    factory = "worker_factory:\n  tools: tests.advice.desks:invoice\n"
    (desk.folder / "team.yaml").write_text(f"{TEAM}{factory}")
    made: dict[str, Json] = {
        "name": "counter", "description": "Counts invoices of a month", "instructions": "Count.",
        "tools": ["invoice"], "tier": None, "output": None,
    }  # fmt: skip
    tasks: list[Json] = [task("a", "counter", "Count the invoices of the customer in May")]
    plan: Json = {"workers": [made], "tasks": tasks, "synthesis": "merge", "instruction": ""}
    planned: Json = {"match": {"role": "planner"}, "reply": {"json": plan}}
    desk.runs(dict.fromkeys(REQUESTS, ()), planned)
    advice = desk.advice()
    assert advice["runs"] == 10
    assert {str(mapping(one)["kind"]) for one in items(advice["advice"])} == {"unused_worker"}
    assert "workers made for a plan" in str(advice["not_judged"])
    refused = desk.command("freeze", "last", "--into", str(desk.folder), status=1)
    assert "is for 'counter', who is not in the team" in refused


def test_a_frozen_run_that_was_amended_gives_the_plan_that_was_accepted_first(
    desk: Desk, model_server: ScriptedServer
) -> None:
    found: dict[str, Json] = {
        "answer": "A contract", "summary": "A contract", "confidence": 90, "evidence": [],
        "plan_impact": "adds", "impact_reason": "the contract has to be read",
    }  # fmt: skip
    added: list[Json] = [task("terms", "legal", "Read the terms of the contract in full")]
    answer = desk.run(
        REQUESTS[0],
        two_tasks(TOWNS[0]),
        {"match": {"role": "worker", "contains": "List all charges"}, "reply": {"json": found}},
        {"match": {"system": "The plan is under way"}, "reply": {"json": {"tasks": [*added]}}},
    )
    assert [one.id for one in answer.tasks] == ["charges", "terms"]
    told = desk.command("freeze", "last", "--into", str(desk.folder))
    assert "the run amended its plan later: the template is the plan as it was accepted" in told
    assert [one.id for one in load(desk.folder).template] == ["charges", "reply"]
    assert desk.run(REQUESTS[1]).metrics.requests == 3


def test_a_file_with_the_line_ends_of_windows_keeps_them(desk: Desk) -> None:
    desk.usual_runs(1)
    file = desk.folder / "team.yaml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    desk.command("freeze", "last", "--into", str(desk.folder))
    written = file.read_bytes()
    assert b"kind: template\r\n" in written
    assert written.count(b"\n") == written.count(b"\r\n")
    assert load(desk.folder).planner.kind == "template"


def test_a_plan_that_cannot_be_a_template_leaves_the_folder_as_it_was(desk: Desk) -> None:
    before = (desk.folder / "team.yaml").read_text()
    other = desk.folder.parent / "other"
    desk.usual_runs(1)
    refused = desk.command("freeze", "last", "--into", str(other), status=1)
    assert "does not say where the folder of its team 'desk' is: name it with --into" in refused
    assert not other.exists()
    desk.folder.joinpath("team.yaml").write_text(before.replace("ahead", "stepwise"))
    rounds = deciding(decision("billing", round=1), decision(round=2, done=True))
    desk.run(REQUESTS[0], (), *rounds)
    assert "it was planned in 2 rounds" in desk.command(
        "freeze", "last", "--into", str(desk.folder), status=1
    )


@pytest.mark.parametrize(
    ("planner", "after"),
    [
        ("", "synthesizer: merge\nplanner:\n  kind: template\n"),
        (
            "planner:\n  # Which model.\n  tier: strong\n\n# The end.\n",
            "planner:\n  kind: template\n",
        ),
        (
            "planner:\n  kind: ahead\n  tier: strong\n  # Which: the best.\n  settings:\n"
            "    top_p: 1\n  synthesis: merge\n",
            "    - charges0\n  tier: strong\n  # Which: the best.\n  settings:\n    top_p: 1\n",
        ),
        ("planner: {kind: ahead, tier: strong}\n", "planner:\n  kind: template\n"),
    ],
)
def test_team_yaml_keeps_what_else_it_says(desk: Desk, planner: str, after: str) -> None:
    file = desk.folder / "team.yaml"
    file.write_text(TEAM.replace("planner: ahead\n", planner))
    desk.usual_runs(1)
    desk.command("freeze", "last", "--into", str(desk.folder))
    written = file.read_text()
    assert after in written
    for kept in ("# the name of its runs", "# A model plans.", "tier: strong", "# Which", "# The"):
        assert (kept in written) == (kept in TEAM.replace("planner: ahead\n", planner))
    assert load(desk.folder).planner.kind == "template"


def test_freezing_a_run_of_a_ready_made_team_makes_a_copy_of_its_folder(
    desk: Desk, model_server: ScriptedServer
) -> None:
    start_over(model_server, [])
    team = replace(load("research"), model="openai-chat:scripted")
    answer = Supervisor(team, home=desk.home).run_sync("What is copper used for?")
    copy = desk.folder.parent / "copper"
    told = desk.command("freeze", answer.run_id, "--into", str(copy))
    assert "is now the template of" in told
    assert "can be used" in desk.command("check", str(copy))
    assert [one.id for one in load(copy).template] == ["texts"]
    assert load("research").template == ()
