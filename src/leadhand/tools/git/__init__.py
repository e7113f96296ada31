"""Reads untrusted git repositories: their objects, never their configuration or code (F25).

`process` starts git, `bare_repository` makes the only repository that it sees. Functions take that
repository as `git_dir`, and full object ids. They raise `InputError` if objects are missing,
otherwise `GitTimeout` or `GitFailed` (both are `ToolError`).
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.tools.git.comparison import NO_FILE as NO_FILE
    from leadhand.tools.git.comparison import SUBMODULE as SUBMODULE
    from leadhand.tools.git.comparison import SYMLINK as SYMLINK
    from leadhand.tools.git.comparison import Difference as Difference
    from leadhand.tools.git.comparison import DiffLimits as DiffLimits
    from leadhand.tools.git.comparison import compare as compare
    from leadhand.tools.git.history import BlamedLine as BlamedLine
    from leadhand.tools.git.history import Commit as Commit
    from leadhand.tools.git.history import FilePatch as FilePatch
    from leadhand.tools.git.history import blame as blame
    from leadhand.tools.git.history import log as log
    from leadhand.tools.git.history import log_patches as log_patches
    from leadhand.tools.git.process import GitFailed as GitFailed
    from leadhand.tools.git.process import GitTimeout as GitTimeout
    from leadhand.tools.git.process import OutOfTime as OutOfTime
    from leadhand.tools.git.process import reading_until as reading_until
    from leadhand.tools.git.repository import Repository as Repository
    from leadhand.tools.git.repository import RevisionRange as RevisionRange
    from leadhand.tools.git.repository import open_repository as open_repository
    from leadhand.tools.git.repository import resolve_range as resolve_range
    from leadhand.tools.git.tree_limits import limited_tree as limited_tree
    from leadhand.tools.git.trees import files_at as files_at
    from leadhand.tools.git.trees import grep as grep
    from leadhand.tools.git.trees import list_tree as list_tree
    from leadhand.tools.git.trees import objects as objects
    from leadhand.tools.git.trees import read_blob as read_blob
    from leadhand.tools.git.trees import read_blobs as read_blobs
    from leadhand.tools.git.trees import sizes as sizes
    from leadhand.tools.git.worktree import staged_range as staged_range
    from leadhand.tools.git.worktree import worktree_range as worktree_range
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
