"""Prints a review for a terminal: the findings, what was not assessed, and how long it took.

Order, indentation and white space carry the structure and colour only repeats it, so that it reads
the same in a log. Text from the repository is escaped and never taken for markup.
"""

from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text

from leadhand.extension.findings import Finding, Quote, Review, Severity
from leadhand.extension.output import encodable, safe, safe_block, sentence
from leadhand.tools.text import counted, cut_code, joined_names
from leadhand_teams.review.command.grouping import shown_first, themes
from leadhand_teams.review.command.report import (
    ReviewReport,
    also_at,
    by_rule,
    facts,
    noted,
    place,
    verdict,
)

MAX_WIDTH = 100
"""Wider terminals don't get longer lines: prose is hard to read beyond this."""
_QUOTE_LINES = 8
_QUOTE_WIDTH = 300
_MAX_NAMES = 3
"""How many files or places are named before the rest is counted."""
_MAX_ROWS = 8
_RULE_WIDTH = 12

_MARKS: dict[Severity, tuple[str, str]] = {
    "critical": ("●", "bold red"),
    "warning": ("▲", "yellow"),
    "info": ("■", "blue"),
}
_ASCII = str.maketrans({
    "●": "*", "▲": "!", "■": "-", "✓": "+", "·": "-", "→": ">", "…": "...", "×": "x", "−": "-",
    "│": "|", "─": "-",
})  # fmt: skip


def show_review(report: ReviewReport, console: Console) -> None:
    """Print the review to `console`, which decides about colours (`NO_COLOR`, no terminal)."""
    page = _Page(console.encoding, report)
    options = console.options.update(
        width=min(console.width, MAX_WIDTH), highlight=False, markup=False
    )
    # Rendered here, because padding would leave blanks at the end of every line.
    lines = Segment.split_lines(console.render(Group(*page.parts()), options))
    console.print(Segments(_trimmed(lines)), end="", crop=False, soft_wrap=True)


def _trimmed(lines: Iterable[list[Segment]]) -> Iterator[Segment]:
    """The lines without trailing blanks."""
    for line in lines:
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            yield from line[:-1]
            yield Segment(line[-1].text.rstrip(), line[-1].style)
        yield Segment.line()


class _Page:
    """Lays out one report; all text passes through `text`, so that printing can't fail."""

    def __init__(self, encoding: str, report: ReviewReport) -> None:
        self._encoding = encoding
        self._plain = not encoding.lower().replace("-", "").startswith("utf")
        self._report = report
        self._advised: set[str] = set()
        """Advice that is printed already: it is not repeated for the next finding of its kind."""

    def text(self, content: str, style: str | Style = "") -> Text:
        """`content`, which is escaped already, in characters that the console can print."""
        if self._plain:
            content = encodable(content.translate(_ASCII), self._encoding)
        return Text(content, style)

    def parts(self) -> Iterator[RenderableType]:
        review = self._report.review
        yield self.text(sentence(self._report.subject.title), "bold")
        yield self.text(safe(" · ".join(self._report.extent)), "dim")
        yield Text()
        unfinished = self._report.answer.status != "complete"
        yield self.text(self._report.headline, "yellow" if unfinished else "bold")
        for finding in shown_first(review.findings):
            yield Text()
            yield from self._finding(finding, review.quotes.get(finding.id))
        for theme in themes(review.findings):
            yield Text()
            yield self.text(safe(f"More on {theme.title}"), "bold")
            for row in theme.rows:
                yield _indented(self.text(safe(row)))
        if review.look:
            yield Text()
            yield self.text(
                "Needs a look: not certain enough to be a finding, worth a check", "bold"
            )
        for finding in self._report.shown_look:
            yield Text()
            yield from self._finding(finding, review.quotes.get(finding.id))
        if self._report.more_look:
            yield Text()
            yield _indented(self.text(f"… {self._report.more_look}", "dim"))
        notes = Table.grid(padding=(0, 2))
        notes.add_column(style="dim", no_wrap=True)
        notes.add_column(overflow="fold")
        for label, lines in self._notes(review):
            notes.add_row(Text(label), Group(*lines))
        if notes.row_count:
            yield Text()
            yield self.text("─" * _RULE_WIDTH, "dim")
            yield notes

    def _finding(self, finding: Finding, quote: Quote | None) -> Iterator[RenderableType]:
        mark, colour = _MARKS[finding.severity]
        yield Text.assemble(
            self.text(f"{mark} {finding.severity}", colour),
            "  ",
            self.text(safe(place(finding)), "bold"),
            # Not wrapped: a path in two pieces can't be opened, copied or searched for.
            no_wrap=True,
            overflow="ignore",
        )
        lenses = joined_names([safe(lens) for lens in finding.lenses], most=20)
        known = [safe(finding.rule), *facts(finding)]
        if len(finding.lenses) > 1:
            known.append(f"seen by {lenses}")
        elif finding.source == "analyser" and lenses != finding.rule.split("/", 1)[0]:
            known.append(lenses)
        yield _indented(self.text(" · ".join(filter(None, known)), "dim"))
        yield Text()
        yield Padding(self._quote(finding, quote), (0, 0, 0, 4))
        yield Text()
        yield _indented(self._prose(finding.message))
        if finding.suggestion and finding.suggestion not in self._advised:
            self._advised.add(finding.suggestion)
            advice = Table.grid(padding=(0, 1))
            advice.add_row(self.text("→", "green"), self._prose(finding.suggestion))
            yield _indented(advice)
        if finding.places:
            yield _indented(self.text(safe(also_at(finding, _MAX_ROWS)), "dim"))
        if verdict(finding):
            yield _indented(self.text(sentence(verdict(finding)), "dim"))

    def _quote(self, finding: Finding, quote: Quote | None) -> Table:
        """The quoted code with its line numbers; removed code has a minus instead."""
        code = Table.grid(padding=(0, 1))
        code.add_column(justify="right", style="dim", no_wrap=True)
        code.add_column(no_wrap=True)
        code.add_column(overflow="fold")
        removed = quote is not None and quote.side == "removed"
        lines = quoted_lines(finding.evidence)
        numbers = quote.lines if quote is not None else ()
        for row, line in enumerate(lines[:_QUOTE_LINES]):
            # A removed line has only a number of the old file, beside the finding's in the new one.
            number = str(numbers[row]) if row < len(numbers) and not removed else ""
            cut = cut_code(line, _QUOTE_WIDTH)
            code.add_row(
                self.text(number),
                Text("-", "red") if removed else self.text("│", "dim"),
                self.text(cut, "red" if removed else ""),
            )
        if len(lines) > _QUOTE_LINES:
            more = counted(len(lines) - _QUOTE_LINES, "more line")
            code.add_row("", "", self.text(f"… {more}", "dim"))
        return code

    def _prose(self, content: str) -> Text:
        """A paragraph in which text between backticks is highlighted as code."""
        text = self.text(sentence(content))
        text.highlight_regex(r"`[^`]+`", "cyan")
        return text

    def _notes(self, review: Review) -> Iterator[tuple[str, list[RenderableType]]]:
        report = self._report
        if review.suppressed:
            below = f"{len(review.suppressed):,} below confidence {report.threshold}: "
            serious = [one for one in review.suppressed if one.severity == "critical"]
            named = [f"critical {safe(place(one))} {safe(one.rule)}" for one in serious]
            other = by_rule(one for one in review.suppressed if one.severity != "critical")
            rules = joined_names([*named, *(safe(rule) for rule in other)], _MAX_ROWS)
            how = self.text("--threshold 0 shows them", "dim")
            scored = [
                f"{safe(place(one))} {safe(one.rule)} {one.confidence}: {sentence(one.why)}"
                for one in review.suppressed
                if verdict(one)
            ]
            why = [self.text(line, "dim") for line in _capped(scored, _MAX_ROWS)]
            yield "suppressed", [self.text(below + rules), *why, how]
        for kind in dict.fromkeys(note.kind for note in review.notes):
            ofkind = [note for note in review.notes if note.kind == kind]
            styles = ["yellow" if note.attempt else "" for note in ofkind]
            rows = zip(ofkind, styles, strict=True)
            yield kind, [self.text(sentence(noted(note)), style) for note, style in rows]
        for kind, words in self._report.left_out:
            yield kind, [self.text(words)]
        if review.dropped:
            number = counted(len(review.dropped), "finding")
            where = [safe(f"{row.rule} at {row.path}:{row.line}") for row in review.dropped]
            quote = "whose quote is not in the change"
            yield "dropped", [self.text(f"{number} {quote}: {joined_names(where, _MAX_NAMES)}")]
        if self._report.not_assessed:
            yield "not assessed", list(self._not_assessed(review))
        if report.answer.gaps:
            gaps = [f"{safe(gap.task_id)}: {sentence(gap.why)}" for gap in report.answer.gaps]
            yield "gaps", [self.text(gap, "yellow") for gap in _capped(gaps, _MAX_ROWS)]
        if report.timing:
            yield "tasks took", [self.text(" · ".join(report.timing))]

    def _not_assessed(self, review: Review) -> Iterator[Text]:
        groups = self._report.not_assessed
        for group in groups[:_MAX_ROWS]:
            lenses = joined_names([safe(lens) for lens in group.lenses], most=20)
            line = self.text(": ".join(filter(None, (lenses, sentence(group.why)))))
            if group.paths:
                paths = joined_names([safe(path) for path in group.paths], _MAX_NAMES)
                line.append_text(self.text(f" · {paths}", "dim"))
            yield line
        if len(groups) > _MAX_ROWS:
            more = counted(len(groups) - _MAX_ROWS, "more reason")
            yield self.text(f"… {more}; --format json lists all", "dim")


def quoted_lines(evidence: str) -> list[str]:
    """The lines of a quote, escaped, without blank lines and without shared indentation.

    If a quote begins in the middle of a line, the other lines are moved left by the least of their
    own indentation, as long as the last one is a closing bracket.
    """
    lines = [line.rstrip() for line in safe_block(evidence).split("\n") if line.strip()]
    indents = [len(line) - len(line.lstrip()) for line in lines]
    if not lines or min(indents) > 0:
        return [line[min(indents) :] for line in lines] if lines else []
    if indents[0] == 0 and lines[-1].lstrip()[0] in ")]}":
        rest = min(indents[1:], default=0)
        return [lines[0], *(line[rest:] for line in lines[1:])]
    return lines


def _indented(renderable: RenderableType) -> Padding:
    return Padding(renderable, (0, 0, 0, 2))


def _capped(lines: Iterable[str], limit: int) -> list[str]:
    rows = list(lines)
    if len(rows) <= limit:
        return rows
    return [*rows[:limit], f"… {len(rows) - limit:,} more; --format json lists all"]
