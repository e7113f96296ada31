"""The docstrings of fields for `help`, which Python itself does not keep."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


class _FieldDocs:
    """The docstring of a class and its fields. Their source is read when it is asked for."""

    def __init__(self, doc: str) -> None:
        self._doc = doc

    def __get__(self, instance: object, kind: type) -> str:
        return _documented(kind, self._doc)


def with_field_docs(kind: type[T]) -> type[T]:
    """The class, a dataclass, whose docstring ends with its fields and what is said of each."""
    kind.__doc__ = _FieldDocs(kind.__doc__ or kind.__name__)  # pyright: ignore[reportAttributeAccessIssue]
    return kind


@functools.cache
def _documented(kind: type, doc: str) -> str:
    try:
        bodies = [_body(one) for one in reversed(kind.__mro__[:-1])]
    except (OSError, SyntaxError):  # there is no source
        return doc
    return "\n".join([inspect.cleandoc(doc), "", "Fields:", *(line for b in bodies for line in b)])


def _body(kind: type) -> Iterator[str]:
    (source,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    parts = [
        one
        for part in getattr(source, "body", [])
        for one in (part.orelse if isinstance(part, ast.If) else [part])
    ]
    for part, after in pairwise([*parts, ast.Pass()]):
        if isinstance(part, ast.AnnAssign) and ast.unparse(part.target) != "_":
            yield f"  {ast.unparse(part)}"
            match after:
                case ast.Expr(value=ast.Constant(value=str(said))):
                    yield textwrap.indent(inspect.cleandoc(said), " " * 6)
                case _:
                    pass
