"""One diagnostic of ruff with its file and syntax tree, which judges decide on."""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leadhand.extension.findings import Finding
from leadhand.tools.ruff import Diagnostic, suppression
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.rules import LensRule
from leadhand_teams.review.syntax import ImportedNames, Node, Tree

TARGET = "py314"
"""The newest syntax and builtins, so that code for a newer Python is not reported."""
MAX_LINES = 20
"""A finding ends at most this many lines after its first."""

_EXPECTING = re.compile(r"raises|assert_?raises|assert_?warns|suppress|warn|deprecated_call", re.I)


@dataclass(frozen=True, slots=True)
class RuffHit:
    """A diagnostic on a line that the change adds, in a file that parses."""

    file: ChangedFile
    tree: Tree
    diagnostic: Diagnostic
    all_found: Sequence[Diagnostic] = ()
    """Everything that ruff says about the file."""

    @property
    def text(self) -> str:
        """The line that the diagnostic points at."""
        return self.file.head_lines[self.diagnostic.line - 1]

    @property
    def name(self) -> str:
        """The first text that ruff's message quotes, usually a name."""
        return quoted(self.diagnostic)

    def node(self, kind: type[Node]) -> Node | None:
        """The outermost node of a kind that starts where the diagnostic points."""
        return self.tree.starting_at(self.diagnostic.line, self._byte, kind)

    def first_node(self, kind: type[Node]) -> Node | None:
        """The outermost node of a kind that is first on the diagnostic's line."""
        byte = len(self.text) - len(self.text.lstrip())
        return self.tree.starting_at(self.diagnostic.line, byte, kind)

    @property
    def call(self) -> ast.Call | None:
        """The call that the diagnostic points at: the innermost one around its place."""
        line, byte = self.diagnostic.line, self._byte
        around = [
            node
            for node in self.tree.nodes(ast.Call)
            if (node.lineno, node.col_offset) <= (line, byte)
            and (line, byte) < (node.end_lineno or line, node.end_col_offset or 0)
        ]
        return min(around, key=lambda node: len(ast.unparse(node)), default=None)

    @property
    def _byte(self) -> int:
        return len(self.text[: self.diagnostic.column - 1].encode())

    @property
    def names(self) -> ImportedNames:
        """What the names of the file stand for."""
        return self.file.head_names

    def is_expected(self) -> bool:
        """Whether the enclosing code expects an error here."""
        node = self.node(ast.AST)
        return node is not None and is_expected(self.tree, node)


Judge = Callable[[RuffHit], str | None]
"""Returns the message for a hit, without its rule's reason; `None` if the hit is not a bug."""


def quoted(diagnostic: Diagnostic) -> str:
    """The first text that ruff's message quotes, usually a name; empty if it quotes none."""
    parts = diagnostic.message.split("`", 2)
    return parts[1] if len(parts) > 2 else ""


def ruff_message(hit: RuffHit) -> str:
    """Ruff's own message as a sentence."""
    text = hit.diagnostic.message.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith("?") else ".")


def is_expected(tree: Tree, node: ast.AST) -> bool:
    """Whether the enclosing code expects an error: `with raises(...)`, a `try` that catches it."""
    for up, below in tree.path_up(node):
        if isinstance(up, ast.With | ast.AsyncWith) and any(
            _expects(node) for item in up.items for node in ast.walk(item.context_expr)
        ):
            return True
        if isinstance(up, ast.Try) and up.handlers and below in up.body:
            return True
        if isinstance(up, ast.Call) and below is not up.func and _expects(up.func):
            return True
    return False


def _expects(node: ast.AST) -> bool:
    word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return isinstance(word, str) and _EXPECTING.search(word) is not None


def finding(rule: LensRule, file: ChangedFile, first: int, last: int, message: str) -> Finding:
    """A finding at the first added line in `first..last`; its message names suppression marks."""
    lines = [n for n in range(first, last + 1) if file.touches(n)]
    at = next((n for n in lines if file.head_lines[n - 1].strip()), first)
    marks = (suppression(file.head_lines[n - 1]) for n in lines)
    mark = next((mark for mark in marks if mark is not None), None)
    return rule.finding(
        file,
        at,
        end_line=min(last, at + MAX_LINES),
        message=message if mark is None else f"{message} The line is marked `{mark}`.",
    )
