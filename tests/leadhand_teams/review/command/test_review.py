"""`leadhand review` as a person runs it: on real repositories, through the whole engine."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from leadhand.contracts.events import parse
from leadhand.state.fold import RunState, fold
from leadhand.synthesis.findings import Review
from tests.cli.program import leadhand
from tests.cli.terminal import Terminal
from tests.patience import HANG_S
from tests.programs import Ended, forkserver
from tests.repositories import Repo

BEFORE = """\
import subprocess


def run(command: str, timeout: float = 5.0) -> str:
    if not command:
        raise ValueError("empty command")
    return subprocess.run(command.split(), timeout=timeout, text=True).stdout
"""
AFTER = """\
import pickle
import subprocess

from flask import request


def run() -> str:
    return subprocess.run(request.args["command"], shell=True, text=True).stdout


def load() -> object:
    return decode(pickle.loads(request.data))
"""
LENSES = {
    "security", "bugs", "performance", "history", "comments", "guidelines", "past_reviews", "tests",
}  # fmt: skip


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository whose last commit is careless."""
    made = Repo(tmp_path_factory.mktemp("careless"))
    made.commit("Run commands", {"app.py": BEFORE})
    made.commit("Let the browser say what to run", {"app.py": AFTER})
    return made


@pytest.fixture(scope="module")
def reviewed(repo: Repo, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ended, RunState]:
    """The JSON report of a review started from another folder, and the run of its events."""
    folder = tmp_path_factory.mktemp("elsewhere")
    where = ("HEAD~1..HEAD", "--repo", str(repo.folder))
    how = ("--threshold", "0", "--fail-on", "never", "--json", "--quiet", "--events", "e.jsonl")
    ended = leadhand("review", *where, *how, folder=folder)
    return ended, folded(folder / "e.jsonl")


def folded(events: Path) -> RunState:
    """The run that these events fold to."""
    return fold(parse(line) for line in events.read_text(encoding="utf-8").splitlines())


def test_the_last_commit_is_reviewed_from_git_to_the_screen(repo: Repo) -> None:
    ended = leadhand("review", "--threshold", "0", folder=repo.folder)
    assert ended.status == 1
    assert "app.py:8" in ended.out
    assert 'subprocess.run(request.args["command"], shell=True' in ended.out
    assert "security/shell-injection" in ended.out
    assert "bugs/undefined-name" in ended.out
    assert "speed-up" not in ended.out
    assert "past_reviews" not in ended.out
    assert "plan: 8 tasks for 8 workers" in ended.err


def test_json_is_the_answer_document_and_nothing_else_is_on_stdout(
    reviewed: tuple[Ended, RunState],
) -> None:
    document = json.loads(reviewed[0].out)
    assert reviewed[0].err == ""
    assert document["status"] == "complete"
    assert document["engine"] == "deterministic"
    assert document["team"] == "review"
    assert {task["worker"] for task in document["tasks"]} == LENSES
    assert {task["status"] for task in document["tasks"]} == {"completed"}
    assert document["metrics"]["makespan_s"] > 0
    output = document["output"]
    assert set(output) >= {"findings", "look", "suppressed", "not_assessed"}
    finding = next(one for one in output["findings"] if one["rule"] == "security/shell-injection")
    assert set(finding) >= {
        "id", "path", "line", "end_line", "severity", "category", "rule", "message", "suggestion",
        "evidence", "confidence", "basis", "lenses", "places",
    }  # fmt: skip
    assert finding["evidence"] in AFTER
    assert finding["lenses"] == ["security"]


def test_a_repository_elsewhere_and_a_range_can_be_named(reviewed: tuple[Ended, RunState]) -> None:
    document = json.loads(reviewed[0].out)
    assert {finding["path"] for finding in document["output"]["findings"]} == {"app.py"}
    assert reviewed[0].status == 0, "there are critical findings, and --fail-on never"


def test_the_plan_can_be_seen_before_any_work_is_done(repo: Repo) -> None:
    ended = leadhand("review", "--plan-only", "--json", folder=repo.folder)
    plan = json.loads(ended.out)
    assert ended.status == 0
    assert {task["worker"] for task in plan["tasks"]} == LENSES
    assert all(task["artifacts"] == ["app.py"] for task in plan["tasks"])
    shown = leadhand("review", "--plan-only", folder=repo.folder)
    assert "8 tasks for 8 workers" in shown.out
    assert str(repo.folder) not in shown.out


def test_events_are_written_as_they_happen_and_fold_to_the_run(
    reviewed: tuple[Ended, RunState],
) -> None:
    ended, state = reviewed
    assert state.answer is not None
    assert json.loads(state.answer.model_dump_json()) == json.loads(ended.out)


def test_a_finding_keeps_its_id_when_lines_shift_and_a_baseline_hides_it(tmp_path: Path) -> None:
    made = Repo(tmp_path / "r")
    made.commit("Start", {"a.py": "x = 1\n"})
    made.commit("Use a thing", {"b.py": "def f():\n    return undefined_thing\n"})
    first = leadhand("review", "--json", "--threshold", "0", folder=made.folder)
    report = tmp_path / "report.json"
    report.write_text(first.out, encoding="utf-8")
    made.git("reset", "--soft", "HEAD~1")
    made.write("b.py", "import os\n\nprint(os.sep)\n\n\ndef f():\n    return undefined_thing\n")
    made.commit("Use a thing, again")
    again = json.loads(leadhand("review", "--json", "--threshold", "0", folder=made.folder).out)
    before = {one["id"] for one in json.loads(first.out)["output"]["findings"]}
    assert before & {one["id"] for one in again["output"]["findings"]} == before
    hidden = leadhand(
        "review", "--json", "--threshold", "0", "--baseline", str(report), folder=made.folder
    )
    output = json.loads(hidden.out)["output"]
    assert before.isdisjoint(one["id"] for one in output["findings"])
    assert before == set(output["hidden_by_baseline"])


def test_no_match_is_said_with_what_the_rules_know_and_what_was_not_assessed_is_named(
    tmp_path: Path,
) -> None:
    """The review is still complete; nothing is called clean that was not judged."""
    made = Repo(tmp_path / "r")
    made.commit("Start", {"a.py": '"""A module."""\n'})
    made.write("a.py", '"""A module of its own."""\n')
    made.write("logo.bin", bytes(range(256)) * 8)
    made.commit("Say more, and add a file that is no text")
    events = tmp_path / "events.jsonl"
    ended = leadhand("review", "--events", str(events), folder=made.folder)
    out = " ".join(ended.out.split())
    said = (
        "No rule matched in 1 Python file (security holes, known kinds of bugs, blocking calls, "
        "undone fixes, outdated docstrings and skipped tests)."
    )
    assert (ended.status, said in out) == (0, True)
    assert "not analysed 1 binary file" in out
    assert "binary · logo.bin" in ended.out
    answer = folded(events).answer
    assert answer is not None
    assert (answer.status, answer.gaps) == ("complete", ())
    output = Review.model_validate(answer.output)
    assert "logo.bin" in {one.path for one in output.not_assessed}
    made.write("a.py", '"""A module of its own again."""\n')
    made.write("README.md", "Read it.\n")
    made.commit("Say it again")
    out = " ".join(leadhand("review", "-q", folder=made.folder).out.split())
    assert "lenses No rule matched in 1 Markdown file and 1 Python file (security" in out
    assert "✓" not in out
    stats = leadhand("review", "-q", "--stats", folder=made.folder).out
    assert "critical path" in stats
    assert "engine: deterministic" in stats


def test_files_of_other_languages_are_counted(tmp_path: Path) -> None:
    made = Repo(tmp_path)
    made.commit("Start", {"a.py": "x = 1\n"})
    for n in range(130):
        made.write(f"web/{n}.js", f"let x = {n};\n")
    made.commit("Add a front end", {"conf.yaml": "a: 1\n", "lock/package-lock.json": "{}\n"})
    ended = leadhand("review", "-q", folder=made.folder)
    out = " ".join(ended.out.split())
    assert "No rule matched (secrets, conflict markers)." in out
    assert (
        "not analysed 130 JavaScript files and 1 YAML file (secrets only), 1 file (a lock file)"
    ) in out
    assert "package-lock.json" not in out


def test_python_2_is_not_called_newer_than_leadhands_python(tmp_path: Path) -> None:
    made = Repo(tmp_path)
    made.commit("Start", {"a.py": "try:\n    go()\nexcept KeyError, e:\n    raise ValueError, e\n"})
    made.commit("Stop", {"a.py": "try:\n    go()\nexcept KeyError, e:\n    stop()\n"})
    out = " ".join(leadhand("review", "-q", folder=made.folder).out.split())
    assert "leadhand's Python does not parse it" in out
    assert "newer" not in out


def test_a_range_from_the_empty_tree_is_the_whole_repository(tmp_path: Path) -> None:
    made = Repo(tmp_path)
    made.commit("Start", {"a.py": "x = 1\n"})
    made.commit("Add b", {"b.py": "x = 1\n"})
    empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    ended = leadhand("review", "-q", f"{empty}..HEAD", folder=made.folder)
    assert ended.status == 0
    assert "No rule matched in 2 Python files" in " ".join(ended.out.split())


GUARDED = """\
from shop import app, load, login_required


@app.route("/orders")
@login_required
def orders() -> str:
    return load()
"""


def test_a_removed_protection_needs_a_look_and_fails_only_if_asked(tmp_path: Path) -> None:
    made = Repo(tmp_path)
    made.commit("Show orders", {"orders.py": GUARDED})
    made.commit("Simplify", {"orders.py": GUARDED.replace("@login_required\n", "")})
    ended = leadhand("review", "-q", "--threshold", "100", folder=made.folder)
    assert ended.status == 0
    assert "No findings; 1 needs a look." in ended.out
    assert "- @login_required" in ended.out
    assert (
        leadhand("review", "-q", "--threshold", "100", "--fail-on-look", folder=made.folder).status
        == 1
    )
    without = leadhand(
        "review", "-q", "--threshold", "100", "--no-look", "--json", folder=made.folder
    )
    output = Review.model_validate(json.loads(without.out)["output"])
    assert (without.status, output.look, len(output.suppressed)) == (0, (), 1)


def test_a_patch_on_stdin_is_reviewed_without_a_repository(repo: Repo, tmp_path: Path) -> None:
    patch = repo.git("diff", "HEAD~1", "HEAD") + "\n"
    ended = leadhand(
        "review", "--diff", "-", "--json", "--threshold", "0", folder=tmp_path, given=patch
    )
    document = json.loads(ended.out)
    assert document["status"] == "complete"
    assert any("history" in one["lens"] for one in document["output"]["not_assessed"])


def test_staged_and_uncommitted_changes_are_reviewed(tmp_path: Path) -> None:
    made = Repo(tmp_path)
    made.commit("Start", {"a.py": "x = 1\n"})
    made.write("a.py", "x = undefined_one\n")
    made.git("add", "a.py")
    made.write("b.py", "y = undefined_two\n")
    staged = leadhand("review", "--staged", "--threshold", "0", folder=made.folder)
    assert "undefined_one" in staged.out
    assert "undefined_two" not in staged.out
    both = leadhand("review", "--worktree", "--threshold", "0", folder=made.folder)
    assert "undefined_one" in both.out
    assert "undefined_two" in both.out


def test_a_deadline_that_is_too_short_still_gives_a_report_and_status_4(repo: Repo) -> None:
    ended = leadhand("review", "--deadline", "10ms", "--json", folder=repo.folder)
    document = json.loads(ended.out)
    assert ended.status == 4
    assert document["status"] in ("partial", "failed")
    assert "deadline" in document["gaps"][0]["why"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope..HEAD",), "nope"),
        (("",), "the range is empty"),
        (("--output=/tmp/x",), "leadhand: no such option"),  # how it goes on depends on typer
        (("--output=/tmp/x",), "; see `leadhand review --help`\n"),
        (("--threshold", "x"), "leadhand: invalid value for '--threshold': "),
        (("--baseline", "x" * 5_000), "xxx: File name too long"),
        (("HEAD", "--staged"), "exclude each other"),
        (("--no-look", "--fail-on-look"), "exclude each other"),
        (("--deadline", "soon"), "'soon' is not a duration"),
        (("--baseline", "missing.json"), "missing.json"),
        (("--diff", "missing.patch"), "can't read the patch missing.patch"),
        (("--format", "pdf"), "pdf"),
        (("--past-reviews", "missing.json"), "missing.json"),
        (("--repo", "no/such/folder"), "no/such/folder"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(
    repo: Repo, arguments: tuple[str, ...], said: str
) -> None:
    ended = leadhand("review", *arguments, folder=repo.folder)
    assert ended.status == 2
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


@pytest.mark.parametrize("option", ["--baseline", "--past-reviews"])
def test_a_pipe_in_place_of_a_file_is_refused(repo: Repo, tmp_path: Path, option: str) -> None:
    """F17: reading one could block for ever."""
    os.mkfifo(tmp_path / "pipe")
    ended = leadhand("review", option, str(tmp_path / "pipe"), folder=repo.folder)
    assert ended.status == 2
    assert "it is a pipe; give a file" in ended.err


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("leadhand review -q --threshold 0 | true", 1),
        # The others are stopped at once, which is quicker: they print what there is all the same.
        ("leadhand review -q --deadline 1ms | true", 4),
        ("leadhand review -q --deadline 1ms --events - | true", 4),
        ("leadhand review -q --deadline 1ms > /dev/full", 3),
        ("leadhand review -q --deadline 1ms --json > /dev/full", 3),
        ("leadhand review -q --plan-only > /dev/full", 3),
        ("leadhand teams list | true", 0),
        ("leadhand teams list > /dev/full", 3),
        ("leadhand review -q --deadline 1ms >&-", 4),
        ("leadhand review -q --diff - <&-", 2),
    ],
)
def test_output_that_nobody_takes_changes_no_status_and_a_full_disk_is_one_line(
    repo: Repo, command: str, status: int
) -> None:
    """F31"""
    done = subprocess.run(
        ["bash", "-c", command + "; exit ${PIPESTATUS[0]}"],
        cwd=repo.folder,
        env=forkserver().shell_env(os.environ),
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == (1 if status in (2, 3) else 0)


def test_events_that_can_not_be_written_are_told_and_the_review_stands(repo: Repo) -> None:
    """F31: the findings are printed even if the events can't be written."""
    ended = leadhand("review", "-q", "--json", "--events", "/dev/full", folder=repo.folder)
    assert ended.status == 1
    assert json.loads(ended.out)["status"] == "complete"
    said = "leadhand: the events in /dev/full are not complete: No space left on device\n"
    assert ended.err == said


def test_on_a_terminal_a_tree_shows_each_task_and_the_review_follows(repo: Repo) -> None:
    with Terminal("review", "--threshold", "0", folder=repo.folder, env={}) as terminal:
        assert terminal.ended() == 1
    assert "Traceback" not in terminal.text
    assert "8/8 tasks" in terminal.text
    for lens in LENSES:
        assert re.search(rf"\S {lens} +[\d.]+ s +completed", terminal.text)
    assert "app.py:8" in terminal.text


def test_a_folder_that_is_no_repository_and_one_without_commits_are_named(tmp_path: Path) -> None:
    ended = leadhand("review", folder=tmp_path)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "is not in a git repository" in ended.err
    Repo(tmp_path / "empty")
    ended = leadhand("review", "-q", folder=tmp_path / "empty")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "no commits" in ended.err or "no commit" in ended.err
