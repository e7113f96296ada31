"""Confidential teams: no hosted model but one that is asked for, whatever the environment has."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from leadhand import Supervisor, Team, Worker
from leadhand.models.choice import ModelChoice, choose, models_of, resolve_auto
from leadhand.models.detection import LocalServer
from leadhand.testing import ScriptedServer
from tests.cli.program import leadhand
from tests.patience import HANG_S
from tests.team_folders import write_team

SECRET = Team("clinic", confidential=True, workers=[Worker("nurse", "Reads", offline=len)])
AROUND = Team("house", workers=[Worker("clinic", "Reads", team=SECRET)])
WITHIN = replace(
    SECRET, workers=[Worker("inner", "Reads", team=replace(SECRET, confidential=False))]
)
OWN = replace(SECRET, model="openai:gpt-5-mini")
KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
SAID = "team clinic is confidential, no hosted model without --model or LEADHAND_MODEL; "


def chosen(
    team: Team,
    environ: Mapping[str, str],
    model: str | None = None,
    servers: tuple[LocalServer, ...] = (),
) -> ModelChoice:
    work = choose(team, model=model, no_model=False, environ=environ, servers=servers)
    return asyncio.run(work)


@pytest.mark.parametrize("team", [SECRET, AROUND, WITHIN, OWN], ids=lambda team: team.name)
def test_no_key_address_or_own_model_counts(team: Team) -> None:
    choice = chosen(team, KEYS)
    assert models_of(choice.team) == []
    assert "is confidential, no hosted model without --model or LEADHAND_MODEL" in choice.why
    assert choice.why.endswith("no model found: engine deterministic")


def test_a_model_that_is_asked_for_is_used_and_named() -> None:
    choice = chosen(SECRET, KEYS, model="openai:gpt-5-mini")
    assert models_of(choice.team) == ["openai:gpt-5-mini"]
    said = "openai:gpt-5-mini for every role, from --model; team clinic is confidential"
    assert choice.why == said
    by_variable = chosen(SECRET, {**KEYS, "LEADHAND_MODEL": "openai:gpt-5-mini"})
    assert models_of(by_variable.team) == ["openai:gpt-5-mini"]


def test_a_server_on_this_machine_is_used(model_process: ScriptedServer) -> None:
    model_process.reset(model="house-model")
    port = int(model_process.url.split(":")[2].removesuffix("/v1"))
    server = LocalServer("Ollama", port, "ollama", "OLLAMA_BASE_URL", HANG_S)
    choice = chosen(SECRET, KEYS, servers=(server,))
    assert models_of(choice.team) == ["ollama:house-model"]
    assert choice.why.startswith(SAID)


@pytest.mark.parametrize("team", [SECRET, WITHIN], ids=["team", "inner team"])
def test_looking_for_a_model_in_python_keeps_to_it(team: Team) -> None:
    auto = replace(team, model="auto")
    if team is WITHIN:
        inner = team.workers[0].team
        assert inner is not None
        nested = replace(team.workers[0], team=replace(inner, model="auto"))
        auto = replace(team, workers=[nested])
    choice = asyncio.run(resolve_auto(auto, KEYS, ()))
    assert models_of(choice.team) == []
    assert "is confidential" in choice.why


def test_a_model_of_the_program_itself_is_the_programs_choice() -> None:
    assert models_of(OWN) == ["openai:gpt-5-mini"]
    Supervisor(OWN)


def test_run_says_so_before_it_does_anything_and_show_says_it(tmp_path: Path) -> None:
    solo = "---\ndescription: Works\noffline: solo:work\n---\n"
    write_team(tmp_path / "clinic", "name: clinic\nconfidential: true\n", solo=solo)
    (tmp_path / "clinic" / "solo.py").write_text("def work(handoff):\n    return 'done'\n")
    words = ("run", "x", "--team", "clinic", "--home", "home")
    done = leadhand(*words, folder=tmp_path, env={**KEYS, "LEADHAND_LOCAL_MODELS": "0"})
    assert (done.status, done.out.splitlines()[0]) == (0, "done")
    loading, said, *_ = done.err.splitlines()
    assert loading == "loading team clinic"
    assert said == f"{SAID}no model found: engine deterministic"
    shown = leadhand("teams", "show", "clinic", folder=tmp_path)
    assert "confidential  true" in shown.out
