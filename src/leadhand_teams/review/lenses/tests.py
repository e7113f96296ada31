"""The tests lens: existing tests that the change skips, comments out, or keeps from running.

Works from text and syntax alone: it runs no tests and reads no test configuration. What
ruff finds in tests (assertions on tuples, two tests with one name) is in the lens `bugs`.
"""

import re
from collections.abc import Iterator, Sequence

from leadhand.extension.findings import Finding
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.ruff_rules import ruff_findings
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import is_test

_RULE = rule("tests/focused-or-skipped")
_SKIP = re.compile(r"\s*@(?:pytest\.mark\.|mark\.|unittest\.)?skip\s{0,9}(?:\(\s{0,9}\)\s{0,9})?$")
_DEF = re.compile(r"\s*(?:async )?def (test\w{0,200})\(")
_COMMENTED = re.compile(r"\s*#+\s?(?:async )?def (test_\w{1,200})\(")
_FOCUSED = re.compile(r"\s*(?:(?:describe|it|test|context|suite)\.only|fdescribe|fit)\s*\(")
_JS_TEST = re.compile(r"\.(?:test|spec|cy)\.[cm]?[jt]sx?$|/__tests__/")
_MAX_DECORATORS = 12


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Problems of the tests that the change adds or alters."""
    for file in files:
        yield from _disabled(file)
    yield from ruff_findings("tests", files)


def _disabled(file: ChangedFile) -> Iterator[Finding]:
    """Findings for tests that ran before the change; a new test may start skipped."""
    if file.status == "deleted":
        return
    if _JS_TEST.search(file.path):
        for number, line in file.added.items():
            if found := _FOCUSED.match(line[:500]):
                call = found.group().strip().rstrip("( ")
                message = f"`{call}` keeps every other test of this file from running."
                yield _RULE.finding(file, number, message=message)
    elif file.language == "python" and is_test(file.path):
        yield from _skipped(file)


def _skipped(file: ChangedFile) -> Iterator[Finding]:
    before = {found[1] for line in file.base_lines if (found := _DEF.match(line))}
    now = {found[1] for line in file.head_lines if (found := _DEF.match(line))}
    for number, line in file.added.items():
        if (found := _COMMENTED.match(line)) and found[1] in before - now:
            message = f"`{found[1]}` ran before and is now commented out."
            yield _RULE.finding(file, number, message=message)
        elif _SKIP.match(line):
            below = file.head_lines[number : number + _MAX_DECORATORS]
            test = next((found[1] for text in below if (found := _DEF.match(text))), "")
            if test in before:
                message = f"`{test}` ran before and is now skipped without a reason."
                yield _RULE.finding(file, number, message=message)
