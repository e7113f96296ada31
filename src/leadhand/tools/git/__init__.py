"""Reads untrusted git repositories: their objects, never their configuration or code.

Fault F25: `process` starts git, `bare_repository` makes the only repository that it sees. Functions
that read take that repository as `git_dir`, and full object ids. They raise `InputError` if objects
are missing, otherwise `GitTimeout` or `GitFailed` (both are `ToolError`).
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.tools.git.comparison import (
        NO_FILE,
        SUBMODULE,
        SYMLINK,
        Difference,
        DiffLimits,
        compare,
    )
    from leadhand.tools.git.history import BlamedLine, Commit, FilePatch, blame, log, log_patches
    from leadhand.tools.git.process import GitFailed, GitTimeout, OutOfTime, reading_until
    from leadhand.tools.git.repository import (
        Repository,
        RevisionRange,
        open_repository,
        resolve_range,
    )
    from leadhand.tools.git.tree_limits import limited_tree
    from leadhand.tools.git.trees import (
        files_at,
        grep,
        list_tree,
        objects,
        read_blob,
        read_blobs,
        sizes,
    )
    from leadhand.tools.git.worktree import staged_range, worktree_range

__all__ = [
    "NO_FILE",
    "SUBMODULE",
    "SYMLINK",
    "BlamedLine",
    "Commit",
    "DiffLimits",
    "Difference",
    "FilePatch",
    "GitFailed",
    "GitTimeout",
    "OutOfTime",
    "Repository",
    "RevisionRange",
    "blame",
    "compare",
    "files_at",
    "grep",
    "limited_tree",
    "list_tree",
    "log",
    "log_patches",
    "objects",
    "open_repository",
    "read_blob",
    "read_blobs",
    "reading_until",
    "resolve_range",
    "sizes",
    "staged_range",
    "worktree_range",
]

_MODULES = {
    "comparison": "NO_FILE SUBMODULE SYMLINK DiffLimits Difference compare",
    "history": "BlamedLine Commit FilePatch blame log log_patches",
    "process": "GitFailed GitTimeout OutOfTime reading_until",
    "repository": "Repository RevisionRange open_repository resolve_range",
    "tree_limits": "limited_tree",
    "trees": "files_at grep list_tree objects read_blob read_blobs sizes",
    "worktree": "staged_range worktree_range",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of the package's
    __getattr__ = lazy_attributes(__name__, _MODULES)
