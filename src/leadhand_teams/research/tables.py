"""The analyst without a model: profiles tables, and computes totals, rankings and trends."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from leadhand import Handoff, Result
from leadhand.tools.files import Inputs
from leadhand.tools.sql import RequestFailed, SqlTools, Table
from leadhand.tools.text import counted
from leadhand_teams.research.fastest import (
    FALLING,
    GROWING,
    GrowthAnswer,
    fastest,
    grouping_word,
    growth_request,
)
from leadhand_teams.research.figures import number, type_word, value
from leadhand_teams.research.findings import Findings, MissingInput, ReportPart, ReportSection
from leadhand_teams.research.focus import Focus, focus, totals
from leadhand_teams.research.quoting import cited, inline, table
from leadhand_teams.research.roles import ColumnProfile
from leadhand_teams.research.table_profile import RankedRow, TableProfile, profile_table
from leadhand_teams.research.table_readings import (
    TableReading,
    combined_table,
    read_table,
    unpivoted_by,
)
from leadhand_teams.research.trends import is_register, trends, whole_years
from leadhand_teams.research.word_forms import matched, request_in, subject

_NOTHING_NAMED: Final = (
    "No table has a name, column or value that the request names; this is what they contain."
)
MAX_LINES: Final = 6
"""The most lines before the sections."""
MAX_TABLES: Final = 4
"""The most tables that are analysed; the others are joined_names."""
MAX_COLUMNS: Final = 12
MAX_RANKED: Final = 3
_CELL_CHARS: Final = 40


def work_out(handoff: Handoff) -> Result:
    """Analyse the tables among the handoff's files for its request."""
    inputs = Inputs.of([Path(path) for path in handoff.artifacts])
    if not inputs.of_kind("csv", "json", "parquet"):
        lead = ("There are no tables among the files handed in.",)
        return Findings(about="tables", lead=lead, found=False).result()
    with SqlTools(inputs) as tools:
        return analysed(tools, request_in(handoff.intent))


def _left_out(tools: SqlTools, shown: set[str]) -> list[MissingInput]:
    why = "not analysed, because other tables match the request better"
    left = [one.file for one in tools.tables if one.file not in shown]
    return [MissingInput(name=file, why=why, by_choice=True) for file in left]


def _readings(
    tools: SqlTools, tables: Sequence[Table], request: str
) -> tuple[list[TableReading], bool]:
    # Whether they are one reading of all tables together.
    readings = [read_table(tools, one) for one in tables]
    together = combined_table(readings) if len(readings) > 1 else None
    readings = [together] if together is not None else readings
    if group := grouping_word(request):
        readings = [unpivoted_by(one, group) or one for one in readings]
    return readings, together is not None


def analysed(tools: SqlTools, request: str) -> Result:
    """What the tables of `tools` show about a request."""
    words = subject(request)
    gaps = [MissingInput(name=one.name, why=f"not a table: {one.why}") for one in tools.broken]
    likely = _likely(tools.tables, words)
    readings, together = _readings(tools, likely, request)
    notes = {one.table.file: one for one in readings}

    def wanted(column: str) -> bool:
        return bool(matched(words, column))

    profiles = [profile_table(tools, one.table, wanted=wanted) for one in readings]
    seen = [(one, focus(one, words)) for one in profiles]
    # If no name matches the request, a value in any table still may.
    relevant = [pair for pair in seen if pair[1].named] or seen
    shown = {one.table.file for one, _ in relevant}
    if together:
        shown |= {one.file for one in likely}
    gaps += _left_out(tools, shown)
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


def columns(profile: TableProfile, focus: Focus) -> ReportPart:
    """The columns with their types and values; if there are many, those in `focus` come first."""
    focused = {*focus.measures, focus.group.name if focus.group else ""}
    ordered = sorted(profile.columns, key=lambda one: one.name not in focused)
    some = [one for one in profile.columns if one in ordered[:MAX_COLUMNS]]
    rows = [(inline(one.name, max_chars=60), type_word(one.type), _content(one)) for one in some]
    more = len(profile.table.columns) - len(rows)
    rest = f"\n\nAnd {counted(more, 'column')} more." if more > 0 else ""
    return ReportPart(f"**Columns**\n\n{table(('column', 'type', 'values'), rows, left=3)}{rest}")


def ranking(profile: TableProfile, focus: Focus) -> list[ReportPart]:
    """The highest and lowest rows by each measure of `focus`."""
    parts: list[ReportPart] = []
    for one in profile.rankings:
        if one.measure in focus.measures and one.top and one.top[0].value != one.top[-1].value:
            ref = f"{profile.table.file}: rows by {one.measure}"
            lines = [f"- Highest: {_rows(one.top)}"]
            if one.bottom:
                lines.append(f"- Lowest: {_rows(one.bottom)}")
            title = f"**Rows by {inline(one.measure)}** {cited(ref)}"
            parts.append(ReportPart("\n".join([f"{title}\n", *lines]), ref=ref))
    return parts


def _rows(ranked: Sequence[RankedRow]) -> str:
    return "; ".join(f"{inline(one.label)} ({number(one.value)})" for one in ranked[:MAX_RANKED])


def _content(column: ColumnProfile) -> str:
    empty = f"; {column.nulls:,} empty" if column.nulls else ""
    return f"{_values(column)}{empty}"


def _values(column: ColumnProfile) -> str:
    if not column.distinct:
        return "none"
    low, high = column.minimum, column.maximum
    if type_word(column.type) not in ("text", "yes or no") and low is not None and high is not None:
        ends = [value(end, column.type) for end in dict.fromkeys((low, high))]
        mean = f", mean {number(column.mean)}" if column.mean is not None and len(ends) > 1 else ""
        return inline(" to ".join(ends)) + mean
    different = f"{column.distinct:,} different"
    if not column.top:
        return different
    same = len({count for _, count in column.top}) == 1
    shown = [
        inline(text, max_chars=_CELL_CHARS) + ("" if same else f" ({count:,})")
        for text, count in column.top[: MAX_RANKED + 1]
    ]
    more = ", …" if column.distinct > len(shown) else ""
    return f"{different}: {', '.join(shown)}{more}"
