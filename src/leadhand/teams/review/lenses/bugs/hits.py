"""What a check is given: one diagnostic of the linter, with the file and tree it is about."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from leadhand.contracts.finding import Finding
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.trees import Node, Tree
from leadhand.tools.ruff import Diagnostic, suppression

MAX_LINES = 20
"""How many lines past its first a finding covers at most."""

_TESTED = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest)\.py$")
_EXPECTING = re.compile(r"raises|assert_?raises|assert_?warns|suppress|warn|deprecated_call", re.I)


@dataclass(frozen=True, slots=True)
class BugHit:
    """A diagnostic on a line that the change adds, in a file that parses."""

    file: ChangedFile
    tree: Tree
    found: Diagnostic

    @property
    def text(self) -> str:
        """The line that the diagnostic points at."""
        return self.file.head_lines[self.found.line - 1]

    @property
    def name(self) -> str:
        """What ruff's message quotes first, in general a name."""
        quoted = self.found.message.split("`", 2)
        return quoted[1] if len(quoted) > 2 else ""

    def node(self, kind: type[Node]) -> Node | None:
        """The outermost node of a kind that starts where the diagnostic points."""
        byte = len(self.text[: self.found.column - 1].encode())
        return self.tree.starting_at(self.found.line, byte, kind)

    def any_node(self) -> ast.AST | None:
        """The outermost node that starts where the diagnostic points."""
        return self.node(ast.AST)

    def expected(self) -> bool:
        """Whether the code around is written to fail here."""
        node = self.any_node()
        return node is not None and expected(self.tree, node)


Judge = Callable[[BugHit], str | None]
"""Gives what to say of a hit, without its rule's reason; none where it is not worth saying."""


def as_said(hit: BugHit) -> str:
    """Ruff's own words as a sentence."""
    words = hit.found.message.rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."


def is_test_path(path: str) -> bool:
    """Whether the file at `path` holds tests or what tests are made with."""
    return _TESTED.search(path) is not None


def expected(tree: Tree, node: ast.AST) -> bool:
    """Whether the code around is made to fail: `with raises(...)`, a `try` that catches it."""
    below = node
    for up in tree.ancestors(node):
        if isinstance(up, ast.With | ast.AsyncWith) and any(map(_expecting, up.items)):
            return True
        if isinstance(up, ast.Try) and up.handlers and below in up.body:
            return True
        if isinstance(up, ast.Call) and below is not up.func and _expects(up.func):
            return True
        below = up
    return False


def _expecting(item: ast.withitem) -> bool:
    return any(_expects(node) for node in _names(item.context_expr))


def _names(node: ast.AST) -> Iterator[ast.AST]:
    return (below for below in ast.walk(node) if isinstance(below, ast.Name | ast.Attribute))


def _expects(node: ast.AST) -> bool:
    word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return isinstance(word, str) and _EXPECTING.search(word) is not None


def finding(rule: LensRule, file: ChangedFile, first: int, last: int, message: str) -> Finding:
    """A finding at the first added line in `first..last`, which says so if the line is marked."""
    lines = [n for n in range(first, last + 1) if file.touches(n)]
    at = next((n for n in lines if file.head_lines[n - 1].strip()), first)
    marks = (suppression(file.head_lines[n - 1]) for n in lines)
    mark = next((mark for mark in marks if mark is not None), None)
    return rule.finding(
        file,
        at,
        end_line=min(last, at + MAX_LINES),
        message=message if mark is None else f"{message} The line is marked `{mark}`.",
        evidence=file.head_lines[at - 1].strip(),
    )
