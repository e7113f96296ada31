"""Loading teams from folders: the team, or all problems at once."""

from pathlib import Path

import pytest

from leadhand.contracts.task import Limits
from leadhand.contracts.team import RetryRules, TaskTemplate
from leadhand.errors import InputError, TeamError
from leadhand.supervisor import Supervisor
from leadhand.teams.loader import TeamInspection, inspect, load, ready_made, summary
from tests.team_folders import problems, work, worker, write_team

SUPPORT = """\
name: support
description: >-
  Answers what
  customers ask.
planner:
  template:
    - id: bill
      worker: billing
      intent: Find the invoice that {request} is about.
    - id: tech
      worker: technical
      intent: Diagnose {request} from {count} logs.
      for_each: logs
      done_when: A cause is named.
      timeout_s: 30
    - id: reply
      worker: writer
      intent: Write one reply.
      depends_on: [bill, tech]
      tolerates_missing: true
synthesizer: merge
limits: {timeout_s: 90, max_steps: 5}
ladder:
  max_attempts: 2
  backoff_s: [0.5, 4]
shared_tools: [crm]
"""


def support(folder: Path) -> Path:
    return write_team(
        folder,
        SUPPORT,
        billing=worker("description: Invoices and refunds\ntools: [crm, ledger]"),
        technical=worker(
            "description: Diagnosis of errors\ntools: crm, shell(ls, cat)\nfallback: billing\n"
            "concurrency: 2\ntimeout_s: 60\nmax_steps: 7\nisolate: process"
        ),
        writer=worker("name: writer\ndescription: Replies in plain words", "# Writer\n\nBe brief."),
    )


# What a folder becomes


def test_a_folder_becomes_the_team_that_it_describes(tmp_path: Path) -> None:
    team = load(support(tmp_path))
    assert (team.name, team.description) == ("support", "Answers what customers ask.")
    assert team.synthesis == "merge"
    assert team.limits == Limits(timeout_s=90, max_steps=5)
    assert team.retry == RetryRules(max_attempts=2, backoff_s=(0.5, 4.0))
    assert team.template == (
        TaskTemplate("bill", "billing", "Find the invoice that {request} is about."),
        TaskTemplate(
            "tech",
            "technical",
            "Diagnose {request} from {count} logs.",
            for_each="logs",
            done_when="A cause is named.",
            limits=Limits(timeout_s=30),
        ),
        TaskTemplate(
            "reply",
            "writer",
            "Write one reply.",
            depends_on=("bill", "tech"),
            tolerates_missing=True,
        ),
    )
    billing, technical, writer = team.workers
    assert (billing.name, billing.description) == ("billing", "Invoices and refunds")
    assert billing.tools == ("crm", "ledger")
    assert (billing.run, billing.offline) == (None, work)
    assert technical.tools == ("crm", "shell(ls, cat)")
    assert (technical.fallback, technical.isolate, technical.concurrency) == (
        "billing",
        "process",
        2,
    )
    assert technical.limits == Limits(timeout_s=60, max_steps=7)
    assert writer.tools == ()
    assert writer.instructions == "# Writer\n\nBe brief."


def test_a_loaded_team_does_its_work(tmp_path: Path) -> None:
    template = "planner: {template: [{id: a, worker: solo, intent: 'Look at {request}.'}]}"
    team = load(write_team(tmp_path, f"name: mine\n{template}\n"))
    answer = Supervisor(team).run_sync("it")
    assert answer.status == "complete"
    assert "solo: Look at it." in answer.answer


def test_a_team_without_a_name_is_called_as_its_folder(tmp_path: Path) -> None:
    team = load(write_team(tmp_path / "desk", ""))
    assert team.name == "desk"
    assert team.retry == RetryRules()


def test_files_may_have_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    folder = write_team(tmp_path)
    for file in [folder / "team.yaml", folder / "workers" / "solo.md"]:
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert load(folder).workers[0].instructions == "Do it well."


def test_every_problem_of_every_file_is_named_at_once_with_its_line(tmp_path: Path) -> None:
    folder = write_team(
        tmp_path,
        "name: 7\n"
        "planner:\n"
        "  template:\n"
        "    - id: a\n"
        "      worker: billng\n"
        "      intent: ''\n"
        "    - id: a\n"
        "      worker: billing\n"
        "      intent: Do it\n"
        "      depends_on: [b, a]\n"
        "      timeout_s: soon\n"
        "limits: {timeout_s: -3}\n"
        "ladder: {max_attempts: 500, backoff_s: [1, -2]}\n",
        billing=worker("tools: [crm]\nisolate: proces\nfallback: billing\noffline: 3"),
        other=worker("description: Something else\ntools: [crm, 3]\nfallback: biling"),
        third="no front matter\n",
    )
    expected = [
        "team.yaml:1: `name` is 7 and must be text: put it in quotes",
        "team.yaml:5: template entry 'a' is for 'billng', who is not in the team: "
        "did you mean 'billing'?",
        "team.yaml:6: `intent` is empty: write something, or leave the key out",
        "team.yaml:7: template entry 'a' is also on line 4: rename one",
        "team.yaml:10: template entry 'a' depends on 'b', which is not an entry: it has a",
        "team.yaml:10: template entry 'a' depends on itself: remove 'a'",
        "team.yaml:11: `timeout_s` is 'soon' and must be a number",
        "team.yaml:12: `timeout_s` is -3 and must be greater than 0",
        "team.yaml:13: `max_attempts` is 500 and must be less than or equal to 100",
        "team.yaml:13: item 2 of `backoff_s` is -2 and must be greater than or equal to 0",
        "workers/billing.md:3: `isolate` is 'proces' and must be 'none' or 'process'",
        "workers/billing.md:4: 'billing' is its own fallback: name another worker, or none",
        "workers/billing.md:5: `offline` is 3 and must be text: put it in quotes",
        "workers/other.md:3: item 2 of `tools` is 3 and must be text: put it in quotes",
        "workers/other.md:3: the tool 'crm' belongs to 'billing' already: give it to one of them, "
        "or list it under `shared_tools` in team.yaml",
        "workers/other.md:4: 'other' falls back to 'biling', who is not in the team: "
        "did you mean 'billing'?",
        "workers/third.md:1: has no front matter: begin with a line `---`, then "
        "`description: ...` and other keys, then `---` again",
    ]
    assert problems(folder) == expected
    with pytest.raises(TeamError) as raised:
        load(folder)
    assert list(raised.value.problems) == expected


# Which team is meant


def test_the_ready_made_review_team_loads_without_problems_or_warnings() -> None:
    team, found, warned = inspect("review")
    assert (found, warned) == ((), ())
    assert team is not None
    assert load("review") == team
    assert [one.name for one in team.workers] == sorted(
        ["security", "bugs", "performance", "history", "comments", "guidelines", "past_reviews",
         "tests"]
    )  # fmt: skip
    assert {entry.worker for entry in team.template} == {one.name for one in team.workers}
    assert {entry.for_each for entry in team.template} == {"python", "text", "whole"}
    assert {one.isolate for one in team.workers} == {"process"}
    assert team.synthesis == "findings"
    for one in team.workers:
        assert one.tools
        assert 10 <= len(one.instructions.splitlines()) <= 25


def test_ready_made_teams_are_summed_up_without_their_functions() -> None:
    assert "review" in ready_made()
    found = summary("review")
    assert (found.name, found.workers) == ("review", 8)
    assert found.description.startswith("Reviews a change")


def test_a_ready_made_team_comes_before_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_team(tmp_path / "review", "name: mine\n")
    write_team(tmp_path / "desk", "name: desk\n")
    monkeypatch.chdir(tmp_path)
    assert summary("review").workers == 8
    assert summary("./review").name == "mine"
    assert summary(Path("review")).name == "mine"
    assert load("desk").name == "desk"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("reveiw", "there is no team 'reveiw': did you mean 'review'? ready-made are {known}; for"),
        ("zzz", "there is no team 'zzz': ready-made are {known}; for one of your own give its"),
        ("./zzz", "there is no folder './zzz'"),
        (Path("zzz"), "there is no folder 'zzz'"),
        ("", "no team is named: ready-made are {known}"),
        ("a\0b", "there is no "),
        ("x" * 300, "team 'xxx"),
    ],
)
def test_an_unknown_team_says_which_there_are(source: str | Path, said: str) -> None:
    with pytest.raises(InputError) as raised:
        load(source)
    assert str(raised.value).startswith(said.replace("{known}", ", ".join(ready_made())))


def test_a_file_is_not_a_team(tmp_path: Path) -> None:
    file = tmp_path / "team.yaml"
    file.write_text("name: x\n")
    with pytest.raises(InputError, match=r"is not a folder: a team is a folder with team\.yaml"):
        load(file)


def test_a_folder_without_its_parts_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "desk").mkdir()
    assert inspect(tmp_path / "desk") == TeamInspection(
        None,
        (
            "team.yaml: is missing: write one, beginning with `name: desk`",
            "workers: is missing: make a folder with a file `<name>.md` for each worker",
        ),
        (),
    )
    (tmp_path / "desk" / "team.yml").touch()
    (tmp_path / "desk" / "workers").mkdir()
    (tmp_path / "desk" / "workers" / "readme.txt").touch()
    assert problems(tmp_path / "desk") == [
        "team.yaml: is missing: rename team.yml",
        "workers: has no workers: add a file `<name>.md` for each",
    ]
