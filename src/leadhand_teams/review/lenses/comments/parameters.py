"""Docstrings that no longer agree with a signature that the change altered.

Covers parameters that the change removed or added, in docstrings with Sphinx or epytext fields,
Google or NumPy sections, or Markdown bullets. Docstrings that were wrong before are not reported.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leadhand.extension.findings import Finding
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import (
    FUNCTIONS,
    SCOPES,
    Function,
    Tree,
    indent,
    is_test,
)

PARAMETER_GONE = rule("comments/documented-parameter-gone")
PARAMETER_UNDOCUMENTED = rule("comments/parameter-undocumented")

_RETIRED = re.compile(r"deprecat|removed|no longer|ignored|unused|obsolete", re.IGNORECASE)
_BOUND = ("self", "cls", "mcs", "mcls", "metacls")

_NAMES = r"(?P<names>\*{0,2}\w+(?:\s?,\s?\*{0,2}\w+){0,8})"
_FIELD = re.compile(
    r"\s*(?::(?:param|parameter|arg|argument|key|keyword|kwarg)\s+(?:[^:\s][^:]{0,80}\s)?"
    rf"|@(?:param|keyword|kwarg)\s+){_NAMES}\s?:|\s*[*-]\s+\*\*(?P<bullet>\w+)\*\*\s?[-:–]"
)
_ANY_FIELD = re.compile(r"\s*(?::\w[^:]{0,80}:|@\w+)")
_SECTION = re.compile(
    r"\s*(?:args|arguments|parameters|params|keyword args|keyword arguments|other parameters|"
    r"other args)\s?(?P<colon>:?)\s*$",
    re.IGNORECASE,
)
_UNDERLINE = re.compile(r"\s*-{3,}\s*$")
_ENTRY = {
    True: re.compile(rf"\s*{_NAMES}(?:\s?:(?:\s.*)?)?$"),
    False: re.compile(rf"\s*{_NAMES}\s?(?:\(.*\)\s?)?:(?:\s|$)"),
}
"""The entries of NumPy's sections, which are underlined, and of Google's."""


class _Entry(NamedTuple):
    """What a docstring says about one parameter, and the line of the file where it starts."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Signature:
    """The signature of one function and its docstring."""

    name: str
    """Qualified by its classes and functions: `Client.get`."""
    node: Function
    owner: ast.ClassDef | None

    @property
    def last(self) -> int:
        """The last line of the signature, or of a docstring that starts on it."""
        return max(self.node.lineno, self.node.body[0].lineno - 1)

    @property
    def parameters(self) -> dict[str, ast.arg]:
        """Name -> node, in order, without `self`, `*args` and `**kwargs`."""
        found = self.node.args
        listed = [*found.posonlyargs, *found.args]
        if self.owner is not None and listed and listed[0].arg in _BOUND:
            listed = listed[1:]
        return {node.arg: node for node in (*listed, *found.kwonlyargs)}

    @property
    def documents(self) -> list[Function | ast.ClassDef]:
        """What may document its parameters: the function, for `__init__` also the class."""
        is_init = self.owner is not None and self.node.name == "__init__"
        return [self.node, self.owner] if is_init and self.owner else [self.node]

    def entries(self, lines: Sequence[str]) -> dict[str, _Entry]:
        """The parameters in its docstring."""
        found = [_documented(one, lines) for one in self.documents]
        return next(filter(None, found), found[0])


def stale_docstrings(file: ChangedFile) -> Iterator[Finding]:
    """Findings for docstrings in `file` that disagree with the signatures that changed."""
    touched = [
        one
        for one in _signatures(file.head_syntax).values()
        if any(h.new_start <= one.last and one.node.lineno <= h.new_end + 1 for h in file.hunks)
    ]
    earlier = _signatures(file.base_syntax) if touched else {}
    for function in touched:
        before = earlier.get(function.name)
        if before is not None:
            yield from _compare(file, function, before)
        elif not file.base or file.base_tree is not None:
            yield from _left_out(file, function)


def _signatures(tree: Tree) -> dict[str, _Signature]:
    """Qualified name -> signature; names that are defined more than once are left out."""
    found: defaultdict[str, list[_Signature]] = defaultdict(list)
    for node in (one for kind in FUNCTIONS for one in tree.nodes(kind)):
        named = (one for one in tree.ancestors(node) if isinstance(one, Function | ast.ClassDef))
        around = [one.name for one in named]
        name = ".".join([*reversed(around), node.name])
        owner = tree.enclosing(node, *SCOPES)
        found[name].append(
            _Signature(name, node, owner if isinstance(owner, ast.ClassDef) else None)
        )
    return {name: one for name, (one, *others) in found.items() if not others}


def _documented(node: Function | ast.ClassDef, lines: Sequence[str]) -> dict[str, _Entry]:
    """Parameter name (without stars) -> entry in the docstring of `node`."""
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is None:
        return {}
    text = [line.rstrip().rstrip("\"'") for line in lines[first.lineno - 1 : first.end_lineno]]
    starts: list[tuple[int, str]] = []
    numpy, depth = False, -1  # outside of a section
    for index, line in enumerate(text):
        below = text[index + 1] if index + 1 < len(text) else ""
        title = _SECTION.match(line)
        found = _FIELD.match(line)
        if found:
            starts.append((index, found["names"] or found["bullet"]))
        elif _ANY_FIELD.match(line):
            starts.append((index, ""))
        elif title and (_UNDERLINE.match(below) or title["colon"]):
            numpy = _UNDERLINE.match(below) is not None
            inner = indent(next((one for one in text[index + 1 :] if one.strip()), ""))
            depth = indent(line) if numpy else inner if inner > indent(line) else -1
        elif depth >= 0 and line.strip() and not _UNDERLINE.match(line):
            if indent(line) < depth or _UNDERLINE.match(below):
                depth = -1
            entry = _ENTRY[numpy].match(line) if indent(line) == depth else None
            if indent(line) <= depth or depth == -1:
                starts.append((index, entry["names"] if entry else ""))
    entries: dict[str, _Entry] = {}
    for (start, names), end in zip(starts, [*(n for n, _ in starts[1:]), len(text)], strict=False):
        words = " ".join(" ".join(text[start:end]).split())
        for name in names.replace("*", "").split(",") if names else ():
            entries.setdefault(name.strip(), _Entry(first.lineno + start, words))
    return entries


def _compare(file: ChangedFile, function: _Signature, before: _Signature) -> Iterator[Finding]:
    now, was = function.parameters, before.parameters
    gone = [name for name in was if name not in now]
    new = [name for name in now if name not in was]
    entries = function.entries(file.head_lines)
    if not entries:
        return
    moved = len(gone) == len(new) == 1 and [*was].index(gone[0]) == [*now].index(new[0])
    for name in gone:
        entry = entries.get(name)
        place = _removal(file, before, name)
        if not entry or not place or function.node.args.kwarg or _RETIRED.search(entry.text):
            continue
        renamed = f" (now `{new[0]}`)" if moved else ""
        yield PARAMETER_GONE.finding(
            file,
            place[0],
            message=f"`{function.name}` no longer takes `{name}`{renamed}, but its docstring still "
            f"documents it on line {entry.line}.",
            evidence=place[1],
        )
    others = [name for name in now if name in was and not name.startswith("_")]
    documented = bool(others) and all(name in entries for name in others)
    for name in new if documented and not moved and not is_test(file.path) else ():
        yield from _undocumented(file, function, name, entries)


def _removal(file: ChangedFile, before: _Signature, name: str) -> tuple[int, str] | None:
    """The removed line of the old signature that had `name`: its new place and its text."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for line, text in file.removed.items():
        hunk = file.hunk_removing(line)
        if hunk and before.node.lineno <= line <= before.last and word.search(text):
            return hunk.new_line, text.strip()
    return None


def _undocumented(
    file: ChangedFile, function: _Signature, name: str, entries: dict[str, _Entry]
) -> Iterator[Finding]:
    line = function.parameters[name].lineno
    prose = " ".join(ast.get_docstring(one, clean=False) or "" for one in function.documents)
    known = name in entries or name.startswith("_") or re.search(rf"\b{re.escape(name)}\b", prose)
    if not known and line in file.added:
        message = f"The docstring of `{function.name}` lacks the new parameter `{name}`."
        yield PARAMETER_UNDOCUMENTED.finding(file, line, message=message)


def _left_out(file: ChangedFile, function: _Signature) -> Iterator[Finding]:
    """The only parameter of a new function that its docstring leaves out."""
    names = [name for name in function.parameters if not name.startswith("_")]
    entries = function.entries(file.head_lines)
    missing = [name for name in names if name not in entries]
    if len(missing) == 1 and len(names) >= 4 and not is_test(file.path):
        yield from _undocumented(file, function, missing[0], entries)
