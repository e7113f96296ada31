"""The functions of a Python file: their parameters, and what their docstrings say about them.

Reads syntax trees; compares nothing.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leadhand.teams.review.lenses.comments.docfields import ParameterEntry, documented_parameters
from leadhand.teams.review.syntax import Function, blocks

_BOUND = ("self", "cls", "mcs", "mcls", "metacls")


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of one function and its docstring."""

    name: str
    """Qualified by its classes and functions: `Client.get`."""
    node: Function
    owner: ast.ClassDef | None
    """The class of a method."""

    @property
    def first(self) -> int:
        """The first line of the signature."""
        return self.node.lineno

    @property
    def last(self) -> int:
        """The last line of the signature, or of a docstring that starts on it."""
        return max(self.node.lineno, self.node.body[0].lineno - 1)

    @property
    def parameters(self) -> dict[str, ast.arg]:
        """Name -> node, in order, without `self`, `*args` and `**kwargs`."""
        arguments = self.node.args
        listed = [*arguments.posonlyargs, *arguments.args]
        if self.owner is not None and listed and listed[0].arg in _BOUND:
            listed = listed[1:]
        return {node.arg: node for node in (*listed, *arguments.kwonlyargs)}

    @property
    def open_ended(self) -> bool:
        """Whether it takes `**kwargs`, so that its docstring may document other names."""
        return self.node.args.kwarg is not None

    def entries(self, lines: Sequence[str]) -> dict[str, ParameterEntry]:
        """The parameters in its docstring, or for `__init__` in that of the class."""
        own = _entries(self.node, lines)
        if not own and self.owner is not None and self.node.name == "__init__":
            return _entries(self.owner, lines)
        return own

    def prose(self) -> str:
        """Its docstring, for `__init__` with that of the class."""
        own = ast.get_docstring(self.node, clean=False) or ""
        if self.owner is not None and self.node.name == "__init__":
            own += ast.get_docstring(self.owner, clean=False) or ""
        return own


def _entries(node: Function | ast.ClassDef, lines: Sequence[str]) -> dict[str, ParameterEntry]:
    first = node.body[0]
    if not (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return {}
    text = list(lines[first.lineno - 1 : first.end_lineno])
    text[0] = " " * first.col_offset + text[0].strip().lstrip("rRuUbB").lstrip("\"'")
    text[-1] = text[-1].rstrip().rstrip("\"'")
    return documented_parameters(text, first.lineno)


def signatures(tree: ast.Module) -> dict[str, Signature]:
    """Qualified name -> signature; names that are defined more than once are left out."""
    found: dict[str, Signature] = {}
    twice: set[str] = set()
    for function in _walk(tree):
        if function.name in found:
            twice.add(function.name)
        found[function.name] = function
    return {name: function for name, function in found.items() if name not in twice}


def _walk(tree: ast.Module) -> Iterator[Signature]:
    stack: list[tuple[ast.stmt, str, ast.ClassDef | None]] = [
        (node, "", None) for node in reversed(tree.body)
    ]
    while stack:
        node, prefix, owner = stack.pop()
        inner_prefix, inner_owner = prefix, owner
        if isinstance(node, Function):
            yield Signature(f"{prefix}{node.name}", node, owner)
            inner_prefix, inner_owner = f"{prefix}{node.name}.", None
        elif isinstance(node, ast.ClassDef):
            inner_prefix, inner_owner = f"{prefix}{node.name}.", node
        inner = [child for block in blocks(node) for child in block]
        stack.extend((child, inner_prefix, inner_owner) for child in reversed(inner))
