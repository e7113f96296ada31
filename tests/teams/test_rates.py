"""`rates:` of team.yaml: how fast models may be asked, by name."""

from pathlib import Path

from leadhand.contracts.budget import Rate
from leadhand.teams.loader import load
from tests.team_folders import warnings, worker, write_team

RATES = """\
model: openai:gpt-5
rates:
  openai:gpt-5: {rpm: 60, concurrency: 4}
  openai:gpt-5-mini:
    tpm: 100_000
  other:local: {}
"""


def test_rates_are_read_for_each_model(tmp_path: Path) -> None:
    assert load(write_team(tmp_path, RATES)).rates == {
        "openai:gpt-5": Rate(rpm=60, concurrency=4),
        "openai:gpt-5-mini": Rate(tpm=100_000),
        "other:local": Rate(),
    }
    assert load(write_team(tmp_path, "name: x\n")).rates == {}


def test_a_rate_of_a_model_that_is_nearly_the_teams_is_doubted_with_its_line(
    tmp_path: Path,
) -> None:
    text = "model: openai:gpt-5-mini\nrates:\n  openai:gpt5-mini: {rpm: 1}\n  a:b: {rpm: 1}\n"
    assert warnings(write_team(tmp_path, text, solo=worker())) == [
        "team.yaml:3: no model of this team is called 'openai:gpt5-mini': "
        "did you mean 'openai:gpt-5-mini'?"
    ]
