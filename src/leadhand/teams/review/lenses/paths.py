"""The old name of `leadhand.teams.review.syntax.paths`, for modules that still import it."""

from leadhand.teams.review.syntax.paths import is_code, is_test, tree_paths

__all__ = ["is_code", "is_test", "tree_paths"]
