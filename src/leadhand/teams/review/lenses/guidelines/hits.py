"""What the checks of this lens share: hits, the files that a guideline applies to, syntax nodes."""

import ast
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import cast

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines.guideline import Guideline
from leadhand.teams.review.syntax import is_test

_AUXILIARY = re.compile(
    r"(?:^|/)(?:docs?|examples?|samples?|scripts?|tools|bench\w*|migrations|alembic|vendor|_vendor|third_party|notebooks?"
    r"|node_modules|setup\.py|noxfile\.py|tasks\.py|fabfile\.py|manage\.py|_version\.py)(?:/|$)"
)
_GENERATED = re.compile(
    r"(?:_pb2|_pb2_grpc|\.gen|_generated|\.min)\.\w+$|(?:^|/)(?:generated|dist|build)/|(?:^|/)_version\.py$"
)


@dataclass(frozen=True, slots=True)
class GuidelineHit:
    """One place in a file that breaks a guideline."""

    guideline: Guideline
    line: int
    what: str
    """The start of a sentence that says what is wrong and names the symbols."""
    evidence: str = ""
    """What to quote; empty for the text of `line`."""
    end_line: int | None = None


Check = Callable[[ChangedFile, Sequence[Guideline]], Iterator[GuidelineHit]]


def is_auxiliary(path: str) -> bool:
    """Whether the file at `path` is not product code: documentation, scripts, vendored code."""
    return _AUXILIARY.search(path) is not None


def is_generated(path: str) -> bool:
    """Whether the file at `path` looks generated."""
    return _GENERATED.search(path) is not None


def is_product_code(file: ChangedFile) -> bool:
    """Whether `file` is Python that people wrote for the product."""
    path = file.path
    return file.language == "python" and not (
        is_test(path) or is_auxiliary(path) or is_generated(path)
    )


def applies(one: Guideline, path: str) -> bool:
    """Whether a guideline applies to the file at `path`."""
    if not path.startswith(one.folder) or (one.tests_only and not is_test(path)):
        return False
    inner = path[len(one.folder) :]
    name = path.rsplit("/", 1)[-1]
    if any(fnmatchcase(inner, glob) or fnmatchcase(name, glob) for glob in one.excluded):
        return False
    return not one.within or any(f"/{folder}" in f"/{path}" for folder in one.within)


def nearest(found: Sequence[Guideline]) -> list[Guideline]:
    """The guidelines of the innermost folder."""
    depth = max((len(one.folder) for one in found), default=0)
    return [one for one in found if len(one.folder) == depth]


def compound_statements(
    tree: ast.Module | None,
) -> Iterator[tuple[ast.stmt | ast.ExceptHandler, list[ast.stmt]]]:
    """(statement, its body) of each compound statement."""
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
def all_nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of `tree`; cached for all checks of one file, because walking is slow."""
    return tuple(ast.walk(tree))


def string_ends(tree: ast.Module | None) -> dict[int, int]:
    """Line -> last line of the string that spans it, for strings of more than one line."""
    ends: dict[int, int] = {}
    for node in all_nodes(tree) if tree else ():
        if isinstance(node, ast.Constant | ast.JoinedStr):
            last = node.end_lineno or node.lineno
            if last > node.lineno:
                ends.update(dict.fromkeys(range(node.lineno, last + 1), last))
    return ends


def string_lines(tree: ast.Module | None) -> set[int]:
    """Lines that begin inside a string of several lines, where white space is part of the text."""
    lines: set[int] = set()
    for node in all_nodes(tree) if tree else ():
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno:
            lines.update(range(node.lineno + 1, node.end_lineno + 1))
    return lines
