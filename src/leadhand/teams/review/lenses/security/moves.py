"""What pairs the two sides of a change: definitions by name, and what only moved elsewhere."""

import ast
import functools
import re
from collections.abc import Iterator

from leadhand.teams.review.change import Change
from leadhand.teams.review.lenses.security.events import Function

_DEFINED = re.compile(r"\bdef\s+(\w+)")
_CALLED = re.compile(r"(\w+)\s*\(")


class Moves:
    """What a whole change adds and removes, to see what only moved; read when first asked."""

    def __init__(self, change: Change) -> None:
        self._change = change

    @functools.cached_property
    def added(self) -> str:
        """Every line that the change adds to a Python file."""
        return "\n".join(
            line
            for file in self._change.files
            if file.language == "python"
            for line in file.added.values()
        )

    @functools.cached_property
    def calls(self) -> frozenset[str]:
        """Names that are called, or defined, in the lines added."""
        return frozenset(_CALLED.findall(self.added))

    @functools.cached_property
    def defined(self) -> frozenset[str]:
        """Functions that the lines added define."""
        return frozenset(_DEFINED.findall(self.added))

    @functools.cached_property
    def dropped(self) -> frozenset[str]:
        """Functions whose definition the change removes."""
        removed = (
            name
            for file in self._change.files
            if file.language == "python"
            for line in file.removed.values()
            for name in _DEFINED.findall(line)
        )
        return frozenset(removed) - self.defined


def definitions(tree: ast.Module) -> dict[str, Function | ast.ClassDef]:
    """Functions and classes by qualified name; those defined more than once are left out."""
    found: dict[str, Function | ast.ClassDef] = {}
    twice: set[str] = set()
    waiting: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    while waiting:
        prefix, body = waiting.pop()
        for statement in _own(body):
            name = f"{prefix}{statement.name}"
            if name in found:
                twice.add(name)
            found[name] = statement
            waiting.append((f"{name}.", statement.body))
    return {name: node for name, node in found.items() if name not in twice}


def _own(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """The definitions in `body`, those under conditions too, but not those within definitions."""
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            waiting.extend(statement.body)
            waiting.extend(getattr(statement, "orelse", ()))
            for handler in getattr(statement, "handlers", ()):
                waiting.extend(handler.body)
