"""What a question asks of one table and those joined to it, and the SQL of that. Pure."""

from dataclasses import dataclass, field
from typing import Final, Literal

from leadhand.tools.sql import quoted_name
from leadhand_teams.research.grammar import Function, Intent
from leadhand_teams.research.schema import Field, Join, View
from leadhand_teams.research.times import NamedTime

ROW: Final = "row_"
"""The column with a row's number in its table, for citations."""
Grain = Literal["year", "quarter", "month", "day"]
_FORMATS: Final[dict[Grain, str]] = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Rows that count."""

    sql: str
    text: str
    """In words."""
    field: Field | None = None
    """The column whose values are named."""
    values: tuple[str, ...] = ()
    """The column's cells that are named."""

    @property
    def count(self) -> int:
        return max(1, len(self.values))


@dataclass(slots=True)
class Ask:
    """The parts of a question."""

    view: View
    intent: Intent | None = None
    function: Function = "sum"
    measure: Field | None = None
    """None: rows are counted."""
    part: Field | None = None
    """Another measure, whose share is asked for: `What share of the visits were missed`."""
    group: Field | None = None
    grain: Grain | None = None
    """Of the group, if that is a date."""
    split: bool = False
    """Whether each group is asked for: `by region`."""
    cell: Field | None = None
    """A column of texts or dates whose cell is asked for."""
    date: Field | None = None
    """The date that periods are about."""
    compared: tuple[NamedTime, NamedTime] | None = None
    named: list[RowFilter] = field(default_factory=list[RowFilter])
    """Values of columns, in the order of the question."""
    when: list[RowFilter] = field(default_factory=list[RowFilter])
    limit: int | None = None
    is_lowest: bool = False
    is_of_rows: bool = False
    """Whether the question has a word for the rows."""
    rows_name: str = ""
    """That word, if it is a plural."""
    joins: list[Join] = field(default_factory=list[Join])
    bounds: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Of figures, as SQL and in words."""
    unknown: list[str] = field(default_factory=list[str])
    """Names and numbers that are not in the tables."""
    missing: list[str] = field(default_factory=list[str])
    """Other words that may name something and are not in the tables."""
    read_as: dict[str, str] = field(default_factory=dict[str, str])
    """Words that were read as another word, which the tables have."""
    doubts: list[str] = field(default_factory=list[str])
    unused: list[str] = field(default_factory=list[str])
    """Stems of verbs that were left out."""
    is_outside: bool = False
    """Whether no row is of a time that is named."""
    explained: int = 0
    """Words that name something here."""
    is_guessed: bool = False
    """Whether the measure was not named."""
    fit: float = 0.0
    """The part of the measure's name that is named."""

    @property
    def is_understood(self) -> bool:
        """Whether enough is known without the missing words: a figure, and what it is about."""
        has_figure = self.measure is not None and self.intent is not None and self.fit > 0
        return has_figure and bool(self.named or self.when or self.compared or self.group)

    @property
    def ranked(self) -> bool:
        return self.group is not None or (self.measure is not None and self.view.label is not None)

    @property
    def two(self) -> bool:
        return any(one.count == 2 and one.field is self.group for one in self.named)

    @property
    def bounded(self) -> bool:
        return bool(self.bounds and self.group and self.measure)

    @property
    def counted(self) -> bool:
        return bool(self.named or self.when or self.is_of_rows)

    @property
    def scope(self) -> str:
        """The rows that count, in words."""
        parts = [one.text for one in (*self.named, *self.when)]
        return f" ({', '.join(parts)})" if parts else ""

    @property
    def tables(self) -> list[View]:
        """Its table and those that are joined."""
        return [self.view, *(one.one.table for one in self.joins)]

    @property
    def name(self) -> Field | None:
        """The column that names the groups."""
        is_whole = self.intent and self.intent.name in ("growth", "difference", "each")
        return self.group or (None if is_whole else self.view.label)

    def sql(self, template: str) -> str:
        """A template of the grammar with the question's parts."""
        part = self.named[-1:] if "{part}" in template and not self.part else []
        rows = [one.sql for one in (*self.named, *self.when) if one not in part]
        figure = self._figure(self.measure)
        filled = {
            "figure": figure,
            "measure": self.measure.sql if self.measure else "*",
            "name": self._name(),
            "rows": " AND ".join(rows) or "true",
            "limit": str(self.limit or 50),
            "order": ("ASC" if self.is_lowest else "DESC") + " NULLS LAST",
            "part": self._figure(self.part) if self.part else "",
            "cell": f"{self.cell.sql}::VARCHAR" if self.cell else "",
            "tables": self._tables(),
            "bound": "".join(sql for sql, _ in self.bounds),
            "row": ", ".join(
                f"{quoted_name(one.sql_name)}.{quoted_name(ROW)}" for one in self.tables
            ),
        }
        if part:
            filled["part"] = f"{figure} FILTER (WHERE {part[0].sql})"
        if self.compared and self.date:
            filled["first"], filled["last"] = (one.sql(self.date.sql) for one in self.compared)
        if "{found}" in template and self.intent:
            filled["found"] = self.sql(self.intent.sql)
        text = template.format(**filled).replace(" AND '' IS NOT NULL", "")
        return text.replace(" WHERE true AND", " WHERE").replace(" WHERE true", "")

    def _figure(self, measure: Field | None) -> str:
        if measure is None:
            row, size = f"{quoted_name(self.view.sql_name)}.{quoted_name(ROW)}", self.view.size
            is_long = size < len(self.view.source)
            return f"count(DISTINCT {row} % {size})" if is_long else "count(*)"
        text = f"{self.function}({measure.sql})"
        return f"{text}::VARCHAR" if measure.role == "date" else text

    def _name(self) -> str:
        if self.name is None:
            return "''"
        if self.name.role != "date":
            return f"{self.name.sql}::VARCHAR"
        if self.grain == "quarter":
            return f"year({self.name.sql}) || '-Q' || quarter({self.name.sql})"
        return f"strftime({self.name.sql}, '{_FORMATS[self.grain or 'day']}')"

    def _tables(self) -> str:
        parts = [quoted_name(self.view.sql_name)]
        for one in self.joins:
            on = f"{one.many.sql}::VARCHAR = {one.one.sql}::VARCHAR"
            parts.append(f"JOIN {quoted_name(one.one.table.sql_name)} ON {on}")
        return " ".join(parts)


def has_value(one: Field, texts: list[str], word: str = "", *, negated: bool = False) -> RowFilter:
    """The rows whose cell is one of `texts`, or none; of many, `word` is what all have."""
    quoted = ["'" + text.replace("'", "''") + "'" for text in texts]
    compared = f"= {quoted[0]}" if len(texts) == 1 else f"IN ({', '.join(quoted)})"
    told = {text.strip().lower(): text for text in texts[:5]}
    shown = f"with “{word}”" if word else " or ".join(told.values())
    sql, shown = f"{one.sql}::VARCHAR {compared}", f"{'not ' * negated}{shown}"
    return RowFilter(f"NOT ({sql})" if negated else sql, f"{one.name} {shown}", one, tuple(texts))
