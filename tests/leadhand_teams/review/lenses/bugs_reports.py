"""Runs the bugs lens over a change made from texts; shared by its tests."""

from pathlib import Path

from leadhand.contracts.answer import Finding, LensReport
from leadhand_teams.review.change import Change
from leadhand_teams.review.lenses import bugs
from tests.leadhand_teams.review.changes import make_change, quoted_report


def report(change: Change) -> LensReport:
    """The lens's report on all files of a change; every quote is checked against the change."""
    return quoted_report(bugs.review, change)


def findings(
    folder: Path, text: str, before: str | None = None, *, path: str = "pkg/mod.py"
) -> list[Finding]:
    """The findings in one file that is new, or was `before`."""
    old = {path: before} if before is not None else None
    return list(report(make_change(folder, {path: text}, old)).findings)


def rules(
    folder: Path, text: str, before: str | None = None, *, path: str = "pkg/mod.py"
) -> list[tuple[str, int]]:
    """(rule without the lens's name, line) of the findings in one file."""
    return [(one.rule.split("/")[1], one.line) for one in findings(folder, text, before, path=path)]
