"""Undefined names that something provides: files beside them, which the change leaves alone, use
them without a definition, too, as plug-ins use what their loader sets."""

import ast

from leadhand.tools.git import grep, read_blobs
from leadhand_teams.review.change import Change, parse_python
from leadhand_teams.review.syntax import bound_name

_ENOUGH = 2
_MAX_FILES = 8


def is_injected(change: Change, path: str, name: str) -> bool:
    """Whether at least two other files of the folder of `path` use `name` undefined.

    Raises `ToolError`.
    """
    if change.git_dir is None or change.head is None or "/" not in path:
        return False
    folder = path.rpartition("/")[0]
    hits = grep(change.git_dir, change.head, [name], pathspecs=[f"{folder}/*.py"], max_hits=200)
    beside = dict.fromkeys(hit[0] for hit in hits if hit[0] not in change.by_path)
    texts = read_blobs(change.git_dir, change.head, [*beside][:_MAX_FILES])
    trees = (parse_python(text) for text in texts.values())
    return sum(tree is not None and _is_undefined(tree, name) for tree in trees) >= _ENOUGH


def _is_undefined(tree: ast.Module, name: str) -> bool:
    nodes = list(ast.walk(tree))
    used = any(isinstance(node, ast.Name) and node.id == name for node in nodes)
    bound = (bound_name(node) == name or getattr(node, "arg", None) == name for node in nodes)
    return used and not any(bound) and "import *" not in ast.unparse(tree)
