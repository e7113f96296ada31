"""Which files hold tests, and which of their functions a test runner would run.

By the names that pytest and unittest collect by default. Nothing is imported; a project that
configured other names is simply not seen here.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef

_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$")
_SAMPLE = re.compile(
    r"(?:^|/)(?:[^/]*example[^/]*|docs?|[^/]*bench[^/]*|data|[^/]*fixtures?|templates?|samples?|perf[^/]*)/"
    r"|bench[^/]*\.py$|(?:^|/)(?:template|perf)_"
)
_NAME = re.compile(r"test(?:_|[A-Z0-9]|$)")
_TEST_BASE = re.compile(r"Test(?:s|Case|Base|Mixin)?$|TestCase")


@dataclass(frozen=True, slots=True)
class Case:
    """One test function or method."""

    node: Function
    owner: ast.ClassDef | None
    """The class it is a method of."""
    name: str
    """Qualified within its file: `TestUsers.test_login`."""
    unittest: bool
    """Whether its class looks like a unittest one: it has a base that ends in `TestCase` or so."""


def is_test_file(path: str) -> bool:
    """Whether a test runner would look for Python tests in the file at `path`."""
    return _FILE.search(path) is not None


def is_sample(path: str) -> bool:
    """Whether the file at `path` shows, measures or feeds something rather than testing it."""
    return _SAMPLE.search(path) is not None


def first_line(node: Function | ast.ClassDef) -> int:
    """The line on which `node` starts, its decorators included."""
    return min((one.lineno for one in node.decorator_list), default=node.lineno)


def cases(tree: ast.Module) -> Iterator[Case]:
    """The tests in `tree`, in order; those in `if` and `try` blocks too."""
    waiting: list[tuple[list[ast.stmt], ast.ClassDef | None, str, bool]] = [
        (tree.body, None, "", False)
    ]
    while waiting:
        body, owner, prefix, unittest = waiting.pop()
        deeper: list[tuple[list[ast.stmt], ast.ClassDef | None, str, bool]] = []
        for node in body:
            if isinstance(node, ast.ClassDef):
                tested = any(_TEST_BASE.search(name_of(base)) for base in node.bases)
                if tested or node.name.startswith("Test"):
                    deeper.append((node.body, node, f"{prefix}{node.name}.", tested))
            elif isinstance(node, Function):
                if _NAME.match(node.name) and not any(_makes_other(d) for d in node.decorator_list):
                    yield Case(node, owner, prefix + node.name, unittest)
            else:
                deeper += [(block, owner, prefix, unittest) for block in blocks(node)]
        waiting += reversed(deeper)


def blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statement lists right below a compound statement that opens no scope of its own."""
    if isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Try | ast.TryStar):
        yield from (
            node.body,
            *(handler.body for handler in node.handlers),
            node.orelse,
            node.finalbody,
        )
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield node.body
    elif isinstance(node, ast.Match):
        yield from (one.body for one in node.cases)


def own_scope(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The body of a function or class."""
    if isinstance(node, Function | ast.ClassDef):
        yield node.body


def name_of(node: ast.expr) -> str:
    """The last name of `a.b.c`, `c(...)` or `c[...]`: `c`; empty for anything else."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.expr) -> str:
    """`a.b.c` as text, a call or subscript by what it is applied to; empty for anything else."""
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return ""
    return ".".join([node.id, *reversed(parts)])


def _makes_other(decorator: ast.expr) -> bool:
    """Whether a decorator makes a function something else than a test."""
    return name_of(decorator) in {
        "fixture",
        "property",
        "cached_property",
        "contextmanager",
        "overload",
    }
