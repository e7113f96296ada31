"""Finds test files, and the functions in them that a test runner would run.

Goes by the names that pytest and unittest collect by default, and imports nothing. Tests of a
project that configures other names are not found.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadhand.teams.review.lenses.syntax import Function, blocks, last_name

_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$")
_SAMPLE = re.compile(
    r"(?:^|/)(?:[^/]*example[^/]*|docs?|[^/]*bench[^/]*|data|[^/]*fixtures?|templates?|samples?|perf[^/]*)/"
    r"|bench[^/]*\.py$|(?:^|/)(?:template|perf)_"
)
_NAME = re.compile(r"test(?:_|[A-Z0-9]|$)")
_TEST_BASE = re.compile(r"Test(?:s|Case|Base|Mixin)?$|TestCase")
_NO_TEST = {"fixture", "property", "cached_property", "contextmanager", "overload"}
"""Decorators that make a function something other than a test."""


@dataclass(frozen=True, slots=True)
class TestFunction:
    """One test function or method."""

    node: Function
    owner: ast.ClassDef | None
    """The class it is a method of."""
    name: str
    """Qualified within its file: `TestUsers.test_login`."""
    unittest: bool
    """Whether its class looks like one of unittest's, by the names of its bases."""


def is_test_file(path: str) -> bool:
    """Whether a test runner would collect Python tests from the file at `path`."""
    return _FILE.search(path) is not None


def is_sample(path: str) -> bool:
    """Whether the file at `path` is an example, a benchmark or data rather than a test."""
    return _SAMPLE.search(path) is not None


def test_functions(tree: ast.Module | None) -> Iterator[TestFunction]:
    """The tests in `tree`, in order; those in `if` and `try` blocks too."""
    waiting: list[tuple[list[ast.stmt], ast.ClassDef | None, str, bool]] = [
        (tree.body if tree else [], None, "", False)
    ]
    while waiting:
        body, owner, prefix, unittest = waiting.pop()
        deeper: list[tuple[list[ast.stmt], ast.ClassDef | None, str, bool]] = []
        for node in body:
            if isinstance(node, ast.ClassDef):
                derived = any(_TEST_BASE.search(symbol_name(base)) for base in node.bases)
                if derived or node.name.startswith("Test"):
                    deeper.append((node.body, node, f"{prefix}{node.name}.", derived))
            elif isinstance(node, Function):
                decorators = {symbol_name(one) for one in node.decorator_list}
                if _NAME.match(node.name) and decorators.isdisjoint(_NO_TEST):
                    yield TestFunction(node, owner, prefix + node.name, unittest)
            else:
                deeper += [(block, owner, prefix, unittest) for block in blocks(node)]
        waiting += reversed(deeper)


def symbol_name(node: ast.expr) -> str:
    """`c` for `a.b.c`, `c(...)` or `c[...]`; empty for anything else."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return last_name(node)


def dotted_name(node: ast.expr) -> str:
    """`a.b.c` as text, without calls and subscripts; empty for anything else."""
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
