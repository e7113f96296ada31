"""Runs the linter once over the files of a task and turns its diagnostics into findings."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import NotAssessed
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule, Seen
from leadhand.teams.review.lenses.bugs import (
    expressions,
    names,
    removed_definitions,
    statements,
    syntax,
)
from leadhand.teams.review.lenses.bugs.checks import BugCheck
from leadhand.teams.review.lenses.bugs.hits import BugHit, finding
from leadhand.teams.review.lenses.paths import is_test
from leadhand.teams.review.lenses.syntax import Tree
from leadhand.tools.ruff import UNREADABLE, Diagnostic, check

_CHECKS = (*expressions.CHECKS, *statements.CHECKS)
RULES: tuple[LensRule, ...] = (
    *names.RULES,
    removed_definitions.RULE,
    *syntax.RULES,
    *(one.rule for one in _CHECKS),
)

_TARGET = "py314"
"""The newest syntax and builtins, so that code for a newer Python is not reported."""


def find(files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings of the linter on the lines that the change adds to these Python files."""
    by_file = {file.head_file: file for file in files}
    found = [
        (by_file[one.file], one) for one in check(list(by_file), select=codes(), target=_TARGET)
    ]
    undefined = names.UndefinedNames(found)
    checks = _by_code(undefined)
    all_by_path: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    broken: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    to_judge: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for file, one in found:
        all_by_path[file.path].append(one)
        if one.code in ("invalid-syntax", UNREADABLE):
            broken[file.path].append(one)
        elif one.code in checks and file.touches(one.line, one.end_line):
            to_judge[file.path].append(one)
    for file in files:
        if file.path in broken:
            yield from syntax.find(file, broken[file.path])
            continue
        if file.removed and file.path in all_by_path:
            yield from removed_definitions.find(file, all_by_path[file.path])
        if file.path in to_judge:
            try:
                yield from list(_judged(file, to_judge[file.path], checks))
            except RecursionError:
                yield NotAssessed(lens="bugs", path=file.path, why="its code is nested too deeply")


def codes() -> list[str]:
    """The codes of ruff's rules that this lens runs."""
    return ["F821", "F822", "F823", *{code: None for one in _CHECKS for code in one.codes}]


def _by_code(undefined: names.UndefinedNames) -> dict[str, list[BugCheck]]:
    checks: defaultdict[str, list[BugCheck]] = defaultdict(list)
    checks["F821"].append(BugCheck(names.UNDEFINED, ("F821",), undefined.judge))
    checks["F822"].append(BugCheck(names.UNDEFINED_EXPORT, ("F822",), names.undefined_export))
    checks["F823"].append(BugCheck(names.UNBOUND, ("F823",), names.read_before_assignment))
    for one in _CHECKS:
        for code in one.codes:
            checks[code].append(one)
    return checks


def _judged(
    file: ChangedFile, found: Sequence[Diagnostic], checks: dict[str, list[BugCheck]]
) -> Iterator[Seen]:
    if file.head_tree is None:
        yield NotAssessed(
            lens="bugs",
            path=file.path,
            why="its syntax is newer than leadhand's Python, so diagnostics were not checked",
        )
        return
    tree = Tree(file.head_tree)
    in_test = is_test(file.path)
    reported: set[tuple[str, int, str]] = set()
    for one in found:
        hit = BugHit(file, tree, one)
        for candidate in checks[one.code]:
            if in_test and (not candidate.in_tests or hit.is_expected()):
                continue
            message = candidate.judge(hit)
            key = (candidate.rule.id, one.line, hit.name if one.code == "F821" else "")
            if message is not None and key not in reported:
                reported.add(key)
                yield finding(candidate.rule, file, one.line, one.end_line, message)
