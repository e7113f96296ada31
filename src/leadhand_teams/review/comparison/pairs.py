"""The code before and after a change, definition by definition: the one comparison of all rules.

Functions and classes are paired by qualified name, renamed and moved ones by similarity, over all
files of the change. The module's own statements are a definition too.
"""

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from leadhand_teams.review import syntax
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import (
    Code,
    base_codes,
    head_codes,
    similarity,
    span,
    squeezed,
)
from leadhand_teams.review.comparison.edits import BothSides, Edit, edits
from leadhand_teams.review.comparison.guards import raised, subjects_of
from leadhand_teams.review.comparison.learned import BaseNames
from leadhand_teams.review.comparison.parts import Kind, Part
from leadhand_teams.review.intention import states_fix
from leadhand_teams.review.syntax import is_test

_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"\b(?:def|class)\s+(\w+)")
_SIMILAR = 0.5
"""The least share of common lines for a definition that was renamed."""

_SIMILAR_NAMES = 0.6
"""The least share of its names for one that was rewritten under another name."""
_MANY_NAMES = 6
"""Fewer names are no sign."""
_FEW = 5
"""With fewer new lines a definition does not count as rewritten."""

_FEW_LINES = 20
"""The most lines that a change removes which does nothing else."""


@dataclass(frozen=True, eq=False)
class Pair:
    """A definition before the change and after it."""

    old: Code
    new: Code
    gone: bool = False
    """Whether the change deletes it, so that `new` is empty."""

    @functools.cached_property
    def dropped_parameters(self) -> frozenset[str]:
        """The parameters that a function no longer has."""
        old, new = (
            {one.arg for one in syntax.parameters(code.node)}
            if isinstance(code.node, syntax.FUNCTIONS)
            else set[str]()
            for code in (self.old, self.new)
        )
        return frozenset(old - new)

    @functools.cached_property
    def edits(self) -> list[Edit]:
        """The smallest parts that differ; none if the definition is gone."""
        if self.gone:
            return []
        return edits(self.old.node, self.new.node, BothSides(self.old.text, self.new.text))

    def lost(self, kind: Kind) -> Iterator[Part]:
        """The parts on removed lines which the new code has less often."""
        fewer = self._counts(kind, self.old) - self._counts(kind, self.new)
        parts = self.old.parts[kind]
        return (one for one in parts if fewer[one.owner, one.name] and self.removes(one.line))

    def gained(self, kind: Kind) -> list[Part]:
        """The parts of which the new code has more."""
        more = self._counts(kind, self.new) - self._counts(kind, self.old)
        return [one for one in self.new.parts[kind] if more[one.owner, one.name]]

    def _counts(self, kind: Kind, code: Code) -> Counter[tuple[str, str]]:
        return Counter((one.owner, one.name) for one in code.parts[kind])

    @functools.cached_property
    def is_rewritten(self) -> bool:
        """Whether most lines of the definition are new, so that what is missing says little."""
        new = self.new
        if isinstance(new.node, ast.Module):
            return False
        if self.old.name != new.name and similarity(self.old, new) < _SIMILAR:
            return True  # another class has a method of this name
        fresh = Counter(new.lines) - Counter(self.old.lines)
        return fresh.total() >= _FEW and 2 * fresh.total() > len(new.lines)

    @functools.cached_property
    def grows(self) -> bool:
        """Whether the definition gets more new lines than it loses."""
        old, new = (Counter(code.lines) for code in (self.old, self.new))
        return (new - old).total() > (old - new).total()

    def tests_anew(self, names: frozenset[str]) -> bool:
        """Whether the change writes a condition on one of `names` in this definition."""
        new = self.new
        return any(names & subjects_of(test) for test in new.tests if new.changes(test))

    @functools.cached_property
    def removes_lines(self) -> bool:
        """Whether the change removes lines of the definition, not only adds some."""
        node = self.old.node
        if isinstance(node, ast.Module):
            return bool(self.old.file.removed)
        return any(map(self.removes, range(syntax.first_line(node), (node.end_lineno or 0) + 1)))

    def is_dropped_variant(self, test: ast.expr) -> bool:
        """Whether `test` asks for one of several named variants, and the new code has it not."""
        named = _compared(test)
        if not named:
            return False
        subjects = {subject for subject, _ in named}
        others = {
            text for node in self.old.nodes for subject, text in _compared(node)
            if subject in subjects
        }  # fmt: skip
        wanted = {text for _, text in named}
        now = {node.value for node in self.new.nodes if isinstance(node, ast.Constant)}
        return bool(others - wanted) and wanted.isdisjoint(now)

    @property
    def place(self) -> str:
        """The definition, for a message."""
        return f"`{self.old.name or self.old.file.path.rsplit('/', 1)[-1]}`"

    def removes(self, line: int) -> bool:
        """Whether the change removes this line of the old file."""
        return line in self.old.file.removed


class DefinitionPairs:
    """Both sides of a change. Only what a comparison needs is parsed, file by file."""

    @staticmethod
    @functools.lru_cache(maxsize=2)
    def of(change: Change) -> "DefinitionPairs":
        """The comparison of a change, which all lenses of a process share."""
        return DefinitionPairs(change)

    def __init__(self, change: Change) -> None:
        self._is_stated_fix = states_fix(change)
        self._files = [
            file for file in change.files if file.language == "python" and not is_test(file.path)
        ]
        trees = (file.base_tree for file in self._files)
        self._base_names = BaseNames(change, (tree for tree in trees if tree is not None))

    def protects(self, name: str) -> bool:
        """Whether a function of this name protects, by its words or by the code at the base."""
        return vocabulary.protects(name) or self._base_names.refuses(name)

    def sets_elsewhere(self, name: str) -> bool:
        """Whether the code after the change still gives a setting a value."""
        return self._base_names.sets(name)

    def raises(self, name: str, exception: str) -> bool:
        """Whether a function or method `name` of a changed file, or of the base, raises it."""
        nodes = (
            code.node for file in self._files for code in head_codes(file).values()
            if code.name.rsplit(".", 1)[-1] == name
        )  # fmt: skip
        return any(_raises(node, exception) for node in nodes) or any(
            _raises(node, exception) for node in self._base_names.functions(name)
        )

    @functools.cached_property
    def added_words(self) -> Counter[str]:
        """The words of the lines that the change adds to Python files."""
        return Counter(_WORD.findall("\n".join(self._added_lines())))

    def declares_bounds(self, name: str) -> bool:
        """Whether an added line declares a field of this name with a bound or a validator."""
        field = re.compile(rf"\s*{re.escape(name)}\s*[:=].*(?:Field|Query|Path|Body|con\w+)\(")
        check = re.compile(rf"validator\(.*['\"]{re.escape(name)}['\"]")
        return any(field.match(line) or check.search(line) for line in self._added_lines())

    @functools.cached_property
    def removed_words(self) -> Counter[str]:
        """The words of the lines that the change removes from Python files."""
        return Counter(_WORD.findall("\n".join(self._removed_lines())))

    @functools.cached_property
    def added_text(self) -> str:
        """The added lines without white space and with one kind of quotes."""
        return squeezed("".join(self._added_lines()))

    @functools.cached_property
    def deleted(self) -> frozenset[str]:
        """The names of functions and classes whose definition the change removes."""
        removed = frozenset(_DEFINED.findall("\n".join(self._removed_lines())))
        return removed - self._added_definitions.keys()

    @functools.cached_property
    def _added_definitions(self) -> dict[str, ChangedFile]:
        """Name -> file of the functions and classes whose first line the change adds."""
        return {
            name: file
            for file in self._files
            for line in file.added.values()
            for name in _DEFINED.findall(line)
        }

    @functools.cached_property
    def _rewritten(self) -> frozenset[str]:
        found = {
            code.node.name
            for file in self._files
            for code in head_codes(file).values()
            if isinstance(code.node, syntax.FUNCTIONS)
            if not code.changed.keys().isdisjoint(span(code.node))
        }
        for file in self._files:
            if file.base_tree is not None and file.head_tree is not None:
                found |= dict(_imported(file.head_tree) - _imported(file.base_tree)).keys()
        return frozenset(found)

    def rewrites(self, functions: frozenset[str]) -> bool:
        """Whether the change edits, adds or imports from elsewhere one of `functions`."""
        return not functions.isdisjoint(self._rewritten)

    def only_sounds_safe(self, name: str) -> bool:
        """Whether the change deletes a function that is named as if it encoded, and does not."""
        if name not in self.deleted or not vocabulary.encodes(name):
            return False
        found = (
            code for file in self._files for code in base_codes(file).values()
            if code.name.rsplit(".", 1)[-1] == name
        )  # fmt: skip
        code = next(found, None)
        return code is not None and not (
            vocabulary.WRITES & code.call_counts.keys()
            or any(map(vocabulary.encodes, code.call_counts))
            or any(guard.strong for guard in code.guards)
        )

    @functools.cached_property
    def only_removes(self) -> bool:
        """Whether all that the change does to code is to take a few lines away, for no stated
        reason: what a fix takes away was wrong."""
        if self._is_stated_fix:
            return False
        removed = sum(bool(line.strip()) for line in self._removed_lines())
        added = sum(bool(line.strip()) for line in self._added_lines())
        if not added <= removed <= _FEW_LINES:
            return False
        pairs = (pair for file in self._files for pair in self.pairs(file))
        return added < removed or all(edit.new is None for one in pairs for edit in one.edits)

    def _added_lines(self) -> Iterator[str]:
        return (line for file in self._files for line in file.added.values())

    def _removed_lines(self) -> Iterator[str]:
        return (line for file in self._files for line in file.removed.values())

    def added_definition(self, name: str) -> Code | None:
        """The function or class of this name that the change adds, in any file."""
        file = self._added_definitions.get(name)
        if file is None:
            return None
        found = head_codes(file)
        return next((c for c in found.values() if c.name.rsplit(".", 1)[-1] == name), None)

    def split_off(self, code: Code) -> Iterator[Code]:
        """The functions that the change adds and `code` calls, and those that they call."""
        waiting, seen = [code], {code}
        for one in waiting:
            called = (self.added_definition(name) for name in one.call_counts)
            fresh = [
                other for other in called
                if other is not None and other not in seen
                and other.name not in base_codes(other.file)
            ]  # fmt: skip
            seen |= {*fresh}
            waiting += fresh
            yield from fresh

    def adds_like(self, name: str) -> bool:
        """Whether the change adds a function with the same protective words in its name."""
        words = syntax.words(name)
        return any(
            vocabulary.checks("_".join(one for one in words if one in syntax.words(added)))
            for added in self._added_definitions
        )

    def class_after(self, code: Code) -> ast.ClassDef | None:
        """The class of a method after the change, if it has it still."""
        owner = code.name.rpartition(".")[0]
        found = head_codes(code.file).get(owner) if owner else None
        return found.node if found is not None and isinstance(found.node, ast.ClassDef) else None

    def is_inlined(self, code: Code) -> bool:
        """Whether the change adds much of the body of a definition somewhere."""
        lines = [squeezed(line) for line in code.lines[1:] if len(line) > 15]
        return bool(lines) and sum(line in self.added_text for line in lines) * 3 >= len(lines)

    def is_called_in_removed(self, code: Code) -> bool:
        """Whether a line that the change removes elsewhere calls a function of this name."""
        name = code.name.rsplit(".", 1)[-1]
        call = re.compile(rf"(?<!def )\b{re.escape(name)}\(")
        own = range(syntax.line_of(code.node), getattr(code.node, "end_lineno", 0) + 1)
        return any(
            call.search(text)
            for file in self._files
            for line, text in file.removed.items()
            if name in text and not (file is code.file and line in own)
        )

    def pairs(self, file: ChangedFile) -> Iterator[Pair]:
        """The definitions of `file` before the change, from which it removes lines."""
        if file.status == "deleted":  # what is gone with its file is no longer in use
            for name, code in base_codes(file).items():
                moved = self.added_definition(name.rsplit(".", 1)[-1]) if name else None
                if moved is not None:
                    yield Pair(code, moved)
        if file.status not in ("modified", "renamed"):
            return
        old, new = base_codes(file), head_codes(file)
        sizes, kept = (Counter(code.name for code in side.values()) for side in (old, new))
        unlike = {
            name for name in sizes if sizes[name] != kept[name] and sizes[name] + kept[name] > 2
        }
        old, new = (
            {key: code for key, code in side.items() if code.name not in unlike}
            for side in (old, new)
        )
        fresh = [code for name, code in new.items() if name and name not in old]
        for name, code in old.items():
            if _touched(code, file):
                now = new[name] if name in new else self._renamed(code, fresh)
                nothing = Code(file, "", ast.Module([], []), (), {})
                yield Pair(code, now or nothing, gone=now is None)

    def _renamed(self, code: Code, fresh: list[Code]) -> Code | None:
        """The added definition that most likely replaces a deleted one."""
        best = max(fresh, key=lambda one: similarity(code, one), default=None)
        if best is not None and similarity(code, best) >= _SIMILAR:
            return best
        moved = self.added_definition(code.name.rsplit(".", 1)[-1])
        if moved is not None and moved.name:
            return moved
        # Rewritten under another name, maybe in another file: most of its words are there.
        added = [
            one for name in self._added_definitions
            if (one := self.added_definition(name)) is not None
            and isinstance(one.node, type(code.node)) and len(code.names) >= _MANY_NAMES
            and len(one.names & code.names) >= _SIMILAR_NAMES * len(code.names)
        ]  # fmt: skip
        return max(added, key=lambda one: len(one.names & code.names), default=None)


def _raises(node: ast.AST, exception: str) -> bool:
    return any(isinstance(one, ast.Raise) and raised(one) == exception for one in ast.walk(node))


def _imported(tree: ast.Module) -> set[tuple[str, str]]:
    """(name, module) of the functions that a module imports from others."""
    return {
        (alias.asname or alias.name, node.module or "")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _compared(node: ast.AST) -> set[tuple[str, str]]:
    """(what is compared, with which text) in `node`."""
    return {
        (ast.unparse(part.left), value)
        for part in ast.walk(node)
        if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq)
        for value in [getattr(part.comparators[0], "value", None)]
        if isinstance(value, str)
    }


def _touched(code: Code, file: ChangedFile) -> bool:
    if isinstance(code.node, ast.Module):
        return True
    first, last = syntax.first_line(code.node), code.node.end_lineno or code.node.lineno
    return any(
        hunk.old_start <= last and first < hunk.old_start + max(hunk.old_count, 1)
        for hunk in file.hunks
    )
