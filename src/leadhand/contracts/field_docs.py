"""The docstrings of fields for `help`, which Python itself does not keep."""

import ast
import functools
import inspect
import textwrap
from typing import TypeVar

T = TypeVar("T")


class _FieldDocs:
    """The docstring of a class and its fields. Their source is read when it is asked for."""

    def __init__(self, doc: str) -> None:
        self._doc = doc

    def __get__(self, instance: object, kind: type) -> str:
        try:
            fields = [line for one in reversed(kind.__mro__[:-1]) for line in _fields(one)]
        except (OSError, SyntaxError):  # there is no source
            return self._doc
        return "\n".join([inspect.cleandoc(self._doc), "", "Fields:", *fields])


def with_field_docs(kind: type[T]) -> type[T]:
    """The class, a dataclass, whose docstring ends with its fields and what is said of each."""
    kind.__doc__ = _FieldDocs(kind.__doc__ or kind.__name__)  # pyright: ignore[reportAttributeAccessIssue]
    return kind


@functools.cache
def _fields(kind: type) -> list[str]:
    (source,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    lines: list[str] = []
    for part in getattr(source, "body", []):
        for one in part.orelse if isinstance(part, ast.If) else [part]:
            match one:
                case ast.AnnAssign(target=ast.Name(id=name)) if name != "_":
                    lines.append(f"  {ast.unparse(one)}")
                case ast.Expr(value=ast.Constant(value=str(said))) if lines:
                    lines.append(textwrap.indent(inspect.cleandoc(said), " " * 6))
                case _:
                    pass
    return lines
