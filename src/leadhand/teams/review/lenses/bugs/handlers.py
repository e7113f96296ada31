"""Exception handlers that never run because of an earlier handler of the same `try`."""

import ast
import builtins
import re
from collections.abc import Iterator

from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.syntax import Function, Tree, bound_name

RULE = LensRule(
    "bugs/unreachable-except", "bugs/exceptions", "warning",
    "The earlier handler catches these exceptions, so the later one never runs.",
    "Put the handler of the narrower exception first.",
)  # fmt: skip

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
    redefined = _redefined(tree.module)
    for node in tree.nodes(ast.Try):
        classes = [_classes(handler, redefined) for handler in node.handlers]
        for n, handler in enumerate(node.handlers):
            broad = next((m for m in range(n) if _covers(classes[m], classes[n])), None)
            if broad is None:
                continue
            earlier = node.handlers[broad]
            place = next((one for one in (handler, earlier) if file.touches(one.lineno)), None)
            if place is not None and handler.type is not None and earlier.type is not None:
                yield (
                    place,
                    f"`except {ast.unparse(handler.type)}` (line {handler.lineno}) comes after "
                    f"`except {ast.unparse(earlier.type)}` (line {earlier.lineno}).",
                )


_Classes = list[type[BaseException] | None]


def _classes(handler: ast.ExceptHandler, redefined: set[str]) -> _Classes:
    """The exceptions that a handler names; `None` for each that is not builtin."""
    nodes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [
        _EXCEPTIONS.get(one.id) if isinstance(one, ast.Name) and one.id not in redefined else None
        for one in nodes
    ]


def _covers(broad: _Classes, narrow: _Classes) -> bool:
    caught = tuple(one for one in broad if one is not None)
    return bool(narrow) and all(one is not None and issubclass(one, caught) for one in narrow)


def _redefined(module: ast.Module) -> set[str]:
    """Names of builtin exceptions that the module redefines."""
    own = {bound_name(node) for node in ast.walk(module) if not isinstance(node, Function)}
    return own & _EXCEPTIONS.keys() if "*" not in own else set(_EXCEPTIONS)
