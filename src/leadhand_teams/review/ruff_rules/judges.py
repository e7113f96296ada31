"""Decides which of ruff's hits matter, for rules that match too often.

Each judge returns a message or `None`. Judges read the tree around the hit and never the disk.
"""

import ast
import re

from leadhand_teams.review import syntax
from leadhand_teams.review.ruff_rules.hits import RuffHit, ruff_message

_LOGGER = re.compile(r"(?:^|[._])(?:log|logger|logging)$", re.IGNORECASE)
_HANDLES = syntax.pattern_of("judges.handles")
_DEFINITIONS = (*syntax.FUNCTIONS, ast.ClassDef)
_CHANGES = syntax.words_of("loops.changes")
_MAKES = frozenset({"list", "dict", "set", "deque", "OrderedDict"})
_CACHES = ("cache", "memo", "seen", "_", "visited", "counter", "state")
CALLERS_CHOICE = syntax.words_of("protections.callers_choice")
"""Words of conditions that leave the decision to a caller or a setting."""

_PROTECTED = syntax.words_of("protections.protected")


def unused_comparison(hit: RuffHit) -> str | None:
    """Not what should raise, nor the last line of a notebook's cell."""
    node = hit.node(ast.Expr)
    if node is None or hit.tree.enclosing_function(node) is None:
        return None
    guarded = hit.tree.enclosing(node, ast.With, ast.AsyncWith, ast.Try)
    return None if guarded else f"The result of `{ast.unparse(node)}` is not used."


def redefined(hit: RuffHit) -> str | None:
    """Two undecorated functions or classes, or two tests, with one name in the same body."""
    node = hit.first_node(ast.stmt)
    if not isinstance(node, _DEFINITIONS) or node.name != hit.name:
        return None
    same = [one for one in hit.tree.block(node) if isinstance(one, _DEFINITIONS)]
    same = [one for one in same if one.name == node.name and one.lineno < node.lineno]
    in_test = syntax.is_test(hit.file.path)
    decorated = any(one.decorator_list for one in (*same, node)) and not in_test
    if not same or decorated or (in_test and not node.name.lower().startswith("test")):
        return None
    what = "which never runs" if in_test else "which nothing has used"
    return f"`{node.name}` replaces the one in line {same[-1].lineno}, {what}."


def not_called(hit: RuffHit) -> str | None:
    """A statement that only names an undecorated function or method of the same file."""
    node = hit.node(ast.Expr)
    if node is None or hit.tree.enclosing(node, ast.Try, ast.With, ast.AsyncWith) is not None:
        return None
    match node.value:
        case ast.Name(id=name):
            scope: ast.AST | None = hit.tree.module
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            scope = hit.tree.enclosing(node, ast.ClassDef)
        case _:
            return None
    bound = list(syntax.binding_nodes(scope, name)) if scope is not None else []
    if len(bound) != 1 or not isinstance(bound[0], syntax.FUNCTIONS) or bound[0].decorator_list:
        return None
    return f"`{ast.unparse(node.value)}` is a function that this line does not call."


def logged_outside_handler(hit: RuffHit) -> str | None:
    """`logger.exception(...)` in a function that does not look like an error handler."""
    node = hit.call
    if node is None or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    owner = syntax.dotted(node.func.value)
    function = hit.tree.enclosing_function(node)
    if not _LOGGER.search(owner) or not isinstance(function, syntax.FUNCTIONS):
        return None
    named = [function.name, *(one.arg for one in syntax.parameters(function))]
    if any(map(_HANDLES.search, named)) or any(one.arg == "exc_info" for one in node.keywords):
        return None
    return f"`{owner}.exception` is called outside an `except` block."


def logging_arguments(hit: RuffHit) -> str | None:
    """Not a message with `{}`, which a logger of the project's own fills."""
    match hit.call:
        case ast.Call(args=[ast.Constant(value=str() as text), *_]) if "{" in text:
            return None
        case _:
            return ruff_message(hit)


def unsafe_loader(hit: RuffHit) -> str | None:
    """Not a name that the module gives a safe loader."""
    loaders = {ast.unparse(one.value) for one in hit.call.keywords} if hit.call else set[str]()
    for node in hit.tree.nodes(ast.Assign):
        names = {ast.unparse(one) for one in node.targets}
        if names & loaders and "SafeLoader" in ast.unparse(node.value):
            return None
    return ruff_message(hit)


def misleading_strip(hit: RuffHit) -> str | None:
    """Only if the argument looks like an affix: letters, and one character twice."""
    match hit.call:
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=str() as text)]):
            affix = len(re.findall(r"[A-Za-z]", text)) > 1 and len(set(text)) < len(text)
            what = f"`.{name}({text!r})` does not remove that text as a whole."
            return what if affix else None
        case _:
            return None


def flags_as_count(hit: RuffHit) -> str | None:
    """Only if a constant of `re` is passed by position."""
    node = hit.call
    place = 2 if node is not None and syntax.last_name(node.func) == "split" else 3
    if node is None or len(node.args) <= place:
        return None
    flags = ast.unparse(node.args[place])
    if not re.fullmatch(r"(?:re|regex)\.[A-Z]+(?: \| (?:re|regex)\.[A-Z]+)*", flags):
        return None
    what = "maxsplit" if place == 2 else "count"
    return f"`{syntax.dotted(node.func)}` takes `{flags}` as `{what}`."


def dangling_task(hit: RuffHit) -> str | None:
    """Only inside functions: tasks of a module live as long as the module's event loop."""
    node = hit.node(ast.Call) or hit.first_node(ast.Call)
    if node is None or not isinstance(hit.tree.enclosing_scope(node), syntax.SCOPES):
        return None
    return f"Nothing keeps the task that `{syntax.dotted(node.func) or 'create_task'}` creates."


def blocking(hit: RuffHit) -> str | None:
    """Not `input` in `main`, nor a sleep of 0, nor what is awaited."""
    node = hit.call
    if node is None or isinstance(hit.tree.parent(node), ast.Await):
        return None
    where = getattr(hit.tree.enclosing_function(node), "name", "")
    name = hit.names.dotted(node.func)
    if (name == "input" and where == "main") or ast.unparse(node).endswith("sleep(0)"):
        return None
    return f"`{name}` blocks inside the coroutine function `{where}`."


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


def is_callers_choice(tree: syntax.Tree, node: ast.AST) -> bool:
    """Whether a condition or the name of the function around `node` shows that a caller decides."""
    function = tree.enclosing(node, *syntax.FUNCTIONS)
    around = ast.walk(function) if function is not None else tree.ancestors(node)
    tests = [ast.unparse(one.test) for one in around if isinstance(one, ast.If | ast.IfExp)]
    named = syntax.words(function.name) if function is not None else []
    chosen = not CALLERS_CHOICE.isdisjoint(syntax.words(" ".join(tests)))
    return chosen or not {"unverified", "insecure", "noverify"}.isdisjoint(named)


def without_callers_choice(hit: RuffHit) -> str | None:
    """Not where a caller decides."""
    return None if hit.call and is_callers_choice(hit.tree, hit.call) else ruff_message(hit)


def protects(hit: RuffHit) -> str | None:
    """Only if names say that the hash protects a password, a signature or the like.

    Checksums and cache keys are left alone, and what the change moves or rewrites.
    """
    node = hit.call
    written = [ast.unparse(node.func) if node else "", *hit.file.removed.values()]
    if node is None or any(written[0] in text for text in written[1:]):
        return None
    about = ", ".join(ast.unparse(one) for one in node.args)
    found = [word for word in syntax.words(f"{about} {_target(hit, node)}") if word in _PROTECTED]
    algorithm = re.search(r"\b(?:md[245]|sha1?)\b", ast.unparse(node), re.IGNORECASE)
    what = algorithm[0] if algorithm else syntax.dotted(node.func)
    return f"`{what}` is used to protect `{found[0]}`." if found else None


def world_writable(hit: RuffHit) -> str | None:
    """Only masks that let every user write, without the sticky bit."""
    node = hit.call
    modes = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)] if node else []
    numbers = [mode for mode in modes if isinstance(mode, int)]
    named = node is not None and re.search(r"\bS_(?:IWOTH|IRWXO)\b", ast.unparse(node))
    if not named and not any(mode & 0o002 and not mode & 0o1000 for mode in numbers):
        return None
    return ruff_message(hit)


def _target(hit: RuffHit, node: ast.AST) -> str:
    """The name that the statement around `node` assigns to; empty if it assigns to none."""
    statement = hit.tree.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return ast.unparse(target).rsplit(".", 1)[-1] if target is not None else ""
