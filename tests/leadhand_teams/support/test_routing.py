"""The kind of a request by a trained router and the rules together."""

from leadhand.contracts.role import Guess
from leadhand_teams.support.routing import routed


class Router:
    """Scores as a trained router gives them."""

    workers = ("bug", "feature", "question")

    def guess(self, text: str) -> Guess:
        del text
        return Guess("bug", 0.6, accepted=True)

    def candidates(self, text: str, most: int = 3) -> list[tuple[str | None, float]]:
        del text
        found: list[tuple[str | None, float]] = [("bug", 0.1), ("feature", 0.0), ("question", -0.5)]
        return found[:most]


def test_the_scores_of_a_trained_router_and_the_rules_are_added() -> None:
    assert routed("Please add an export, as a feature request", [], Router()).kind == "feature"
    assert routed("It stands still", [], Router()).kind == "bug"
