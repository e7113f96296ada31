"""Coroutines that are created and never awaited.

Only calls of functions that are known to be `async def`: in the same file, in another changed file
that this one imports from, in asyncio or in anyio.
"""

import ast
import functools
import re
from collections.abc import Iterator

from leadhand.extension.findings import Finding
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lenses.bugs.modules import Import, Modules, imports
from leadhand_teams.review.ruff_rules.hits import finding, is_expected
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import (
    FUNCTIONS,
    SCOPES,
    Function,
    Tree,
    all_statements,
    binding_nodes,
    dotted,
    is_test,
    last_name,
    parameters,
    words_of,
)

RULE = rule("bugs/coroutine-not-awaited")

_BARE = re.compile(r"^[ \t]+(?:\w+\.)?(\w+)\(", re.MULTILINE)
_ASYNC_DEF = re.compile(r"^[ \t]*async[ \t]+def[ \t]+(\w+)", re.MULTILINE)
_KNOWN = words_of("coroutines.known")
_HARMLESS = frozenset({"staticmethod", "classmethod", "override", "abstractmethod", "final"})


def find(change: Change, file: ChangedFile) -> Iterator[Finding]:
    """Findings for statements on added lines that drop a coroutine."""
    bare = {found.group(1) for text in file.added.values() if (found := _BARE.match(text))}
    names = bare & (_coroutines(str(change.folder)) | {one.split(".")[1] for one in _KNOWN})
    if not names or file.head_tree is None:
        return
    for node in all_statements(file.head_tree.body):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        called = last_name(node.value.func)
        if called not in names or not file.touches(node.lineno, node.end_lineno):
            continue
        name = dotted(node.value.func)
        origin = _origin(change, file, node, name)
        if origin and not (is_test(file.path) and is_expected(file.head_syntax, node)):
            message = f"`{name}` is a coroutine function ({origin}), and its call is not awaited."
            yield finding(RULE, file, node.lineno, node.end_lineno or node.lineno, message)


@functools.lru_cache(maxsize=4)
def _coroutines(folder: str) -> frozenset[str]:
    """Names of the coroutine functions in all files of the change."""
    files = (file for file in Change.load(folder).files if file.language == "python")
    return frozenset(name for file in files for name in _ASYNC_DEF.findall(file.head))


@functools.lru_cache(maxsize=4)
def _modules(folder: str) -> Modules:
    """The modules among the files of the change."""
    return Modules(file.path for file in Change.load(folder).files)


def _origin(change: Change, file: ChangedFile, node: ast.Expr, name: str) -> str:
    """Where the called coroutine function is defined; empty if it is not known to be one."""
    owner, _, method = name.rpartition(".")
    if owner and owner not in ("self", "cls") and name not in _KNOWN:
        return ""
    tree = file.head_syntax
    if name in _KNOWN:
        imported = any(one.local == owner == one.module for one in _imports(tree))
        return f"of {owner}" if imported else ""
    if owner in ("self", "cls"):
        function = tree.enclosing_function(node)
        scope = tree.parent(function) if function is not None else None
        if not isinstance(scope, ast.ClassDef) or scope.decorator_list or scope.keywords:
            return ""
        found = _only_coroutine(scope, method)
        return f"line {found.lineno}" if found is not None else ""
    return _function(change, file, node, name)


def _imports(tree: Tree) -> Iterator[Import]:
    return imports((*tree.nodes(ast.Import), *tree.nodes(ast.ImportFrom)))


def _function(change: Change, file: ChangedFile, node: ast.Expr, name: str) -> str:
    for up in file.head_syntax.ancestors(node):
        if isinstance(up, ast.ClassDef) or not isinstance(up, (*SCOPES, ast.Module)):
            continue
        if isinstance(up, (*FUNCTIONS, ast.Lambda)) and any(
            one.arg == name for one in parameters(up)
        ):
            return ""
        if next(binding_nodes(up, name), None) is not None:
            found = _only_coroutine(up, name)
            return (
                f"line {found.lineno}" if found is not None else _imported(change, file, up, name)
            )
    return ""


def _only_coroutine(scope: ast.AST, name: str) -> Function | None:
    """The one definition of `name` in a scope, if it is a plain `async def`."""
    found = list(binding_nodes(scope, name))
    if len(found) != 1 or not isinstance(found[0], ast.AsyncFunctionDef):
        return None
    plain = all(last_name(one) in _HARMLESS for one in found[0].decorator_list)
    return found[0] if plain else None


def _imported(change: Change, file: ChangedFile, scope: ast.AST, name: str) -> str:
    """Where another changed file that `name` is imported from defines it as an `async def`."""
    tree = file.head_syntax
    sources = [
        one for one in _imports(tree) if one.local == name and scope in tree.ancestors(one.node)
    ]
    source = sources[0] if len(sources) == 1 else None
    if source is None or source.name is None:
        return ""
    modules = _modules(str(change.folder))
    for other in change.files:
        if (
            f"async def {source.name}(" in other.head
            and modules.resolves_to(file.path, source.module, source.level, other.path)
            and other.head_tree is not None
        ):
            found = _only_coroutine(other.head_tree, source.name)
            if found is not None:
                return f"{other.path}:{found.lineno}"
    return ""
