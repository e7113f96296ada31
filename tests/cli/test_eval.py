"""`leadhand eval`: what it measures, how it prints it, and what its exit status says."""

import json
import re
import signal
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.program import leadhand, started
from tests.evals.desks import TEAM, desk
from tests.programs import Ended


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Has a team and cases, and is where runs are stored."""
    return desk(tmp_path)


def program(*words: str, folder: Path) -> Ended:
    return leadhand(*words, folder=folder, env={"LEADHAND_HOME": str(folder / "runs")})


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
    kept = program("runs", "--json", folder=folder).out
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
        (
            ("desk.py", "--cases", "route.yaml"),
            "case 'case-1' is about worker 'nobody', and team 'desk' has count, shout",
        ),
        (("desk.py", "--cases", "alone.yaml"), "case 'case-2' is about worker 'nobody'"),
        (("desk.py", "--cases", "gold.yaml"), "case 'case-1' is about worker 'nobody'"),
    ],
)
def test_what_can_not_be_used_is_named(words: tuple[str, ...], why: str, folder: Path) -> None:
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "other.json").write_text(
        '{"id": "a", "teams": '
        '[{"team": "other", "engine": "deterministic", "scores": {}, "costs": {}}]}'
    )
    (folder / "route.yaml").write_text("- {request: a, routing: {primary: nobody}}")
    (folder / "alone.yaml").write_text("- shout a\n- {request: b, workers: [{worker: nobody}]}")
    (folder / "gold.yaml").write_text("- {request: a, plan: {tasks: [{id: a, worker: nobody}]}}")
    refused = program("eval", *words, folder=folder)
    assert refused.status == 2
    assert why in refused.err
    assert len(refused.err.splitlines()) == 2, "the team, and what is wrong: nothing was run"


ODD = {
    "text": ("return 'good'", "TypeError: it returned 'g', which is no CaseScore"),
    "numbers": ("return [1, 2]", "TypeError: it returned 1, which is no CaseScore"),
    "large": ("return 2", "ValidationError: CaseScore: `value` is 2 and must be less than or"),
    "nan": ("return float('nan')", "`value` is nan and must be less than or equal to 1"),
    "ends": ("raise SystemExit(3)", "SystemExit: 3"),
    "passed": ("return 1", "ValueError: 'passed' is a figure of every report"),
    "seconds": ("return 1", "ValueError: 'seconds' is a figure of every report"),
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
        score = found[f"scorer.{name}" if name in ("passed", "seconds") else name]
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


@pytest.mark.parametrize(
    ("cases", "options"),
    [
        ("- count b\n", ()),
        ("- {request: shout a, routing: {primary: shout}}\n", ()),
        ("- shout a\n", ("--fault", "shout=error")),
        ("- shout a\n", ("--allow-writes",)),
    ],
)
def test_an_evaluation_does_not_go_on_with_what_was_measured_otherwise(
    cases: str, options: tuple[str, ...], folder: Path
) -> None:
    desk(folder, "- shout a\n")
    eval_id = json.loads(program("eval", "desk.py", "--json", folder=folder).out)["id"]
    desk(folder, cases)
    refused = program("eval", "desk.py", "--resume", eval_id, *options, folder=folder)
    assert refused.status == 2
    assert "options are others than before: begin anew, without --resume" in refused.err


def test_a_fault_in_the_text_points_to_its_event(folder: Path) -> None:
    desk(folder, "- {request: shout a, synthesis: {uses: [count], conflicts: [dates]}}\n")
    shown = program("eval", "desk.py", folder=folder).out
    assert "synthesis.used 0 %: does not use 'count'" in shown
    (seq,) = re.findall(r"first wrong: the synthesis \(event (\d+) of eval-", shown)
    assert int(seq) > 0


def test_a_team_without_cases_says_how_to_name_some(folder: Path) -> None:
    (folder / "cases.yaml").unlink()
    refused = program("eval", "desk.py", folder=folder)
    assert refused.status == 2
    assert "no cases beside it: name a file of `- request: ...` with --cases" in refused.err


WAITS = """\
import asyncio
from pathlib import Path

from leadhand import Handoff, Team, Worker


async def work(handoff: Handoff) -> str:
    with Path("worked.txt").open("a", encoding="utf-8") as file:
        file.write(handoff.intent)
    if handoff.intent == "b" and not Path("go").exists():
        print("waits", flush=True)
        await asyncio.Event().wait()
    return handoff.intent


team = Team("waits", workers=[Worker("work", "Works", run=work)])
"""


def test_an_evaluation_that_is_interrupted_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    desk(tmp_path, "- a\n- b\n- c\n", WAITS)
    env = {"LEADHAND_HOME": str(tmp_path / "runs")}
    words = ("eval", "desk.py", "--at-once", "1")
    with started(*words, folder=tmp_path, env=env) as running:
        running.says("waits")
        running.kill(signal.SIGINT)
        ended = running.ended()
    assert ended.status == 130
    assert "[1/3] waits: case-1 passed" in ended.err
    (eval_id,) = re.findall(r"--resume (eval-\S+) goes on", ended.err)
    (tmp_path / "go").touch()
    again = program(*words, "--json", "--resume", eval_id, folder=tmp_path)
    assert again.status == 0, again.err
    (team,) = json.loads(again.out)["teams"]
    assert team["scores"]["passed"]["mean"] == 1
    worked = (tmp_path / "worked.txt").read_text(encoding="utf-8")
    assert worked == "abbc", "only what was in flight is done again"
