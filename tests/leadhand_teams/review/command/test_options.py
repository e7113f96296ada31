"""The options of a review as they are stored with it."""

from leadhand_teams.review.command.models import ReviewSetup


def test_a_review_is_resumed_with_the_options_that_it_was_started_with() -> None:
    setup = ReviewSetup(
        folder="snapshot",
        threshold=0,
        fail_on="info",
        deadline="2m",
        concurrency=3,
        no_look=True,
        fail_on_look=True,
    )
    assert ReviewSetup.of(setup.origin("review")) == setup
