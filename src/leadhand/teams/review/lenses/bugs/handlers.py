"""Exception handlers that never run because of an earlier handler of the same `try`."""

import ast
import builtins
import re
from collections.abc import Iterator

from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.trees import Tree

RULE = LensRule(
    id="bugs/unreachable-except",
    family="bugs/exceptions",
    severity="warning",
    why="The earlier handler catches these exceptions, so the later one never runs.",
    fix="Put the handler of the narrower exception first.",
)

_HANDLER = re.compile(r"^([ \t]*)(try|except)\b([^\n:]{0,200})", re.MULTILINE)
_WORD = re.compile(r"\w+")
_EXCEPTIONS: dict[str, type[BaseException]] = {
    name: found
    for name, found in vars(builtins).items()
    if isinstance(found, type) and issubclass(found, BaseException)
}


def relevant(change: Change, file: ChangedFile) -> bool:
    """Whether the change adds handlers, and the text suggests that one follows a broader one."""
    if not any("except" in text for text in file.added.values()):
        return False
    earlier: dict[str, tuple[type[BaseException], ...]] = {}
    for found in _HANDLER.finditer(file.head):
        indent, word, text = found.groups()
        if word == "try":
            earlier[indent] = ()
            continue
        names = tuple(_EXCEPTIONS[name] for name in _WORD.findall(text) if name in _EXCEPTIONS)
        if any(issubclass(name, earlier.get(indent, ())) for name in names):
            return True
        earlier[indent] = (*earlier.get(indent, ()), *names)[-50:]
    return False


def find(change: Change, file: ChangedFile, tree: Tree) -> Iterator[tuple[ast.AST, str]]:
    """Handlers that never run, if the change adds them or the broader one, with messages."""
    own = _own_names(tree.module)
    for node in tree.nodes(ast.Try):
        for n, handler in enumerate(node.handlers[1:], start=1):
            narrow = _classes(handler.type, own)
            broad = next((one for one in node.handlers[:n] if _covers(one, narrow, own)), None)
            if broad is None or not narrow:
                continue
            place = next((one for one in (handler, broad) if file.touches(one.lineno)), None)
            if place is not None and handler.type is not None and broad.type is not None:
                yield (
                    place,
                    f"`except {ast.unparse(handler.type)}` (line {handler.lineno}) comes after "
                    f"`except {ast.unparse(broad.type)}` (line {broad.lineno}).",
                )


def _classes(node: ast.expr | None, own: set[str]) -> list[type[BaseException]]:
    """The builtin exceptions that a handler names; empty if it names any other."""
    names = node.elts if isinstance(node, ast.Tuple) else [node] if node is not None else []
    found: list[type[BaseException]] = []
    for name in names:
        if not isinstance(name, ast.Name) or name.id not in _EXCEPTIONS or name.id in own:
            return []
        found.append(_EXCEPTIONS[name.id])
    return found


def _covers(handler: ast.ExceptHandler, narrow: list[type[BaseException]], own: set[str]) -> bool:
    broad = handler.type
    names = broad.elts if isinstance(broad, ast.Tuple) else [broad] if broad is not None else []
    taken = tuple(
        _EXCEPTIONS[name.id]
        for name in names
        if isinstance(name, ast.Name) and name.id in _EXCEPTIONS and name.id not in own
    )
    return bool(narrow) and all(issubclass(one, taken) for one in narrow)


def _own_names(module: ast.Module) -> set[str]:
    """Names of builtin exceptions that the module redefines."""
    own: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.alias):
            own.add(node.asname or node.name)
        elif isinstance(node, ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    return own & _EXCEPTIONS.keys() if "*" not in own else set(_EXCEPTIONS)
