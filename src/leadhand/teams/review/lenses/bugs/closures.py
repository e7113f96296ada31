"""Loop variables that a closure reads after the loop has moved on.

A hit needs proof that the closure outlives its iteration: it is added to an object from before the
loop, or passed to a call that is known to run it later.
"""

import ast
import re

from leadhand.teams.review.lenses.bugs.hits import BugHit
from leadhand.teams.review.lenses.syntax import FUNCTIONS, LOOPS, Function, Tree, dotted, walk_scope

_COLLECTS = frozenset({"append", "add", "insert", "appendleft", "setdefault", "extend"})
_LATER = re.compile(
    r"^(?:add_done_callback|addCallback|addErrback|addBoth|addCallbacks|add_callback|call_later|"
    r"call_soon|call_soon_threadsafe|call_at|callLater|callFromThread|callInThread|connect|"
    r"add_listener|add_handler|add_command|add_job|addCleanup|register|subscribe|"
    r"create_timer|after|after_idle|bind|submit|apply_async|Thread|Timer|Process)$"
)
_KEYWORDS = frozenset({"command", "callback", "on_click", "on_change", "target", "default_factory"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)

Closure = Function | ast.Lambda


def late_binding(hit: BugHit) -> str | None:
    """The message for a closure that outlives its iteration of the loop; `None` without proof."""
    name = hit.node(ast.Name)
    if name is None:
        return None
    closure = _closure(hit.tree, name)
    if closure is None or not hit.file.touches(closure.lineno, closure.end_lineno):
        return None
    loop = _loop(hit.tree, closure)
    if loop is None or not _binds(loop, name.id) or _once(loop):
        return None
    if not _kept(hit.tree, closure, loop) or _leaves(hit.tree, closure, loop):
        return None
    what = f"`{closure.name}`" if isinstance(closure, FUNCTIONS) else "The lambda"
    return (
        f"{what} reads the loop variable `{name.id}` when it is called; by then the loop has "
        "moved on."
    )


def _closure(tree: Tree, name: ast.Name) -> Closure | None:
    """The outermost function between the name and its loop."""
    found: Closure | None = None
    for up in tree.ancestors(name):
        if isinstance(up, (*FUNCTIONS, ast.Lambda)):
            found = up
        elif isinstance(up, (*LOOPS, *_COMPREHENSIONS)) and found is not None:
            return found
        elif isinstance(up, ast.ClassDef):
            return None
    return None


def _loop(tree: Tree, closure: Closure) -> ast.AST | None:
    return tree.enclosing(closure, *LOOPS, *_COMPREHENSIONS)


def _binds(loop: ast.AST, name: str) -> bool:
    """Whether `name` is the loop's variable."""
    if isinstance(loop, _COMPREHENSIONS):
        targets: list[ast.AST] = [generator.target for generator in loop.generators]
    elif isinstance(loop, ast.For | ast.AsyncFor):
        targets = [loop.target]
    else:
        return False
    return any(
        isinstance(node, ast.Name) and node.id == name
        for target in targets
        for node in ast.walk(target)
    )


def _once(loop: ast.AST) -> bool:
    """Whether the loop iterates over a literal with one element."""
    iterated: object = getattr(loop, "iter", None)
    return isinstance(iterated, ast.Tuple | ast.List | ast.Set) and len(iterated.elts) == 1


def _kept(tree: Tree, closure: Closure, loop: ast.AST) -> bool:
    """Whether the closure is stored beyond the iteration, or passed on to run later."""
    if isinstance(closure, FUNCTIONS):
        return any(
            _use_keeps(tree, node, loop)
            for node in walk_scope(getattr(loop, "body", []))
            if isinstance(node, ast.Name)
            and node.id == closure.name
            and isinstance(node.ctx, ast.Load)
        )
    return _use_keeps(tree, closure, loop)


def _use_keeps(tree: Tree, use: ast.AST, loop: ast.AST) -> bool:
    for up, below in tree.path_up(use):
        if up is loop:
            return isinstance(loop, _COMPREHENSIONS) and below in _elements(loop)
        if isinstance(up, ast.Call):
            return _call_keeps(up, below, loop)
        if isinstance(up, ast.keyword):
            if up.arg in _KEYWORDS:
                return True
        elif isinstance(up, ast.Assign) and below is up.value:
            return any(_outer(target, loop) for target in up.targets)
        elif not isinstance(up, ast.Tuple | ast.List | ast.Dict | ast.Set):
            return False
    return False


def _elements(loop: ast.AST) -> list[ast.AST]:
    return [
        found
        for name in ("elt", "key", "value")
        if isinstance(found := getattr(loop, name, None), ast.AST)
    ]


def _call_keeps(call: ast.Call, argument: ast.AST, loop: ast.AST) -> bool:
    if argument is call.func:
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    if name in _COLLECTS and isinstance(call.func, ast.Attribute):
        return _outer(call.func, loop)
    return _LATER.match(name) is not None


def _outer(target: ast.AST, loop: ast.AST) -> bool:
    """Whether `target` (`x[...]`, `x.y`) belongs to an object that the loop does not create."""
    if not isinstance(target, ast.Subscript | ast.Attribute):
        return False
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    if not isinstance(target, ast.Name):
        return False
    return not any(
        isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Store)
        for node in ast.walk(loop)
    )


def _leaves(tree: Tree, closure: Closure, loop: ast.AST) -> bool:
    """Whether the loop ends or waits after the closure is created."""
    statement = tree.statement(closure) if not isinstance(loop, _COMPREHENSIONS) else None
    while statement is not None and statement is not loop:
        block = tree.block(statement)
        after = block[next(n for n, one in enumerate(block) if one is statement) :]
        for node in walk_scope(after):
            if isinstance(node, ast.Return | ast.Break | ast.Raise | ast.Await | ast.Yield):
                return True
            if isinstance(node, ast.Call) and _waits(node):
                return True
        parent = tree.parent(statement)
        statement = parent if isinstance(parent, ast.stmt) else None
    return False


def _waits(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("join", "result", "wait")
