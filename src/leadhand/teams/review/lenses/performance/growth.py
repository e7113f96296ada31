"""What the checks for quadratic work share: a hit, long loops, and what makes a list grow."""

import ast
from dataclasses import dataclass

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance.indexed_tree import IndexedTree
from leadhand.teams.review.lenses.performance.loops import Loop, enclosing_loops

FAMILY = "performance/quadratic"

_GROWS = frozenset(("append", "extend", "insert"))


@dataclass(frozen=True, slots=True)
class QuadraticHit:
    """Quadratic work in one place."""

    rule: LensRule
    node: ast.expr | ast.stmt
    message: str
    growth: ast.expr | ast.stmt | None = None
    """What makes the list longer, if that is another node."""

    @property
    def key(self) -> tuple[str, str]:
        """Identifies the same work in another version of the file."""
        return self.rule.id, ast.unparse(self.node)


def long_loop(source: IndexedTree, node: ast.AST, name: str) -> Loop | None:
    """The innermost loop around `node` that may be long, unless it rebinds `name`."""
    for loop in enclosing_loops(source, node):
        if not loop.is_short and not loop.runs_at_most_once:
            return None if _rebinds(loop, name) else loop
    return None


def growth_of(loop: Loop, name: str) -> ast.expr | ast.stmt | None:
    """What makes the list `name` longer in an iteration of the loop."""
    for node in loop.inside:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr=how)) if (
                of == name and how in _GROWS
            ):
                return node
            case ast.AugAssign(target=ast.Name(id=of), op=ast.Add()) if of == name:
                return node
            case _:
                pass
    return None


def _rebinds(loop: Loop, name: str) -> bool:
    """Whether an iteration gives `name` a new value that does not depend on the old one."""
    for node in loop.inside:
        if (
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store | ast.Del)
        ):
            parent = loop.source.tree.parent(node)
            if isinstance(parent, ast.AugAssign):
                continue
            value = parent.value if isinstance(parent, ast.Assign) else None
            if value is None or not _mentions(value, name):
                return True
    return name in loop.targets


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))
