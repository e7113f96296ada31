"""The paths of a git tree, listed once for all lenses of a process."""

import functools
from pathlib import Path

from leadhand.tools.git.trees import list_tree


@functools.lru_cache(maxsize=2)
def tree_paths(git_dir: Path, tree: str) -> tuple[str, ...]:
    """All paths of `tree` in the repository at `git_dir`."""
    return tuple(list_tree(git_dir, tree))
