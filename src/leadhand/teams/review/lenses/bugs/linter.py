"""Runs the linter once over the files of a task and turns its diagnostics into findings."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule, Seen
from leadhand.teams.review.lenses.bugs import expressions, names, statements, syntax
from leadhand.teams.review.lenses.bugs.checks import BugCheck
from leadhand.teams.review.lenses.bugs.hits import BugHit, finding, quoted
from leadhand.teams.review.lenses.paths import is_test
from leadhand.teams.review.lenses.syntax import Tree
from leadhand.tools.ruff import UNREADABLE, Diagnostic, check

REMOVED_DEFINITION = LensRule(
    "bugs/definition-removed", "bugs/linted", "critical",
    "That line fails with a NameError when it runs.",
    "Restore the definition, or change the code that still uses it.",
)  # fmt: skip
_CHECKS = (*expressions.CHECKS, *statements.CHECKS)
RULES: tuple[LensRule, ...] = (
    *names.RULES,
    REMOVED_DEFINITION,
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
            yield from _removed_definitions(file, all_by_path[file.path])
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


def _removed_definitions(file: ChangedFile, undefined: Iterable[Diagnostic]) -> Iterator[Finding]:
    """A finding for each name that a removed line defined and an unchanged line still uses.

    `undefined` are the linter's diagnostics of the whole new file. The old text is only parsed if
    a removed line contains a name that is undefined now.
    """
    removed = "\n".join(file.removed.values())
    first: dict[str, Diagnostic] = {}
    for one in undefined:
        name = _name(one)
        unchanged = name and not file.touches(one.line)
        if unchanged and name in removed and not names.may_be_provided(file, name):
            first.setdefault(name, one)
    if not first or file.base_tree is None:
        return
    # The linter may not understand where a name comes from: then it was undefined before, too.
    before = {_name(one) for one in check([file.base_file], select=["F821"], target="py314")}
    defined = {
        name: line
        for name, line in _definitions(file.base_tree)
        if name in first and name not in before and line in file.removed
    }
    for name, line in defined.items():
        hunk = file.hunk_removing(line)
        if hunk is not None:
            yield REMOVED_DEFINITION.finding(
                file,
                hunk.new_line,
                message=f"`{name}` is no longer defined here, but line {first[name].line} of this "
                "file still uses it.",
                evidence=file.removed[line].strip(),
            )


def _name(one: Diagnostic) -> str:
    return quoted(one) if one.code == "F821" else ""


def _definitions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of every definition."""
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield alias.asname or alias.name.split(".", 1)[0], alias.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case _:
                pass
