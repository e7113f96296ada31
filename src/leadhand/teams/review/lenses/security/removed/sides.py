"""The code before and after a change, definition by definition: the one comparison of all rules.

Functions and classes are paired by qualified name, renamed and moved ones by similarity, over all
files of the change. The module's own statements are a definition too.
"""

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from leadhand.teams.review import syntax
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lenses.security.removed.guards import Guard, guards_in
from leadhand.teams.review.syntax import is_test

Definition = syntax.Function | ast.ClassDef | ast.Module
_DEFINITIONS = (*syntax.FUNCTIONS, ast.ClassDef)
_WORD = re.compile(r"[A-Za-z_]\w*")
_SIMILAR = 0.5
"""The least share of common lines for a definition that was renamed."""


@dataclass(frozen=True, eq=False)
class Code:
    """One definition on one side of the change, without the definitions inside of it."""

    file: ChangedFile
    name: str
    """Qualified; empty for the module."""
    node: Definition
    lines: tuple[str, ...]
    """The whole text, with inner definitions, stripped and without blank lines."""

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the body."""
        found: list[ast.AST] = []
        waiting: list[ast.AST] = [*reversed(self.node.body)]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, _DEFINITIONS):
                found.append(node)
                waiting += reversed(list(syntax.child_nodes(node)))
        return found

    @functools.cached_property
    def calls(self) -> list[ast.Call]:
        """Every call in the body, in no particular order."""
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @functools.cached_property
    def call_counts(self) -> Counter[str]:
        """Last name of what is called -> number of calls."""
        return Counter(syntax.last_name(call.func) for call in self.calls)

    @functools.cached_property
    def guards(self) -> list[Guard]:
        """What the body refuses, and when."""
        return list(guards_in(self.nodes))

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Every name, attribute and parameter in it, inner definitions included."""
        return names_in(self.node)


@dataclass(frozen=True, eq=False)
class Pair:
    """A definition before the change and after it."""

    old: Code
    new: Code | None
    """`None`: the change deletes it."""

    def removes(self, line: int) -> bool:
        """Whether the change removes this line of the old file."""
        return line in self.old.file.removed


class Sides:
    """Both sides of a change."""

    def __init__(self, change: Change) -> None:
        self._files = [
            file for file in change.files if file.language == "python" and not is_test(file.path)
        ]

    @functools.cached_property
    def added_words(self) -> Counter[str]:
        """The words of the lines that the change adds to Python files."""
        return Counter(_WORD.findall("\n".join(self._added_lines())))

    @functools.cached_property
    def removed_words(self) -> Counter[str]:
        """The words of the lines that the change removes from Python files."""
        lines = (line for file in self._files for line in file.removed.values())
        return Counter(_WORD.findall("\n".join(lines)))

    @functools.cached_property
    def added_text(self) -> str:
        """The added lines without white space and with one kind of quotes."""
        return squeezed("".join(self._added_lines()))

    def _added_lines(self) -> Iterator[str]:
        return (line for file in self._files for line in file.added.values())

    @functools.cached_property
    def dropped_calls(self) -> Counter[str]:
        """Last name -> how many calls the change drops from definitions that it keeps."""
        found: Counter[str] = Counter()
        for file in self._files:
            for pair in self.pairs(file):
                if pair.new is not None:
                    found += pair.old.call_counts - pair.new.call_counts
        return found

    def pairs(self, file: ChangedFile) -> list[Pair]:
        """The definitions of `file` before the change, from which it removes lines."""
        new = self._new.get(file.path, {})
        found: list[Pair] = []
        for name, old in self._old.get(file.path, {}).items():
            if name in new:
                found.append(Pair(old, new[name]))
            elif name in self._renamed.get(file.path, {}):
                found.append(Pair(old, self._renamed[file.path][name]))
            else:
                found.append(Pair(old, None))
        return found

    @functools.cached_property
    def _old(self) -> dict[str, dict[str, Code]]:
        return {
            file.path: {
                name: code
                for name, code in codes(file, file.base_tree, file.base_lines).items()
                if _touched(code, file)
            }
            for file in self._files
            if file.status in ("modified", "renamed") and file.removed
        }

    @functools.cached_property
    def _new(self) -> dict[str, dict[str, Code]]:
        return {
            file.path: codes(file, file.head_tree, file.head_lines)
            for file in self._files
            if file.head
        }

    @functools.cached_property
    def added_functions(self) -> dict[str, Code]:
        """Last name -> code of the functions and classes that only the new side has."""
        found: dict[str, Code] = {}
        for file in self._files:
            before = definitions(file.base_tree) if file.base_tree is not None else {}
            for name, code in self._new.get(file.path, {}).items():
                if name and name not in before:
                    found[name.rsplit(".", 1)[-1]] = code
        return found

    @functools.cached_property
    def _renamed(self) -> dict[str, dict[str, Code]]:
        """Path -> old name -> the added definition that most likely replaces a deleted one."""
        free = dict(self.added_functions)
        found: dict[str, dict[str, Code]] = {}
        for path, old in self._old.items():
            for name, code in old.items():
                if not name or name in self._new.get(path, {}):
                    continue
                last = name.rsplit(".", 1)[-1]
                best = free.get(last) or max(
                    free.values(), key=lambda one: similarity(code, one), default=None
                )
                if best is not None and (
                    best is free.get(last) or similarity(code, best) >= _SIMILAR
                ):
                    found.setdefault(path, {})[name] = best
        return found

    @functools.cached_property
    def added_guards(self) -> list[Guard]:
        """The refusals on lines that the change adds."""
        return [
            guard
            for by_name in self._new.values()
            for code in by_name.values()
            for guard in code.guards
            if code.file.touches(guard.line, guard.end_line)
        ]


def codes(file: ChangedFile, tree: ast.Module | None, lines: list[str]) -> dict[str, Code]:
    """The definitions of one side of a file by qualified name, the module under an empty one."""
    if tree is None:
        return {}
    found: dict[str, Definition] = {"": tree, **definitions(tree)}
    return {name: Code(file, name, node, _lines(node, lines)) for name, node in found.items()}


def _lines(node: Definition, lines: list[str]) -> tuple[str, ...]:
    if isinstance(node, ast.Module):
        return ()
    text = lines[syntax.first_line(node) - 1 : node.end_lineno]
    return tuple(line.strip() for line in text if line.strip())


def definitions(tree: ast.Module) -> dict[str, syntax.Function | ast.ClassDef]:
    """Functions and classes by qualified name, without those that are defined more than once."""
    found: dict[str, syntax.Function | ast.ClassDef] = {}
    twice: set[str] = set()
    waiting: list[tuple[str, ast.stmt]] = [("", statement) for statement in reversed(tree.body)]
    while waiting:
        prefix, statement = waiting.pop()
        if isinstance(statement, _DEFINITIONS):
            name = f"{prefix}{statement.name}"
            if name in found:
                twice.add(name)
            found[name] = statement
            prefix = f"{name}."
        waiting += ((prefix, inner) for block in syntax.blocks(statement) for inner in block)
    return {name: node for name, node in found.items() if name not in twice}


def _touched(code: Code, file: ChangedFile) -> bool:
    if isinstance(code.node, ast.Module):
        return True
    first, last = syntax.first_line(code.node), code.node.end_lineno or code.node.lineno
    return any(
        hunk.old_count and hunk.old_start <= last and first < hunk.old_start + hunk.old_count
        for hunk in file.hunks
    )


def similarity(one: Code, other: Code) -> float:
    """The share of lines that two definitions have in common, 0 to 1."""
    lines, others = Counter(one.lines), Counter(other.lines)
    return 2 * (lines & others).total() / max(1, lines.total() + others.total())


def names_in(node: ast.AST | Iterable[ast.AST]) -> frozenset[str]:
    """Every name, attribute and parameter in `node`, except `self` and `cls`."""
    found: set[str] = set()
    for one in (node,) if isinstance(node, ast.AST) else node:
        for part in ast.walk(one):
            if isinstance(part, ast.Name):
                found.add(part.id)
            elif isinstance(part, ast.Attribute):
                found.add(part.attr)
            elif isinstance(part, ast.arg):
                found.add(part.arg)
    return frozenset(found - {"self", "cls"})


def squeezed(text: str) -> str:
    """`text` without white space and with one kind of quotes, so that formatting doesn't count."""
    return re.sub(r"\s+", "", text).replace("'", '"')
