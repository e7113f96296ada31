"""A syntax tree with an index of its names: where each is bound, to what, and where it is used.

The index is built only when a check asks for a name.
"""

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator

from leadhand.teams.review.lenses.performance.bindings import full_name, import_origins
from leadhand.teams.review.lenses.syntax import FUNCTIONS, Tree, dotted


class IndexedTree:
    """A syntax tree with an index of its names."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def imported(self, node: ast.expr) -> str | None:
        """The full dotted name of `node` if an import binds it, else `None`."""
        return full_name(dotted(node), self._origins)

    def values(self, name: str, scope: ast.AST) -> list[ast.expr | None]:
        """What `name` is bound to in `scope` itself; `None` for a binding without an expression.

        `name += more` changes the value and does not count as a binding.
        """
        stores = (use for use in self._mentions[name] if isinstance(use.ctx, ast.Store))
        found = [
            self._bound(use)
            for use in stores
            if self.tree.enclosing_scope(use) is scope
            and not isinstance(self.tree.parent(use), ast.AugAssign)
        ]
        others = (one for one in self._others[name] if self.tree.enclosing_scope(one) is scope)
        return [*found, *(None for _ in others)]

    def uses(self, name: str, scope: ast.AST) -> Iterator[ast.Name]:
        """Every mention of `name` in `scope` and the scopes inside it."""
        for node in self._mentions[name]:
            if scope is self.tree.module or any(up is scope for up in self.tree.ancestors(node)):
                yield node

    @functools.cached_property
    def _origins(self) -> dict[str, str]:
        return import_origins(self.tree)

    @functools.cached_property
    def _mentions(self) -> defaultdict[str, list[ast.Name]]:
        mentions: defaultdict[str, list[ast.Name]] = defaultdict(list)
        for node in self.tree.nodes(ast.Name):
            mentions[node.id].append(node)
        return mentions

    @functools.cached_property
    def _others(self) -> defaultdict[str, list[ast.AST]]:
        """Parameters, functions, classes and outer names (`global`, `nonlocal`) by name."""
        others: defaultdict[str, list[ast.AST]] = defaultdict(list)
        for argument in self.tree.nodes(ast.arg):
            others[argument.arg].append(argument)
        for kind in (*FUNCTIONS, ast.ClassDef):
            for node in self.tree.nodes(kind):
                others[node.name].append(node)
        for outer in (*self.tree.nodes(ast.Global), *self.tree.nodes(ast.Nonlocal)):
            for name in outer.names:
                others[name].append(outer)
        return others

    def _bound(self, target: ast.expr) -> ast.expr | None:
        """The expression whose whole value a target gets, or `None`."""
        match self.tree.parent(target):
            case ast.Assign(targets=targets, value=value) if any(one is target for one in targets):
                return value
            case ast.AnnAssign(target=of, value=value) if of is target:
                return value
            case ast.NamedExpr(target=of, value=value) if of is target:
                return value
            case ast.withitem(context_expr=value):
                return value
            case _:
                return None
