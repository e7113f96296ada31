"""A syntax tree with the way up: what stands around a node, and which nodes start where.

Iterative throughout, so a deep tree costs memory and not the stack.
"""

import ast
import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeVar, cast

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)

_MARKS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop)

Node = TypeVar("Node", bound=ast.AST)


class Tree:
    """A module with each node's parent."""

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self._kinds: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._parents: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [module]
        while waiting:
            node = waiting.pop()
            self._kinds[type(node)].append(node)
            for child in child_nodes(node):
                self._parents[child] = node
                waiting.append(child)

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """All nodes of exactly one kind, in no order."""
        return (node for node in self._kinds[kind] if isinstance(node, kind))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds `node`; none for the module."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def enclosing(self, node: ast.AST, *kinds: type[Node]) -> Node | None:
        """The innermost node around `node` that is of one of the kinds, or `None`."""
        return next((up for up in self.ancestors(node) if isinstance(up, kinds)), None)

    def starting_at(self, line: int, byte: int, kind: type[Node]) -> Node | None:
        """The outermost node of a kind that starts at a line (from 1) and byte (from 0)."""
        at = self._places.get((line, byte), ())
        return next((node for node in at if isinstance(node, kind)), None)

    @functools.cached_property
    def _places(self) -> dict[tuple[int, int], list[ast.AST]]:
        places: defaultdict[tuple[int, int], list[ast.AST]] = defaultdict(list)
        for node in self._parents:
            if isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.alias):
                places[node.lineno, node.col_offset].append(node)
        return places

    def enclosing_scope(self, node: ast.AST) -> ast.AST:
        """The function, lambda, class or module whose names `node` sees first."""
        return self.enclosing(node, *SCOPES) or self.module

    def enclosing_function(self, node: ast.AST) -> Function | ast.Lambda | None:
        """The innermost function that `node` runs in, or none."""
        return self.enclosing(node, *FUNCTIONS, ast.Lambda)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that `node` is part of, or is."""
        return node if isinstance(node, ast.stmt) else self.enclosing(node, ast.stmt)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that `statement` stands among, itself included."""
        parent = self._parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            found: object = getattr(parent, name, None)
            if isinstance(found, list) and any(one is statement for one in found):  # pyright: ignore[reportUnknownVariableType]
                return found  # pyright: ignore[reportUnknownVariableType]
        return [statement]


def child_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes right below, without the marks (`Load`, `Add`, ...) that have no place or parts."""
    values: Iterable[object] = vars(node).values()
    for value in values:
        if isinstance(value, list):
            for item in cast("list[object]", value):
                if isinstance(item, ast.AST):
                    yield item
        elif isinstance(value, ast.AST) and not isinstance(value, _MARKS):
            yield value


def walk_scope(nodes: ast.AST | Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and all below them that run in the same call: inner scopes are not entered."""
    waiting = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting += child_nodes(node)


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` for a chain of attributes of a name, else none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def called_name(node: ast.AST) -> str | None:
    """The dotted name that is called where `node` is a call of one, else none."""
    return dotted(node.func) if isinstance(node, ast.Call) else None


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function, `*args` and `**kwargs` included."""
    found = function.args
    stars = [star for star in (found.vararg, found.kwarg) if star is not None]
    return [*found.posonlyargs, *found.args, *found.kwonlyargs, *stars]


def line_of(node: ast.AST) -> int:
    """The line that a node starts in; 1 for nodes without a place."""
    line: object = getattr(node, "lineno", 1)
    return line if isinstance(line, int) else 1


def word_set(text: str) -> frozenset[str]:
    """The words of a text: a table of names that is easy to read."""
    return frozenset(text.split())
