"""Methods that the change takes from a class which still uses them on itself.

Only classes that are all there to see: their bases are in the same file, nothing is looked up
dynamically, and no other class defines a method of that name which could step in.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.bugs.trees import FUNCTIONS, Tree, child_nodes, dotted, walk_scope

_DEF = re.compile(r"^[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)")
_DYNAMIC = re.compile(r"__getattr|setattr\(|__dict__|type\(|\bexec\(")


@dataclass(frozen=True, slots=True)
class RemovedMethod:
    """A method that is gone from a class of the file."""

    file: ChangedFile
    owner: str
    name: str
    line: int
    """Where it was defined, in the old file."""
    uses: tuple[ast.AST, ...]
    """Where the class still reads it from `self`, in the new file."""


def removed(file: ChangedFile) -> Iterator[RemovedMethod]:
    """The methods that are gone and still used in their own class."""
    gone = _candidates(file)
    before, after = (file.base_tree, file.head_tree) if gone else (None, None)
    if before is None or after is None:
        return
    old, new = _classes(before), _classes(after)
    tree: Tree | None = None
    for name, was in old.items():
        now = new.get(name)
        if was is None or now is None or not _closed(now, new):
            continue
        taken = {m: node for m, node in _methods(was).items() if node.lineno in file.removed}
        left = set[str]()
        if taken.keys() & gone:
            left.update(*(_bound(one) for one in new.values() if one is not None))
        for method in (taken.keys() & gone) - left:
            tree = tree or Tree(after)
            uses = tuple(_uses(tree, now, method))
            if uses:
                yield RemovedMethod(file, name, method, taken[method].lineno, uses)


def _candidates(file: ChangedFile) -> set[str]:
    """Names of methods that the removed lines define and the new text only uses."""
    names = {found.group(1) for text in file.removed.values() if (found := _DEF.match(text))}
    names = {
        name for name in names if f"self.{name}" in file.head and f"def {name}(" not in file.head
    }
    return set() if names and _DYNAMIC.search(file.head) else names


def _classes(module: ast.Module) -> dict[str, ast.ClassDef | None]:
    """The module's classes by name; none for a name that is given twice."""
    found: dict[str, ast.ClassDef | None] = {}
    for node in walk_scope(child_nodes(module)):
        if isinstance(node, ast.ClassDef):
            found[node.name] = None if node.name in found else node
    return found


def _closed(owner: ast.ClassDef, classes: dict[str, ast.ClassDef | None]) -> bool:
    """Whether all that a class inherits is in the file too."""
    waiting, seen = [owner], {owner.name}
    while waiting:
        one = waiting.pop()
        if one.decorator_list or one.keywords:
            return False
        for base in one.bases:
            name = dotted(base)
            if name == "object" or name in seen:
                continue
            found = classes.get(name) if name is not None else None
            if found is None:
                return False
            seen.add(found.name)
            waiting.append(found)
    return True


def _methods(owner: ast.ClassDef) -> dict[str, ast.stmt]:
    return {node.name: node for node in owner.body if isinstance(node, FUNCTIONS)}


def _bound(owner: ast.ClassDef) -> set[str]:
    """The names that a class has or gives itself."""
    found: set[str] = set()
    for node in ast.walk(owner):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
    return found


def _uses(tree: Tree, owner: ast.ClassDef, name: str) -> Iterator[ast.AST]:
    """The reads of `self.name` in a class, but for those that a `try` or a check prepares for."""
    for node in tree.nodes(ast.Attribute):
        if node.attr != name or dotted(node.value) != "self" or not isinstance(node.ctx, ast.Load):
            continue
        guarded = tree.enclosing(node, ast.Try, ast.BoolOp) is not None
        if not guarded and tree.enclosing(node, ast.ClassDef) is owner:
            yield node
