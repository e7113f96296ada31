"""The tests lens: tests that check nothing, tests that never run, and code left untested.

Works from syntax and names alone: no test is run, and no test configuration is read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import Seen, lens
from leadhand.teams.review.lenses.tests import rules
from leadhand.teams.review.lenses.tests.assertions import names_in, verdict
from leadhand.teams.review.lenses.tests.functions import (
    Case,
    cases,
    first_line,
    is_sample,
    is_test_file,
)
from leadhand.teams.review.lenses.tests.shape import (
    OddTest,
    constant_checks,
    focused,
    same_names,
    switched_off,
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
    """What is wrong with the tests that the change adds or alters, and the tests that it lacks."""
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
        yield NotAssessed(lens="tests", path=file.path, why=_unparsed(file))
        return
    yield from _findings(file, _unchecked(file))
    odd: list[OddTest] = [*same_names(file, tree), *switched_off(file, tree)]
    for case in cases(tree):
        if file.touches(case.node.lineno, case.node.end_lineno):
            odd += constant_checks(file, case)
    yield from _findings(file, odd)


def _unparsed(file: ChangedFile) -> str:
    if not file.complete:
        return "only a patch was handed in, so its tests can't be read as a whole"
    return "it does not parse as Python"


def _unchecked(file: ChangedFile) -> Iterator[OddTest]:
    """Tests that the change adds, or takes the last check from, and that check nothing."""
    tree = file.head_tree
    assert tree is not None
    names = names_in(tree, file.head)
    before: dict[str, Case] | None = None
    for case in cases(tree):
        evidence = _evidence(file, case)
        if not evidence:
            continue
        found = verdict(case, names, file.head_lines)
        if found == "checks":
            continue
        if before is None:
            before = {one.name: one for one in cases(file.base_tree)} if file.base_tree else {}
        was = before.get(case.name)
        if was and file.base_tree:
            if verdict(was, names_in(file.base_tree, file.base), file.base_lines) != "checks":
                continue
            message = f"`{case.name}` no longer checks anything."
        elif found == "stub":
            message = f"`{case.name}` is an empty stub."
        else:
            message = f"`{case.name}` has no assertion, and nothing it calls seems to make one."
        yield OddTest(rules.NO_ASSERTION, case.node.lineno, case.node.lineno, message, evidence)


def _evidence(file: ChangedFile, case: Case) -> str:
    """A line that the change adds within the test, or one of its checks that the change removes."""
    start, end = first_line(case.node), case.node.end_lineno or case.node.lineno
    if case.node.lineno in file.added:
        return file.added[case.node.lineno].strip()
    for number in range(start, end + 1):
        if file.added.get(number, "").strip():
            return file.added[number].strip()
    for hunk in file.hunks:
        if hunk.old_count and start <= hunk.new_line <= end + 1:
            for line in file.removed_in(hunk):
                if _CHECK.search(line):
                    return line.strip()
    return ""


def _findings(file: ChangedFile, found: Iterable[OddTest]) -> Iterator[Finding]:
    """At most a handful of findings a rule; the last one says how many more there are."""
    by_rule: dict[str, list[OddTest]] = {}
    for odd in found:
        by_rule.setdefault(odd.rule.id, []).append(odd)
    for odds in by_rule.values():
        more = len(odds) - _MAX_PER_FILE
        for count, odd in enumerate(odds[:_MAX_PER_FILE], start=1):
            message = odd.message
            if more > 0 and count == _MAX_PER_FILE:
                message += f" So do {more} more places in this file."
            yield odd.rule.finding(
                file,
                odd.line,
                end_line=odd.end_line,
                message=message,
                evidence=odd.evidence or file.head_lines[odd.line - 1].strip(),
                severity="info" if "empty stub" in message else None,
            )
