"""Methods that the change removes from a class which still uses them on `self`.

Only classes that can be seen completely count: their bases are in the same file, nothing is looked
up dynamically, and no other class of the file defines a method of that name.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.syntax import (
    FUNCTIONS,
    Tree,
    bound_name,
    child_nodes,
    dotted,
    walk_scope,
)

_DEF = re.compile(r"^[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)")
_DYNAMIC = re.compile(r"__getattr|setattr\(|__dict__|type\(|\bexec\(")


@dataclass(frozen=True, slots=True)
class RemovedMethod:
    """A method that the change removes from a class."""

    file: ChangedFile
    owner: str
    name: str
    line: int
    """Where the old file defined it."""
    uses: tuple[ast.AST, ...]
    """Where the new file still reads it from `self`."""


def removed_methods(file: ChangedFile) -> Iterator[RemovedMethod]:
    """The methods that the change removes although their own class still uses them."""
    candidates = _candidates(file)
    if not candidates or file.base_tree is None or file.head_tree is None:
        return
    new_classes = _classes(file.head_tree)
    tree: Tree | None = None
    for name, old in _classes(file.base_tree).items():
        new = new_classes.get(name)
        if old is None or new is None or not _is_closed(new, new_classes):
            continue
        lines = {
            node.name: node.lineno
            for node in old.body
            if isinstance(node, FUNCTIONS)
            and node.name in candidates
            and node.lineno in file.removed
        }
        bound = _bound(new_classes) if lines else set[str]()
        for method, line in lines.items():
            if method not in bound:
                tree = tree or Tree(file.head_tree)
                uses = tuple(_uses(tree, new, method))
                if uses:
                    yield RemovedMethod(file, name, method, line, uses)


def _candidates(file: ChangedFile) -> set[str]:
    """Names of methods that the removed lines define and the new text only uses."""
    names = {found.group(1) for text in file.removed.values() if (found := _DEF.match(text))}
    names = {
        name for name in names if f"self.{name}" in file.head and f"def {name}(" not in file.head
    }
    return set() if names and _DYNAMIC.search(file.head) else names


def _classes(module: ast.Module) -> dict[str, ast.ClassDef | None]:
    """The module's classes by name; `None` for a name that is defined twice."""
    found: dict[str, ast.ClassDef | None] = {}
    for node in walk_scope(child_nodes(module)):
        if isinstance(node, ast.ClassDef):
            found[node.name] = None if node.name in found else node
    return found


def _is_closed(owner: ast.ClassDef, classes: dict[str, ast.ClassDef | None]) -> bool:
    """Whether the file contains all bases of a class."""
    waiting, seen = [owner], {owner.name}
    while waiting:
        one = waiting.pop()
        if one.decorator_list or one.keywords:
            return False
        for base in one.bases:
            name = dotted(base)
            if name == "object" or name in seen:
                continue
            found = classes.get(name)
            if found is None:
                return False
            seen.add(found.name)
            waiting.append(found)
    return True


def _bound(classes: dict[str, ast.ClassDef | None]) -> set[str]:
    """The names that any of the classes defines, imports or assigns."""
    found: set[str] = set()
    for node in (node for owner in classes.values() if owner for node in ast.walk(owner)):
        found.add(bound_name(node))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


def _uses(tree: Tree, owner: ast.ClassDef, name: str) -> Iterator[ast.AST]:
    """The reads of `self.name` in a class, except those in a `try` or a boolean expression."""
    for node in tree.nodes(ast.Attribute):
        if node.attr != name or dotted(node.value) != "self" or not isinstance(node.ctx, ast.Load):
            continue
        guarded = tree.enclosing(node, ast.Try, ast.BoolOp) is not None
        if not guarded and tree.enclosing(node, ast.ClassDef) is owner:
            yield node
