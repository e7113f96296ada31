"""Names without a definition: removed by the change, or provided out of sight.

Plug-ins, for example, use what their loader sets: files beside them, which the change leaves alone,
use it without a definition, too.
"""

import ast
from collections.abc import Iterable, Iterator

from leadhand.extension.findings import Finding
from leadhand.tools.git import grep, read_blobs
from leadhand.tools.ruff import Diagnostic, check
from leadhand_teams.review.change import Change, ChangedFile, parse_python
from leadhand_teams.review.ruff_rules import TARGET
from leadhand_teams.review.ruff_rules.hits import quoted
from leadhand_teams.review.ruff_rules.names import may_be_provided
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import bound_name, line_of

_ENOUGH = 2
_MAX_FILES = 8


def removed(file: ChangedFile, found: Iterable[Diagnostic]) -> Iterator[Finding]:
    """A finding for each name that a removed line defined and an unchanged line still uses.

    `found` are ruff's diagnostics of the whole new file. The old text is only parsed if a removed
    line contains a name that is undefined now.
    """
    text = "\n".join(file.removed.values())
    first: dict[str, Diagnostic] = {}
    for one in found:
        name = quoted(one) if one.code == "F821" and not file.touches(one.line) else ""
        if name and name in text and not may_be_provided(file, name):
            first.setdefault(name, one)
    if not first or file.base_tree is None:
        return
    # Ruff may not understand where a name comes from: then it was undefined before, too.
    before = {quoted(one) for one in check([file.base_file], select=["F821"], target=TARGET)}
    defined = {
        name: line_of(node)
        for node in ast.walk(file.base_tree)
        for name in (node.arg if isinstance(node, ast.arg) else bound_name(node).split(".", 1)[0],)
        if name in first and name not in before and line_of(node) in file.removed
    }
    for name, line in defined.items():
        hunk = file.hunk_removing(line)
        if hunk is not None:
            yield rule("bugs/definition-removed").finding(
                file,
                hunk.new_line,
                message=f"`{name}` is no longer defined here, but line {first[name].line} of this "
                "file still uses it.",
                evidence=file.removed[line].strip(),
            )


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
