"""The tests lens: tests that check nothing, tests that never run, and new code without tests.

Works from syntax and names alone: it runs no tests and reads no test configuration.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import Seen, lens
from leadhand.teams.review.lenses.syntax import first_line
from leadhand.teams.review.lenses.tests import rules
from leadhand.teams.review.lenses.tests.assertions import names_in, verdict
from leadhand.teams.review.lenses.tests.functions import (
    TestFunction,
    is_sample,
    is_test_file,
    test_functions,
)
from leadhand.teams.review.lenses.tests.ineffective import (
    TestProblem,
    focused,
    ineffective_checks,
    newly_skipped,
    same_names,
)
from leadhand.teams.review.lenses.tests.untested import untested

RULES = (
    rules.NO_ASSERTION,
    rules.ALWAYS_TRUE,
    rules.UNASSERTED,
    rules.SAME_NAME,
    rules.SKIPPED,
    rules.UNTESTED,
)

_MAX_PER_FILE = 5
_RUNNER = re.compile(r"\bTestCase\b|\bpytest\b")
_CHECK = re.compile(r"\bassert|\bself\.assert|\.assert_|raises|warns")


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Problems of the tests that the change adds or alters, and new code without tests."""
    for file in files:
        if file.status == "deleted":
            continue
        if file.language != "python":
            yield from _findings(file, focused(file))
        elif is_test_file(file.path) and not is_sample(file.path):
            yield from _in_test_file(file)
    yield from untested(change, files)


def _in_test_file(file: ChangedFile) -> Iterator[Seen]:
    if "test" not in file.head or (
        file.path.endswith("tests.py") and not _RUNNER.search(file.head)
    ):
        return
    tree = file.head_tree
    if tree is None:
        why = "only a patch was given, not the whole file"
        if file.complete:
            why = "it does not parse as Python"
        yield NotAssessed(lens="tests", path=file.path, why=why)
        return
    yield from _findings(file, _unchecked(file, tree))
    problems: list[TestProblem] = [*same_names(file, tree), *newly_skipped(file, tree)]
    for test in test_functions(tree):
        if file.touches(test.node.lineno, test.node.end_lineno):
            problems += ineffective_checks(file, test)
    yield from _findings(file, problems)


def _unchecked(file: ChangedFile, tree: ast.Module) -> Iterator[TestProblem]:
    """Tests that check nothing and that the change adds or takes the last check from."""
    names = names_in(tree, file.head)
    before: dict[str, TestFunction] | None = None
    for test in test_functions(tree):
        evidence = _evidence(file, test)
        if not evidence:
            continue
        found = verdict(test, names, file.head_lines)
        if found == "checks":
            continue
        if before is None:
            before = {one.name: one for one in test_functions(file.base_tree)}
        was = before.get(test.name)
        if was and file.base_tree:
            if verdict(was, names_in(file.base_tree, file.base), file.base_lines) != "checks":
                continue
            message = f"`{test.name}` no longer checks anything."
        elif found == "stub":
            message = f"`{test.name}` is an empty stub."
        else:
            message = f"`{test.name}` has no assertion, and nothing it calls seems to make one."
        yield TestProblem(rules.NO_ASSERTION, test.node.lineno, message, evidence)


def _evidence(file: ChangedFile, test: TestFunction) -> str:
    """A line that the change adds to the test, or one of its checks that the change removes."""
    start, end = first_line(test.node), test.node.end_lineno or test.node.lineno
    if test.node.lineno in file.added:
        return file.added[test.node.lineno].strip()
    for number in range(start, end + 1):
        if file.added.get(number, "").strip():
            return file.added[number].strip()
    for hunk in file.hunks:
        if hunk.old_count and start <= hunk.new_line <= end + 1:
            for line in file.removed_in(hunk):
                if _CHECK.search(line):
                    return line.strip()
    return ""


def _findings(file: ChangedFile, problems: Iterable[TestProblem]) -> Iterator[Finding]:
    """At most `_MAX_PER_FILE` findings per rule; the last one says how many more there are."""
    by_rule: dict[str, list[TestProblem]] = {}
    for problem in problems:
        by_rule.setdefault(problem.rule.id, []).append(problem)
    for same in by_rule.values():
        more = len(same) - _MAX_PER_FILE
        for count, problem in enumerate(same[:_MAX_PER_FILE], start=1):
            message = problem.message
            if more > 0 and count == _MAX_PER_FILE:
                message += f" And {more} more in this file."
            yield problem.rule.finding(
                file,
                problem.line,
                end_line=problem.end_line,
                message=message,
                evidence=problem.evidence or None,
                severity="info" if "empty stub" in message else None,
            )
