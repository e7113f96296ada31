"""Compares the two sides of a change: definitions by name, and code that only moved."""

import ast
import functools
import re
from collections.abc import Iterator

from leadhand.teams.review.change import Change
from leadhand.teams.review.lenses.syntax import Function

_DEFINED = re.compile(r"\bdef\s+(\w+)")
_CALLED = re.compile(r"(\w+)\s*\(")


class Moves:
    """The code that a whole change adds and removes, to recognise what only moved."""

    def __init__(self, change: Change) -> None:
        self._change = change

    @functools.cached_property
    def added(self) -> str:
        """The lines that the change adds to Python files."""
        files = (file for file in self._change.files if file.language == "python")
        return "\n".join(line for file in files for line in file.added.values())

    @functools.cached_property
    def calls(self) -> frozenset[str]:
        """Names that are called or defined in the added lines."""
        return frozenset(_CALLED.findall(self.added))

    @functools.cached_property
    def defined(self) -> frozenset[str]:
        """Functions that are defined in the added lines."""
        return frozenset(_DEFINED.findall(self.added))

    @functools.cached_property
    def removed(self) -> frozenset[str]:
        """Functions whose definition the change removes."""
        files = (file for file in self._change.files if file.language == "python")
        lines = (line for file in files for line in file.removed.values())
        return frozenset(name for line in lines for name in _DEFINED.findall(line)) - self.defined


def definitions(tree: ast.Module) -> dict[str, Function | ast.ClassDef]:
    """Functions and classes by qualified name, without those that are defined more than once."""
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
    """The definitions in `body`, also below conditions, but not within other definitions."""
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
