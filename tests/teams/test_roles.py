"""Judge and critic in a team's file; without the key there is no critic."""

from pathlib import Path

import pytest

from leadhand.contracts.team import Role
from leadhand.errors import TeamError
from leadhand.teams.loader import inspect, load

WORKER = "---\ndescription: Reads invoices\n---\nRead them.\n"


def folder(tmp_path: Path, team: str) -> Path:
    """A team with one worker and this team.yaml."""
    (tmp_path / "workers").mkdir()
    (tmp_path / "workers" / "billing.md").write_text(WORKER)
    (tmp_path / "team.yaml").write_text(team)
    return tmp_path


def test_a_team_has_a_judge_and_no_critic_unless_it_names_one(tmp_path: Path) -> None:
    team = load(folder(tmp_path, "description: Invoices\ncritic:\n"))
    assert (team.judge, team.critic) == (Role(), None)
    assert set(team.roles) == {"planner", "synthesizer", "judge"}


def test_judge_and_critic_are_read_with_their_models_and_words(tmp_path: Path) -> None:
    said = (
        "judge: {model: 'openai:gpt-5', settings: {temperature: 0}}\n"
        "critic: {tier: strong, instructions: Mind the totals.}\n"
    )
    team = load(folder(tmp_path, said))
    assert team.judge == Role(model="openai:gpt-5", settings={"temperature": 0})
    assert team.critic == Role(tier="strong", instructions="Mind the totals.")
    assert set(team.roles) == {"planner", "synthesizer", "judge", "critic"}


def test_what_is_wrong_with_them_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(TeamError) as caught:
        load(folder(tmp_path, "judge: strict\ncritic:\n  tier: best\n"))
    said = "\n".join(caught.value.problems)
    assert "team.yaml:1: `judge` is 'strict'" in said
    assert "team.yaml:3: `tier` is 'best'" in said


def test_a_tier_beside_a_model_is_warned_of(tmp_path: Path) -> None:
    found = inspect(folder(tmp_path, "critic:\n  tier: fast\n  model: openai:gpt-5\n"))
    assert ["team.yaml:2:" in warning for warning in found.warnings] == [True]
