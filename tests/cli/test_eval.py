"""`leadhand eval`: what it measures, how it prints it, and what its exit status says."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.program import leadhand
from tests.evals.desks import TEAM, desk
from tests.programs import Ended
from tests.team_folders import write_team


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Has a team and cases, and is where runs are stored."""
    return desk(tmp_path)


def program(*words: str, folder: Path, **env: str) -> Ended:
    return leadhand(*words, folder=folder, env={"LEADHAND_HOME": str(folder / "runs"), **env})


def test_each_level_is_scored_apart_and_what_failed_is_named(folder: Path) -> None:
    shown = program("eval", "desk.py", folder=folder)
    assert shown.status == 0, shown.err
    lines = {" ".join(line.split()) for line in shown.out.splitlines()}
    assert "desk: 5 trials, engine deterministic" in lines
    assert lines >= {
        "routing.primary 50 %",
        "routing.secondary 100 %",
        "routing.abstained 100 %",
        "1 for shout went to count",
        "answer.output 100 %",
        "synthesis.facts 100 %",
        "synthesis.forbidden 100 %",
        "workers.output 100 %",
        "workers.escalated 100 %",
        "failed: confused",
        "routing.primary 0 %: it went to 'count' and not to 'shout'",
    }
    assert "first wrong: the plan (event 2 of eval-" in shown.out
    (folder / "one.yaml").write_text(
        "- {request: shout loud, answer: {output: LOUD}}\n", encoding="utf-8"
    )
    one = program("eval", "desk.py", "--cases", "one.yaml", folder=folder)
    assert re.search(r"first wrong: task 'shout' \(event \d+ of eval-", one.out), one.out
    assert "] desk: confused failed: routing.primary 0 %" in shown.err


def test_each_case_is_a_run_in_the_journal_and_is_not_run_twice(folder: Path) -> None:
    found = json.loads(program("eval", "desk.py", "--json", folder=folder).out)
    trials = found["teams"][0]["trials"]
    ids = [one for trial in trials for one in trial["run_ids"]]
    assert len(ids) == 8
    kept = program("runs", "--evaluations", "--json", folder=folder).out
    assert all(one in kept for one in ids)
    assert "task count" not in program("show", trials[0]["run_ids"][0], folder=folder).out, (
        "only planned"
    )
    again = json.loads(
        program("eval", "desk.py", "--json", "--resume", found["id"], folder=folder).out
    )
    assert again == found, "the same runs, with the same times"


def test_worse_than_the_baseline_is_exit_status_1(folder: Path) -> None:
    (folder / "base.json").write_text(
        program("eval", "desk.py", "--json", folder=folder).out, encoding="utf-8"
    )
    same = program("eval", "desk.py", "--baseline", "base.json", folder=folder)
    assert same.status == 0
    moved = [line for line in same.out.splitlines() if line.startswith(("worse", "better"))]
    assert [line for line in moved if not {"seconds", "speedup"} & {*line.split()}] == [], (
        "time depends on the machine"
    )
    worse = program(
        "eval", "desk.py", "--baseline", "base.json", "--fault", "1=timeout", folder=folder
    )
    assert worse.status == 1
    assert "worse: workers.output 100 % -> 0 %" in worse.out
    (folder / "bad.json").write_text(
        program("eval", "desk.py", "--json", "--fault", "count=error", folder=folder).out
    )
    better = program("eval", "desk.py", "--baseline", "bad.json", folder=folder)
    assert better.status == 0
    assert "better: workers.output 0 % -> 100 %" in better.out


def test_a_report_for_a_ci_server_and_one_for_a_browser(folder: Path) -> None:
    xml = ET.fromstring(program("eval", "desk.py", "--format", "junit", folder=folder).out)
    (suite,) = xml
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("desk", "5", "1")
    (failed,) = xml.iter("failure")
    assert "it went to 'count'" in (failed.text or "")
    page = program("eval", "desk.py", "--format", "html", "--repeat", "2", folder=folder).out
    assert page.startswith("<!doctype html>")
    assert "<td>✗<td>confused #2" in page
    assert "<td>✓<td>outside" in page


def test_a_fault_makes_partial_answers_that_are_scored(folder: Path) -> None:
    (folder / "cases.yaml").write_text(
        "- request: count these words\n"
        "  faults: [{worker: 2, fails: timeout}]\n"
        "  synthesis: {gaps: [shout], facts: [words]}\n",
        encoding="utf-8",
    )
    found = json.loads(program("eval", "desk.py", "--json", folder=folder).out)
    (trial,) = found["teams"][0]["trials"]
    assert trial["status"] == "partial"
    values = {score["name"]: score["value"] for score in trial["scores"]}
    assert values["answer.status"] == values["synthesis.gaps"] == values["synthesis.facts"] == 1


def test_code_that_changes_something_runs_only_if_that_is_wanted(folder: Path) -> None:
    team = TEAM.replace("run=shout", "run=shout, read_only=False")
    desk(folder, "- shout hello\n", team)
    refused = program("eval", "desk.py", folder=folder)
    assert "it may change something: use --allow-writes" in refused.out
    allowed = program("eval", "desk.py", "--allow-writes", folder=folder)
    assert "failed" not in allowed.out


def test_a_function_of_the_user_scores_each_trial(folder: Path) -> None:
    (folder / "tone.py").write_text(
        "from leadhand.evals import Trial\n\n\n"
        "def calm(trial: Trial) -> float | None:\n"
        "    return 0.5 if trial.answer.answer else None\n\n\n"
        "def broken(trial: Trial) -> bool:\n"
        "    raise KeyError('x')\n",
        encoding="utf-8",
    )
    shown = program(
        "eval", "desk.py", "--scorer", "tone.py:calm", "--scorer", "tone.py:broken", folder=folder
    )
    assert shown.status == 0, shown.err
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert "calm 50 %" in lines
    assert "broken 0 %: the scorer raised KeyError: 'x'" in lines


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("desk.py", "--fault", "2"), "give WORKER=KIND, KIND one of timeout, error"),
        (("desk.py", "--fault", "x=error"), "a fault is for worker 'x', and team 'desk' has count"),
        (("desk.py", "--scorer", "tone.py:x"), "there is no file 'tone.py'"),
        (("desk.py", "--baseline", "no.json"), "can't read the baseline no.json"),
        (("desk.py", "--baseline", "cases.yaml"), "is no report of `eval`"),
        (("desk.py", "--cases", "no.yaml"), "no.yaml can't be read"),
        (("desk.py", "--resume", "eval-x"), "there is no evaluation 'eval-x' to resume in"),
        (("desk.py", "--fault", "²=error"), "a fault is for worker '²'"),
        (("desk.py", "--replay", "deep.json"), "deep.json is no recording of `eval --record`"),
        (("desk.py", "--baseline", "other.json"), "other.json has other, and not desk"),
    ],
)
def test_what_can_not_be_used_is_named(words: tuple[str, ...], why: str, folder: Path) -> None:
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "other.json").write_text(
        '{"id": "a", "teams": '
        '[{"team": "other", "engine": "deterministic", "scores": {}, "costs": {}}]}'
    )
    refused = program("eval", *words, folder=folder)
    assert refused.status == 2
    assert why in refused.err
    assert len(refused.err.splitlines()) == 2, "the team, and what is wrong: nothing was run"


ODD = {
    "text": ("return 'good'", "TypeError: it returned 'good', which is no CaseScore"),
    "numbers": ("return [1, 2]", "TypeError: it returned [1, 2], which is no CaseScore"),
    "large": ("return 2", "ValidationError: CaseScore: `value` is 2 and must be less than or"),
    "nan": ("return float('nan')", "`value` is nan and must be less than or equal to 1"),
    "ends": ("raise SystemExit(3)", "SystemExit: 3"),
}


def test_a_scorer_that_returns_something_odd_fails_and_says_so(folder: Path) -> None:
    code = [f"def {name}(trial):\n    {does}\n" for name, (does, _) in ODD.items()]
    (folder / "odd.py").write_text("\n".join(code), encoding="utf-8")
    desk(folder, "- shout hello\n")
    words = [word for name in ODD for word in ("--scorer", f"odd.py:{name}")]
    shown = program("eval", "desk.py", "--json", *words, folder=folder)
    assert shown.status == 0, shown.err
    (team,) = json.loads(shown.out)["teams"]
    found = {one["name"]: one for one in team["trials"][0]["scores"]}
    for name, (_, why) in ODD.items():
        score = found[name]
        assert score["value"] == 0
        assert why in score["why"]
    assert team["scores"]["passed"]["mean"] == 0


def test_no_report_has_controls_or_commands_of_what_was_measured(folder: Path) -> None:
    cases = '- {name: "a\\e[31m\\r\\n::error::b", request: "shout <script>", answer: {output: 1}}\n'
    desk(folder, cases)
    (folder / "odd.py").write_text(
        "from leadhand.evals import CaseScore\n\n\n"
        "def odd(trial):\n"
        "    return CaseScore(name='\\x1b[1m<b>\\n::error::c', value=0, why='\\r\\n::error::d')\n",
        encoding="utf-8",
    )
    for kind in ("text", "json", "junit", "html"):
        words = ("eval", "desk.py", "--format", kind, "--scorer", "odd.py:odd")
        shown = program(*words, folder=folder)
        for text in (shown.out, shown.err):
            assert "\x1b" not in text
            assert re.search(r"^\s*::error", text, re.MULTILINE) is None
        assert kind in ("text", "json") or "<script>" not in shown.out.lower()
        if kind == "junit":
            (failed,) = ET.fromstring(shown.out).iter("failure")
            assert "::error::d" in (failed.text or ""), "it means the same"


def test_a_baseline_without_these_cases_is_no_proof_that_nothing_changed(folder: Path) -> None:
    desk(folder, "- shout a\n")
    base = program("eval", "desk.py", "--json", folder=folder).out
    (folder / "base.json").write_text(base.replace('"case-1"', '"gone"'), encoding="utf-8")
    shown = program("eval", "desk.py", "--baseline", "base.json", folder=folder)
    assert "desk against the baseline: it has none of these cases" in shown.out


def test_what_is_worse_is_named_beside_a_report_for_a_program(folder: Path) -> None:
    desk(folder, "- shout a\n")
    base = program("eval", "desk.py", "--json", folder=folder).out
    (folder / "base.json").write_text(base, encoding="utf-8")
    words = ("eval", "desk.py", "--json", "--baseline", "base.json", "--fault", "shout=error")
    worse = program(*words, folder=folder)
    assert worse.status == 1
    assert json.loads(worse.out)["teams"]
    assert "worse: answer.status 100 % -> 0 %" in worse.err


OTHER_CODE, OTHER_WORKER = TEAM.replace("upper()", "title()"), TEAM.replace('"Shouts"', '"Cries"')


@pytest.mark.parametrize(
    ("cases", "team", "options"),
    [
        ("- count b\n", TEAM, ()),
        ("- {request: shout a, routing: {primary: shout}}\n", TEAM, ()),
        ("- shout a\n", TEAM, ("--fault", "shout=error")),
        ("- shout a\n", TEAM, ("--allow-writes",)),
        ("- shout a\n", OTHER_CODE, ()),
        ("- shout a\n", OTHER_WORKER, ()),
        ("- shout a\n", TEAM, ("--model", "openai-chat:x")),
    ],
)
def test_an_evaluation_does_not_go_on_with_what_was_measured_otherwise(
    cases: str, team: str, options: tuple[str, ...], folder: Path
) -> None:
    desk(folder, "- shout a\n")
    eval_id = json.loads(program("eval", "desk.py", "--json", folder=folder).out)["id"]
    desk(folder, cases, team)
    words = ("eval", "desk.py", "--resume", eval_id, *options)
    local = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    refused = program(*words, folder=folder, **local)
    assert refused.status == 2
    assert "the team or its models changed: begin anew, without --resume" in refused.err


def test_a_fact_that_only_a_gap_states_is_missing(folder: Path) -> None:
    (folder / "cases.yaml").write_text(
        "- request: count these words\n"
        "  faults: [{worker: 2, fails: timeout}]\n"
        "  synthesis: {gaps: [shout], facts: [fault of the evaluation]}\n",
        encoding="utf-8",
    )
    found = json.loads(program("eval", "desk.py", "--json", folder=folder).out)
    (trial,) = found["teams"][0]["trials"]
    values = {score["name"]: score["value"] for score in trial["scores"]}
    assert (values["synthesis.gaps"], values["synthesis.facts"]) == (1, 0)


def test_runs_of_evaluations_are_listed_if_they_are_asked_for(folder: Path) -> None:
    desk(folder, "- {request: shout a, routing: {primary: shout}}\n- shout b\n")
    found = json.loads(program("eval", "desk.py", "--json", folder=folder).out)
    (planned, _) = found["teams"][0]["trials"]
    assert planned["status"] == "planned"
    left_out = "all runs are those of evaluations: --evaluations shows them\n"
    assert program("runs", folder=folder).out == left_out
    listed = program("runs", "--evaluations", folder=folder).out
    assert ("planned" in listed, "waiting" in listed, listed.count("eval-")) == (True, False, 2)
    program("run", "shout x", "--team", "desk.py", folder=folder)
    (row,) = program("runs", folder=folder).out.splitlines()
    assert row.startswith("run-")


def test_several_teams_are_measured_on_the_cases_beside_each(tmp_path: Path) -> None:
    for name, length in (("one", 3), ("two", 5)):
        code = "def count(handoff):\n    return len(handoff.intent + ''.join(handoff.artifacts))\n"
        solo = f"---\ndescription: Counts\nrun: {name}_code:count\n---\n"
        team = write_team(tmp_path / name, f"name: {name}\nplanner: template\n", solo=solo)
        (team / f"{name}_code.py").write_text(code, encoding="utf-8")
        (team / "word.txt").write_text("copper", encoding="utf-8")
        check = {"path": "", "type": "number", "at_least": length}
        lines = [
            {"request": "x" * length, "answer": {"output": length, "status": "complete"}},
            {"request": "count it", "inputs": ["word.txt"], "answer": {"check": [check]}},
        ]
        text = "\n".join(json.dumps(one) for one in lines)
        (team / "cases.jsonl").write_text(text, encoding="utf-8")
    found = program("eval", "one", "two", "--json", folder=tmp_path)
    assert found.status == 0, found.err
    teams = json.loads(found.out)["teams"]
    passed = [(one["team"], one["scores"]["passed"]["mean"]) for one in teams]
    assert passed == [("one", 1), ("two", 1)]
