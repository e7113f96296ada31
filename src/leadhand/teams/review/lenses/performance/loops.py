"""Loops: what runs anew in each pass, and which of them have only a handful of passes.

Only reads the tree; whether something in a loop is slow is for others to say.
"""

import ast
import functools
import re
from collections.abc import Iterator

from leadhand.teams.review.lenses.bugs.trees import SCOPES, dotted, walk_scope
from leadhand.teams.review.lenses.performance.source import IndexedTree

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FEW = 64
"""A loop that is written out with at most so many items is not worth a word."""
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*\Z")
_WRAPPERS = frozenset(
    (
        "enumerate",
        "reversed",
        "sorted",
        "zip",
        "list",
        "tuple",
        "set",
        "iter",
        "frozenset",
    )
)
_OF_MAPPING = frozenset(("items", "keys", "values"))


class Loop:
    """A `for`, a `while` or a comprehension within one function."""

    def __init__(self, source: IndexedTree, node: ast.AST) -> None:
        self.source = source
        self.node = node

    @functools.cached_property
    def clauses(self) -> list[tuple[ast.expr, ast.expr]]:
        """The (target, iterable) pairs; none for a `while`."""
        node = self.node
        if isinstance(node, ast.For | ast.AsyncFor):
            return [(node.target, node.iter)]
        if isinstance(node, _COMPREHENSIONS):
            return [(one.target, one.iter) for one in node.generators]
        return []

    @functools.cached_property
    def repeated(self) -> list[ast.AST]:
        """The parts that run in each pass."""
        node = self.node
        if isinstance(node, ast.For | ast.AsyncFor):
            return list[ast.AST](node.body)
        if isinstance(node, ast.While):
            return [node.test, *node.body]
        if isinstance(node, ast.DictComp):
            return [node.key, node.value, *node.generators]
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return [node.elt, *node.generators]
        return []

    @functools.cached_property
    def inside(self) -> list[ast.AST]:
        """Every node of the parts that run in each pass, inner functions left out."""
        return list(walk_scope(self.repeated))

    @functools.cached_property
    def targets(self) -> frozenset[str]:
        """The names that the loop itself binds."""
        return frozenset(
            node.id
            for target, _ in self.clauses
            for node in ast.walk(target)
            if isinstance(node, ast.Name)
        )

    @functools.cached_property
    def few(self) -> bool:
        """Whether it can be read off the code that there is only a handful of passes."""
        return bool(self.clauses) and any(self._short(each) for _, each in self.clauses)

    @functools.cached_property
    def at_most_once(self) -> bool:
        """Whether every pass ends the loop."""
        return isinstance(self.node, ast.For | ast.AsyncFor | ast.While) and any(
            isinstance(one, ast.Break | ast.Return | ast.Raise) for one in self.node.body
        )

    def _short(self, each: ast.expr, depth: int = 0) -> bool:
        """Whether an iterable has only a handful of items, as far as one can see."""
        if depth > 4:
            return False
        match each:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return len(items) <= _FEW and not any(isinstance(i, ast.Starred) for i in items)
            case ast.Dict(keys=keys):
                return len(keys) <= _FEW and None not in keys
            case ast.Constant():
                return True
            case ast.Call(func=ast.Name(id="range"), args=args):
                return all(_number(one) for one in args)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _WRAPPERS:
                return any(self._short(one, depth + 1) for one in args)
            case ast.Call(func=ast.Attribute(value=of, attr=name)) if name in _OF_MAPPING:
                return self._short(of, depth + 1)
            case ast.Name(id=name) if _CONSTANT.match(name):
                return True
            case ast.Attribute(attr=name) if _CONSTANT.match(name):
                return True
            case ast.Name(id=name):
                scope = self.source.tree.enclosing_scope(each)
                values = self.source.values(name, scope)
                if not values and scope is not self.source.tree.module:
                    values = self.source.values(name, self.source.tree.module)
                known = [value for value in values if value is not None]
                return (
                    bool(known)
                    and len(known) == len(values)
                    and all(self._literal(value) for value in known)
                    and not self._grown(name, scope)
                )
            case _:
                return False

    def _literal(self, value: ast.expr) -> bool:
        """Whether a value is written out with a handful of items, but not an empty start."""
        filled = getattr(value, "elts", None) or getattr(value, "keys", None)
        return bool(filled) and self._short(value, 4)

    def _grown(self, name: str, scope: ast.AST) -> bool:
        return any(
            isinstance(parent := self.source.tree.parent(use), ast.Attribute)
            and parent.attr in ("append", "extend", "insert", "update", "add", "setdefault")
            for use in self.source.uses(name, scope)
        )


def around(source: IndexedTree, node: ast.AST) -> Iterator[Loop]:
    """The loops of the same function in which `node` runs in each pass, innermost first."""
    below = node
    for up in source.tree.ancestors(node):
        if isinstance(up, SCOPES):
            return
        if isinstance(up, ast.For | ast.AsyncFor):
            if any(below is one for one in up.body):
                yield Loop(source, up)
        elif isinstance(up, ast.While):
            if below is up.test or any(below is one for one in up.body):
                yield Loop(source, up)
        elif isinstance(up, ast.comprehension):
            whole = source.tree.parent(up)
            if isinstance(whole, _COMPREHENSIONS):
                first = whole.generators[0] is up
                below = whole if first and below is up.iter else up
                continue
        elif isinstance(up, _COMPREHENSIONS) and below is not up:
            yield Loop(source, up)
        below = up


def _number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int() as value):
            return abs(value) <= _FEW
        case ast.UnaryOp(operand=operand):
            return _number(operand)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _CONSTANT.match(name) is not None
        case _:
            return False


def shown(node: ast.expr) -> str:
    """An expression as a message quotes it."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def named(node: ast.expr) -> str:
    """`name` or `self.name` that an expression is, else empty."""
    return dotted(node) or ""
