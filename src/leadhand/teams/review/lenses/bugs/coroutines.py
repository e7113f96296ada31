"""Coroutines that are created and never awaited.

Only calls of functions that are known to be `async def`: in the same file, in another changed file
that this one imports from, in asyncio or in anyio.
"""

import ast
import functools
import re
from collections.abc import Iterator

from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.modules import Modules, imports
from leadhand.teams.review.lenses.syntax import (
    FUNCTIONS,
    SCOPES,
    Function,
    Tree,
    binding_nodes,
    dotted,
    parameters,
    word_set,
)

RULE = LensRule(
    "bugs/coroutine-not-awaited", "bugs/async", "critical",
    "Calling a coroutine function only creates a coroutine; without `await` nothing runs.",
    "Put `await` in front of the call.",
)  # fmt: skip

_BARE = re.compile(r"^[ \t]+(?:self\.|cls\.)?(\w+)\(", re.MULTILINE)
_ASYNC_DEF = re.compile(r"^[ \t]*async[ \t]+def[ \t]+(\w+)", re.MULTILINE)
_PUBLIC = re.compile(r"^async[ \t]+def[ \t]+(\w+)", re.MULTILINE)
_IMPORTED = re.compile(
    r"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]+(\([^)]{0,4000}\)|[^\n]{0,400})", re.MULTILINE
)
_WORD = re.compile(r"\w+")
_LIBRARY = re.compile(r"^[ \t]+(?:asyncio|anyio)\.\w+\(")
_KNOWN = word_set(
    "asyncio.sleep asyncio.wait asyncio.wait_for asyncio.to_thread asyncio.open_connection "
    "asyncio.start_server asyncio.create_subprocess_exec asyncio.create_subprocess_shell "
    "anyio.sleep anyio.sleep_until anyio.sleep_forever anyio.run_process anyio.open_file"
)
_HARMLESS = frozenset({"staticmethod", "classmethod", "override", "abstractmethod", "final"})


def relevant(change: Change, file: ChangedFile) -> bool:
    """Whether the text of the added lines may contain such a call."""
    return any(_LIBRARY.match(text) for text in file.added.values()) or bool(
        _candidates(change, file)
    )


def _candidates(change: Change, file: ChangedFile) -> set[str]:
    """Names that may be coroutine functions and whose calls are whole statements."""
    bare = {found.group(1) for text in file.added.values() if (found := _BARE.match(text))}
    if not bare:
        return set()
    known = set(_ASYNC_DEF.findall(file.head))
    elsewhere = (bare - known) & _public(str(change.folder))
    if elsewhere:
        for line in _IMPORTED.findall(file.head):
            known |= elsewhere.intersection(_WORD.findall(line))
    return bare & known


@functools.lru_cache(maxsize=4)
def _public(folder: str) -> frozenset[str]:
    """Names of the module-level coroutine functions in all files of the change."""
    files = (file for file in Change.load(folder).files if file.language == "python")
    return frozenset(name for file in files for name in _PUBLIC.findall(file.head))


@functools.lru_cache(maxsize=4)
def _modules(folder: str) -> Modules:
    """The modules among the files of the change."""
    return Modules(file.path for file in Change.load(folder).files)


def find(change: Change, file: ChangedFile, tree: Tree) -> Iterator[tuple[ast.AST, str]]:
    """Statements on added lines that drop a coroutine, with messages."""
    candidates = _candidates(change, file)
    for node in tree.nodes(ast.Expr):
        if not isinstance(node.value, ast.Call) or not file.touches(node.lineno, node.end_lineno):
            continue
        name = dotted(node.value.func)
        if not name or (name not in _KNOWN and name.rsplit(".", 1)[-1] not in candidates):
            continue
        origin = _origin(change, file, tree, node, name)
        if origin is not None:
            yield node, f"`{name}` is a coroutine function ({origin}), and its call is not awaited."


def _origin(change: Change, file: ChangedFile, tree: Tree, node: ast.Expr, name: str) -> str | None:
    """Where the called coroutine function is defined; `None` if it is not known to be one."""
    if name in _KNOWN:
        top = name.split(".", 1)[0]
        imported = any(one.local == top == one.module for one in imports(ast.walk(tree.module)))
        return f"of {top}" if imported else None
    owner, _, method = name.rpartition(".")
    if owner in ("self", "cls"):
        enclosing = _class_of(tree, node)
        if enclosing is None or enclosing.decorator_list or enclosing.keywords:
            return None
        found = _only_coroutine(enclosing, method)
        return f"line {found.lineno}" if found is not None else None
    return None if owner else _function(change, file, tree, node, name)


def _class_of(tree: Tree, node: ast.AST) -> ast.ClassDef | None:
    """The class whose method contains `node`, if no inner function has its own `self`."""
    for up in tree.ancestors(node):
        if isinstance(up, ast.ClassDef):
            return up
        if isinstance(up, (*FUNCTIONS, ast.Lambda)):
            parent = tree.parent(up)
            names = [argument.arg for argument in parameters(up)]
            if not isinstance(parent, ast.ClassDef) and {"self", "cls"} & set(names):
                return None
    return None


def _only_coroutine(scope: ast.AST, name: str) -> Function | None:
    """The one definition of `name` in a scope, if it is a plain `async def`."""
    found = list(binding_nodes(scope, name))
    if len(found) != 1 or not isinstance(found[0], ast.AsyncFunctionDef):
        return None
    plain = all(dotted(one).rsplit(".", 1)[-1] in _HARMLESS for one in found[0].decorator_list)
    return found[0] if plain else None


def _function(
    change: Change, file: ChangedFile, tree: Tree, node: ast.Expr, name: str
) -> str | None:
    for up in tree.ancestors(node):
        if isinstance(up, ast.ClassDef) or not isinstance(up, (*SCOPES, ast.Module)):
            continue
        if isinstance(up, ast.Lambda):
            return None
        if isinstance(up, FUNCTIONS) and name in {argument.arg for argument in parameters(up)}:
            return None
        if next(binding_nodes(up, name), None) is None:
            continue
        found = _only_coroutine(up, name)
        if found is not None:
            return f"line {found.lineno}"
        return _imported(change, file, up, name)
    return None


def _imported(change: Change, file: ChangedFile, scope: ast.AST, name: str) -> str | None:
    """Where another changed file that `name` is imported from defines it as an `async def`."""
    sources = [one for one in imports(ast.walk(scope)) if one.local == name]
    if len(sources) != 1:
        return None
    source, wanted_name = sources[0], sources[0].name
    if wanted_name is None:
        return None
    modules = _modules(str(change.folder))
    ending = f"/{source.module.replace('.', '/')}" if source.module else ""
    for other in change.files:
        stem = other.path.removesuffix(".py").removesuffix("/__init__")
        if other.language != "python" or not f"/{stem}".endswith(ending):
            continue
        if not modules.resolves_to(file.path, source.module, source.level, other.path):
            continue
        if f"async def {wanted_name}(" in other.head and other.head_tree is not None:
            found = _only_coroutine(other.head_tree, wanted_name)
            if found is not None:
                return f"{other.path}:{found.lineno}"
    return None
