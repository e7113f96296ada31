"""Loops: which parts run in every iteration, and which loops have only a few iterations.

Only reads the tree; it does not decide what is slow.
"""

import ast
import functools
import re
from collections.abc import Iterator

from leadhand.teams.review.lenses.performance.indexed_tree import IndexedTree
from leadhand.teams.review.lenses.syntax import SCOPES, walk_scope, word_set

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MAX_SHORT = 64
"""A loop over a literal of at most this many items is short."""
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*\Z")
_WRAPPERS = word_set("enumerate reversed sorted zip list tuple set iter frozenset")
_OF_MAPPING = word_set("items keys values")
_GROWS = word_set("append extend insert update add setdefault")


class Loop:
    """A `for`, a `while` or a comprehension within one function."""

    def __init__(self, source: IndexedTree, node: ast.AST) -> None:
        self.source = source
        self.node = node

    @functools.cached_property
    def clauses(self) -> list[tuple[ast.expr, ast.expr]]:
        """The (target, iterable) pairs; empty for a `while`."""
        node = self.node
        if isinstance(node, ast.For | ast.AsyncFor):
            return [(node.target, node.iter)]
        if isinstance(node, _COMPREHENSIONS):
            return [(one.target, one.iter) for one in node.generators]
        return []

    @functools.cached_property
    def repeated(self) -> list[ast.AST]:
        """The parts that run in every iteration."""
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
        """Every node of the parts that run in every iteration, without inner functions."""
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
    def is_short(self) -> bool:
        """Whether the code shows that there are only a few iterations."""
        return any(self._is_short(iterable) for _, iterable in self.clauses)

    @functools.cached_property
    def runs_at_most_once(self) -> bool:
        """Whether every iteration ends the loop."""
        return isinstance(self.node, ast.For | ast.AsyncFor | ast.While) and any(
            isinstance(one, ast.Break | ast.Return | ast.Raise) for one in self.node.body
        )

    def _is_short(self, iterable: ast.expr, depth: int = 0) -> bool:
        """Whether the code shows that an iterable has only a few items."""
        if depth > 4:
            return False
        match iterable:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                starred = any(isinstance(item, ast.Starred) for item in items)
                return len(items) <= _MAX_SHORT and not starred
            case ast.Dict(keys=keys):
                return len(keys) <= _MAX_SHORT and None not in keys
            case ast.Constant():
                return True
            case ast.Call(func=ast.Name(id="range"), args=args):
                return all(_is_small_number(one) for one in args)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _WRAPPERS:
                return any(self._is_short(one, depth + 1) for one in args)
            case ast.Call(func=ast.Attribute(value=of, attr=name)) if name in _OF_MAPPING:
                return self._is_short(of, depth + 1)
            case ast.Name(id=name) | ast.Attribute(attr=name) if _CONSTANT.match(name):
                return True
            case ast.Name(id=name):
                scope = self.source.tree.enclosing_scope(iterable)
                values = self.source.values(name, scope)
                if not values and scope is not self.source.tree.module:
                    values = self.source.values(name, self.source.tree.module)
                known = [value for value in values if value is not None]
                return (
                    bool(known)
                    and len(known) == len(values)
                    and all(self._is_short_literal(value) for value in known)
                    and not self._grows(name, scope)
                )
            case _:
                return False

    def _is_short_literal(self, value: ast.expr) -> bool:
        """Whether a value is a literal with a few items; an empty one may grow."""
        filled = getattr(value, "elts", None) or getattr(value, "keys", None)
        return bool(filled) and self._is_short(value, 4)

    def _grows(self, name: str, scope: ast.AST) -> bool:
        parents = (self.source.tree.parent(use) for use in self.source.uses(name, scope))
        return any(isinstance(one, ast.Attribute) and one.attr in _GROWS for one in parents)


def enclosing_loops(source: IndexedTree, node: ast.AST) -> Iterator[Loop]:
    """The loops of the same function that run `node` in every iteration, innermost first."""
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


def _is_small_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int() as value):
            return abs(value) <= _MAX_SHORT
        case ast.UnaryOp(operand=operand):
            return _is_small_number(operand)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _CONSTANT.match(name) is not None
        case _:
            return False


def shortened(node: ast.expr) -> str:
    """The code of an expression, cut to 60 characters."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."
