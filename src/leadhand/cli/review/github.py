"""A review as annotations on the lines of a pull request, by workflow commands of GitHub Actions.

Whatever is printed next to the commands is made so that the runner can't take it for one: text from
a repository that could give commands would set variables and mask secrets of the job.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from leadhand.cli.review.markdown import markdown
from leadhand.cli.review.report import ReviewReport, facts
from leadhand.cli.views.markdown_text import clip
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts.finding import Finding, Severity
from leadhand.tools.text import counted

MAX_OF_A_LEVEL = 10
"""Annotations of one level that GitHub takes from a step. All three levels together stay below the
50 that it takes from a job."""
SUMMARY_BYTES = 1_000_000
"""Just under the 1 MiB that GitHub takes as the summary of a step."""
_TEXT = 3_000
"""Characters of a message; GitHub takes 64 KiB for an annotation."""

_LEVELS: dict[Severity, str] = {"critical": "error", "warning": "warning", "info": "notice"}


def annotate(report: ReviewReport, summary: Path | None) -> str:
    """The lines for stdout; the whole review as Markdown is appended to `summary`.

    Findings beyond what GitHub shows are in the summary only, those that matter least. Where there
    is no summary or it can't be written, its text follows the annotations.
    """
    annotated = within_limits(report.review.findings)
    lines = [annotation(finding) for finding in annotated]
    text = markdown(report, max_bytes=SUMMARY_BYTES, note=_note(report, len(annotated)))
    if summary is None or not _appended(summary, text):
        lines += inert(text)
    return "".join(f"{line}\n" for line in lines)


def within_limits(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that become annotations: the first ones of each level."""
    taken: Counter[str] = Counter()
    kept: list[Finding] = []
    for finding in findings:
        level = _LEVELS[finding.severity]
        taken[level] += 1
        if taken[level] <= MAX_OF_A_LEVEL:
            kept.append(finding)
    return kept


def annotation(finding: Finding) -> str:
    """The workflow command that puts `finding` on its lines."""
    properties = {
        "file": safe(finding.path),
        "line": str(finding.line),
        "endLine": str(max(finding.line, finding.end_line)),
        "title": safe(f"{finding.rule} ({', '.join(facts(finding))})"),
    }
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    words = [finding.message, finding.suggestion]
    message = "\n".join(clip(sentence(text), _TEXT) for text in words if text)
    return f"::{_LEVELS[finding.severity]} {given}::{_data(message)}"


def inert(text: str) -> Iterator[str]:
    """The lines of `text`, none of which the runner can read as a command.

    It looks for `::` at the start of a line, after white space, and for `##[` anywhere in it.
    """
    for line in text.rstrip("\n").split("\n"):
        yield f"| {line}".rstrip().replace("##[", "## [")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _note(report: ReviewReport, annotated: int) -> str:
    total = len(report.review.findings)
    if annotated == total:
        return ""
    return f"{counted(annotated, 'finding')} of {total:,} are annotations: GitHub shows no more."


def _appended(summary: Path, text: str) -> bool:
    try:
        with summary.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return False
    return True
