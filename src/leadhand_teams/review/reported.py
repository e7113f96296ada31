"""Converts what a model reports into findings, and checks the quotes of all findings.

This keeps findings about code that does not exist out of reviews. Models are careless with line
numbers and with the ends of quotes, and free in naming problems: their quotes are searched in the
change. A finding whose quote is not there keeps its place, and the synthesizer drops and counts it.
"""

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from leadhand.extension.findings import Finding, LensReport, NotAssessed, Quote, Severity
from leadhand_teams.review.change import Change, ChangedFile, Hunk
from leadhand_teams.review.diff_rows import unmarked

MAX_FINDINGS = 20
"""The most findings of one task that are used: a model with more is not selective."""
_MAX_TEXT_CHARS = 600
_MAX_SLUG_CHARS = 40
_MAX_EVIDENCE_CHARS = 4_000
_MAX_LINE = 10_000_000
_MAX_HUNKS = 500
"""How many hunks, nearest to the model's place first, are searched for its quote."""
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


class ChangeQuotes:
    """Finds quotes in a change; implements the synthesizer's `Quotes`."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._ends: dict[str, list[int]] = {}

    def quoted(self, finding: Finding) -> Quote | None:
        """Where the change has the evidence, or `None`.

        Searched are the added lines from `line` to `end_line`, those of all hunks with one of
        these lines, and the removed lines of these and adjacent hunks. Each line of the evidence
        must be part of such a line, in order; blank lines and indentation don't count.
        """
        file = self._change.by_path.get(finding.path)
        wanted = [line.strip() for line in finding.evidence.split("\n") if line.strip()]
        if file is None or not wanted:
            return None
        near = list(self._near(file, finding))
        if all(line in file.head for line in wanted):
            at = [
                hunk
                for hunk in near
                if hunk.new_count
                and hunk.new_start <= finding.end_line
                and finding.line <= hunk.new_end
            ]
            for numbered in (_spanned(file, at, finding), _added(file, at)):
                lines = _find(wanted, numbered)
                if lines is not None:
                    return Quote(side="added", lines=lines)
        if all(line in file.base for line in wanted):
            lines = _find(wanted, _removed(file, near))
            if lines is not None:
                return Quote(side="removed", lines=lines)
        return None

    def _near(self, file: ChangedFile, finding: Finding) -> Iterator[Hunk]:
        """The hunks whose new lines overlap the finding's or are next to them."""
        if file.path not in self._ends:
            self._ends[file.path] = [hunk.new_end for hunk in file.hunks]
        first = bisect.bisect_left(self._ends[file.path], finding.line - 1)
        for hunk in file.hunks[first:]:
            if hunk.new_start - 1 > finding.end_line:
                return
            yield hunk


def _find(wanted: Sequence[str], numbered: Iterable[tuple[int, str]]) -> tuple[int, ...] | None:
    """The numbers of the lines that contain the wanted ones, in order; `None` if any is missing."""
    lines: list[int] = []
    for number, text in numbered:
        if wanted[len(lines)] in text:
            lines.append(number)
            if len(lines) == len(wanted):
                return tuple(lines)
    return None


def _spanned(
    file: ChangedFile, hunks: Sequence[Hunk], finding: Finding
) -> Iterator[tuple[int, str]]:
    for hunk in hunks:
        first = max(hunk.new_start, finding.line)
        last = min(hunk.new_end, finding.end_line, len(file.head_lines))
        for number in range(first, last + 1):
            yield number, file.head_lines[number - 1]


def _added(file: ChangedFile, hunks: Sequence[Hunk]) -> Iterator[tuple[int, str]]:
    for hunk in hunks:
        yield from enumerate(file.added_in(hunk), hunk.new_start)


def _removed(file: ChangedFile, hunks: Sequence[Hunk]) -> Iterator[tuple[int, str]]:
    for hunk in hunks:
        if hunk.old_count:
            yield from enumerate(file.removed_in(hunk), hunk.old_start)


class Reported(BaseModel):
    """One problem that you found."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    path: str = Field(description="The file, as the change names it.")
    line: int = Field(description="The line number shown beside the code.")
    severity: Severity = Field(
        description="critical: harm or wrong results in use. warning: harm in some cases. "
        "info: worth knowing."
    )
    rule: str = Field(description="What kind of problem, two to four words: `missing-timeout`.")
    message: str = Field(
        description="What goes wrong here and when, one or two sentences naming the symbols."
    )
    suggestion: str = Field(description="The smallest fix, one sentence or a line of code.")
    evidence: str = Field(
        description="The added or removed line at fault, or a few consecutive ones, word for word, "
        "without sign and number."
    )


class Refuted(BaseModel):
    """A finding of an analyser that the code shows to be wrong."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    finding: str = Field(description="The id in brackets.")
    reason: str = Field(description="Why it is wrong here, one sentence naming the code.")
    path: str = Field(description="The file of the code that decides it.")
    evidence: str = Field(
        description="The line of that file that decides it, or a few consecutive ones, word for "
        "word; a comment is not enough."
    )


class LensAnswer(BaseModel):
    """What a model answers for its lens."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    findings: tuple[Reported, ...] = ()
    refuted: tuple[Refuted, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _only_findings(cls, given: object) -> object:
        """A list of findings alone, as older runs have it and careless models answer."""
        return {"findings": cast("object", given)} if isinstance(given, list) else given


def lens_report(reported: Sequence[Reported], change: Change, *, lens: str) -> LensReport:
    """What a model reported for `lens`, as the report that every lens returns."""
    beyond = len(reported) - MAX_FINDINGS
    why = f"{beyond} findings beyond the first {MAX_FINDINGS} of one part were not looked at"
    return LensReport(
        findings=tuple(_finding(item, change, lens) for item in reported[:MAX_FINDINGS]),
        not_assessed=(NotAssessed(lens="model", why=f"{lens}: {why}"),) if beyond > 0 else (),
    )


def _finding(one: Reported, change: Change, lens: str) -> Finding:
    slug = _NOT_SLUG.sub("-", one.rule.rpartition("/")[2].lower()).strip("-")
    line = min(max(one.line, 1), _MAX_LINE)
    claimed = Finding(
        path=one.path[:_MAX_EVIDENCE_CHARS],
        line=line,
        end_line=line,
        severity=one.severity,
        category=lens,
        rule=f"{lens}/model-{slug[:_MAX_SLUG_CHARS].strip('-') or 'finding'}",
        message=one.message[:_MAX_TEXT_CHARS],
        suggestion=one.suggestion[:_MAX_TEXT_CHARS],
        evidence=one.evidence[:_MAX_EVIDENCE_CHARS],
        source="model",
    )
    file = change.by_path.get(one.path)
    return claimed if file is None else _anchored(claimed, file, ChangeQuotes(change))


def _anchored(claimed: Finding, file: ChangedFile, quotes: ChangeQuotes) -> Finding:
    """The finding at the place of its quote, extended to whole lines: its id depends on them."""
    for evidence in dict.fromkeys((claimed.evidence, unmarked(claimed.evidence))):
        anywhere = {"evidence": evidence, "line": 1, "end_line": _MAX_LINE}
        first = quotes.quoted(claimed.model_copy(update=anywhere))
        if first is None:
            continue
        hunks = _nearest_first(file, claimed.line)[:_MAX_HUNKS]
        hunks += _nearest_first(file, first.lines[0])[:1]
        last = claimed.line + evidence.count("\n")
        # The model's own place first, since the quote may occur in a hunk more than once.
        places = [(hunk, claimed.line, last) for hunk in hunks[:1]]
        places += [(hunk, hunk.new_line, max(1, hunk.new_end)) for hunk in hunks]
        for hunk, line, end_line in places:
            update = {"evidence": evidence, "line": line, "end_line": end_line}
            found = quotes.quoted(claimed.model_copy(update=update))
            if found is not None:
                return claimed.model_copy(update=_placed(found, hunk, file))
    return claimed


def _nearest_first(file: ChangedFile, line: int) -> list[Hunk]:
    def distance(hunk: Hunk) -> int:
        return max(hunk.new_line - line, line - max(1, hunk.new_end), 0)

    return sorted(file.hunks, key=distance)


def _placed(found: Quote, hunk: Hunk, file: ChangedFile) -> dict[str, object]:
    if found.side == "removed":
        text = [file.base_lines[n - 1] for n in found.lines]
        return {"line": hunk.new_line, "end_line": hunk.new_line, "evidence": "\n".join(text)}
    text = [file.head_lines[n - 1] for n in found.lines]
    return {"line": found.lines[0], "end_line": found.lines[-1], "evidence": "\n".join(text)}
