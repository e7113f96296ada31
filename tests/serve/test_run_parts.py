"""Parts of a run over HTTP: a task in full for operators, long texts, reports; and teams."""

from dataclasses import replace
from pathlib import Path

import pytest

from leadhand import Supervisor
from leadhand.journal import open_journal
from leadhand.serve import app
from leadhand.teams.loader import load
from tests.serve.desk import Desk, Gate, authenticate, served, serving_desk, supervisors_of
from tests.serve.test_runs import RUNS, WAIT, answered


def test_operators_see_how_a_task_was_done_and_others_that_it_was(desk: Desk) -> None:
    """F33."""
    run_id = answered(desk, "fail")
    url = f"{RUNS}/{run_id}/tasks/t1"
    task = desk.client("olga").get(url).json()
    (attempt,) = task["attempts"]
    assert attempt["handoff"]["intent"] == "fail"
    assert "Traceback" in attempt["traceback"]
    assert [step["said"] for step in attempt["steps"]] == ["given up"]
    own = desk.client("ann").get(url)
    assert (own.status_code, own.json()["status"], own.json()["intent"]) == (200, "failed", None)
    assert "says so" not in own.text
    assert desk.client("bob").get(url).status_code == 404
    assert desk.client("ann").get(f"{RUNS}/{run_id}/tasks/none").status_code == 404


def test_a_long_text_is_cut_and_there_as_a_whole(desk: Desk) -> None:
    text = f"say {'é' * 50_000}"
    run_id = answered(desk, text)
    task = desk.client("olga").get(f"{RUNS}/{run_id}/tasks/t1").json()
    assert len(task["intent"]) < 5_000
    url = f"{RUNS}/{run_id}/blobs/{task['intent_blob']}"
    whole = desk.client("olga").get(url)
    assert (whole.text, whole.headers["content-type"]) == (text, "text/plain; charset=utf-8")
    assert desk.client("ann").get(url).status_code == 403
    assert desk.client("zoe").get(url).status_code == 404
    no_places = [f"t1/attempts/{n}/traceback" for n in ("²", "9" * 5_000)]
    for id in ("x", "t1", "t1/none", *no_places):
        assert desk.client("olga").get(f"{RUNS}/{run_id}/blobs/{id}").status_code == 404


def test_the_report_of_an_answer_has_nothing_private_and_runs_nothing(desk: Desk) -> None:
    run_id = answered(desk, "fail with <script>plums</script>")
    url = f"{RUNS}/{run_id}/report"
    page = desk.client("ann").get(url)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("sandbox;")
    assert "<script" not in page.text
    assert "says so" not in page.text
    assert "There is no answer: the run is failed." in page.text
    text = desk.client("olga").get(url, params={"file": "report.md"})
    assert "says so" in text.text
    missing = desk.client("ann").get(url, params={"file": "orders.csv"})
    assert (missing.status_code, missing.json()["files"]) == (404, ["report.html", "report.md"])
    waiting = answered(desk, "ask which?")
    assert desk.client("ann").get(f"{RUNS}/{waiting}/report").status_code == 409


def test_what_is_missing_is_not_repeated_in_the_rendered_text(desk: Desk) -> None:
    run = desk.client("olga").get(f"{RUNS}/{answered(desk, 'fail')}").json()
    assert "## What is missing" in run["answer"]["answer"]
    assert "missing" not in run["answer_html"]
    assert [gap["task_id"] for gap in run["gaps"]] == ["t1"]


async def test_a_team_names_its_last_evaluation_and_lists_have_other_teams_but_no_trials(
    tmp_path: Path,
) -> None:
    supervisor, _ = supervisors_of(tmp_path, Gate())
    for run_id in ("eval-20261101-080000-aaaa-1-1", "eval-20261102-080000-bbbb-1-1"):
        await supervisor.run("say one", run_id=run_id, origin={"command": "eval", "case": "one"})
    other = Supervisor(replace(supervisor.team, name="other"), journal=supervisor.journal)
    run_id = (await other.run("say two", origin={"command": "run"})).run_id
    await supervisor.journal.close()
    with serving_desk(tmp_path) as desk:
        listed = {name: desk.client(name).get(RUNS).json()["runs"] for name in ("root", "olga")}
        assert [run["run_id"] for run in listed["root"]] == [run_id]
        assert listed["olga"] == []
        team = desk.client("root").get("/api/v1/teams/desk").json()
        assert (team["evaluation"]["id"], team["evaluation"]["runs"]) == (
            "eval-20261102-080000-bbbb", 1,
        )  # fmt: skip
        assert team["runs"] == []
        assert desk.client("ann").get("/api/v1/teams/desk").json()["evaluation"] is None


def test_a_team_says_who_is_in_it_and_what_it_did(desk: Desk) -> None:
    listed = desk.client("ann").get("/api/v1/teams").json()
    assert [(one["name"], len(one["workers"]), one["model"]) for one in listed] == [
        ("desk", 1, None), ("gate", 1, None),
    ]  # fmt: skip
    run_id = answered(desk)
    team = desk.client("ann").get("/api/v1/teams/desk").json()
    (worker,) = team["workers"]
    assert (worker["name"], worker["health"]["breaker"]) == ("clerk", "closed")
    assert [run["run_id"] for run in team["runs"]] == [run_id]
    assert desk.client("bob").get("/api/v1/teams/desk").json()["runs"] == []
    assert desk.client("ann").get("/api/v1/teams/none").status_code == 404
    assert desk.client("ann").post("/api/v1/teams/desk/sample").status_code == 404


def test_the_sample_of_a_ready_made_team_is_run(tmp_path: Path) -> None:
    pytest.importorskip("leadhand_teams")
    supervisor = Supervisor(load("support"), journal=open_journal(tmp_path))
    with served(app([supervisor], auth=authenticate, home=tmp_path)) as url:
        client = Desk(url, None, None).client("ann")  # pyright: ignore[reportArgumentType]
        (team,) = client.get("/api/v1/teams").json()
        assert team["samples"][0] == "default"
        done = client.post("/api/v1/teams/support/sample", json={}, headers=WAIT)
        assert done.status_code == 200, done.text
        assert done.json()["answer"]["status"] in ("complete", "partial")
        unknown = client.post("/api/v1/teams/support/sample", json={"sample": "none"})
        assert unknown.status_code == 404
        client.close()
