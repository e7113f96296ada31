"""The analyst's work without a model: tables profiled, totalled, ranked and followed over time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from leadhand.contracts.outcome import Handoff, Result
from leadhand.teams.research.columns import columns, ranking
from leadhand.teams.research.figures import counted
from leadhand.teams.research.findings import Findings, Gap, Section
from leadhand.teams.research.focus import Focus, focus
from leadhand.teams.research.groups import totals
from leadhand.teams.research.part import Part
from leadhand.teams.research.quoting import cited, inline
from leadhand.teams.research.trends import trends
from leadhand.teams.research.words import asked, matched, subject
from leadhand.tools.files import Inputs
from leadhand.tools.sql import SqlTools, Table
from leadhand.tools.sql.database import RequestFailed
from leadhand.tools.sql.profile import TableProfile, profile_table

_NOTHING_NAMED: Final = (
    "No table has a name, column or value that the request names; this is what they hold."
)
MAX_LINES: Final = 6
"""What is said before the tables themselves."""
MAX_TABLES: Final = 4
"""Tables that are worked out; of the others only the size is told."""


def work_out(handoff: Handoff) -> Result:
    """What the tables among the handoff's files show on what it asks."""
    inputs = Inputs.of([Path(path) for path in handoff.artifacts])
    if not inputs.of_kind("csv", "json", "parquet"):
        lead = ("There are no tables among the files handed in.",)
        return _result(Findings(about="tables", lead=lead), [])
    words = subject(asked(handoff.intent))
    with SqlTools(inputs) as tools:
        return _worked_out(tools, words)


def _worked_out(tools: SqlTools, words: Sequence[str]) -> Result:
    gaps = [_gap(one.file, f"not a table: {one.why}") for one in tools.broken]
    profiles = [profile_table(tools, one) for one in _likely(tools.tables, words)]
    seen = [(one, focus(one, words)) for one in profiles]
    # A table that no name spoke for may hold a value that the request asks for.
    relevant = [pair for pair in seen if pair[1].named] or seen
    shown = {one.table.file for one, _ in relevant}
    gaps += [
        _gap(one.file, "not worked out, as other tables are nearer to the request")
        for one in tools.tables
        if one.file not in shown
    ]
    sections: list[Section] = []
    lead: list[str] = []
    refs: list[str] = []
    known = {word for _, about in seen for word in about.named}
    known |= {word for one in tools.tables for word in _named(one, words)}
    is_asked_for = bool(known) or not words
    for one, about in relevant:
        parts = _said(tools, one, about, gaps) if is_asked_for else [columns(one, about)]
        title = inline(one.table.file)
        body = "\n\n".join([f"{_size(one.table)}.", *(part.body for part in parts)])
        sections.append(Section(title=title, body=body))
        lead += [f"{part.lead} {cited(one.table.file)}" for part in parts if part.lead]
        refs += [part.ref for part in parts if part.ref]
    if seen and not is_asked_for:
        lead = [_NOTHING_NAMED]
    findings = Findings(
        about="tables",
        lead=tuple(lead[:MAX_LINES]) or (_looked_at(len(seen)),),
        sections=tuple(sections),
        unknown=tuple(word for word in words if word not in known),
        gaps=tuple(gaps),
    )
    return _result(findings, refs)


def _said(tools: SqlTools, one: TableProfile, about: Focus, gaps: list[Gap]) -> list[Part]:
    """All that is said of a table, the most telling first."""
    parts = trends(one, about)
    try:
        parts += totals(tools, one.table, about)
    except RequestFailed as error:
        gaps.append(_gap(one.table.file, f"not put together by group: {error}"))
    gaps += [_gap(one.table.file, why) for why in one.left_out]
    return [*parts, *ranking(one, about), columns(one, about)]


def _looked_at(tables: int) -> str:
    if not tables:
        return "None of the files handed in could be read as a table."
    return f"{counted(tables, 'table')} looked at, with nothing to add up."


def _likely(tables: Sequence[Table], words: Sequence[str]) -> list[Table]:
    """The tables whose names, or whose columns', the request knows best; else the first ones."""
    merits = [len(_named(one, words)) for one in tables]
    best = max(merits, default=0)
    return [one for one, merit in zip(tables, merits, strict=True) if merit * 2 >= best][
        :MAX_TABLES
    ]


def _named(table: Table, words: Sequence[str]) -> tuple[str, ...]:
    return matched(words, table.file, *(column.name for column in table.columns))


def _size(table: Table) -> str:
    return f"{counted(table.rows, 'row')}, {counted(len(table.columns), 'column')}"


def _gap(name: str, why: str) -> Gap:
    return Gap(name=inline(name), why=inline(why))


def _result(findings: Findings, refs: Sequence[str]) -> Result:
    return Result(
        output=findings.model_dump(mode="json"),
        summary=" ".join(findings.lead),
        evidence=tuple(f"[{ref}]" for ref in dict.fromkeys(refs)),
    )
