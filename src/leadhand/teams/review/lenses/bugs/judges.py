"""Decides which hits of the linter are bugs, for rules that match too often.

Each judge returns a message or `None`. Judges read the tree around the hit and never the disk.
"""

import ast
import re

from leadhand.teams.review.lenses import syntax
from leadhand.teams.review.lenses.bugs.hits import BugHit, ruff_message
from leadhand.teams.review.lenses.paths import is_test

_LOGGER = re.compile(r"(?:^|[._])(?:log|logger|logging)$", re.IGNORECASE)
_HANDLES = re.compile(
    r"exc|err|fail|fatal|catch|trace|log|handle|report|^on_|callback", re.IGNORECASE
)
_INTERFACE = re.compile(r"^(?:I[A-Z]\w*|\w*Interface|\w*Protocol|Protocol)$")
MAX_KEYS = 200
"""Larger dictionaries are generated tables."""

_DEFINITIONS = (*syntax.FUNCTIONS, ast.ClassDef)
_BROAD = frozenset({"Exception", "BaseException"})


def nan_comparison(hit: BugHit) -> str | None:
    """Only `==` and `!=`: code uses identity and membership with one NaN object on purpose."""
    compare = hit.node(ast.Compare)
    if compare is None:
        node = hit.node(ast.expr)
        compare = hit.tree.parent(node) if node is not None else None
    if not isinstance(compare, ast.Compare):
        return None
    if not all(isinstance(op, ast.Eq | ast.NotEq) for op in compare.ops):
        return None
    return f"`{ast.unparse(compare)}` compares with NaN."


def unused_comparison(hit: BugHit) -> str | None:
    """Not comparisons that should raise, or that build an expression with overloaded operators."""
    node = hit.node(ast.Expr)
    if node is None or not isinstance(node.value, ast.Compare) or hit.is_expected():
        return None
    compare = node.value
    if is_test(hit.file.path) and not _checks(compare):
        return None
    if len(compare.ops) != 1 or not isinstance(compare.ops[0], ast.Eq | ast.NotEq | ast.Is):
        return None
    if hit.tree.enclosing(node, ast.With, ast.AsyncWith, ast.Try) is not None:
        return None
    in_function = isinstance(hit.tree.enclosing_scope(node), syntax.FUNCTIONS)
    if not in_function and not is_test(hit.file.path):
        return None  # a notebook shows the value of the last line of a cell
    return f"The result of `{_brief(compare)}` is not used."


def _checks(compare: ast.Compare) -> bool:
    """Whether a comparison looks like an assertion of a test; others try out operators."""
    return (
        isinstance(compare.ops[0], ast.Eq)
        and isinstance(compare.left, ast.Attribute | ast.Subscript | ast.Call)
        and isinstance(compare.comparators[0], ast.Constant)
    )


def constant_condition(hit: BugHit) -> str | None:
    """A constant operand of `or` or `and`; `if 0 and ...` turns code off and is left alone."""
    node = hit.node(ast.BoolOp)
    if node is None:
        return None
    first, *rest = node.values
    if isinstance(first, ast.Constant):
        return None
    if isinstance(node.op, ast.Or):
        culprit = next((value for value in rest if _true(value)), None)
        if culprit is None:
            return None
        if isinstance(culprit, ast.Constant) and isinstance(culprit.value, bool):
            outcome = "is always true"
        elif isinstance(first, ast.Compare) and isinstance(culprit, ast.Constant):
            outcome = f"is always true: `{ast.unparse(culprit)}` is a condition of its own"
        else:
            return None
        return f"`{_brief(node)}` {outcome}."
    if _condition(hit, node) and any(
        isinstance(value, ast.Constant) and value.value is False for value in rest
    ):
        return f"`{_brief(node)}` is never true."
    return None


def _true(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str | bool | int)
        and bool(node.value)
    )


def _condition(hit: BugHit, node: ast.expr) -> bool:
    parent = hit.tree.parent(node)
    return isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is node


def jump_in_finally(hit: BugHit) -> str | None:
    """A jump that can drop an exception, unless a handler of the same `try` catches all of them."""
    node = hit.node(ast.AST)
    if not isinstance(node, ast.Return | ast.Break | ast.Continue):
        return None
    for up, below in hit.tree.path_up(node):
        if isinstance(up, ast.Try) and below in up.finalbody:
            if any(_catches_all(handler) for handler in up.handlers):
                return None
            word = type(node).__name__.lower()
            return f"`{word}` inside `finally` ends the block early."
    return None


def _catches_all(handler: ast.ExceptHandler) -> bool:
    name = syntax.dotted(handler.type) if handler.type is not None else "BaseException"
    raises = any(isinstance(node, ast.Raise) for node in syntax.walk_scope(handler.body))
    return name in _BROAD and not raises


def logged_outside_handler(hit: BugHit) -> str | None:
    """`logger.exception(...)` in a function that does not look like an error handler."""
    node = hit.node(ast.Call)
    if node is None or not isinstance(node.func, ast.Attribute):
        return None
    owner = syntax.dotted(node.func.value)
    if not owner or not _LOGGER.search(owner) or not node.args:
        return None
    function = hit.tree.enclosing_function(node)
    if not isinstance(function, syntax.FUNCTIONS) or _HANDLES.search(function.name):
        return None
    if any(_HANDLES.search(argument.arg) for argument in syntax.parameters(function)):
        return None
    if any(isinstance(keyword.arg, str) and keyword.arg == "exc_info" for keyword in node.keywords):
        return None
    return f"`{owner}.exception` is called outside an `except` block."


def misleading_strip(hit: BugHit) -> str | None:
    """Only if the argument looks like an affix: letters, and one character twice."""
    node = hit.node(ast.Call)
    if node is None or not isinstance(node.func, ast.Attribute) or len(node.args) != 1:
        return None
    argument = node.args[0]
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        return None
    text = argument.value
    if len(re.findall(r"[A-Za-z]", text)) < 2 or len(set(text)) == len(text):
        return None
    return f"`.{node.func.attr}({ast.unparse(argument)})` does not remove that text as a whole."


def flags_as_count(hit: BugHit) -> str | None:
    """Only if a constant of `re` is passed by position."""
    node = hit.node(ast.Call)
    if node is None:
        return None
    place = 2 if syntax.dotted(node.func).endswith("split") else 3
    if len(node.args) <= place:
        return None
    flags = node.args[place]
    names = [syntax.dotted(below) for below in ast.walk(flags) if isinstance(below, ast.Attribute)]
    if not names or not all(re.fullmatch(r"(?:re|regex)\.[A-Z]+", name) for name in names):
        return None
    what = "maxsplit" if place == 2 else "count"
    return f"`{syntax.dotted(node.func)}` takes `{ast.unparse(flags)}` as `{what}`."


def init_returns(hit: BugHit) -> str | None:
    """Not `return super().__init__()`, which returns `None`."""
    node = hit.node(ast.Return)
    if node is None:
        return ruff_message(hit)
    if node.value is None or isinstance(node.value, ast.Call | ast.Name | ast.Await):
        return None
    if isinstance(node.value, ast.Constant) and node.value.value is None:
        return None
    return f"`__init__` returns `{_brief(node.value)}`."


def missing_slot(hit: BugHit) -> str | None:
    """Not private names, which Python mangles."""
    return None if hit.name.startswith("__") else ruff_message(hit)


def special_method_signature(hit: BugHit) -> str | None:
    """Not in classes that describe an interface, which omit `self`, nor if it is decorated."""
    function = (
        hit.node(ast.FunctionDef)
        or hit.node(ast.AsyncFunctionDef)
        or hit.first_node(ast.FunctionDef)
        or hit.first_node(ast.AsyncFunctionDef)
    )
    if function is None:
        return None
    owner = hit.tree.parent(function)
    if not isinstance(owner, ast.ClassDef) or function.decorator_list:
        return None
    bases = [syntax.dotted(base).rsplit(".", 1)[-1] for base in owner.bases]
    if any(_INTERFACE.match(base) for base in [*bases, owner.name]):
        return None
    return ruff_message(hit)


def duplicate_key(hit: BugHit) -> str | None:
    """Only if the values differ, and only once per dictionary."""
    key = hit.node(ast.expr)
    owner = hit.tree.parent(key) if key is not None else None
    if key is None or not isinstance(owner, ast.Dict) or len(owner.keys) > MAX_KEYS:
        return None
    seen: dict[str, tuple[ast.expr, str]] = {}
    for one, value in zip(owner.keys, owner.values, strict=True):
        if one is None:
            seen.clear()  # later keys may override those of `**` on purpose
            continue
        earlier, before = seen.setdefault(ast.dump(one), (one, ast.dump(value)))
        if earlier is not one and before != ast.dump(value):
            if one is not key:
                return None  # the first duplicate is reported already
            return f"The key `{_brief(key)}` is already in this dictionary (line {earlier.lineno})."
    return None


def redefined_test(hit: BugHit) -> str | None:
    """Two tests with the same name in one body."""
    pair = _pair(hit)
    if pair is None or not is_test(hit.file.path):
        return None
    old, new = pair
    if not new.name.startswith(("test", "Test")):
        return None
    return f"`{new.name}` is already defined in line {old.lineno}."


def redefined(hit: BugHit) -> str | None:
    """Two undecorated functions or classes with the same name in one body."""
    pair = _pair(hit)
    if pair is None or is_test(hit.file.path):
        return None
    old, new = pair
    if old.decorator_list or new.decorator_list or new.name.startswith("_"):
        return None
    return f"`{new.name}` is already defined in line {old.lineno}."


def _pair(
    hit: BugHit,
) -> tuple[syntax.Function | ast.ClassDef, syntax.Function | ast.ClassDef] | None:
    """The earlier and the later definition, if both are in the same list of statements."""
    place = re.search(r"from line (\d+)", hit.diagnostic.message)
    node = hit.first_node(ast.stmt)
    if place is None or not isinstance(node, _DEFINITIONS) or node.name != hit.name:
        return None
    for other in hit.tree.block(node):
        if other is node:
            break
        if isinstance(other, _DEFINITIONS) and other.name == node.name:
            last = other.end_lineno or other.lineno
            if other.lineno <= int(place.group(1)) <= last:
                return other, node
    return None


def dangling_task(hit: BugHit) -> str | None:
    """Only inside functions: tasks of a module live as long as the module's event loop."""
    node = hit.node(ast.Call) or hit.first_node(ast.Call)
    if node is None or not isinstance(hit.tree.enclosing_scope(node), syntax.SCOPES):
        return None
    return f"Nothing keeps the task that `{syntax.dotted(node.func) or 'create_task'}` creates."


def _brief(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 80 else f"{text[:77]}..."
