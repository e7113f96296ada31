"""A measure put together by the values of a column: which group has how much of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from leadhand.teams.research.figures import number, percent
from leadhand.teams.research.findings import ReportPart
from leadhand.teams.research.focus import MAX_GROUPS, Focus
from leadhand.teams.research.quoting import cited, inline, table
from leadhand.tools.sql import SqlTools, Table
from leadhand.tools.sql.messages import Row
from leadhand.tools.sql.names import quoted
from leadhand.tools.text import joined_names

_NOT_GIVEN: Final = "(empty)"


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
    value = f"{quoted(measure)}::DOUBLE"
    return (
        f"SELECT {quoted(column)}::VARCHAR, count(*), sum({value}), avg({value}) FROM {name} "
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
