"""Renders a review for editors, terminals and reviewdog: one place for each finding.

`oneline` is what compilers and linters print; `rdjson` is the Reviewdog Diagnostic Format, whose
columns count bytes of UTF-8.
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from leadhand.extension.findings import Finding, Review, Severity
from leadhand.extension.output import safe, sentence
from leadhand_teams.review.command.report import ReviewReport, every

_LEVELS: dict[Severity, str] = {"critical": "ERROR", "warning": "WARNING", "info": "INFO"}
LOOK = "needs a look: "


def oneline(report: ReviewReport) -> str:
    """`path:line:col: rule message` for each finding, then for what needs a look."""
    rows = [
        f"{safe(one.path)}:{one.line}:{len(_before(one, report.review)) + 1}: {safe(one.rule)} "
        f"{said}{sentence(one.message)}"
        for one, said in _listed(report.review)
    ]
    return "".join(f"{row}\n" for row in rows)


def rdjson(report: ReviewReport) -> JsonValue:
    """The review as one `DiagnosticResult`."""
    diagnostics: list[JsonValue] = []
    for one, said in _listed(report.review):
        column = len(_before(one, report.review).encode("utf-8", "replace")) + 1
        advice = f"\nWhat to do: {sentence(one.suggestion)}" if one.suggestion else ""
        diagnostics.append(
            {
                "message": f"{said}{sentence(one.message)}{advice}",
                "location": {
                    "path": safe(one.path),
                    "range": {"start": {"line": one.line, "column": column}},
                },
                "severity": "INFO" if said else _LEVELS[one.severity],
                "code": {"value": safe(one.rule)},
            }
        )
    return {"source": {"name": "leadhand"}, "diagnostics": diagnostics}


def _listed(review: Review) -> Iterator[tuple[Finding, str]]:
    """Each finding that is shown, and what is said before its message."""
    said = {"findings": "", "look": LOOK}
    return ((one, said[section]) for one, section in every(review) if section in said)


def _before(finding: Finding, review: Review) -> str:
    """What is on the line before the quoted code; empty if it is not known."""
    quote = finding.evidence.split("\n", 1)[0].strip()
    row = re.search(rf"^\+ *{finding.line} \| (.*)$", review.code.get(finding.id, ""), re.MULTILINE)
    before, found, _ = row[1].partition(quote) if row and quote else ("", "", "")
    return before if found else ""
