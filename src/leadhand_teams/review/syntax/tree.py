"""What the lenses ask of Python's syntax trees: nodes and their parents, scopes, names, parameters.

Nothing here recurses, so a deep tree costs memory and not stack.
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

_NO_NODES = frozenset(
    ("arg", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "n", "op",
     "rest", "s", "simple", "type_comment")
)  # fmt: skip
"""Fields without nodes, or with a context or an operator (`Load`, `Add`, ...)."""

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
            if children := child_nodes(node):
                self._parents.update(dict.fromkeys(children, node))
                waiting += children

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """All nodes of exactly this type, in no particular order."""
        return (node for node in self._kinds[kind] if isinstance(node, kind))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that contains `node`; `None` for the module."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def path_up(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """(node, the part of it that contains `node`) of the nodes around `node`."""
        below = node
        for up in self.ancestors(node):
            yield up, below
            below = up

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
        """The innermost function, lambda or class around `node`, else the module."""
        return self.enclosing(node, *SCOPES) or self.module

    def enclosing_function(self, node: ast.AST) -> Function | ast.Lambda | None:
        """The innermost function or lambda around `node`, or `None`."""
        return self.enclosing(node, *FUNCTIONS, ast.Lambda)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that `node` is or belongs to, or `None`."""
        return node if isinstance(node, ast.stmt) else self.enclosing(node, ast.stmt)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that contains `statement`."""
        parent = self._parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            found: object = getattr(parent, name, None)
            if isinstance(found, list) and any(one is statement for one in found):  # pyright: ignore[reportUnknownVariableType]
                return found  # pyright: ignore[reportUnknownVariableType]
        return [statement]


def child_nodes(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below, without contexts and operators (`Load`, `Add`, ...)."""
    found: list[ast.AST] = []
    for name in _fields(type(node)):
        value: object = getattr(node, name, None)
        if isinstance(value, list):
            items = cast("list[object]", value)
            found += [item for item in items if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


@functools.cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of this kind of node that may have nodes."""
    return () if kind is ast.Constant else tuple(n for n in kind._fields if n not in _NO_NODES)


def walk_scope(nodes: ast.AST | Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and all nodes below them, but not those inside of inner scopes."""
    waiting = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting += child_nodes(node)


def binding_nodes(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """The definitions, imports and assignments that bind `name` in a scope."""
    return (node for node in walk_scope(child_nodes(scope)) if bound_name(node) == name)


def bound_name(node: ast.AST) -> str:
    """The name that a definition, an import's alias or an assigned name binds; else empty."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.asname or node.name if isinstance(node, ast.alias) else ""


def all_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement in `body` and below, in any order; expressions are not searched."""
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        yield statement
        for block in blocks(statement):
            waiting += block


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The lists of statements directly inside `node`, in their order."""
    if "body" not in node._fields and not isinstance(node, ast.Match):
        return []  # most statements
    inner = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    return [
        getattr(node, "body", []),
        *(one.body for one in inner),
        *(getattr(node, name, []) for name in ("orelse", "finalbody")),
    ]


def assigned(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """(target, value) of an assignment, with or without a type; none for other nodes."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [(target, value) for target in targets]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [(target, value)]
        case _:
            return []


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of attributes of a name; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST) -> str:
    """`c` for `a.b.c`, `f().c` or `c`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function, `*args` and `**kwargs` included."""
    found = function.args
    stars = [star for star in (found.vararg, found.kwarg) if star is not None]
    return [*found.posonlyargs, *found.args, *found.kwonlyargs, *stars]


def defaults(function: Function) -> dict[str, ast.expr]:
    """Parameter name -> default, for the parameters that have one."""
    found = function.args
    positional = reversed([*found.posonlyargs, *found.args])
    pairs = [
        *zip(positional, reversed(found.defaults), strict=False),
        *zip(found.kwonlyargs, found.kw_defaults, strict=True),
    ]
    return {argument.arg: default for argument, default in pairs if default is not None}


def first_line(node: Function | ast.ClassDef) -> int:
    """The line on which a definition starts, its decorators included."""
    return min((one.lineno for one in node.decorator_list), default=node.lineno)


def line_of(node: ast.AST) -> int:
    """The line that a node starts on; 1 for nodes without a position."""
    line: object = getattr(node, "lineno", 1)
    return line if isinstance(line, int) else 1


def words(name: str) -> list[str]:
    """The lower-case words of an identifier: `reset`, `token`, `2` for `resetToken_2`."""
    split: list[str] = []
    word = ""
    for before, char in zip(f" {name}", name, strict=False):
        if not char.isalnum() or (char.isupper() and before.islower()):
            if word:
                split.append(word.lower())
            word = char if char.isalnum() else ""
        else:
            word += char
    return [*split, word.lower()] if word else split


def indent(line: str) -> int:
    """The number of white space characters that `line` starts with."""
    return len(line) - len(line.lstrip())
