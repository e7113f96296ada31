"""Statements that only name a function or method and do not call it."""

import ast
import re
from collections.abc import Iterator

from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.syntax import FUNCTIONS, Tree, binding_nodes

RULE = LensRule(
    "bugs/function-not-called", "bugs/calls", "warning",
    "Naming a function does not run it.",
    "Add the parentheses.",
)  # fmt: skip

_BARE = re.compile(r"^[ \t]+(?:self\.)?([A-Za-z_]\w*)[ \t]*(?:#.*)?$")


def relevant(change: Change, file: ChangedFile) -> bool:
    """Whether an added line only names a function of the same file."""
    return any(
        (bare := _BARE.match(text)) is not None
        and f"def {bare.group(1)}(" in file.head
        and not _continued(file, line)
        for line, text in file.added.items()
    )


def _continued(file: ChangedFile, line: int) -> bool:
    """Whether the line looks like a part of an expression over several lines."""
    before = file.head_lines[line - 2].rstrip() if line > 1 else ""
    after = file.head_lines[line].lstrip() if line < len(file.head_lines) else ""
    return before.endswith((",", "(", "[", "{", "\\")) or after.startswith((")", "]", "}", "."))


def find(change: Change, file: ChangedFile, tree: Tree) -> Iterator[tuple[ast.AST, str]]:
    """Statements on added lines that only name a function, with messages."""
    for node in tree.nodes(ast.Expr):
        if not file.touches(node.lineno):
            continue
        if tree.enclosing(node, ast.Try, ast.With, ast.AsyncWith) is not None:
            continue
        value = node.value
        if isinstance(value, ast.Name):
            scope: ast.AST | None = tree.module
            name = value.id
        elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            name = value.attr
            scope = tree.enclosing(node, ast.ClassDef) if value.value.id == "self" else None
        else:
            continue
        if scope is not None and _is_plain_function(scope, name):
            yield node, f"`{ast.unparse(value)}` is a function that this line does not call."


def _is_plain_function(scope: ast.AST, name: str) -> bool:
    """Whether `name` is bound to one undecorated function in a scope, and to nothing else."""
    found = [node for node in binding_nodes(scope, name) if not isinstance(node, ast.alias)]
    return len(found) == 1 and isinstance(found[0], FUNCTIONS) and not found[0].decorator_list
