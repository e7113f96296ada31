"""Describes the columns of a table, and its highest and lowest rows."""

from collections.abc import Sequence
from typing import Final

from leadhand.teams.research.figures import number, type_word, value
from leadhand.teams.research.findings import ReportPart
from leadhand.teams.research.focus import Focus
from leadhand.teams.research.quoting import cited, inline, table
from leadhand.tools.sql.profile import RankedRow, TableProfile
from leadhand.tools.sql.roles import ColumnProfile
from leadhand.tools.text import counted

MAX_COLUMNS: Final = 12
MAX_RANKED: Final = 3
_CELL_CHARS: Final = 40


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
