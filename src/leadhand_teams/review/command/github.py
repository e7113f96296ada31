"""Prints a review as annotations of a pull request, by workflow commands of GitHub Actions.

Other text is printed so that the runner can't take it for a command: commands in text from a
repository could set variables and mask secrets of the job.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from leadhand.extension.findings import Finding, Note, Severity
from leadhand.extension.output import clip, safe, sentence
from leadhand.tools.text import counted
from leadhand_teams.review.command.markdown import markdown
from leadhand_teams.review.command.report import ReviewReport, also_at, facts, verdict

MAX_PER_LEVEL = 10
"""GitHub shows this many annotations of one level per step. All three levels together stay below
its limit of 50 per job."""
SUMMARY_BYTES = 1_000_000
"""Just under GitHub's limit of 1 MiB for the summary of a step."""
_MAX_MESSAGE_CHARS = 3_000
"""GitHub's limit for an annotation is 64 KiB."""

_LEVELS: dict[Severity, str] = {"critical": "error", "warning": "warning", "info": "notice"}


def annotate(report: ReviewReport, summary: Path | None) -> str:
    """The lines for stdout; the whole review as Markdown is appended to `summary`.

    The least important findings beyond GitHub's limits are only in the summary. Without a summary,
    or if it can't be written, its text follows the annotations.
    """
    review = report.review
    look = [finding.model_copy(update={"severity": "info"}) for finding in report.shown_look]
    annotated = within_limits([*review.findings, *look])
    lines = [annotation(finding, needs_look=finding in look) for finding in annotated]
    lines += [attempt(note) for note in review.notes if note.attempt]
    text = markdown(
        report, max_bytes=SUMMARY_BYTES, note=_note(report, len(annotated)), grouped=False
    )
    if summary is None or not _appended(summary, text):
        lines += inert(text)
    return "".join(f"{line}\n" for line in lines)


def within_limits(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that become annotations: the first ones of each level."""
    counts: Counter[str] = Counter()
    kept: list[Finding] = []
    for finding in findings:
        counts[finding.severity] += 1
        if counts[finding.severity] <= MAX_PER_LEVEL:
            kept.append(finding)
    return kept


def annotation(finding: Finding, *, needs_look: bool = False) -> str:
    """The workflow command that annotates the lines of `finding`."""
    section = "Needs a look: " if needs_look else ""
    properties = {
        "file": safe(finding.path),
        "line": str(finding.line),
        "endLine": str(max(finding.line, finding.end_line)),
        "title": safe(f"{section}{finding.rule} ({', '.join(facts(finding))})"),
    }
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    said = verdict(finding) if finding.source == "analyser" else ""
    words = [finding.message, finding.suggestion, also_at(finding, MAX_PER_LEVEL), said]
    message = "\n".join(clip(sentence(text), _MAX_MESSAGE_CHARS) for text in words if text)
    return f"::{_LEVELS[finding.severity]} {given}::{_data(message)}"


def attempt(note: Note) -> str:
    """The workflow command that warns of an attempt of the change to influence its review."""
    place = f"file={_property(safe(note.path or ''))},line={note.line or 1}"
    title = _property(f"leadhand {note.kind}")
    return (
        f"::warning {place},title={title}::{_data(clip(sentence(note.text), _MAX_MESSAGE_CHARS))}"
    )


def inert(text: str) -> Iterator[str]:
    """The lines of `text`, changed so that the runner reads none as a command.

    A command is `::` at the start of a line, after white space, or `##[` anywhere in it.
    """
    for line in text.rstrip("\n").split("\n"):
        yield f"| {line}".rstrip().replace("##[", "## [")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _note(report: ReviewReport, annotated: int) -> str:
    total = len(report.review.findings) + len(report.review.look)
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
