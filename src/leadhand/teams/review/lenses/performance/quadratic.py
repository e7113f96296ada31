"""Quadratic work that the change introduces.

Code that was as slow before is not reported, even if the change moves or indents it.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance import copies, lists
from leadhand.teams.review.lenses.performance.growth import QuadraticHit
from leadhand.teams.review.lenses.performance.indexed_tree import IndexedTree
from leadhand.teams.review.lenses.syntax import Tree

RULES: tuple[LensRule, ...] = (*lists.RULES, *copies.RULES)

_GROWN = re.compile(r"\b(\w+)(?:\.(?:append|extend|insert)\(| \+= )")
_TESTED = re.compile(
    r"\b(?:if|elif|while|and|or|assert|return|=)[ (][^\n]{0,160}? in (\w+)\b(?![.\[(])"
)
_SORTED = re.compile(r"\bsorted\((\w+)[,)]")
_SHIFTED = re.compile(r"\b(\w+)\.(?:pop\(0\)|sort\()")
_WORD = re.compile(r"\w+")
_COPIED = re.compile(
    r"^[ \t]{0,99}(\w+) = (?:\1 \+ |[\[{]\s{0,80}\*{1,2}\1\b"
    r"|[\w.]{0,30}(?:concat|append|concatenate|[hvd]stack)\(\s{0,80}[\[(]?\s{0,80}(?:\w+, )?\1\b)",
    re.MULTILINE,
)
_SUMMED = re.compile(r",\s{0,80}(?:\[\]|\(\)),?\s{0,80}\)")


def relevant(file: ChangedFile) -> bool:
    """Whether the text of a file may hold quadratic work that involves an added line."""
    text, added = file.head, "\n".join(file.added.values())
    if "sum(" in text and _SUMMED.search(added):
        return True
    if "for " not in text and "while " not in text:
        return False
    if _COPIED.search(added):
        return True
    names = set(_TESTED.findall(text))
    if ".pop(0)" in text or ".sort(" in text:
        names.update(_SHIFTED.findall(text))
    if "sorted(" in text:
        names.update(_SORTED.findall(text))
    if names:
        names &= set(_GROWN.findall(text))
    return bool(names) and not names.isdisjoint(_WORD.findall(added))


def find(file: ChangedFile, tree: Tree) -> Iterator[tuple[LensRule, ast.AST, str]]:
    """(rule, node, message) of the quadratic work that the change introduces."""
    found = list(_hits(IndexedTree(tree)))
    placed = [(hit, at) for hit in found if (at := _place(file, hit)) is not None]
    if not placed:
        return
    before = Counter[tuple[str, str]]()
    if file.base_tree is not None:
        before.update(hit.key for hit in _hits(IndexedTree(Tree(file.base_tree))))
        before.subtract(hit.key for hit in found if _place(file, hit) is None)
    for hit, node in placed:
        before[hit.key] -= 1
        if before[hit.key] < 0:
            yield hit.rule, node, hit.message


def _place(file: ChangedFile, hit: QuadraticHit) -> ast.AST | None:
    """The part of a hit that the change adds, or `None`."""
    return next((one for one in (hit.node, hit.growth) if one and file.touches(one.lineno)), None)


def _hits(source: IndexedTree) -> Iterator[QuadraticHit]:
    yield from lists.hits(source)
    yield from copies.hits(source)
