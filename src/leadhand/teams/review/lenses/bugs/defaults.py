"""Mutable defaults that leak from one call into the next.

All calls share a default that the function changes, returns or stores. One that is only read is
harmless and left alone.
"""

import ast

from leadhand.teams.review.lenses import syntax
from leadhand.teams.review.lenses.bugs.hits import BugHit

_CHANGES = syntax.word_set(
    "append extend insert remove pop clear sort reverse add discard update setdefault "
    "popitem appendleft extendleft popleft difference_update intersection_update"
)
_MAKES = frozenset({"list", "dict", "set", "deque", "OrderedDict"})
_CACHES = ("cache", "memo", "seen", "_", "visited", "counter", "state")


def leaking_default(hit: BugHit) -> str | None:
    """The message for a mutable default that is changed, returned or stored, else `None`."""
    default = hit.node(ast.expr)
    function = _owner(hit.tree, default) if default is not None else None
    if default is None or function is None or not _empty(default):
        return None
    # Each call of an outer function creates its inner functions and their defaults anew.
    if not isinstance(hit.tree.enclosing_scope(function), ast.ClassDef | ast.Module):
        return None
    name = next(
        (name for name, value in syntax.defaults(function).items() if value is default), None
    )
    # `def f(x, _cache={})` is the usual way to keep state between calls on purpose.
    if name is None or name.lower().startswith(_CACHES) or name.lower().endswith("cache"):
        return None
    body = list(syntax.walk_scope(function.body))
    if any(_rebinds(node, name) for node in body):
        return None
    leaks = [(syntax.line_of(node), how) for node in body if (how := _leak(hit.tree, node, name))]
    if not leaks:
        return None
    line, how = min(leaks)
    shown = ast.unparse(default)
    return f"`{function.name}` {how} its default `{name}={shown}` (line {line})."


def _owner(tree: syntax.Tree, default: ast.AST) -> syntax.Function | None:
    for up in tree.ancestors(default):
        if isinstance(up, syntax.FUNCTIONS):
            return up
        if not isinstance(up, ast.arguments):
            return None
    return None


def _empty(default: ast.expr) -> bool:
    """Whether the default is an empty collection; `n=[0]` keeps state on purpose."""
    if isinstance(default, ast.Call):
        is_made = syntax.dotted(default.func).rsplit(".", 1)[-1] in _MAKES
        return is_made and not default.args and not default.keywords
    if isinstance(default, ast.Dict):
        return not default.keys
    return isinstance(default, ast.List) and not default.elts


def _rebinds(node: ast.AST, name: str) -> bool:
    """Whether the function assigns `name`, so that it may change a copy."""
    return (
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store | ast.Del)
    )


def _leak(tree: syntax.Tree, node: ast.AST, name: str) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return "changes" if _is(node.func.value, name) and node.func.attr in _CHANGES else None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return "changes" if _is(node.value, name) else None
    if isinstance(node, ast.Return) and node.value is not None:
        return "returns" if _is(node.value, name) else None
    if isinstance(node, ast.Assign) and _is(node.value, name):
        stored = next((t for t in node.targets if isinstance(t, ast.Attribute)), None)
        return "stores" if stored is not None and _changed_later(tree, stored) else None
    return None


def _changed_later(tree: syntax.Tree, stored: ast.Attribute) -> bool:
    """Whether a method of the class changes the object stored as `self.name`."""
    owner, name = tree.enclosing(stored, ast.ClassDef), syntax.dotted(stored)
    if owner is None or not name:
        return False
    return any(_changes(node, name) for node in ast.walk(owner))


def _changes(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGES and syntax.dotted(node.func.value) == name
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return syntax.dotted(node.value) == name
    return isinstance(node, ast.AugAssign) and syntax.dotted(node.target) == name


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
