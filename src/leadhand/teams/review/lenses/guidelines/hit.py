"""What the checkers of this lens share: a hit, which files a guideline holds for, statements."""

import ast
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import cast

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines.documents import Project
from leadhand.teams.review.lenses.guidelines.guideline import Guideline

_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|test_[^/]*|[^/]*_test\.py|conftest\.py|__tests__)(?:/|$)"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:docs?|examples?|samples?|scripts?|tools|bench\w*|migrations|alembic|vendor|_vendor|third_party|notebooks?"
    r"|node_modules|setup\.py|noxfile\.py|tasks\.py|fabfile\.py|manage\.py|_version\.py)(?:/|$)"
)
_GENERATED = re.compile(
    r"(?:_pb2|_pb2_grpc|\.gen|_generated|\.min)\.\w+$|(?:^|/)(?:generated|dist|build)/|(?:^|/)_version\.py$"
)


@dataclass(frozen=True, slots=True)
class GuidelineHit:
    """One place in a file that goes against a guideline."""

    guideline: Guideline
    line: int
    end_line: int
    what: str
    """What is there, naming the symbols, as the start of a sentence."""
    evidence: str = ""
    """What to quote where it is not the whole of `line`."""


Check = Callable[[Project, ChangedFile, Sequence[Guideline]], Iterator[GuidelineHit]]


def in_tests(path: str) -> bool:
    """Whether the file at `path` is a test or helps tests."""
    return _TESTS.search(path) is not None


def aside(path: str) -> bool:
    """Whether the file at `path` is beside the product: documentation, scripts, vendored."""
    return _ASIDE.search(path) is not None


def generated(path: str) -> bool:
    """Whether the file at `path` looks as if no person wrote it."""
    return _GENERATED.search(path) is not None


def applies(one: Guideline, path: str) -> bool:
    """Whether a guideline holds for the file at `path`."""
    if not path.startswith(one.folder) or (one.tests_only and not in_tests(path)):
        return False
    inner = path[len(one.folder) :]
    name = path.rsplit("/", 1)[-1]
    if any(fnmatchcase(inner, glob) or fnmatchcase(name, glob) for glob in one.excluded):
        return False
    return not one.within or any(f"/{folder}" in f"/{path}" for folder in one.within)


def nearest(found: Sequence[Guideline]) -> list[Guideline]:
    """Of guidelines that set one value, those of the innermost folder."""
    depth = max((len(one.folder) for one in found), default=0)
    return [one for one in found if len(one.folder) == depth]


def statements(
    tree: ast.Module | None,
) -> Iterator[tuple[ast.stmt | ast.ExceptHandler, list[ast.stmt]]]:
    """(statement, its body) of each compound statement; expressions are not walked."""
    waiting: list[ast.AST] = list(tree.body) if tree else []
    while waiting:
        node = waiting.pop()
        body = cast("list[ast.stmt]", getattr(node, "body", ()))
        if body and isinstance(node, ast.stmt | ast.ExceptHandler):
            yield node, body
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            for name in ("body", "orelse", "handlers", "finalbody", "cases"):
                waiting += cast("list[ast.AST]", getattr(node, name, ()))


@functools.lru_cache(maxsize=2)
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of `tree`; kept while one file is looked at, since walking costs the most."""
    return tuple(ast.walk(tree))


def string_ends(tree: ast.Module | None) -> dict[int, int]:
    """Line -> last line of the string that spans it, for strings of more than one line."""
    ends: dict[int, int] = {}
    for node in nodes(tree) if tree else ():
        if isinstance(node, ast.Constant | ast.JoinedStr):
            last = node.end_lineno or node.lineno
            if last > node.lineno:
                ends.update(dict.fromkeys(range(node.lineno, last + 1), last))
    return ends


def string_lines(tree: ast.Module | None) -> set[int]:
    """Lines that begin within a string that spans lines, where blanks are part of the text."""
    lines: set[int] = set()
    for node in nodes(tree) if tree else ():
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno:
            lines.update(range(node.lineno + 1, node.end_lineno + 1))
    return lines
