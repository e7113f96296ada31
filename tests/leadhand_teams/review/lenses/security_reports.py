"""Runs the security lens over a change made from texts; shared by its tests."""

from pathlib import Path

from leadhand.contracts.answer import LensReport
from leadhand_teams.review.lenses import security
from tests.leadhand_teams.review.changes import make_change, quoted_report


def look(folder: Path, after: dict[str, str], before: dict[str, str] | None = None) -> LensReport:
    """The lens's report on the change; every quote is checked against the change."""
    return quoted_report(security.review, make_change(folder, after, before))


def rules(folder: Path, code: str) -> set[str]:
    """The rules that match `code` as an added file, without the lens's name."""
    report = look(folder, {"app.py": code})
    return {finding.rule.removeprefix("security/") for finding in report.findings}
