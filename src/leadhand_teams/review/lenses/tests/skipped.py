"""Existing tests that the change skips, comments out, or keeps from running by focusing one."""

import re
from collections.abc import Iterator

from leadhand.extension.findings import Finding
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import is_test

RULE = rule("tests/focused-or-skipped")

_SKIP = re.compile(r"\s*@(?:pytest\.mark\.|mark\.|unittest\.)?skip\s{0,9}(?:\(\s{0,9}\)\s{0,9})?$")
_DEF = re.compile(r"\s*(?:async )?def (test\w{0,200})\(")
_COMMENTED = re.compile(r"\s*#+\s?(?:async )?def (test_\w{1,200})\(")
_FOCUSED = re.compile(r"\s*(?:(?:describe|it|test|context|suite)\.only|fdescribe|fit)\s*\(")
_JS_TEST = re.compile(r"\.(?:test|spec|cy)\.[cm]?[jt]sx?$|/__tests__/")
_MAX_DECORATORS = 12


def find(file: ChangedFile) -> Iterator[Finding]:
    """Findings for tests that ran before the change; a new test may start skipped."""
    if file.status == "deleted":
        return
    if _JS_TEST.search(file.path):
        for number, line in file.added.items():
            if found := _FOCUSED.match(line[:500]):
                call = found.group().strip().rstrip("( ")
                message = f"`{call}` keeps every other test of this file from running."
                yield RULE.finding(file, number, message=message)
    elif file.language == "python" and is_test(file.path):
        yield from _skipped(file)


def _skipped(file: ChangedFile) -> Iterator[Finding]:
    before = {found[1] for line in file.base_lines if (found := _DEF.match(line))}
    now = {found[1] for line in file.head_lines if (found := _DEF.match(line))}
    for number, line in file.added.items():
        if (found := _COMMENTED.match(line)) and found[1] in before - now:
            message = f"`{found[1]}` ran before and is now commented out."
            yield RULE.finding(file, number, message=message)
        elif _SKIP.match(line):
            below = file.head_lines[number : number + _MAX_DECORATORS]
            test = next((found[1] for text in below if (found := _DEF.match(text))), "")
            if test in before:
                message = f"`{test}` ran before and is now skipped without a reason."
                yield RULE.finding(file, number, message=message)
