"""`ladder:` of team.yaml: the rungs in the team's order, and the breaker."""

from pathlib import Path

from leadhand.contracts.team import Ladder
from leadhand.teams.loader import load
from tests.team_folders import problems, worker, write_team


def test_a_team_reorders_and_cuts_the_ladder_and_the_rest_is_as_usual(tmp_path: Path) -> None:
    text = (
        "ladder:\n  failed: [raise_tier, fallback]\n  timeout: []\n"
        "  breaker_failures: 2\n  breaker_pause_s: 1.5\n"
    )
    team = load(write_team(tmp_path, text))
    assert team.ladder == Ladder(
        failed=("raise_tier", "fallback"), timeout=(), breaker_failures=2, breaker_pause_s=1.5
    )


def test_a_former_name_of_a_rung_is_read_as_the_present_one(tmp_path: Path) -> None:
    former, present = (
        load(write_team(tmp_path / rung, f"ladder:\n  low_confidence: [{rung}, accept]\n"))
        for rung in ("stronger_tier", "raise_tier")
    )
    in_python = Ladder(low_confidence=("stronger_tier", "accept"))  # pyright: ignore[reportArgumentType]
    assert former.ladder == present.ladder == in_python
    assert former.ladder.low_confidence == ("raise_tier", "accept")


def test_an_unknown_rung_is_named_with_its_line(tmp_path: Path) -> None:
    text = "ladder:\n  failed: [retry, pray]\n"
    (found,) = problems(write_team(tmp_path, text, solo=worker("")))
    assert found.startswith("team.yaml:2: ")
    assert "'pray'" in found
