"""`leadhand run` as a person types it: models told first, the answer on stdout, the exit status."""

import contextlib
import json
import os
import pty
import re
import signal
from pathlib import Path

import pytest

from leadhand.contracts.events import ModelCalled, RunStarted, parse
from leadhand.testing import ScriptedServer
from tests.cli.program import PROGRAM, started
from tests.cli.program import fresh_leadhand as fresh_program
from tests.cli.program import leadhand as program
from tests.cli.support_team import support_team
from tests.programs import Ended, forkserver

ROOT = Path(__file__).parent.parent.parent
REQUEST = "Say why customers are charged twice"
PLAN = {
    "goal": "Find out why",
    "tasks": [
        {"id": "one", "worker": "find", "intent": "look at the invoices of May"},
        {"id": "two", "worker": "find", "intent": "compare them", "depends_on": ["one"]},
    ],
}


def run(*arguments: str, folder: Path, env: dict[str, str] | None = None) -> Ended:
    """What `leadhand run ARGUMENTS` does where the tests' functions can be imported."""
    clean = {"PYTHONPATH": str(ROOT), "LEADHAND_MODEL": "none"}
    return program("run", *arguments, folder=folder, env={**clean, **(env or {})})


def test_without_a_model_the_work_is_done_by_code_and_the_report_says_so(tmp_path: Path) -> None:
    team = support_team(tmp_path, "find")
    ended = run(REQUEST, "--team", str(team), "--no-model", folder=tmp_path)
    assert ended.status == 0
    assert f"Found: {REQUEST}" in ended.out
    assert ended.out.splitlines()[-1].startswith(
        "complete · engine: deterministic, no model was used · 1 task · "
    )
    assert ended.err.splitlines()[:2] == [
        f"loading team {team}",
        "no model, from --no-model: engine deterministic",
    ]


def test_what_workers_print_goes_to_stderr(tmp_path: Path) -> None:
    team = support_team(tmp_path, "talk")
    ended = run(REQUEST, "--team", str(team), "--json", "--events", "-", folder=tmp_path)
    *events, finished = [json.loads(line) for line in ended.out.partition("\n{\n")[0].splitlines()]
    assert events
    assert finished["type"] == "run_finished"
    assert json.loads("{" + ended.out.partition("\n{\n")[2])["status"] == "complete"
    assert "not part of the answer" in ended.err


def test_with_a_model_the_roles_are_told_before_anything_is_spent(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    team = support_team(tmp_path, "find", "attack")
    env = {**scripted.env(), "LEADHAND_MODEL": ""}
    ended = run(REQUEST, "--team", str(team), "--json", folder=tmp_path, env=env)
    answer = json.loads(ended.out)
    assert ended.status == 0, ended.err
    assert answer["engine"] == "model"
    assert answer["metrics"]["requests"] == scripted.stats().requests == len(answer["tasks"]) + 2
    assert answer["metrics"]["cost_usd"] is None
    assert ended.err.splitlines()[1] == (
        "models: openai-chat:scripted for every role, the first model at OPENAI_BASE_URL"
    )


def test_an_unknown_provider_ends_it_before_anything_is_spent(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    team = support_team(tmp_path)
    options = ("--team", str(team), "--model", "opnai:gpt-5-mini")
    ended = run(REQUEST, *options, folder=tmp_path, env={"OPENAI_API_KEY": "secret"})
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        f"loading team {team}\n"
        "leadhand: model 'opnai:gpt-5-mini' has an unknown provider: "
        "did you mean openai:gpt-5-mini?\n"
    )
    assert scripted.stats().requests == 0


def test_a_plan_of_ones_own_is_run_as_it_is(tmp_path: Path) -> None:
    team = support_team(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    ended = run("--plan", "plan.json", "--team", str(team), "--json", folder=tmp_path)
    answer = json.loads(ended.out)
    assert answer["request"] == "Find out why"
    assert [(task["id"], task["depends_on"]) for task in answer["tasks"]] == [
        ("one", []),
        ("two", ["one"]),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"goal": "x",\n "tasks": [}', "plan.json:2:12: the plan is not valid JSON"),
        ("", "plan.json:1:1: the plan is not valid JSON"),
        ("[]", "plan.json: the plan: "),
        ('{"goal": "x"}', "plan.json: tasks: field required"),
        (
            '{"goal": "x", "tasks": [{"id": "a", "worker": "w", "intent": 7, "after": []}]}',
            "plan.json: tasks[0].intent: input should be a valid string; tasks[0].after: extra",
        ),
        ("[" * 100_000, "plan.json: the plan is not JSON that can be read"),
    ],
    ids=["broken", "empty", "list", "lacking", "fields", "deep"],
)
def test_what_is_wrong_with_a_plan_is_told_with_its_file_and_place(
    tmp_path: Path, text: str, said: str
) -> None:
    team = support_team(tmp_path)
    (tmp_path / "plan.json").write_text(text)
    ended = run("--plan", "plan.json", "--team", str(team), folder=tmp_path)
    assert ended.status == 2
    first, error = ended.err.splitlines()
    assert first == f"loading team {team}"
    assert said in error


def test_f11_a_plan_that_cannot_be_run_is_refused_before_any_work(tmp_path: Path) -> None:
    """F11"""
    team = support_team(tmp_path)
    tasks = [{"id": "a", "worker": "nobody", "intent": "look around", "depends_on": ["b"]}]
    (tmp_path / "plan.json").write_text(json.dumps({"goal": "x", "tasks": tasks}))
    ended = run("--plan", "plan.json", "--team", str(team), folder=tmp_path)
    assert ended.status == 2
    assert "plan rejected: " in ended.err
    assert "nobody" in ended.err
    assert "'b'" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to run: give a REQUEST, - to read it from stdin, or --plan"),
        (("  ",), "the request is empty"),
        (("-",), "the request is empty"),
        (("x", "--plan", "gone.json"), "can't read the plan gone.json"),
        (("x", "--input", "gone"), "gone"),
        (("x", "--model", "openai:a", "--no-model"), "exclude each other"),
        (("x", "--deadline", "soon"), "is not a duration"),
    ],
    ids=["nothing", "blank", "empty-stdin", "no-plan", "no-input", "contradiction", "duration"],
)
def test_what_cannot_be_run_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    team = support_team(tmp_path)
    ended = run(*arguments, "--team", str(team), "-q", folder=tmp_path)
    assert ended.status == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("team", "said"),
    [
        ("", "leadhand: the team has no name: "),
        ("pipe.py", "leadhand: 'pipe.py' is not a file: "),
        ("x" * 5_000, "xxx: File name too long"),
    ],
    ids=["none", "pipe", "long"],
)
def test_a_team_that_can_be_none_is_one_line_of_an_error_alone(
    tmp_path: Path, team: str, said: str
) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    ended = run("x", "--team", team, folder=tmp_path)
    assert ended.status == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_the_review_team_is_said_to_have_a_command_of_its_own(tmp_path: Path) -> None:
    ended = run("x", "--team", "review", folder=tmp_path)
    assert ended.status == 2
    assert ended.err.endswith("needs a change to look at: use `leadhand review`\n")


def test_a_request_is_read_from_stdin(tmp_path: Path) -> None:
    team = support_team(tmp_path, "find")
    env = {"PYTHONPATH": str(ROOT), "LEADHAND_MODEL": "none"}
    options = ("run", "-", "--team", str(team), "--json")
    ended = program(*options, folder=tmp_path, given="Why twice?\n", env=env)
    assert json.loads(ended.out)["request"] == "Why twice?"


def test_a_gap_is_shown_as_such_and_makes_the_exit_status_3(tmp_path: Path) -> None:
    team = support_team(tmp_path, "find", "fail")
    ended = run(REQUEST, "--team", str(team), folder=tmp_path)
    assert ended.status == 3
    place = re.escape(f"{ROOT / 'tests' / 'cli' / 'support_team.py'}")
    said = rf"## What is missing\n\n- `fail`: ValueError: no paper left \(at {place}:\d+\)\. It was"
    assert len(re.findall(said, ended.out)) == 1
    assert ended.out.splitlines()[-1].startswith("partial · ")
    assert " · 1 of 2 tasks · " in ended.out


def test_a_deadline_counts_from_the_start_of_the_program(tmp_path: Path) -> None:
    team = support_team(tmp_path, "find")
    options = ("--team", str(team), "--no-model", "--deadline", "1h", "--events", "-", "-q")
    env = {"PYTHONPATH": str(ROOT)}
    ended = fresh_program("run", REQUEST, *options, folder=tmp_path, env=env)
    begun = parse(ended.out.splitlines()[0])
    assert isinstance(begun, RunStarted)
    assert begun.deadline_s is not None
    assert begun.deadline_s < 3_600, "its imports took a part of it"
    assert f"Found: {REQUEST}" in ended.out


def late_after(deadline_s: int, folder: Path, env: dict[str, str]) -> Ended:
    """What is left of the last run when it is resumed for so long."""
    return program("resume", "last", "--deadline", f"{deadline_s}s", folder=folder, env=env)


def test_f37_ctrl_c_once_stops_the_run_and_prints_what_is_done_and_so_does_a_deadline(
    tmp_path: Path,
) -> None:
    """F37: exit status 130, and 4."""
    team = support_team(tmp_path, "find", "slow")
    env = {"PYTHONPATH": str(ROOT), "LEADHAND_HOME": str(tmp_path / "home")}
    options = ("--team", str(team), "--no-model")
    with started("run", REQUEST, *options, folder=tmp_path, env=env) as running:
        running.says("find: completed", "err")
        running.kill(signal.SIGINT)
        ended = running.ended()
    assert ended.status == 130, ended.err
    assert f"Found: {REQUEST}" in ended.out
    assert "cancelled · " in ended.out
    deadline_s = 1
    # Opening the journal and keeping the answer count in the deadline: a busy machine needs more.
    while "the journal did not answer" in (late := late_after(deadline_s, tmp_path, env)).err:
        deadline_s *= 2
    assert late.status == 4, late.err
    assert f"Found: {REQUEST}" in late.out
    assert re.search(r"`slow`: .*the run's deadline of [\d.]+ s .*\. It was to: ", late.out)


def test_every_event_is_a_line_in_the_file_as_it_happens(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    team = support_team(tmp_path)
    log = tmp_path / "events.jsonl"
    env = {**scripted.env(), "LEADHAND_MODEL": "scripted"}
    options = ("--team", str(team), "--events", str(log), "-q", "--format", "markdown")
    ended = run(REQUEST, *options, folder=tmp_path, env=env)
    events = [parse(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert ended.status == 0, ended.err
    assert ended.err == ""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    called = [event.role for event in events if isinstance(event, ModelCalled)]
    assert called[0] == "planner"
    assert called[-1] == "synthesizer"
    assert events[-1].type == "run_finished"


def screen_of(*arguments: str, folder: Path) -> str:
    """What `leadhand ARGUMENTS` writes to a terminal of 80 columns, every byte of it."""
    primary, secondary = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "xterm-256color"}
    running = forkserver().start(*PROGRAM, *arguments, folder=folder, env=env, stdout=secondary)
    os.close(secondary)
    shown = b""
    with running, contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while chunk := os.read(primary, 65536):
            shown += chunk
    os.close(primary)
    return shown.decode()


def test_f34_on_a_terminal_hostile_markdown_is_laid_out_and_not_obeyed(tmp_path: Path) -> None:
    """F16, F32, F34"""
    team = support_team(tmp_path, "attack")
    shown = screen_of("run", REQUEST, "--team", str(team), "--no-model", folder=tmp_path)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202e]", plain)
    words = " ".join(plain.split())
    assert "Findings" in plain.splitlines()[0]
    assert "the report (https://evil.example/x)" in words
    assert "a picture (https://evil.example/p)" in words
    assert "\\x1b]52;c;eA==\\x07" in words
    assert "\\u202eabc" in words
    assert "<b onload=x>bold</b>" in words
    assert "\x1b[" in shown


def test_f34_without_a_terminal_the_answer_is_plain_markdown(tmp_path: Path) -> None:
    """F34"""
    team = support_team(tmp_path, "attack")
    ended = run(REQUEST, "--team", str(team), folder=tmp_path)
    assert ended.out.startswith("# Findings\n\nRead [the report](https://evil.example/x)")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", ended.out)
    ascii_only = run(
        REQUEST, "--team", str(team), folder=tmp_path, env={"PYTHONIOENCODING": "ascii"}
    )
    assert ascii_only.status == 0
    assert "Traceback" not in ascii_only.err
