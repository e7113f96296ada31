"""Decides which hits of the linter's checks are bugs, where the check alone fires too often.

Each judge gives what to say, or none. They read the tree around the hit and never the disk.
"""

import ast
import re

from leadhand.teams.review.lenses.bugs.hits import BugHit, as_said, is_test_path
from leadhand.teams.review.lenses.bugs.trees import (
    FUNCTIONS,
    SCOPES,
    Function,
    called_name,
    dotted,
    parameters,
    walk_scope,
)

_LOGGER = re.compile(r"(?:^|[._])(?:log|logger|logging)$", re.IGNORECASE)
_HANDLES = re.compile(
    r"exc|err|fail|fatal|catch|trace|log|handle|report|^on_|callback", re.IGNORECASE
)
_INTERFACE = re.compile(r"^(?:I[A-Z]\w*|\w*Interface|\w*Protocol|Protocol)$")
MAX_KEYS = 200
"""Larger dictionaries are tables that a program wrote."""

_BROAD = frozenset({"Exception", "BaseException"})


def nan(hit: BugHit) -> str | None:
    """Only `==` and `!=`: identity and membership are used on purpose with one NaN object."""
    compare = hit.node(ast.Compare)
    if compare is None:
        byte = len(hit.text[: hit.found.column - 1].encode())
        node = hit.tree.starting_at(hit.found.line, byte, ast.expr)
        compare = hit.tree.parent(node) if node is not None else None
    if not isinstance(compare, ast.Compare):
        return None
    if not all(isinstance(op, ast.Eq | ast.NotEq) for op in compare.ops):
        return None
    return f"`{ast.unparse(compare)}` compares with NaN."


def unused_comparison(hit: BugHit) -> str | None:
    """Comparisons made for an exception or for a language built of operators are left alone."""
    node = hit.node(ast.Expr)
    if node is None or not isinstance(node.value, ast.Compare) or hit.expected():
        return None
    compare = node.value
    if is_test_path(hit.file.path) and not _checks(compare):
        return None
    if len(compare.ops) != 1 or not isinstance(compare.ops[0], ast.Eq | ast.NotEq | ast.Is):
        return None
    if hit.tree.enclosing(node, ast.With, ast.AsyncWith, ast.Try) is not None:
        return None
    in_function = isinstance(hit.tree.enclosing_scope(node), FUNCTIONS)
    if not in_function and not is_test_path(hit.file.path):
        return None  # the last line of a script or notebook cell is shown
    return f"The result of `{_brief(compare)}` is not used."


def _checks(compare: ast.Compare) -> bool:
    """Whether a comparison reads like what a test asserts; others try out operators."""
    return (
        isinstance(compare.ops[0], ast.Eq)
        and isinstance(compare.left, ast.Attribute | ast.Subscript | ast.Call)
        and isinstance(compare.comparators[0], ast.Constant)
    )


def constant_condition(hit: BugHit) -> str | None:
    """A constant beside `or`/`and` in a condition; `if 0 and ...` is a switch and left alone."""
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
            outcome = f"is always true: `{ast.unparse(culprit)}` stands alone there"
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
    """A jump that can swallow what no handler of the same `try` takes on purpose."""
    node = hit.any_node()
    if not isinstance(node, ast.Return | ast.Break | ast.Continue):
        return None
    below: ast.AST = node
    for up in hit.tree.ancestors(node):
        if isinstance(up, ast.Try) and below in up.finalbody:
            if any(_takes_all(handler) for handler in up.handlers):
                return None
            word = type(node).__name__.lower()
            return f"`{word}` inside `finally` ends the block early."
        below = up
    return None


def _takes_all(handler: ast.ExceptHandler) -> bool:
    name = dotted(handler.type) if handler.type is not None else "BaseException"
    raises = any(isinstance(node, ast.Raise) for node in walk_scope(handler.body))
    return name in _BROAD and not raises


def logged_outside_handler(hit: BugHit) -> str | None:
    """`logger.exception(...)` in a function that nothing suggests is called from a handler."""
    node = hit.node(ast.Call)
    if node is None or not isinstance(node.func, ast.Attribute):
        return None
    owner = dotted(node.func.value)
    if owner is None or not _LOGGER.search(owner) or not node.args:
        return None
    function = hit.tree.enclosing_function(node)
    if not isinstance(function, FUNCTIONS) or _HANDLES.search(function.name):
        return None
    if any(_HANDLES.search(argument.arg) for argument in parameters(function)):
        return None
    if any(isinstance(keyword.arg, str) and keyword.arg == "exc_info" for keyword in node.keywords):
        return None
    return f"`{owner}.exception` is called outside an `except` block."


def misleading_strip(hit: BugHit) -> str | None:
    """Only where the argument reads like an affix: letters, and some character twice."""
    node = hit.node(ast.Call)
    if node is None or not isinstance(node.func, ast.Attribute) or len(node.args) != 1:
        return None
    argument = node.args[0]
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        return None
    text = argument.value
    if len(re.findall(r"[A-Za-z]", text)) < 2 or len(set(text)) == len(text):
        return None
    return f"`.{node.func.attr}({ast.unparse(argument)})` does not take off that text as a whole."


def flags_as_count(hit: BugHit) -> str | None:
    """Only where a constant of `re` is passed by position."""
    node = hit.node(ast.Call)
    if node is None:
        return None
    place = 2 if (called_name(node) or "").endswith("split") else 3
    if len(node.args) <= place:
        return None
    flags = node.args[place]
    names = [dotted(below) or "" for below in ast.walk(flags) if isinstance(below, ast.Attribute)]
    if not names or not all(re.fullmatch(r"(?:re|regex)\.[A-Z]+", name) for name in names):
        return None
    what = "maxsplit" if place == 2 else "count"
    return f"`{called_name(node)}` takes `{ast.unparse(flags)}` as `{what}`."


def init_returns(hit: BugHit) -> str | None:
    """Not `return super().__init__()`, which gives `None`."""
    node = hit.node(ast.Return)
    if node is None:
        return as_said(hit)
    if node.value is None or isinstance(node.value, ast.Call | ast.Name | ast.Await):
        return None
    if isinstance(node.value, ast.Constant) and node.value.value is None:
        return None
    return f"`__init__` returns `{_brief(node.value)}`."


def slots(hit: BugHit) -> str | None:
    """Not private names, which Python changes."""
    return None if hit.name.startswith("__") else as_said(hit)


def special_method(hit: BugHit) -> str | None:
    """Not in descriptions of an interface, which leave out `self`, nor where arguments vary."""
    function = hit.node(ast.FunctionDef) or hit.node(ast.AsyncFunctionDef)
    if function is None:
        byte = len(hit.text) - len(hit.text.lstrip())
        function = hit.tree.starting_at(hit.found.line, byte, ast.FunctionDef)
        function = function or hit.tree.starting_at(hit.found.line, byte, ast.AsyncFunctionDef)
    if function is None:
        return None
    owner = hit.tree.parent(function)
    if not isinstance(owner, ast.ClassDef) or function.decorator_list:
        return None
    bases = [(dotted(base) or "").rsplit(".", 1)[-1] for base in owner.bases]
    if any(_INTERFACE.match(base) for base in [*bases, owner.name]):
        return None
    return as_said(hit)


def duplicate_key(hit: BugHit) -> str | None:
    """Only where the values differ, and once a dictionary."""
    byte = len(hit.text[: hit.found.column - 1].encode())
    key = hit.tree.starting_at(hit.found.line, byte, ast.expr)
    owner = hit.tree.parent(key) if key is not None else None
    if key is None or not isinstance(owner, ast.Dict) or len(owner.keys) > MAX_KEYS:
        return None
    seen: dict[str, tuple[ast.expr, str]] = {}
    for one, value in zip(owner.keys, owner.values, strict=True):
        if one is None:
            seen.clear()  # what `**` brings may be meant to be replaced
            continue
        earlier, before = seen.setdefault(ast.dump(one), (one, ast.dump(value)))
        if earlier is not one and before != ast.dump(value):
            if one is not key:
                return None  # this dictionary's first is said already
            return f"The key `{_brief(key)}` is already in this dictionary (line {earlier.lineno})."
    return None


def redefined_test(hit: BugHit) -> str | None:
    """Two tests of one name in one body."""
    pair = _pair(hit)
    if pair is None or not is_test_path(hit.file.path):
        return None
    old, new = pair
    if not new.name.startswith(("test", "Test")):
        return None
    return f"`{new.name}` is already defined in line {old.lineno}."


def redefined(hit: BugHit) -> str | None:
    """Two undecorated functions or classes of one name in one body."""
    pair = _pair(hit)
    if pair is None or is_test_path(hit.file.path):
        return None
    old, new = pair
    if old.decorator_list or new.decorator_list or new.name.startswith("_"):
        return None
    return f"`{new.name}` is already defined in line {old.lineno}."


def _pair(hit: BugHit) -> tuple[Function | ast.ClassDef, Function | ast.ClassDef] | None:
    """The earlier and the later definition, where both stand in the same list of statements."""
    place = re.search(r"from line (\d+)", hit.found.message)
    if place is None:
        return None
    for node in _definitions(hit):
        block = hit.tree.block(node)
        for other in block:
            if other is node:
                break
            if isinstance(other, (*FUNCTIONS, ast.ClassDef)) and other.name == node.name:
                last = other.end_lineno or other.lineno
                if other.lineno <= int(place.group(1)) <= last:
                    return other, node
    return None


def _definitions(hit: BugHit) -> list[Function | ast.ClassDef]:
    """The definition whose name the hit points at, if it is one."""
    byte = len(hit.text) - len(hit.text.lstrip())
    for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        node = hit.tree.starting_at(hit.found.line, byte, kind)
        if node is not None and node.name == hit.name:
            return [node]
    return []


def dangling_task(hit: BugHit) -> str | None:
    """Only inside functions: what a module starts lives as long as the module's loop."""
    node = hit.node(ast.Call)
    if node is None:
        byte = len(hit.text) - len(hit.text.lstrip())
        node = hit.tree.starting_at(hit.found.line, byte, ast.Call)
    if node is None:
        return None
    scope = hit.tree.enclosing_scope(node)
    if not isinstance(scope, SCOPES):
        return None
    return f"Nothing keeps the task that `{called_name(node) or 'create_task'}` makes."


def _brief(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 80 else f"{text[:77]}..."
