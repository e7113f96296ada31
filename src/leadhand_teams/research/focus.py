"""Which part of a table a request asks about: measures, the grouping column, single groups.

Also the totals of a measure by group.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from leadhand.tools.sql import Row, SqlTools, Table, quoted_name
from leadhand.tools.text import joined_names
from leadhand_teams.research.figures import number, percent
from leadhand_teams.research.findings import ReportPart
from leadhand_teams.research.quoting import cited, inline, table
from leadhand_teams.research.roles import ColumnProfile
from leadhand_teams.research.table_profile import TableProfile
from leadhand_teams.research.word_forms import matched, stems

MAX_MEASURES: Final = 3
MAX_GROUPS: Final = 12
_NOT_GIVEN: Final = "(empty)"
_GROUPING: Final = ("VARCHAR", "BOOLEAN", "PERIOD")


@dataclass(frozen=True, slots=True)
class Focus:
    """The part of a table that is shown."""

    measures: tuple[str, ...]
    group: ColumnProfile | None
    """The column by which rows are grouped."""
    values: tuple[str, ...]
    """The values of that column that the request names; empty stands for all."""
    named: tuple[str, ...]
    """The words of the request that occur in the table."""


def focus(profile: TableProfile, words: Sequence[str]) -> Focus:
    """The part of the table that `words` name; all of it if they name none."""
    found = dict.fromkeys(
        [one.measure for one in profile.rankings] + [one.measure for one in profile.growths]
    )
    wanted = [measure for measure in found if matched(words, measure)]
    group = _group(profile, words)
    return Focus(
        measures=tuple(wanted or found)[:MAX_MEASURES],
        group=group,
        values=_named_values(group, profile, words) if group else (),
        named=matched(words, *_vocabulary(profile)),
    )


def _vocabulary(profile: TableProfile) -> list[str]:
    columns = profile.columns
    named = [profile.table.name, profile.table.file, *(one.name for one in columns)]
    ends = [text for one in columns for text in (one.minimum, one.maximum) if text]
    ranked = [row.label for one in profile.rankings for row in (*one.top, *one.bottom)]
    return [*named, *ends, *ranked, *(value for one in columns for value in _values(one, profile))]


def _group(profile: TableProfile, words: Sequence[str]) -> ColumnProfile | None:
    """The column that the request names, or names a value of; else the most likely one."""
    rows = profile.table.rows
    fitting = [
        one
        for one in profile.columns
        if one.type.startswith(_GROUPING) and 1 < one.distinct <= MAX_GROUPS and one.distinct < rows
    ]
    followed = {one.group[0] for one in profile.growths if one.group is not None}

    def fitness(column: ColumnProfile) -> tuple[bool, bool, bool]:
        by_value = bool(_named_values(column, profile, words))
        return bool(matched(words, column.name)), by_value, column.name in followed

    return max(fitting, key=fitness, default=None)


def _named_values(
    column: ColumnProfile, profile: TableProfile, words: Sequence[str]
) -> tuple[str, ...]:
    """The values of a column that `words` name in full: `New York` is not named by "new"."""
    there = stems(*words)
    return tuple(
        value for value in _values(column, profile) if (own := stems(value)) and own <= there
    )


def _values(column: ColumnProfile, profile: TableProfile) -> list[str]:
    """The known values of a column: the most frequent ones, and the groups with a growth."""
    groups = (one.group for one in profile.growths if one.group is not None)
    followed = [value for name, value in groups if name == column.name]
    return list(dict.fromkeys([value for value, _ in column.top] + followed))


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    rows: int
    total: float
    average: float


def totals(tools: SqlTools, given: Table, focus: Focus) -> list[ReportPart]:
    """The totals by group of each measure of `focus`. Raises `RequestFailed`."""
    if focus.group is None or not focus.measures:
        return []
    column = focus.group.name
    statements = [_statement(given.name, column, measure) for measure in focus.measures]
    results = tools.select(statements)
    return [
        _part(f"{given.file}: sum({measure}), avg({measure}) by {column}", measure, focus, rows)
        for measure, rows in zip(focus.measures, results, strict=True)
        if len(rows) > 1
    ]


def _statement(name: str, column: str, measure: str) -> str:
    value = f"{quoted_name(measure)}::DOUBLE"
    return (
        f"SELECT {quoted_name(column)}::VARCHAR, count(*), sum({value}), avg({value}) FROM {name} "
        f"WHERE isfinite({value}) GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT {MAX_GROUPS + 1}"
    )


def _part(ref: str, measure: str, focus: Focus, rows: Sequence[Row]) -> ReportPart:
    groups = [
        _Group(
            _NOT_GIVEN if name is None else str(name),
            int(count or 0),
            float(total or 0),
            float(average or 0),
        )
        for name, count, total, average in rows
    ]
    whole = sum(one.total for one in groups)
    # The parts of a sum are no shares if some are negative.
    has_shares = math.isfinite(whole) and whole > 0 and all(one.total >= 0 for one in groups)
    lines = [
        (
            inline(one.name),
            number(one.rows),
            number(one.total) if math.isfinite(one.total) else "too large",
            percent(one.total / whole * 100) if has_shares else "–",
            number(one.average) if math.isfinite(one.average) else "–",
        )
        for one in groups
    ]
    title, by = inline(measure), inline(focus.group.name) if focus.group else ""
    header = (by, "rows", f"total {title}", "share", "average")
    return ReportPart(
        body=f"**{title} by {by}** {cited(ref)}\n\n{table(header, lines)}",
        lead=_lead(groups, whole, title, focus) if has_shares else "",
        ref=ref,
    )


def _lead(groups: Sequence[_Group], whole: float, measure: str, focus: Focus) -> str:
    named = [one for one in groups if one.name in focus.values] or [groups[0]]
    shares = [f"{percent(one.total / whole * 100)} from {inline(one.name)}" for one in named]
    most = "" if named[0].name in focus.values else ", more than from any other"
    return f"{measure}: {number(whole)} in all, {joined_names(shares)}{most}"
