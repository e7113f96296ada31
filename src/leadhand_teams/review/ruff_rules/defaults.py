"""Judges mutable defaults, which leak into later calls if a function changes or passes them on."""

import ast

from leadhand_teams.review import syntax
from leadhand_teams.review.ruff_rules.hits import RuffHit

_CHANGES = syntax.words_of("loops.changes")
_MAKES = frozenset({"list", "dict", "set", "deque", "OrderedDict"})
_CACHES = ("cache", "memo", "seen", "_", "visited", "counter", "state")


def leaking_default(hit: RuffHit) -> str | None:
    """The message for a mutable default that leaks; one that is only read is harmless."""
    default = hit.node(ast.expr)
    function = hit.tree.enclosing(default, *syntax.FUNCTIONS) if default is not None else None
    if default is None or function is None or not _empty(default):
        return None
    # Each call of an outer function creates its inner functions and their defaults anew.
    if not isinstance(hit.tree.enclosing_scope(function), ast.ClassDef | ast.Module):
        return None
    defaults = syntax.defaults(function)
    name = next((name for name, value in defaults.items() if value is default), "")
    # `def f(x, _cache={})` is the usual way to keep state between calls on purpose.
    if not name or name.lower().startswith(_CACHES) or name.lower().endswith("cache"):
        return None
    body = list(syntax.walk_scope(function.body))
    if any(isinstance(one, ast.Name) and one.id == name and _stores(one) for one in body):
        return None  # it may change a copy
    leaks = [
        (syntax.line_of(one), how)
        for one in body
        if (how := "changes" if _changes(one, name) else _passes_on(hit.tree, one, name))
    ]
    if not leaks:
        return None
    line, how = min(leaks)
    return f"`{function.name}` {how} its default `{name}={ast.unparse(default)}` (line {line})."


def _empty(default: ast.expr) -> bool:
    """Whether the default is an empty collection; `n=[0]` keeps state on purpose."""
    if isinstance(default, ast.Call):
        is_made = syntax.last_name(default.func) in _MAKES
        return is_made and not default.args and not default.keywords
    if isinstance(default, ast.Dict):
        return not default.keys
    return isinstance(default, ast.List) and not default.elts


def _passes_on(tree: syntax.Tree, node: ast.AST, name: str) -> str:
    value = getattr(node, "value", None)
    if not isinstance(value, ast.Name) or value.id != name:
        return ""
    if isinstance(node, ast.Return):
        return "returns"
    for target in node.targets if isinstance(node, ast.Assign) else ():
        owner, stored = tree.enclosing(target, ast.ClassDef), syntax.dotted(target)
        if "." in stored and owner and any(_changes(one, stored) for one in ast.walk(owner)):
            return "stores"
    return ""


def _changes(node: ast.AST, name: str) -> bool:
    """Whether `node` changes the object that `name`, which may be dotted, stands for."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGES and syntax.dotted(node.func.value) == name
    if isinstance(node, ast.Subscript) and _stores(node):
        return syntax.dotted(node.value) == name
    return isinstance(node, ast.AugAssign) and syntax.dotted(node.target) == name and "." in name


def _stores(node: ast.Name | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)
