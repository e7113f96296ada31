"""The old name of `leadhand.teams.review.syntax`, for modules that still import it."""

from leadhand.teams.review.syntax import *  # noqa: F403
