"""Which models a team gets: first those asked for, then its own, then those available."""

import asyncio
from collections.abc import Mapping

import pytest
from pydantic_ai.models import known_model_names

from leadhand.contracts.team import Role, Team, Worker
from leadhand.errors import InputError
from leadhand.models.choice import ModelChoice, choose, models_by_role, models_of
from leadhand.models.defaults import PROVIDERS, KeyedProvider
from leadhand.models.detection import LocalServer
from leadhand.models.names import check_names
from leadhand.testing import ScriptedServer
from tests.patience import HANG_S
from tests.test_house import WITHOUT_MODELS, loaded_by

TEAM = Team(
    "support",
    workers=(
        Worker("billing", "Invoices"),
        Worker("technical", "Errors", tier="strong"),
        Worker("count", "Counts words", run=len),
    ),
)
OWN = Team(
    "own",
    workers=(Worker("a", "Does a", model="anthropic:claude-opus-5-5"), Worker("b", "Does b")),
    models={"fast": ("openai:gpt-6-luna",), "strong": ("openai:gpt-6.1-sol",)},
    planner=Role(tier="strong"),
    synthesizer=Role(model="groq:openai/gpt-oss-120b"),
)


def chosen(
    team: Team = TEAM,
    environ: Mapping[str, str] | None = None,
    *,
    model: str | None = None,
    no_model: bool = False,
    servers: tuple[LocalServer, ...] = (),
) -> ModelChoice:
    """The choice with only `environ` and `servers`."""
    return asyncio.run(
        choose(team, model=model, no_model=no_model, environ=environ or {}, servers=servers)
    )


@pytest.fixture
def server(model_process: ScriptedServer) -> ScriptedServer:
    model_process.reset(model="house-model")
    return model_process


def test_without_anything_at_hand_a_team_is_deterministic() -> None:
    choice = chosen()
    assert choice.team == TEAM
    assert choice.why == "no model found: engine deterministic"
    assert models_by_role(choice.team) == {}


def test_one_model_fills_every_tier_and_overrides_the_own_ones_of_workers_and_roles() -> None:
    choice = chosen(OWN, {"LEADHAND_MODEL": "openai:other"}, model="openai:gpt-5-mini")
    assert set(models_by_role(choice.team).values()) == {"openai:gpt-5-mini"}
    assert set(choice.team.tiers.values()) == {("openai:gpt-5-mini",)}
    assert choice.why == "openai:gpt-5-mini for every role, from --model"


def test_the_environment_variable_comes_before_the_teams_own() -> None:
    choice = chosen(OWN, {"LEADHAND_MODEL": "openai:gpt-5-mini", "OPENAI_API_KEY": "k"})
    assert set(models_by_role(choice.team).values()) == {"openai:gpt-5-mini"}
    assert choice.why.endswith("from LEADHAND_MODEL")


def test_the_teams_own_come_before_the_environments_keys() -> None:
    choice = chosen(OWN, {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert choice.team == OWN
    assert choice.why == (
        "openai:gpt-6-luna (fast), openai:gpt-6.1-sol (standard), openai:gpt-6.1-sol (strong), "
        "from team own"
    )
    assert models_by_role(choice.team) == {
        "planner": "openai:gpt-6.1-sol",
        "synthesizer": "groq:openai/gpt-oss-120b",
        "judge": "openai:gpt-6.1-sol",
        "a": "anthropic:claude-opus-5-5",
        "b": "openai:gpt-6.1-sol",
    }


@pytest.mark.parametrize("model", [None, "none"])
def test_no_model_strips_every_one_and_leaves_the_functions(model: str | None) -> None:
    team = Team("t", workers=(Worker("w", "d", run=len, model="openai:x"),), model="openai:y")
    choice = chosen(team, {"OPENAI_API_KEY": "k"}, model=model, no_model=model is None)
    assert models_of(choice.team) == []
    assert choice.team.workers[0].run is len
    assert choice.why.startswith("no model, from --")


def test_asking_for_a_model_and_for_none_is_a_contradiction() -> None:
    with pytest.raises(InputError, match="--model and --no-model exclude each other"):
        chosen(model="openai:gpt-5-mini", no_model=True)


def test_an_empty_name_is_refused_and_an_empty_variable_is_none_at_all() -> None:
    with pytest.raises(InputError, match="--model names no model"):
        chosen(model=" ")
    assert chosen(environ={"LEADHAND_MODEL": "", "OPENAI_API_KEY": " "}).team == TEAM


def test_a_key_stands_for_a_model_of_each_tier_and_is_not_shown() -> None:
    choice = chosen(environ={"ANTHROPIC_API_KEY": "secret-key"})
    assert models_by_role(choice.team) == {
        "planner": "anthropic:claude-sonnet-5-5",
        "synthesizer": "anthropic:claude-sonnet-5-5",
        "judge": "anthropic:claude-sonnet-5-5",
        "billing": "anthropic:claude-sonnet-5-5",
        "technical": "anthropic:claude-opus-5-5",
        "count": "function",
    }
    assert choice.why.endswith("because ANTHROPIC_API_KEY is set")
    assert "secret-key" not in choice.why


def test_a_key_whose_provider_is_not_installed_is_passed_over_and_named() -> None:
    missing = next(row for row in PROVIDERS if not row.installed)
    choice = chosen(environ={missing.variable: "k"})
    assert models_by_role(choice.team) == {}
    assert choice.why == (
        f"no model found ({missing.variable} is set, but needs "
        f'"pydantic-ai-slim[{missing.extra}]" installed): engine deterministic'
    )
    both = chosen(environ={missing.variable: "k", "ANTHROPIC_API_KEY": "k"})
    assert both.why.endswith("because ANTHROPIC_API_KEY is set")


@pytest.mark.parametrize("row", PROVIDERS, ids=lambda row: row.variable)
def test_every_default_is_a_model_that_pydantic_ai_knows(row: KeyedProvider) -> None:
    # Of a router's models pydantic-ai lists none: it has them under their makers' names.
    named = {
        spec.removeprefix("openrouter:").replace("/", ":", 1) if row.provider == "openrouter"
        else spec
        for spec in row.tiers.values()
    }  # fmt: skip
    assert named <= set(known_model_names())


def test_every_provider_that_needs_another_package_says_which_extra_brings_it() -> None:
    assert all(row.extra or row.package in ("openai", "anthropic") for row in PROVIDERS)


def test_with_a_base_url_a_bare_name_means_the_chat_completions_protocol() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "LEADHAND_MODEL": "qwen3"}
    assert chosen(environ=environ).team.model == "openai-chat:qwen3"
    own = Team(
        "t",
        workers=(Worker("w", "d", model="qwen3"),),
        models={"fast": ("small", "openai:gpt-5-mini")},
        planner=Role(model="big"),
    )
    assert models_of(chosen(own, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}).team) == [
        "openai-chat:small",
        "openai:gpt-5-mini",
        "openai-chat:big",
        "openai-chat:qwen3",
    ]


def test_with_a_base_url_and_no_name_the_first_model_listed_there_is_used(
    server: ScriptedServer,
) -> None:
    choice = chosen(environ=server.env())
    assert choice.team.model == "openai-chat:house-model"
    assert choice.why.endswith("for every role, the first model at OPENAI_BASE_URL")


def test_f36_a_base_url_that_lists_no_models_is_an_error_that_shows_no_secret() -> None:
    """F36"""
    with pytest.raises(InputError, match="no model is named, and OPENAI_BASE_URL") as error:
        chosen(environ={"OPENAI_BASE_URL": "http://u:hunter2@127.0.0.1:9/v1?key=hunter3"})
    assert "http://127.0.0.1:9/v1" in str(error.value)
    assert "give --model NAME, or --no-model" in str(error.value)
    assert "hunter" not in str(error.value)


def test_a_server_on_this_machine_is_used_last_and_its_address_given(
    server: ScriptedServer,
) -> None:
    port = int(server.url.split(":")[2].removesuffix("/v1"))
    local = LocalServer("Ollama", port, "ollama", "OLLAMA_BASE_URL", HANG_S)
    choice = chosen(servers=(local,))
    assert choice.team.model == "ollama:house-model"
    assert choice.environ == {"OLLAMA_BASE_URL": server.url}
    found = f"ollama:house-model for every role, found at Ollama on port {port}"
    how = "--no-model or LEADHAND_LOCAL_MODELS=0 if it should not be used"
    assert choice.why == f"{found}; {how}"
    with_key = chosen(environ={"OPENAI_API_KEY": "k"}, servers=(local,))
    assert with_key.why.endswith("because OPENAI_API_KEY is set")
    barred = chosen(environ={"LEADHAND_LOCAL_MODELS": "0"}, servers=(local,))
    assert (barred.team.model, barred.environ) == (None, {})


def test_a_worker_named_like_a_role_is_shown_beside_it() -> None:
    team = Team("t", workers=(Worker("planner", "Plans trips", run=len),), model="openai:x")
    assert models_by_role(team)["planner (worker)"] == "function"
    assert models_by_role(team)["planner"] == "openai:x"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opnai:gpt-5-mini", "has an unknown provider: did you mean openai:gpt-5-mini?"),
        ("xyzzy:gpt", "has an unknown provider: write one of openai:NAME"),
        ("gpt-6-luna", "names no provider: write openai:gpt-6-luna"),
        ("nothing-like-it", "write provider:nothing-like-it, as in openai:nothing-like-it"),
        ("openai:", "names no model"),
    ],
)
def test_a_name_that_cannot_be_right_is_one_clear_line_with_the_nearest_guess(
    spec: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError) as error:
        asyncio.run(check_names([spec]))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_with_a_colon_and_a_base_url_gets_a_hint(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedServer
) -> None:
    for name, value in server.env().items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match="write openai-chat:qwen3:8b"):
        asyncio.run(check_names(["qwen3:8b"]))
    asyncio.run(check_names(["openai-chat:qwen3:8b", "openai:gpt-5-mini"]))


def test_choosing_loads_nothing_that_calls_models() -> None:
    loaded = loaded_by(WITHOUT_MODELS)
    assert "leadhand.models.choice" in loaded
    assert loaded.isdisjoint({"pydantic_ai", "httpx2", "openai"})
