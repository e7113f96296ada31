"""What a change takes from a module: names, methods that it still uses, and old parameters."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.comparison.code import definitions
from leadhand_teams.review.syntax import (
    FUNCTIONS,
    Function,
    bound_name,
    child_nodes,
    dotted,
    last_name,
    pattern_of,
    walk_scope,
    words_of,
)

_DEF = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_OPEN = ("(", "[", "{", ",", "=", "|", "*")
_DYNAMIC = pattern_of("symbols.dynamic")
_DYNAMIC_CLASS = re.compile(r"__getattr|setattr\(|__dict__|type\(|\bexec\(")
_PLAIN = words_of("symbols.plain")


@dataclass(frozen=True, slots=True)
class Removed:
    """A module-level name that the change removes, or a method that its class still uses."""

    file: ChangedFile
    name: str
    line: int
    """Where the old file bound it."""
    owner: str = ""
    """The class of a method."""
    uses: tuple[ast.AST, ...] = ()
    """Where the new file still reads a method from `self`."""


@dataclass(frozen=True, slots=True)
class ChangedSignature:
    """A function, method or constructor whose parameters changed."""

    file: ChangedFile
    name: str
    """The called name: of the function, the method, or the class of a constructor."""
    owner: str | None
    """The class of a method or constructor."""
    old: Function
    new: Function

    @property
    def bound(self) -> bool:
        """Whether calls omit the first parameter."""
        marks = {dotted(mark) for mark in self.new.decorator_list}
        return self.owner is not None and "staticmethod" not in marks

    @property
    def constructs(self) -> bool:
        """Whether it is a constructor, which a call of the class calls."""
        return self.new.name == "__init__"


def removed_symbols(file: ChangedFile) -> list[Removed]:
    """The module-level names that the change removes, by line.

    Imports from outside the package don't count: other modules should not import them from here.
    """
    if not file.removed or _DYNAMIC.search(file.head) or not file.base_tree or not file.head_tree:
        return []
    left = bindings(file.head_tree)
    gone = [
        Removed(file, name, line)
        for name, (package, line) in bindings(file.base_tree).items()
        if name not in left and package in ("", *file.path.split("/")[:-1])
        and line in file.removed and not (name.startswith("__") and name.endswith("__"))
        and f"global {name}" not in file.head
    ]  # fmt: skip
    return sorted(gone, key=lambda one: one.line)


def bindings(module: ast.Module) -> dict[str, tuple[str, int]]:
    """Module-level name -> (top package that it is imported from; empty if its own, line)."""
    names: dict[str, tuple[str, int]] = {}
    for node in walk_scope(child_nodes(module)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            relative = isinstance(node, ast.ImportFrom) and node.level
            for alias in node.names:
                source = getattr(node, "module", None) or f"import {alias.name}"
                local = alias.asname or alias.name.split(".", 1)[0]
                package = "" if relative else source.split(".", 1)[0]
                names.setdefault(local, (package, alias.lineno))
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names[node.name] = ("", node.lineno)
        elif isinstance(node, ast.Name) and bound_name(node):
            names.setdefault(node.id, ("", node.lineno))
    return names


def removed_methods(file: ChangedFile) -> Iterator[Removed]:
    """The methods that the change removes although their own class still uses them on `self`.

    Only classes that can be seen completely count: their bases are in the same file, nothing is
    looked up dynamically, and no other class of the file defines a method of that name.
    """
    names = {found[1] for text in file.removed.values() if (found := _DEF.match(text))}
    names = {
        name for name in names if f"self.{name}" in file.head and f"def {name}(" not in file.head
    }
    if not names or _DYNAMIC_CLASS.search(file.head) or not file.base_tree or not file.head_tree:
        return
    now = definitions(file.head_tree)
    classes = {
        name: node
        for name, node in now.items()
        if isinstance(node, ast.ClassDef) and f"{name}#2" not in now
    }
    every = [node for owner in classes.values() for node in ast.walk(owner)]
    bound = {bound_name(node) for node in every} | {
        node.attr
        for node in every
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    for name, node in definitions(file.base_tree).items():
        owner = classes.get(name.rpartition(".")[0])
        if owner is None or not isinstance(node, FUNCTIONS) or node.name not in names - bound:
            continue
        uses = tuple(_uses(file, owner, node.name)) if node.lineno in file.removed else ()
        if uses and _is_closed(owner, classes):
            yield Removed(file, node.name, node.lineno, owner.name, uses)


def _is_closed(owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether the file contains all bases of a class."""
    waiting, seen = [owner], {owner.name, "object"}
    while waiting:
        one = waiting.pop()
        bases = {dotted(base) for base in one.bases} - seen
        if one.decorator_list or one.keywords or not bases <= classes.keys():
            return False
        seen |= bases
        waiting += [classes[base] for base in bases]
    return True


def _uses(file: ChangedFile, owner: ast.ClassDef, name: str) -> Iterator[ast.AST]:
    """The reads of `self.name` in a class, except those in a `try` or a boolean expression."""
    tree = file.head_syntax
    for node in tree.nodes(ast.Attribute):
        if node.attr == name and dotted(node.value) == "self" and isinstance(node.ctx, ast.Load):
            guarded = tree.enclosing(node, ast.Try, ast.BoolOp) is not None
            if not guarded and tree.enclosing(node, ast.ClassDef) is owner:
                yield node


def changed_signatures(file: ChangedFile) -> Iterator[ChangedSignature]:
    """The functions and methods whose parameters the change alters."""
    if not (file.removed or _may_lengthen_header(file)):
        return
    if file.base_tree is None or file.head_tree is None:
        return
    was, now = definitions(file.base_tree), definitions(file.head_tree)
    for name, old in was.items():
        new, (owner, _, last) = now.get(name), name.rpartition(".")
        if f"{name}#2" in was.keys() | now.keys() or not _is_plain(old) or not _is_plain(new):
            continue
        if owner and not (_is_plain_class(was.get(owner)) and _is_plain_class(now.get(owner))):
            continue
        removed = any(line in file.removed for line in range(old.lineno, header_end(old) + 1))
        touched = removed or file.touches(new.lineno, header_end(new))
        if touched and ast.dump(old.args) != ast.dump(new.args):
            called = owner if owner and last == "__init__" else last
            yield ChangedSignature(file, called, owner or None, old, new)


def _may_lengthen_header(file: ChangedFile) -> bool:
    """Whether added lines follow one that may be inside parentheses; saves parsing most files."""
    above = (file.head_lines[h.new_start - 2].rstrip() for h in file.hunks if h.new_start > 1)
    return any("#" in line[1:] or line.endswith(_OPEN) for line in above)


def header_end(function: Function) -> int:
    """The last line of `def ...:`."""
    return max(function.lineno, function.body[0].lineno - 1)


def _is_plain(node: ast.AST | None) -> TypeGuard[Function]:
    """Whether it is a function whose decorators leave the parameters as they are."""
    if not isinstance(node, FUNCTIONS):
        return False
    marks = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return all(last_name(mark) in _PLAIN for mark in marks)


def _is_plain_class(node: ast.AST | None) -> bool:
    return isinstance(node, ast.ClassDef) and not node.decorator_list and not node.keywords
