"""Models in a team's files: how they are loaded, and messages about mistakes."""

from pathlib import Path

import pytest

from leadhand.contracts.team import Role
from leadhand.teams.loader import load
from tests.team_folders import WORK, problems, warnings, worker, write_team


def model_worker(front: str = "", body: str = "Do it well.") -> str:
    """A worker's file for a model: without a function."""
    return f"---\ndescription: Does a thing\n{front}\n---\n{body}\n"


# What a folder becomes


def test_tiers_have_one_model_or_several_to_fall_back_along(tmp_path: Path) -> None:
    team = load(
        write_team(
            tmp_path,
            "model: openai:gpt-5\n"
            "models:\n  fast: ollama:llama3:8b\n  strong: [anthropic:opus, openrouter:a/b]\n",
        )
    )
    assert team.model == "openai:gpt-5"
    assert team.models == {
        "fast": ("ollama:llama3:8b",),
        "strong": ("anthropic:opus", "openrouter:a/b"),
    }
    assert team.tiers["standard"] == ("openai:gpt-5",)


@pytest.mark.parametrize("key", ["model", "models"])
def test_one_model_is_for_every_tier(tmp_path: Path, key: str) -> None:
    team = load(write_team(tmp_path, f"{key}: openai:gpt-5\n"))
    assert team.tiers == dict.fromkeys(("fast", "standard", "strong"), ("openai:gpt-5",))


def test_a_team_that_names_no_model_has_none(tmp_path: Path) -> None:
    team = load(write_team(tmp_path))
    assert (team.tiers, team.planner, team.synthesizer) == ({}, Role(), Role())


def test_roles_have_their_model_settings_and_instructions(tmp_path: Path) -> None:
    team = load(
        write_team(
            tmp_path,
            "planner:\n  tier: strong\n  settings: {temperature: 0, openai_reasoning_effort: low}\n"
            "  instructions: Few tasks.\n"
            "synthesizer:\n  model: openai:gpt-5\n  plain: true\n"
            "  instructions: |\n    Be\n    brief.\n",
        )
    )
    assert team.planner == Role(
        tier="strong",
        settings={"temperature": 0.0, "openai_reasoning_effort": "low"},
        instructions="Few tasks.",
    )
    assert team.synthesizer == Role(model="openai:gpt-5", plain=True, instructions="Be\nbrief.\n")
    assert team.synthesis == "merge"


def test_a_worker_has_what_its_front_matter_says_of_its_model(tmp_path: Path) -> None:
    front = (
        "model: anthropic:opus\nsettings:\n  max_tokens: 900\n  stop_sequences: [END]\n"
        "  thinking: high\nmin_confidence: 60\nmax_steps: 4"
    )
    team = load(
        write_team(
            tmp_path, a=model_worker(front), b=model_worker("name: b\ntier: fast\nplain: true")
        )
    )
    one, other = team.workers
    assert (one.model, one.tier, one.min_confidence, one.limits.max_steps) == (
        "anthropic:opus", None, 60, 4,
    )  # fmt: skip
    assert one.settings == {"max_tokens": 900, "stop_sequences": ["END"], "thinking": "high"}
    assert (one.run, one.offline, one.plain) == (None, None, False)
    assert (other.model, other.tier, other.plain) == (None, "fast", True)


def test_a_function_that_always_does_the_work_is_told_from_one_without_a_model(
    tmp_path: Path,
) -> None:
    always = f"---\ndescription: Counts\nrun: {WORK}\n---\n"
    solo, run = load(write_team(tmp_path, run=always, a=worker("description: Else"))).workers
    assert (solo.run, getattr(solo.offline, "__name__", None)) == (None, "work")
    assert (getattr(run.run, "__name__", None), run.offline) == ("work", None)


# Subagent files that people have already


def test_inherit_is_no_model_of_its_own(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo=model_worker("model: inherit"))
    assert warnings(folder) == []
    assert load(folder).workers[0].model is None


def test_other_programs_names_of_models_are_taken_for_tiers(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo=model_worker("color: blue\nmodel: opus"))
    assert warnings(folder) == [
        "workers/solo.md:3: `color` has no effect in this version",
        "workers/solo.md:4: 'opus' is no `provider:model`: it is read as `tier: strong`, which "
        "works with any provider",
    ]
    assert (load(folder).workers[0].model, load(folder).workers[0].tier) == (None, "strong")


# What is wrong, and where


@pytest.mark.parametrize(
    ("team", "said"),
    [
        ("models: {fats: a:b}", ":1: `fats` is unknown here: it must be `fast`, `standard` or `st"),
        ("models: a b", ":1: `models` is 'a b' and must be `provider:model`, for example `openai:"),
        ("models:\n  fast:\n    - a:b\n    - 'a: b'", ":4: item 2 of `fast` is 'a: b' and must be"),
        ("models: {fast: []}", ":1: `fast` is empty: write something, or leave the key out"),
        ("models: 3", ":1: `models` is 3 and must have `key: value` lines"),
        ("model: [a]", ":1: `model` is a list and must be text"),
        ("planner: {tier: best}", ":1: `tier` is 'best' and must be 'fast', 'standard' or 's"),
        ("planner:\n  settings:\n    temperature: hot", ":3: `temperature` is 'hot' and must be"),
        ("planner: {settings: [a]}", ":1: `settings` is a list and must have `key: value` lines"),
        ("planner: {settings: {thinking: hgh}}", ":1: `thinking` is 'hgh' and must be true, fal"),
        ("planner: {settings: {own: .inf}}", ":1: `settings` is a mapping and contains a number"),
        ("planner: {settings: {logit_bias: {a: b}}}", ":1: `a` is 'b' and must be a whole number"),
        ("synthesizer: {plain: very}", ":1: `plain` is 'very' and must be true or false"),
        ("synthesizer: ''", ":1: `synthesizer` is empty: write something, or leave the key out"),
        ("limits: {tier: best}", ":1: `tier` is 'best' and must be 'fast', 'standard' or 'strong'"),
    ],
)  # fmt: skip
def test_what_team_yaml_gets_wrong_is_named(tmp_path: Path, team: str, said: str) -> None:
    (found,) = problems(write_team(tmp_path, team))
    assert found.startswith(f"team.yaml{said}")


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("tier: best", ":3: `tier` is 'best' and must be 'fast', 'standard' or 'strong'"),
        ("model: 'openai:'", ":3: `model` is 'openai:' and must be `provider:model`, for example"),
        ("settings: {max_tokens: -1}", ":3: `max_tokens` is -1 and must be greater than 0"),
        (
            "min_confidence: 101",
            ":3: `min_confidence` is 101 and must be less than or equal to 100",
        ),
        ("plain: true\ntools: calculate", ":3: 'solo' is plain and so can have neither tools nor"),
        ("plain: true\noutput: {type: object}", ":3: 'solo' is plain and so can have neither"),
        ("run: count", ":3: `run` is 'count' and must name a function as `module:function`"),
    ],
)
def test_what_a_worker_gets_wrong_is_named(tmp_path: Path, front: str, said: str) -> None:
    (found,) = problems(write_team(tmp_path, solo=model_worker(front)))
    assert found.startswith(f"workers/solo.md{said}")


def test_mistakes_about_models_do_not_hide_others(tmp_path: Path) -> None:
    team = (
        "models: a b\nsynthesizer: 3\nplanner: {template: [{id: a, worker: nobody, intent: x}]}\n"
    )
    found = problems(write_team(tmp_path, team))
    assert [line.partition(" is ")[0] for line in found] == [
        "team.yaml:1: `models`",
        "team.yaml:2: `synthesizer`",
        "team.yaml:3: template entry 'a'",
    ]


def test_what_has_no_effect_is_warned_of(tmp_path: Path) -> None:
    folder = write_team(
        tmp_path,
        "model: a:b\n"
        "models: a:c\n"
        "planner: {tier: fast, model: a:d, plain: true}\n"
        "synthesizer: {plain: true, settings: {temprature: 1, own_thing: 2}}\n",
        one=model_worker("tier: fast\nmodel: a:b"),
        two=model_worker(f"name: two\nrun: {WORK}\ntier: fast\noffline: {WORK}").replace(
            "Does a thing", "Counts"
        ),
        three=model_worker("plain: true\nmin_confidence: 3").replace("Does a thing", "Paints"),
    )
    assert [line.partition(": ")[0] for line in warnings(folder)] == [
        "team.yaml:1",
        "team.yaml:3",
        "team.yaml:3",
        "team.yaml:4",
        "team.yaml:4",
        "workers/one.md:3",
        "workers/three.md:4",
        "workers/two.md:5",
        "workers/two.md:6",
    ]
    said = "\n".join(warnings(folder))
    assert "`temprature` is passed on unchanged: did you mean `temperature`?" in said
    assert "own_thing" not in said
    assert "`run` always does the work of 'two': `tier` has no effect" in said
