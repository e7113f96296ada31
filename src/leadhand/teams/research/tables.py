"""The analyst without a model: profiles tables, and computes totals, rankings and trends."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from leadhand.contracts.outcome import Handoff, Result
from leadhand.teams.research.columns import columns, ranking
from leadhand.teams.research.fastest import (
    FALLING,
    GROWING,
    GrowthAnswer,
    fastest,
    grouping_word,
    growth_request,
)
from leadhand.teams.research.findings import Findings, MissingInput, ReportPart, ReportSection
from leadhand.teams.research.focus import Focus, focus
from leadhand.teams.research.groups import totals
from leadhand.teams.research.quoting import cited, inline
from leadhand.teams.research.trends import is_register, trends, whole_years
from leadhand.teams.research.word_forms import matched, request_in, subject
from leadhand.tools.files.inputs import Inputs
from leadhand.tools.sql import SqlTools, Table
from leadhand.tools.sql.database import RequestFailed
from leadhand.tools.sql.profile import TableProfile, profile_table
from leadhand.tools.sql.table_readings import combined, read_table, unpivoted_by
from leadhand.tools.text import counted

_NOTHING_NAMED: Final = (
    "No table has a name, column or value that the request names; this is what they contain."
)
MAX_LINES: Final = 6
"""The most lines before the sections."""
MAX_TABLES: Final = 4
"""The most tables that are analysed; the others are joined_names."""


def work_out(handoff: Handoff) -> Result:
    """Analyse the tables among the handoff's files for its request."""
    inputs = Inputs.of([Path(path) for path in handoff.artifacts])
    if not inputs.of_kind("csv", "json", "parquet"):
        lead = ("There are no tables among the files handed in.",)
        return Findings(about="tables", lead=lead, found=False).result()
    with SqlTools(inputs) as tools:
        return analysed(tools, request_in(handoff.intent))


def analysed(tools: SqlTools, request: str) -> Result:
    """What the tables of `tools` show about a request."""
    words = subject(request)
    gaps = [MissingInput(name=one.file, why=f"not a table: {one.why}") for one in tools.broken]
    likely = _likely(tools.tables, words)
    readings = [read_table(tools, one) for one in likely]
    together = combined(readings) if len(readings) > 1 else None
    readings = [together] if together is not None else readings
    if group := grouping_word(request):
        readings = [unpivoted_by(one, group) or one for one in readings]
    notes = {one.table.file: one for one in readings}

    def wanted(column: str) -> bool:
        return bool(matched(words, column))

    profiles = [profile_table(tools, one.table, wanted=wanted) for one in readings]
    seen = [(one, focus(one, words)) for one in profiles]
    # If no name matches the request, a value in any table still may.
    relevant = [pair for pair in seen if pair[1].named] or seen
    shown = {one.table.file for one, _ in relevant}
    if together is not None:
        shown |= {one.file for one in likely}
    why = "not analysed, because other tables match the request better"
    gaps += [
        MissingInput(name=one.file, why=why, by_choice=True)
        for one in tools.tables
        if one.file not in shown
    ]
    sections: list[ReportSection] = []
    lead: list[str] = []
    refs: list[str] = []
    known = {word for _, about in seen for word in about.named}
    known |= {word for one in tools.tables for word in _named(one, words)}
    answer = _answer(relevant, request)
    if answer is not None:
        known |= set(matched(words, GROWING, FALLING))
    elif relevant and growth_request(request) is not None:
        why = "no table has figures for two periods or more of two or more groups"
        gaps.append(MissingInput(name="growth", why=f"not computed: {why}"))
    is_asked_for = bool(known) or not words
    for one, about in relevant:
        parts = [columns(one, about)]
        if is_asked_for:
            parts = _parts(tools, one, about, gaps, ranked=answer is not None)
        title = inline(one.table.file)
        reading = notes[one.table.file]
        gaps += [MissingInput(name=one.table.file, why=why) for why in reading.left_out]
        size = " ".join([f"{_size(reading.source)}.", *(inline(note) for note in reading.notes)])
        body = "\n\n".join([size, *(part.body for part in parts)])
        sections.append(ReportSection(title=title, body=body))
        lead += [f"{part.lead} {cited(one.table.file)}" for part in parts if part.lead]
        refs += [part.ref for part in parts if part.ref]
    if seen and not is_asked_for:
        lead = [_NOTHING_NAMED]
    findings = Findings(
        about="tables",
        answer=(answer.text,) if answer else (),
        groups=answer.groups if answer else (),
        others=answer.others if answer else (),
        lead=tuple(lead[:MAX_LINES]) or (_looked_at(len(seen)),),
        sections=tuple(sections),
        found=bool(seen) and is_asked_for,
        unknown=tuple(word for word in words if word not in known),
        gaps=tuple(gaps),
    )
    return findings.result(f"[{ref}]" for ref in refs)


def _answer(seen: Sequence[tuple[TableProfile, Focus]], request: str) -> GrowthAnswer | None:
    """The answer of the first table that has one, if the request asks about growth."""
    asked = growth_request(request)
    if asked is None:
        return None
    for one, about in seen:
        growths = [] if is_register(one) else [whole_years(each, one) for each in one.growths]
        file, measures = one.table.file, about.measures
        if found := fastest(growths, asked, file=file, measures=measures):
            return found
    return None


def _parts(
    tools: SqlTools, one: TableProfile, about: Focus, gaps: list[MissingInput], *, ranked: bool
) -> list[ReportPart]:
    """The parts of a table's section; with `ranked` the answer has ranked the groups already."""
    parts = trends(one, about, ranked=ranked)
    try:
        parts += totals(tools, one.table, about)
    except RequestFailed as error:
        gaps.append(MissingInput(name=one.table.file, why=f"not totalled by group: {error}"))
    gaps += [MissingInput(name=one.table.file, why=f"not computed: {why}") for why in one.left_out]
    return [*parts, *ranking(one, about), columns(one, about)]


def _looked_at(tables: int) -> str:
    if not tables:
        return "None of the files handed in could be read as a table."
    return f"{counted(tables, 'table')} looked at, with nothing to add up."


def _likely(tables: Sequence[Table], words: Sequence[str]) -> list[Table]:
    """The tables whose names and columns match the request best; else the first ones."""
    scores = [len(_named(table, words)) for table in tables]
    best = max(scores, default=0)
    likely = [table for table, score in zip(tables, scores, strict=True) if score * 2 >= best]
    return likely[:MAX_TABLES]


def _named(table: Table, words: Sequence[str]) -> tuple[str, ...]:
    return matched(words, table.file, *(column.name for column in table.columns))


def _size(table: Table) -> str:
    return f"{counted(table.rows, 'row')}, {counted(len(table.columns), 'column')}"
