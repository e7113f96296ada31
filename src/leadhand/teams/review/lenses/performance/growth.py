"""A hit of the quadratic checks, and what makes a name grow in a loop that may be long."""

import ast
from dataclasses import dataclass

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance.loops import Loop, around
from leadhand.teams.review.lenses.performance.source import IndexedTree

FAMILY = "performance/quadratic"

_GROWS = frozenset(("append", "extend", "insert"))


@dataclass(frozen=True, slots=True)
class GrowthHit:
    """Quadratic work in one place."""

    rule: LensRule
    node: ast.expr | ast.stmt
    message: str
    growth: ast.expr | ast.stmt | None = None
    """What makes the list longer, where that is elsewhere."""

    @property
    def key(self) -> tuple[str, str]:
        """The same for the same work in another version of the file."""
        return self.rule.id, ast.unparse(self.node)


def long_loop(source: IndexedTree, node: ast.AST, name: str) -> Loop | None:
    """The loop of the function that repeats `node` and neither is short nor binds `name` anew."""
    for loop in around(source, node):
        if loop.few or loop.at_most_once:
            continue
        if not _rebound(loop, name):
            return loop
        return None
    return None


def growth_of(loop: Loop, name: str) -> ast.expr | ast.stmt | None:
    """What makes the list `name` longer in a pass of the loop."""
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


def _rebound(loop: Loop, name: str) -> bool:
    """Whether a pass starts `name` afresh, other than from its own value."""
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
