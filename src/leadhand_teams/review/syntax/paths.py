"""The paths of a git tree, listed once for all lenses of a process, and what a path tells."""

import functools
from pathlib import Path

from leadhand.tools.git import list_tree
from leadhand_teams.review.syntax.word_tables import pattern_of

_TEST_PATH = pattern_of("paths.test_path")
_PROSE = (
    ".md", ".rst", ".txt", ".in", ".po", ".lock", ".json", ".svg", ".csv", ".html", ".css", ".map",
)  # fmt: skip


@functools.lru_cache(maxsize=2)
def tree_paths(git_dir: Path, tree: str) -> tuple[str, ...]:
    """All paths of `tree` in the repository at `git_dir`."""
    return tuple(list_tree(git_dir, tree))


def is_test(path: str) -> bool:
    """Whether the file at `path` holds tests, or helpers of tests."""
    return bool(_TEST_PATH.search(path))


def is_code(path: str) -> bool:
    """Whether the file at `path` is code that runs, not a test, prose, data or a lock file."""
    return not is_test(path) and not path.lower().endswith(_PROSE) and "." in path
