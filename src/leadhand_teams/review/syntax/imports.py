"""Resolves names in a Python module to full dotted names through its imports.

It only reads the tree and imports nothing. A name that no import binds stays as written.
"""

import ast

from leadhand_teams.review.syntax.tree import all_statements
from leadhand_teams.review.syntax.word_tables import word_rows, words_of

_CANONICAL = {old: min(new) for old, new in word_rows("same_modules").items()}
_WEB = words_of("imports.web")
_MAX_CHAIN = 40


class ImportedNames:
    """The imports of one module, at any depth."""

    def __init__(self, tree: ast.Module) -> None:
        self._known: dict[str, str] = {}
        self._stars: list[str] = []
        self.modules: set[str] = set()
        for statement in all_statements(tree.body):
            self._add(statement)
        self.web = bool(self.modules & _WEB)
        """Whether the module imports a web framework."""

    def _add(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                root = alias.name.split(".", 1)[0]
                self.modules.add(root)
                name = alias.asname or root
                self._known[name] = _canonical(alias.name if alias.asname else root)
        elif isinstance(statement, ast.ImportFrom):
            module = "." * statement.level + (statement.module or "")
            self.modules.add(module.split(".", 1)[0])
            for alias in statement.names:
                if alias.name == "*":
                    self._stars.append(_canonical(module))
                else:
                    full = f"{module}.{alias.name}"
                    self._known[alias.asname or alias.name] = _canonical(full)

    def resolve(self, name: str) -> str:
        """The full dotted name behind a plain name; the name itself if no import binds it."""
        found = self._known.get(name)
        if found is None and len(self._stars) == 1 and name[:1].isupper():
            return f"{self._stars[0]}.{name}"
        return found or name

    def dotted(self, node: ast.expr) -> str:
        """`numpy.load` for `np.load`; `f().attr` for a call in the chain; empty for other nodes."""
        parts: list[str] = []
        current = node
        for _ in range(_MAX_CHAIN):
            if isinstance(current, ast.Attribute):
                parts.append(f".{current.attr}")
                current = current.value
            elif isinstance(current, ast.Call):
                parts.append("()")
                current = current.func
            elif isinstance(current, ast.Subscript):
                parts.append("[]")
                current = current.value
            elif isinstance(current, ast.Await):
                current = current.value
            elif isinstance(current, ast.Name):
                whole = self.resolve(current.id) + "".join(reversed(parts))
                return _canonical(whole) if parts else whole
            else:
                return "?" + "".join(reversed(parts)) if parts else ""
        return ""


def _canonical(name: str) -> str:
    for old, new in _CANONICAL.items():
        if name == old or name.startswith(f"{old}."):
            return new + name[len(old) :]
    return name
