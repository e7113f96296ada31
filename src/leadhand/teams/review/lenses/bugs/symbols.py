"""The names of a module, those that a change removes, and functions with changed parameters."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.syntax import (
    FUNCTIONS,
    Function,
    child_nodes,
    dotted,
    walk_scope,
    word_set,
)

_DEF = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_PARAMETER = re.compile(r"^[ \t]+(?:\*|\*{0,2}\w+[^()\n]{0,200}),[ \t]*(?:#.*)?$")
_HEADER_LINES = 30
_BINDS = re.compile(
    r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)|"
    r"^[ \t]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]{1,100})?=(?!=)",
    re.MULTILINE,
)
_IMPORTS = re.compile(r"^[ \t]*(?:from|import)\b|^[ \t]+\w+(?:[ \t]+as[ \t]+\w+)?,?[ \t]*(?:#.*)?$")
_WORD = re.compile(r"\w+")
_DYNAMIC = re.compile(
    r"def __getattr__|\bglobals\(\)|\bvars\(\)|sys\.modules|\bexec\(|import \*|"
    r"lazy_loader|LazyModule|deprecated"
)
_PLAIN = word_set("staticmethod classmethod contextmanager asynccontextmanager lru_cache cache")


@dataclass(frozen=True, slots=True)
class RemovedSymbol:
    """A module-level name that the change removes."""

    file: ChangedFile
    name: str
    line: int
    """Where the old file bound it."""


@dataclass(frozen=True, slots=True)
class ChangedSignature:
    """A function, method or constructor whose parameters changed."""

    file: ChangedFile
    name: str
    """The called name: of the function, the method, or the class of a constructor."""
    owner: str | None
    """The class of a method or constructor."""
    old: Function
    new: Function

    @property
    def bound(self) -> bool:
        """Whether calls omit the first parameter."""
        marks = {dotted(mark) for mark in self.new.decorator_list}
        return self.owner is not None and "staticmethod" not in marks

    @property
    def constructs(self) -> bool:
        """Whether it is a constructor, which a call of the class calls."""
        return self.new.name == "__init__"


def removed_symbols(file: ChangedFile) -> list[RemovedSymbol]:
    """The module-level names that the change removes, by line.

    Imports from outside the package don't count: other modules should not import them from here.
    """
    if not _may_remove_name(file) or _DYNAMIC.search(file.head):
        return []
    if file.base_tree is None or file.head_tree is None:
        return []
    left = bindings(file.head_tree)
    gone = [
        RemovedSymbol(file, name, line)
        for name, (kind, line) in bindings(file.base_tree).items()
        if (kind == "own" or _same_package(file, kind))
        and name not in left
        and line in file.removed
        and not (name.startswith("__") and name.endswith("__"))
    ]
    return sorted(gone, key=lambda one: one.line)


def changed_signatures(file: ChangedFile) -> Iterator[ChangedSignature]:
    """The functions and methods whose parameters the change alters."""
    if not _may_change_header(file) or file.base_tree is None or file.head_tree is None:
        return
    before, after = _functions(file.base_tree), _functions(file.head_tree)
    for (owner, name), old in before.items():
        new = after.get((owner, name))
        if old is None or new is None or not _touched(file, old, new):
            continue
        if ast.dump(old.args) != ast.dump(new.args):
            called = owner if owner and name == "__init__" else name
            yield ChangedSignature(file, called, owner, old, new)


def header_end(function: Function) -> int:
    """The last line of `def ...:`."""
    return max(function.lineno, function.body[0].lineno - 1)


def bindings(module: ast.Module) -> dict[str, tuple[str, int]]:
    """Module-level name -> (`own` or the module that it is imported from, line)."""
    names: dict[str, tuple[str, int]] = {}
    for node in walk_scope(child_nodes(module)):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names[node.name] = ("own", node.lineno)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, ("own", node.lineno))
        elif isinstance(node, ast.ImportFrom):
            kind = "own" if node.level else f"from {node.module}"
            for alias in node.names:
                names.setdefault(alias.asname or alias.name, (kind, alias.lineno))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.split(".", 1)[0]
                names.setdefault(local, (f"import {alias.name}", alias.lineno))
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            for name in node.names:
                names.setdefault(name, ("own", node.lineno))
    return names


def _may_remove_name(file: ChangedFile) -> bool:
    """Whether the text suggests that a name that removed lines bind is no longer bound."""
    lost: set[str] = set()
    for text in file.removed.values():
        found = None if text[:1] in " \t" else _BINDS.match(text)
        if found is not None:
            lost.add(found.group(1) or found.group(2))
        elif _IMPORTS.match(text):
            lost.update(word for word in _WORD.findall(text) if word not in file.head)
    if not lost:
        return False
    return bool(lost - {one or other for one, other in _BINDS.findall(file.head)})


def _may_change_header(file: ChangedFile) -> bool:
    """Whether the text suggests that the change alters the header of a kept function."""
    added = {text.strip() for text in file.added.values()}
    for text in file.removed.values():
        found = _DEF.match(text)
        if found and text.strip() not in added and f"def {found.group(1)}(" in file.head:
            return True
    return any(
        _PARAMETER.match(text) and _in_header(lines, line)
        for lines, changed in ((file.base_lines, file.removed), (file.head_lines, file.added))
        for line, text in changed.items()
    )


def _in_header(lines: list[str], line: int) -> bool:
    """Whether a line that looks like a parameter is between `def` and its colon."""
    for number in range(line - 1, max(0, line - _HEADER_LINES), -1):
        text = lines[number - 1].rstrip()
        if _DEF.match(text):
            return text.endswith(("(", ","))
        if not text.endswith(","):
            return False
    return False


def _same_package(file: ChangedFile, kind: str) -> bool:
    """Whether an import, `from a.b`, is from the file's own package."""
    word, _, module = kind.partition(" ")
    return word == "from" and module.split(".", 1)[0] in file.path.split("/")[:-1]


def _touched(file: ChangedFile, old: Function, new: Function) -> bool:
    """Whether the change removes or adds a line of the function's header."""
    return file.touches(new.lineno, header_end(new)) or any(
        line in file.removed for line in range(old.lineno, header_end(old) + 1)
    )


def _functions(module: ast.Module) -> dict[tuple[str | None, str], Function | None]:
    """(class or `None`, name) -> the definition; `None` if decorated or defined more than once."""
    found: dict[tuple[str | None, str], Function | None] = {}
    classes = [
        (node.name, node)
        for node in walk_scope(child_nodes(module))
        if isinstance(node, ast.ClassDef) and not node.decorator_list and not node.keywords
    ]
    owners: list[tuple[str | None, ast.AST]] = [(None, module), *classes]
    for owner, scope in owners:
        for node in walk_scope(child_nodes(scope)):
            if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                continue
            key = (owner, node.name)
            once = key not in found
            found[key] = None
            if once and isinstance(node, FUNCTIONS) and all(map(_plain, node.decorator_list)):
                found[key] = node
    return found


def _plain(mark: ast.expr) -> bool:
    """Whether a decorator leaves the parameters as they are."""
    target = mark.func if isinstance(mark, ast.Call) else mark
    return dotted(target).rsplit(".", 1)[-1] in _PLAIN
