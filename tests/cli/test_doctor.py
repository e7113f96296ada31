"""`leadhand doctor`: what is there, which models would be used, what fails and how to fix it."""

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from leadhand.cli.doctor.command import EXTRAS
from leadhand.cli.doctor.trials import trials_of
from leadhand.cli.home import state_folder
from leadhand.testing import ScriptedModel, ScriptedServer, run_virtual
from leadhand.testing.json_data import Json
from tests.cli.program import leadhand
from tests.cli.support_team import support_team
from tests.programs import Ended
from tests.scripted_server import start_over

ROOT = Path(__file__).parent.parent.parent


def doctor(*arguments: str, folder: Path, env: dict[str, str] | None = None) -> Ended:
    """What `leadhand doctor ARGUMENTS` says, where nothing but `env` names a model."""
    clean = {"PYTHONPATH": str(ROOT), "LEADHAND_MODEL": "none", "LEADHAND_HOME": str(folder)}
    return leadhand("doctor", *arguments, folder=folder, env={**clean, **(env or {})})


def asked(scripted: ScriptedServer) -> dict[str, str]:
    """The environment in which the scripted server's model is used."""
    return {**scripted.env(), "LEADHAND_MODEL": "scripted"}


def test_without_a_model_all_is_well_and_nothing_is_asked(tmp_path: Path) -> None:
    ended = doctor(folder=tmp_path)
    assert ended.status == 0
    assert "no model, from LEADHAND_MODEL: engine deterministic" in ended.out
    # A long path is folded to the width of the screen, wherever it has to be.
    assert f"state{tmp_path}" in "".join(ended.out.split())
    assert "trials" not in ended.out
    assert ended.out.rstrip().endswith("everything works")


def test_the_extras_are_those_that_leadhand_has() -> None:
    declared = importlib.metadata.metadata("leadhand").get_all("Provides-Extra") or []
    assert set(EXTRAS) == {*declared} - {"dev"}


def test_a_model_is_put_through_four_trials(tmp_path: Path, scripted: ScriptedServer) -> None:
    ended = doctor("--json", folder=tmp_path, env=asked(scripted))
    report = json.loads(ended.out)
    assert ended.status == 0
    assert report["healthy"] is True
    assert report["models"]["roles"] == {
        "planner": "openai-chat:scripted",
        "synthesizer": "openai-chat:scripted",
        "judge": "openai-chat:scripted",
    }
    trials = report["trials"]["openai-chat:scripted"]
    assert [(trial["name"], trial["passed"]) for trial in trials] == [
        ("plain answer", True),
        ("tool call", True),
        ("answer in a form", True),
        ("context length", True),
    ]
    assert trials[3]["found"].startswith(
        "neither its server nor its maker says it; tasks with tools"
    )
    assert scripted.stats().requests == 3


def test_the_models_of_a_team_are_told_by_role(tmp_path: Path, scripted: ScriptedServer) -> None:
    team = support_team(tmp_path, "find")
    ended = doctor("--team", str(team), folder=tmp_path, env=asked(scripted))
    assert "models: openai-chat:scripted for every role, from LEADHAND_MODEL" in ended.out
    assert "  openai-chat:scripted: planner, synthesizer, judge, find" in ended.out


def test_a_model_that_calls_no_tools_is_named_with_what_to_do(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    rules: list[Mapping[str, Json]] = [
        {"match": {"tool": "add"}, "reply": {"text": "It is 24003."}},
        {"match": {"contains": "Eiffel"}, "reply": {"text": "Paris, I believe."}},
    ]
    start_over(scripted, rules)
    ended = doctor(folder=tmp_path, env=asked(scripted))
    assert ended.status == 3
    words = " ".join(ended.out.split())
    assert "✗ tool call it answered in words and called no tool workers with tools" in words
    assert "✗ answer in a form as `tool` it answered in words, without the form;" in words
    assert "as `prompted` it answered in words, without the form plans and" in words
    assert "✓ context length" in words
    assert ended.out.rstrip().endswith("failed: tool call, answer in a form")


def test_the_first_way_that_works_is_named_and_remembered(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    rules: list[Mapping[str, Json]] = [
        {"match": {"tool": "propose_plan"}, "reply": {"text": "Paris, I believe."}},
        {
            "match": {"tool": "add"},
            "reply": {
                "tool_calls": [{"name": "add", "arguments": {"a": 20417, "b": 3586}}],
                "misbehave": {"as_text": "tool_call"},
            },
        },
    ]
    start_over(scripted, rules)
    scripted.configure(context_tokens=16_384)
    ended = doctor(folder=tmp_path, env=asked(scripted))
    assert ended.status == 0
    words = " ".join(ended.out.split())
    assert "✓ tool call called with valid arguments, as text" in words
    assert "✓ answer in a form a plan, as `native`; as `tool` it answered in" in words
    assert "LEADHAND_ANSWERS=native saves finding that out" in words
    assert "✓ context length 16,384 tokens, as its server says" in words
    (kept,) = json.loads((tmp_path / "models.json").read_text()).values()
    assert kept["way"] == "native"


@pytest.mark.parametrize(
    ("rate", "plain", "form"),
    [
        (0.1, "it is slow: 5 tokens in 60 s, 0.1 a second", None),
        (
            5.0,
            None,
            "as `tool` it wrote without end: 299 tokens in 60 s, 5.0 a second; as `native`",
        ),
        (50.0, None, "as `tool` it wrote without end, at 50 tokens a second; as `native` it wrote"),
    ],
)
def test_a_model_without_end_is_told_from_a_slow_one_by_its_tokens_a_second(
    tmp_path: Path, rate: float, plain: str | None, form: str | None
) -> None:
    """F54"""
    model = ScriptedModel(
        tokens_per_s=rate,
        script=[
            {"match": {"contains": "Say the word"}, "reply": {"text": "ready, so I say: ready"}},
            {
                "match": {"contains": "Eiffel"},
                "reply": {"text": "Paris", "misbehave": {"endless": True}},
            },
        ],
    )
    checks = {one.name: one for one in run_virtual(trials_of(model.model, tmp_path))}
    if plain is not None:
        assert checks["plain answer"].found == plain
        assert checks["plain answer"].fix == "use a faster model, or a faster machine"
    if form is not None:
        assert checks["plain answer"].passed
        assert checks["answer in a form"].found.startswith(form)


def test_f36_a_key_that_is_refused_is_told_and_no_key_is_shown(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    """F36"""
    rules: list[Mapping[str, Json]] = [{"reply": {"misbehave": {"401": True}}}]
    start_over(scripted, rules)
    env = {**asked(scripted), "OPENAI_API_KEY": "sk-very-secret"}
    texts = [doctor(*options, folder=tmp_path, env=env) for options in ((), ("--json",))]
    assert [ended.status for ended in texts] == [3, 3]
    assert "the key was refused" in " ".join(texts[0].out.split())
    assert "OPENAI_API_KEY" in texts[0].out
    assert all("very-secret" not in ended.out + ended.err for ended in texts)
    trials = json.loads(texts[1].out)["trials"]["openai-chat:scripted"]
    assert [trial["name"] for trial in trials] == ["plain answer"]


@pytest.mark.parametrize("option", ["opnai:gpt-5-mini", "gpt-6-luna"])
def test_a_name_that_cannot_be_right_is_a_finding(tmp_path: Path, option: str) -> None:
    ended = doctor("--model", option, folder=tmp_path)
    assert ended.status == 3
    assert "✗  models" in ended.out
    assert "openai:" in ended.out
    assert ended.err == "checking the installation\n"


def test_a_way_to_answer_that_does_not_exist_is_a_finding(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    env = {**asked(scripted), "LEADHAND_ANSWERS": "nonsense"}
    ended = doctor(folder=tmp_path, env=env)
    assert ended.status == 3
    assert "write one of tool, native, prompted" in " ".join(ended.out.split())


def test_a_state_folder_that_cannot_be_written_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = doctor(folder=tmp_path, env={"LEADHAND_HOME": str(tmp_path / "file" / "home")})
    assert ended.status == 3
    assert "set LEADHAND_HOME to a folder that can" in ended.out
    assert not (tmp_path / "file" / "home").exists()


def test_the_state_folder_is_the_variables_else_the_platforms() -> None:
    assert state_folder({"LEADHAND_HOME": "/a/b"}) == Path("/a/b")
    assert state_folder({"XDG_DATA_HOME": "/data"}).name == "leadhand"
    assert state_folder({}).is_absolute()
