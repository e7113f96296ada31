"""Renders a review as Markdown, for a comment on a pull request or the summary of a job.

It stays within GitHub's limits: what does not fit is counted. Text from the repository is escaped;
there are no links and no pictures.
"""

from collections.abc import Iterable, Iterator, Sequence

from leadhand.extension.findings import Finding, Quote, Severity
from leadhand.extension.output import clip, code, fenced, prose
from leadhand.tools.text import counted, cut_code
from leadhand_teams.review.command.grouping import shown_first, themes
from leadhand_teams.review.command.report import ReviewReport, also_at, facts, noted, place, verdict
from leadhand_teams.review.command.text import quoted_lines
from leadhand_teams.review.languages import language

COMMENT_BYTES = 65_000
"""Just under GitHub's limit of 65,536 characters for a comment; bytes are at least as many."""
MARKER = "<!-- leadhand review -->"
"""The first line, by which a program finds the comment in order to replace it."""
_TAIL_BYTES = 12_000
"""Reserved for what follows the findings."""
_LAST_BYTES = 2_000
"""Reserved for the frames of empty lists and for the timing."""
_QUOTE_LINES = 8
_QUOTE_WIDTH = 160
_TEXT_CHARS = 800
"""Of a message, a suggestion or a reason."""
_NAME_CHARS = 200
_MAX_PATHS = 3
_MAX_PLACES = 10

_MARKS: dict[Severity, str] = {"critical": "🔴", "warning": "🟡", "info": "🔵"}


def markdown(
    report: ReviewReport, *, max_bytes: int = COMMENT_BYTES, note: str = "", grouped: bool = True
) -> str:
    """The review as Markdown of at most `max_bytes` bytes of UTF-8, with a final line end.

    `note` is a sentence to add below the headline; if `grouped`, only the most important of many
    findings are shown in full.
    """
    page = _Page(max_bytes)
    page.add("\n\n".join(_head(report, note)))
    review = report.review
    for one in review.notes:
        if one.attempt:
            page.add(f"> ⚠️ {prose(clip(noted(one), _TEXT_CHARS))}")
    first = shown_first(review.findings) if grouped else review.findings
    page.fill([_finding(one, review.quotes.get(one.id)) for one in first])
    for theme in themes(review.findings) if grouped else ():
        rows = [prose(clip(row, _TEXT_CHARS)) for row in theme.rows]
        page.details(f"More on {prose(clip(theme.title, _NAME_CHARS))}", rows, len(rows), share=8)
    if review.look:
        page.add("---\n\n### Needs a look\n\nNot certain enough to be a finding; worth a check.")
        page.fill([_finding(one, review.quotes.get(one.id)) for one in report.shown_look])
        if report.more_look:
            page.add(f"*{report.more_look}*")
    closed = list(_details(report))
    for behind, (title, rows, total) in zip(range(len(closed), 0, -1), closed, strict=True):
        page.details(title, rows, total, share=behind)
    for one in review.notes:
        if not one.attempt:
            page.add(prose(clip(noted(one), _TEXT_CHARS)))
    for kind, words in report.left_out:
        page.add(f"{kind.capitalize()}: {prose(words)}.")
    if report.timing:
        page.add(f"<sub>{prose(' · '.join(report.timing))}</sub>")
    return page.text()


class _Page:
    """Blocks separated by empty lines, as many as there is room for."""

    def __init__(self, max_bytes: int) -> None:
        self._blocks: list[str] = []
        self._left = max_bytes - _LAST_BYTES

    def add(self, block: str) -> None:
        """Add a small block."""
        self._blocks.append(block)
        self._left -= _size(block) + 2

    def fill(self, findings: Sequence[str]) -> None:
        """Add findings until only the room for what follows is left; the rest is counted."""
        for added, block in enumerate(findings):
            if _size(block) + 2 > self._left - _TAIL_BYTES:
                rest = counted(len(findings) - added, "more finding")
                self.add(f"*{rest} did not fit here; `--format json` lists all.*")
                return
            self.add(block)

    def details(self, title: str, rows: Iterable[str], total: int, *, share: int) -> None:
        """Add a list that opens on a click, in its part of the room that `share` lists have."""
        kept: list[str] = []
        room = self._left // share - _size(title) - 150
        for row in rows:
            room -= _size(row) + 3
            if room < 0:
                kept.append(f"- *{total - len(kept):,} more; `--format json` lists all*")
                break
            kept.append(f"- {row}")
        opening = f"<details><summary>{title}</summary>\n"
        self.add("\n".join([opening, *kept, "\n</details>"]))

    def text(self) -> str:
        return "\n\n".join(self._blocks) + "\n"


def _head(report: ReviewReport, note: str) -> Iterator[str]:
    yield MARKER
    yield f"### {prose(report.headline)}"
    parts = " · ".join(code(part) if ".." in part else prose(part) for part in report.extent)
    yield f"**{prose(clip(report.subject.title, _NAME_CHARS))}** · {parts}"
    if note:
        yield note
    gaps = report.answer.gaps
    if gaps:
        shown = [
            f"> {code(clip(g.task_id, _NAME_CHARS))}: {prose(clip(g.why, _TEXT_CHARS))}"
            for g in gaps[:5]
        ]
        more = [f"> {counted(len(gaps) - 5, 'more gap')}"] if len(gaps) > 5 else []
        title = f"> **The review is {report.answer.status}: some of it was not done.**"
        yield "  \n".join([title, *shown, *more])


def _finding(finding: Finding, quote: Quote | None) -> str:
    known = [code(clip(finding.rule, _NAME_CHARS)), *facts(finding)]
    if len(finding.lenses) > 1:
        known.append(f"seen by {prose(clip(', '.join(finding.lenses), _NAME_CHARS))}")
    where = code(_tail(place(finding)))
    blocks = [
        f"{_MARKS[finding.severity]} **{finding.severity}** {where} · {' · '.join(known)}",
        _quoted(finding, quote),
        prose(clip(finding.message, _TEXT_CHARS)),
    ]
    if finding.suggestion:
        blocks.append(f"→ {prose(clip(finding.suggestion, _TEXT_CHARS))}")
    if finding.places:
        blocks.append(prose(clip(also_at(finding, _MAX_PLACES), _TEXT_CHARS)))
    if verdict(finding):
        blocks.append(f"<sub>{prose(clip(verdict(finding), _TEXT_CHARS))}</sub>")
    return "\n\n".join(["---", *filter(None, blocks)])


def _quoted(finding: Finding, quote: Quote | None) -> str:
    lines = quoted_lines(finding.evidence)
    shown = [cut_code(line, _QUOTE_WIDTH) for line in lines[:_QUOTE_LINES]]
    if len(lines) > _QUOTE_LINES:
        shown.append(f"… {counted(len(lines) - _QUOTE_LINES, 'more line')}")
    if quote is not None and quote.side == "removed":
        return fenced("\n".join(f"-{line}" for line in shown), "diff")
    known = language(finding.path, "")
    return fenced("\n".join(shown), "" if known == "text" else known)


def _details(report: ReviewReport) -> Iterator[tuple[str, Iterator[str], int]]:
    """Title, rows and their number of each block that is closed at first."""
    review = report.review
    if review.suppressed:
        number = counted(len(review.suppressed), "finding")
        title = f"Suppressed: {number} below confidence {report.threshold}"
        yield title, map(_row, review.suppressed), len(review.suppressed)
    if review.dropped:
        number = counted(len(review.dropped), "finding")
        dropped = (
            f"{code(clip(row.rule, _NAME_CHARS))} at {code(_tail(f'{row.path}:{row.line}'))}"
            for row in review.dropped
        )
        yield f"Dropped: {number} whose quote is not in the change", dropped, len(review.dropped)
    if groups := report.not_assessed:
        title = f"Not assessed: {counted(len(groups), 'reason')}"
        rows = (_not_assessed(group.lenses, group.why, group.paths) for group in groups)
        yield title, rows, len(groups)


def _row(finding: Finding) -> str:
    said = verdict(finding)
    why = f" *{prose(clip(said, _TEXT_CHARS))}*" if said else ""
    return (
        f"{finding.severity} {code(_tail(place(finding)))} {code(clip(finding.rule, _NAME_CHARS))} "
        f"({finding.confidence}): {prose(clip(finding.message, _NAME_CHARS))}{why}"
    )


def _not_assessed(lenses: Iterable[str], why: str, paths: tuple[str, ...]) -> str:
    named = ", ".join(code(clip(path, _NAME_CHARS)) for path in paths[:_MAX_PATHS])
    more = f" and {len(paths) - _MAX_PATHS:,} more" if len(paths) > _MAX_PATHS else ""
    who = prose(clip(", ".join(lenses), _NAME_CHARS))
    said = ": ".join(filter(None, (who, prose(clip(why, _TEXT_CHARS)))))
    return said + (f" · {named}{more}" if paths else "")


def _tail(path: str) -> str:
    """The end of a path that is too long: it says more than the beginning."""
    return path if len(path) <= _NAME_CHARS else "…" + path[-_NAME_CHARS:]


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
