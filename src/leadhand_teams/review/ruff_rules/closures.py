"""Judges of loops: closures that outlive their iteration, and collections that a loop shrinks."""

import ast
import re

from leadhand_teams.review.ruff_rules.hits import RuffHit
from leadhand_teams.review.syntax import (
    FUNCTIONS,
    LOOPS,
    Function,
    Tree,
    dotted,
    last_name,
    pattern_of,
    walk_scope,
    words_of,
)

_COLLECTS = words_of("loops.collects")
_LATER = pattern_of("closures.later")
_KEYWORDS = words_of("loops.keywords")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_LEAVES = (ast.Return, ast.Break, ast.Raise, ast.Await, ast.Yield)


def late_binding(hit: RuffHit) -> str | None:
    """The message for a closure that provably outlives its iteration of the loop.

    It is added to an object from before the loop, or passed to a call that runs it later, and the
    loop neither ends nor waits after creating it.
    """
    name = hit.node(ast.Name)
    closure = hit.tree.enclosing_function(name) if name is not None else None
    loop = hit.tree.enclosing(closure, *LOOPS, *_COMPREHENSIONS) if closure is not None else None
    if name is None or closure is None or loop is None or not _binds(loop, name.id):
        return None
    if not hit.file.touches(closure.lineno, closure.end_lineno):
        return None
    uses: list[ast.AST] = [closure]
    if isinstance(closure, FUNCTIONS):
        uses = [use for use in walk_scope(_body(loop)) if _is_name(use, closure.name, ast.Load)]
    if not any(_keeps(hit.tree, use, loop) for use in uses) or _leaves(closure, loop):
        return None
    what = f"`{closure.name}`" if isinstance(closure, Function) else "The lambda"
    return f"{what} reads the loop variable `{name.id}` when it is called; by then it has changed."


def _body(loop: ast.AST) -> list[ast.stmt]:
    return loop.body if isinstance(loop, LOOPS) else []


def _is_name(node: ast.AST, name: str, context: type[ast.expr_context] = ast.Store) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, context)


def _binds(loop: ast.AST, name: str) -> bool:
    """Whether `name` is the variable of a loop with more than one iteration."""
    heads = [loop] if isinstance(loop, ast.For | ast.AsyncFor) else getattr(loop, "generators", ())
    return any(
        _is_name(node, name)
        for head in heads
        if not (isinstance(head.iter, ast.Tuple | ast.List) and len(head.iter.elts) == 1)
        for node in ast.walk(head.target)
    )


def _keeps(tree: Tree, use: ast.AST, loop: ast.AST) -> bool:
    """Whether this use stores the closure beyond the iteration, or passes it on to run later."""
    for up, below in tree.path_up(use):
        if up is loop:
            return isinstance(loop, _COMPREHENSIONS) and not isinstance(below, ast.comprehension)
        if isinstance(up, ast.Call):
            method = last_name(up.func)
            if method in _COLLECTS and isinstance(up.func, ast.Attribute):
                return _outer(up.func, loop)
            return below is not up.func and _LATER.match(method) is not None
        if isinstance(up, ast.keyword) and up.arg in _KEYWORDS:
            return True
        if isinstance(up, ast.Assign):
            return any(_outer(target, loop) for target in up.targets)
        if not isinstance(up, ast.Tuple | ast.List | ast.Dict | ast.Set | ast.keyword):
            return False
    return False


def _outer(target: ast.AST, loop: ast.AST) -> bool:
    """Whether `target` (`x[...]`, `x.y`) belongs to an object that the loop does not create."""
    inner = target
    while isinstance(inner, ast.Subscript | ast.Attribute):
        inner = inner.value
    made = isinstance(inner, ast.Name) and any(_is_name(one, inner.id) for one in ast.walk(loop))
    return inner is not target and isinstance(inner, ast.Name) and not made


def _leaves(closure: Function | ast.Lambda, loop: ast.AST) -> bool:
    """Whether the loop ends or waits after the closure is created."""
    return any(
        isinstance(node, _LEAVES)
        or (isinstance(node, ast.Call) and last_name(node.func) in ("join", "result", "wait"))
        for node in walk_scope(_body(loop))
        if isinstance(node, ast.expr | ast.stmt)
        and (node.end_lineno or node.lineno) >= closure.lineno
    )


def shrinks(hit: RuffHit) -> str | None:
    """The message for a collection that the loop over it shrinks; growing is often intended."""
    node = hit.node(ast.Delete) or hit.call
    loop = hit.tree.enclosing(node, ast.For) if node is not None else None
    if node is None or loop is None:
        return None
    if isinstance(node, ast.Delete):
        target = node.targets[0]
        name = dotted(target.value) if isinstance(target, ast.Subscript) else ""
        method = "del"
    else:
        name, _, method = dotted(node.func).rpartition(".")
    rebound = any(_is_name(one, name) for one in walk_scope(loop.body))
    statement = hit.tree.statement(node)
    last = hit.tree.block(statement)[-1] if statement is not None else node
    if any(isinstance(one, ast.Return | ast.Break) for one in walk_scope([last])):
        return None  # the loop ends there
    if not name or rebound or method not in ("del", "remove", "pop", "popitem", "clear", "discard"):
        return None
    # Other types than the builtin ones may allow the change; only those have `remove`.
    made = r"\s{0,3}(?::[^=\n]{1,80})?=\s{0,3}(?:[\[{]|(?:dict|list|set|defaultdict)\()"
    if method != "remove" and not re.search(rf"(?<![\w.]){re.escape(name)}{made}", hit.file.head):
        return None
    return f"`{name}` shrinks here while the loop in line {loop.lineno} iterates over it."
