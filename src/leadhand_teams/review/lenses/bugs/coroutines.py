"""Coroutines that are created and never awaited.

Only calls of functions that are known to be `async def`: in the same file, in asyncio or in anyio.
"""

import ast
import re
from collections.abc import Iterator

from leadhand.extension.findings import Finding
from leadhand_teams.review import syntax
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.ruff_rules.hits import finding, is_expected
from leadhand_teams.review.rules import rule

RULE = rule("bugs/coroutine-not-awaited")

_BARE = re.compile(r"^[ \t]+(?:\w+\.)?(\w+)\(", re.MULTILINE)
_ASYNC_DEF = re.compile(r"^[ \t]*async[ \t]+def[ \t]+(\w+)", re.MULTILINE)
_KNOWN = syntax.words_of("coroutines.known")
_HARMLESS = frozenset({"staticmethod", "classmethod", "override", "abstractmethod", "final"})


def find(file: ChangedFile) -> Iterator[Finding]:
    """Findings for statements on added lines that drop a coroutine."""
    bare = {found.group(1) for text in file.added.values() if (found := _BARE.match(text))}
    names = bare & {*_ASYNC_DEF.findall(file.head), *(one.split(".")[1] for one in _KNOWN)}
    if not names or file.head_tree is None:
        return
    for node in syntax.all_statements(file.head_tree.body):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        called = syntax.last_name(node.value.func)
        if called not in names or not file.touches(node.lineno, node.end_lineno):
            continue
        name = syntax.dotted(node.value.func)
        origin = _origin(file, node, name)
        if origin and not (syntax.is_test(file.path) and is_expected(file.head_syntax, node)):
            message = f"`{name}` is a coroutine function ({origin}), and its call is not awaited."
            yield finding(RULE, file, node.lineno, node.end_lineno or node.lineno, message)


def _origin(file: ChangedFile, node: ast.Expr, name: str) -> str:
    """Where the called coroutine function is defined; empty if it is not known to be one."""
    owner, _, last = name.rpartition(".")
    if name in _KNOWN:
        return f"of {owner}" if owner in file.head_names.modules else ""
    if owner not in ("", "self", "cls"):
        return ""
    scope = _class(file, node) if owner else _scope(file, node, name)
    found = list(syntax.binding_nodes(scope, last)) if scope is not None else []
    if len(found) != 1 or not isinstance(found[0], ast.AsyncFunctionDef):
        return ""
    plain = all(syntax.last_name(one) in _HARMLESS for one in found[0].decorator_list)
    return f"line {found[0].lineno}" if plain else ""


def _class(file: ChangedFile, node: ast.Expr) -> ast.ClassDef | None:
    """The plain class of whose method a statement is a part."""
    function = file.head_syntax.enclosing_function(node)
    scope = file.head_syntax.parent(function) if function is not None else None
    if isinstance(scope, ast.ClassDef) and not scope.decorator_list and not scope.keywords:
        return scope
    return None


def _scope(file: ChangedFile, node: ast.Expr, name: str) -> ast.AST | None:
    """The innermost scope around a statement that binds a name; `None` for a parameter."""
    for up in file.head_syntax.ancestors(node):
        if isinstance(up, (*syntax.FUNCTIONS, ast.Lambda)) and any(
            one.arg == name for one in syntax.parameters(up)
        ):
            return None
        scope = isinstance(up, (*syntax.SCOPES, ast.Module)) and not isinstance(up, ast.ClassDef)
        if scope and next(syntax.binding_nodes(up, name), None) is not None:
            return up
    return None
