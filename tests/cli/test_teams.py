"""`leadhand teams`: what it prints of teams, ready-made and one's own."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
from rich.console import Console

from leadhand.cli.teams.actions import list_teams, show_team
from leadhand.teams.loader import ready_made
from tests.team_folders import WORK, worker, write_team


@pytest.fixture(autouse=True)
def own_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove folders that a test made importable."""
    monkeypatch.setattr(sys, "path", list(sys.path))


class Screen:
    """A console of a given width that remembers what was printed."""

    def __init__(self, width: int = 80, *, colours: bool = False) -> None:
        self._bytes = io.BytesIO()
        self._file = io.TextIOWrapper(self._bytes, encoding="utf-8", newline="\n")
        self.console = Console(
            file=self._file,
            width=width,
            force_terminal=colours,
            color_system="standard" if colours else None,
        )

    @property
    def text(self) -> str:
        """Everything printed, without blanks at the ends of lines."""
        self._file.flush()
        printed = self._bytes.getvalue().decode()
        return "\n".join(line.rstrip() for line in printed.split("\n"))


SUPPORT = """\
name: support
description: Answers what customers ask.
planner:
  template:
    - {id: reply, worker: writer, intent: Write one reply., depends_on: [bill, tech],
       tolerates_missing: true}
    - {id: bill, worker: billing, intent: "Find the invoice that {request} is about."}
    - {id: tech, worker: technical, intent: "Diagnose {request}.", for_each: logs, timeout_s: 30}
limits: {timeout_s: 90}
shared_tools: crm
"""


def support(folder: Path) -> Path:
    return write_team(
        folder,
        SUPPORT,
        billing=worker("description: Invoices and refunds\ntools: [crm, ledger]"),
        technical=worker(
            "description: Diagnosis of errors\ntools: [crm]\nfallback: billing\n"
            "concurrency: 2\nmax_steps: 7\nisolate: process"
        ),
        writer=worker("description: Replies in plain words"),
    )


def test_ready_made_teams_are_listed_with_what_they_do() -> None:
    screen = Screen()
    list_teams(screen.console)
    listed = [line for line in screen.text.splitlines() if line and not line.startswith(" ")]
    assert [line.split()[0] for line in listed[:-1]] == list(ready_made())
    (review,) = (line.split(maxsplit=1) for line in listed if line.startswith("review"))
    assert review[1].startswith("Reviews a change to a git repository")


def test_a_team_is_shown_with_its_workers_plan_and_rules(tmp_path: Path) -> None:
    screen = Screen()
    show_team(str(support(tmp_path)), screen.console)
    assert (
        screen.text
        == """\
support
Answers what customers ask.

3 workers
  billing    Invoices and refunds
             tools: crm, ledger
  technical  Diagnosis of errors
             tools: crm · fallback: billing · isolate: process · concurrency: 2
             · max_steps: 7
  writer     Replies in plain words
             no tools

plan of 3 entries
  bill   Find the invoice that {request} is about.
         worker: billing
  tech   Diagnose {request}.
         worker: technical · for_each: logs · timeout_s: 30
  reply  Write one reply.
         worker: writer · depends_on: bill, tech · tolerates_missing: true

rules
  limits        timeout_s: 90
  ladder        max_attempts: 3
                backoff_s: 1, 2
                failed: retry, refine, fallback, raise_tier, give up
                out_of_scope: reassign, fallback, ask_person, give up
                ambiguous_input: refine, ask_person, give up
                low_confidence: raise_tier, second_opinion, accept, give up
                timeout: retry, split, raise_tier, fallback, give up
                breaker_failures: 5
                breaker_pause_s: 10
  shared_tools  crm
"""
    )


def test_a_team_without_a_template_is_shown_with_what_happens_then(tmp_path: Path) -> None:
    screen = Screen()
    show_team(str(write_team(tmp_path, "name: x\nladder: {max_attempts: 1}\n")), screen.console)
    assert "plan\n  without a template every worker gets one task, all at once\n" in screen.text
    assert "\nrules\n  ladder  max_attempts: 1\n" in screen.text


def test_a_stepwise_team_is_shown_with_its_limit_of_rounds(tmp_path: Path) -> None:
    screen = Screen()
    team = "name: x\nplanner: {kind: stepwise, max_rounds: 5}\n"
    show_team(str(write_team(tmp_path, team)), screen.console)
    assert (
        "  decided in at most 5 rounds; without a model every worker gets one task\n" in screen.text
    )


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_team_fits_the_terminal_and_lines_stay_readable(tmp_path: Path, width: int) -> None:
    folder = write_team(tmp_path, solo=worker(f"name: {'n' * 90}\ndescription: {'word ' * 80}"))
    screen = Screen(width)
    show_team(str(folder), screen.console)
    assert max(map(len, screen.text.splitlines())) <= min(width, 100)
    assert "n" * 90 in re.sub(r"(?m)^ +| .*$|\n", "", screen.text)


def test_a_team_as_json_has_the_names_that_its_files_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Screen(width=20)
    show_team(str(support(tmp_path)), screen.console, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == [
        "name", "description", "models", "workers", "planner", "early_start", "synthesizer",
        "output", "judge", "same_subject", "critic", "limits", "ladder", "rates", "answers",
        "contact", "max_depth", "routes", "router", "trained_router", "shared_tools",
        "report", "confidential", "requester_approves", "expires_s", "needs", "gives",
        "worker_factory",
    ]  # fmt: skip
    assert shown["workers"][1] == {
        "name": "technical",
        "description": "Diagnosis of errors",
        "tools": ["crm"],
        "tier": None,
        "model": None,
        "settings": {},
        "input": None,
        "output": None,
        "plain": False,
        "min_confidence": None,
        "max_tool_calls": 32,
        "max_output_mb": 1.0,
        "fallback": "billing",
        "retry": True,
        "read_only": False,
        "isolate": "process",
        "concurrency": 2,
        "limits": {"max_steps": 7},
        "offline": WORK,
        "draft": None,
        "offline_s": None,
        "run": None,
        "role": None,
        "max_queue": None,
        "expires_s": None,
        "team": None,
        "instructions": "Do it well.",
    }
    assert shown["planner"]["template"][2]["for_each"] == "logs"
    assert shown["ladder"] == {
        "max_attempts": 3,
        "backoff_s": [1.0, 2.0],
        "failed": ["retry", "refine", "fallback", "raise_tier"],
        "out_of_scope": ["reassign", "fallback", "ask_person"],
        "ambiguous_input": ["refine", "ask_person"],
        "low_confidence": ["raise_tier", "second_opinion", "accept"],
        "timeout": ["retry", "split", "raise_tier", "fallback"],
        "breaker_failures": 5,
        "breaker_pause_s": 10.0,
    }
    assert (shown["rates"], shown["max_depth"]) == ({}, 3)


STRICT = """\
name: strict
ladder:
  max_attempts: 2
  backoff_s: 5
  failed: [fallback]
  timeout: []
  breaker_failures: 1
  breaker_pause_s: 0.5
rates:
  openai:gpt-5: {rpm: 60, tpm: 100000}
  openai:gpt-5-mini: {concurrency: 4}
max_depth: 1
critic: {tier: strong}
judge: {model: "openai:gpt-5"}
routes:
  - {worker: solo, words: [bill], labels: [money]}
  - {worker: solo}
"""


def test_a_team_is_shown_with_its_own_ladder_rates_and_roles(tmp_path: Path) -> None:
    screen = Screen()
    show_team(str(write_team(tmp_path, STRICT)), screen.console)
    assert (
        screen.text.partition("rules\n")[2]
        == """\
  judge      model: openai:gpt-5
  critic     tier: strong
  ladder     max_attempts: 2
             backoff_s: 5
             failed: fallback, give up
             out_of_scope: reassign, fallback, ask_person, give up
             ambiguous_input: refine, ask_person, give up
             low_confidence: raise_tier, second_opinion, accept, give up
             breaker_failures: 1
             breaker_pause_s: 0.5
  rates      openai:gpt-5: rpm: 60 · tpm: 100000
             openai:gpt-5-mini: concurrency: 4
  max_depth  1
  routes     worker: solo · words: bill · labels: money
             worker: solo
"""
    )


def test_of_a_single_attempt_only_what_can_still_be_done_is_shown(tmp_path: Path) -> None:
    screen = Screen()
    show_team(str(write_team(tmp_path, "name: x\nladder: {max_attempts: 1}\n")), screen.console)
    shown = screen.text.partition("ladder  ")[2].splitlines()
    assert [line.strip() for line in shown[:4]] == [
        "max_attempts: 1",
        "backoff_s: 1, 2",
        "low_confidence: accept, give up",
        "breaker_failures: 5",
    ]


MODELS = """\
models: {fast: a:small, standard: [b:one, c:two]}
planner: {tier: strong, settings: {temperature: 0}, instructions: Few tasks.}
synthesizer: {model: d:big, plain: true, instructions: Be brief.}
"""


def with_models(folder: Path) -> Path:
    return write_team(
        folder,
        MODELS,
        adder=(
            "---\ndescription: Adds up\ntools: calculate, tests.teams.test_tools:find_invoice\n"
            "tier: fast\nsettings: {max_tokens: 90}\noutput: tests.teams.test_outputs:Reply\n"
            "min_confidence: 70\n---\nAdd.\n"
        ),
        clerk="---\ndescription: Files\nmodel: e:own\noutput: {type: object}\n---\nFile.\n",
        poet="---\ndescription: Rhymes\nplain: true\n---\nRhyme.\n",
        teller=f"---\ndescription: Counts\nrun: {WORK}\n---\n",
    )


def test_a_team_is_shown_with_the_models_that_it_names(tmp_path: Path) -> None:
    screen = Screen(120)
    show_team(str(with_models(tmp_path)), screen.console)
    assert (
        """\
  adder   Adds up
          tools: calculate, tests.teams.test_tools:find_invoice · tier: fast · settings: max_tokens:
          90 · output: tests.teams.test_outputs:Reply {text: string} · min_confidence: 70
  clerk   Files
          no tools · model: e:own · output: object
  poet    Rhymes
          no tools · plain: true
  teller  Counts
          no tools · run: tests.team_folders:work
"""
        in screen.text
    )
    assert (
        """\
rules
  models       fast: a:small · standard: b:one, c:two · strong: b:one, c:two
  planner      tier: strong · settings: temperature: 0 · own instructions
  synthesizer  model: d:big · plain: true · own instructions
"""
        in screen.text
    )


def test_one_model_for_every_tier_is_said_once(tmp_path: Path) -> None:
    screen = Screen()
    show_team(str(write_team(tmp_path, "model: a:b\n")), screen.console)
    assert "\nrules\n  models  a:b for every tier\n  ladder  max" in screen.text


def test_a_team_as_json_has_its_models_settings_and_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Screen()
    show_team(str(with_models(tmp_path)), screen.console, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert shown["models"] == {
        "fast": ["a:small"],
        "standard": ["b:one", "c:two"],
        "strong": ["b:one", "c:two"],
    }
    assert shown["synthesizer"] == {
        "strategy": "merge",
        "tier": "standard",
        "model": "d:big",
        "settings": {},
        "instructions": "Be brief.",
        "plain": True,
        "run": None,
    }
    adder, clerk, poet, teller = shown["workers"]
    assert adder["tools"] == ["calculate", "tests.teams.test_tools:find_invoice"]
    assert (adder["tier"], adder["settings"]) == ("fast", {"max_tokens": 90})
    assert adder["output"]["properties"]["text"]["type"] == "string"
    assert (clerk["model"], clerk["output"]) == ("e:own", {"type": "object"})
    assert (poet["plain"], poet["offline"], poet["run"]) == (True, None, None)
    assert teller["run"] == WORK
