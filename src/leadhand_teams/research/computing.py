"""Runs the SQL of a question over typed tables, and says in words what it gives."""

import datetime as dt
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from leadhand.tools.files import Inputs
from leadhand.tools.scratch import scratch_folder
from leadhand.tools.sql import Cell, Row, SqlTools
from leadhand.tools.text import counted, joined_names
from leadhand_teams.research.asking import ROW, Ask
from leadhand_teams.research.grammar import GRAMMAR, Intent, asks, function_of
from leadhand_teams.research.output import CitedWords, FigureTable, ResearchFinding
from leadhand_teams.research.schema import View
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Reading
from leadhand_teams.shared.values import Period, amount_text


def compute(ask: Ask, question: str, reading: Reading) -> ResearchFinding:
    """The answer of the tables to `ask`. Raises `RequestFailed`."""
    if ask.intent is None:
        return ResearchFinding()
    sql = ask.sql(ask.intent.sql)
    with database(ask.tables) as tools:
        rows, numbers = tools.select([sql, ask.sql(GRAMMAR.cited)])
    if not numbers:
        missing = " with ".join(one.text for one in (*ask.named, *ask.when))
        kind = "nothing" if ask.measure is None or ask.is_guessed else "no rows"
        return ResearchFinding(kind=kind, not_found=(missing,) if missing else ())
    found = _Said(ask, ask.intent, question, rows).finding()
    places = [
        (view, int(str(n))) for row in numbers for view, n in zip(ask.tables, row, strict=True)
    ]
    places.sort(key=lambda one: one[0] is not ask.view)
    changes = {
        "sql": sql,
        "citations": tuple(dict.fromkeys(_cited(view, n, reading) for view, n in places)),
        "notes": tuple(
            f"{one.source.name}: {note}" for one in ask.tables for note in one.source.notes
        ),
    }
    return found.model_copy(update=changes if found.sentence else {})


def profile(views: Sequence[View]) -> ResearchFinding:
    """What the tables contain, a line for each column. Raises `RequestFailed`."""
    statements = [Ask(view).sql(GRAMMAR.columns) for view in views]
    with database(views) as tools:
        found = tools.select(statements) if views else []
    rows = [
        (view.source.name, *map(str, row))
        for view, columns in zip(views, found, strict=True)
        for row in columns
        if row[0] != ROW
    ]
    sizes = [f"{view.source.name} ({counted(len(view.source), 'row')})" for view in views]
    return ResearchFinding(
        kind="answer" if views else "nothing",
        sentence=f"{counted(len(views), 'table')}: {'; '.join(sizes)}." if views else "",
        value=float(len(views)),
        sql="; ".join(statements),
        figures=FigureTable(columns=("table", "column", "type", "min", "max"), rows=tuple(rows)),
    )


@contextmanager
def database(views: Sequence[View]) -> Generator[SqlTools]:
    """The typed tables in a database of their own."""
    with scratch_folder("leadhand-tables-") as folder:
        for view in views:
            with (folder / f"{view.sql_name}.jsonl").open("w", encoding="utf-8") as stream:
                for n in range(len(view.source)):
                    row = {c.name: _json(c.cells[n]) for c in view.source.columns}
                    stream.write(json.dumps({**row, ROW: n}) + "\n")
        with SqlTools(Inputs.of([folder])) as tools:
            yield tools


def _json(cell: float | dt.date | Period | str | None) -> float | str | None:
    match cell:
        case Period():
            return cell.start.isoformat()
        case dt.date():
            return cell.isoformat()
        case float() if cell.is_integer() and abs(cell) < 1e15:
            return int(cell)
        case _:
            return cell


def _cited(view: View, row: int, reading: Reading) -> CitedWords:
    ref, text = view.source.ref(row), view.text(row)
    line = reading.line(ref) or ""
    has_row = all(part in line for part in text.split(" | ")[:2])
    return CitedWords(ref=ref, quote=line if has_row else text)


class _Said:
    """What rows say: each has a name, a value, and two figures that the intent adds."""

    def __init__(self, ask: Ask, intent: Intent, question: str, rows: Sequence[Row]) -> None:
        self.ask, self.intent, self.question = ask, intent, question
        self.rows = [row for row in rows if row[1] is not None]
        self.unit = ask.measure.unit if ask.measure else None
        self.value_unit = "%" if intent.name in ("share", "growth") else self.unit
        self.pairs = [(_name(ask, row[0]), _text(row[1], self.value_unit)) for row in self.rows]
        same = [pair[0] for pair, row in zip(self.pairs, self.rows, strict=True)
                if intent.gives == "list" or row[1] == self.rows[0][1]]  # fmt: skip
        self.names = [name for name in same if name]

    def finding(self) -> ResearchFinding:
        """The sentence and its value."""
        is_cell = self.intent.name == "cell"
        if not self.rows or (is_cell and len(self.rows) > 20):
            return ResearchFinding()
        listed = "; ".join(" ".join(pair).strip() for pair in self.pairs[:50])
        number = _number(self.rows[0][1])
        value = {"number": number, "names": joined_names(self.names, 20), "list": listed}[
            self.intent.gives
        ]
        return ResearchFinding(
            kind="answer",
            sentence=self.intent.says.format(list=listed, **self._words(), **self._turn()),
            value=value,
            unit=self.value_unit if self.intent.gives == "number" else None,
            figures=self._figures(),
            subjects=tuple(self.names or ([one for _, one in self.pairs[:3]] if is_cell else [])),
            doubts=(
                *(f"“{word}” is read as “{other}”." for word, other in self.ask.read_as.items()),
                *self.ask.doubts,
                *self._doubts(),
                *self._of_rows(),
            ),
        )

    def _words(self) -> dict[str, str]:
        """What the sentences of the grammar have in braces."""
        ask, what = self.ask, self._what()
        third, fourth = (_text(cell, self.unit) for cell in (*self.rows[0], None, None)[2:4])
        first, last = ask.compared or (None, None)
        is_date = ask.measure is not None and ask.measure.role == "date"
        ends = ("latest", "earliest") if is_date else ("highest", "lowest")
        return {
            "names": joined_names(self.names, 20),
            "who": f" ({joined_names(self.names[:5], 20)})" if self.names else "",
            "has": "have" if self.names[1:] else "has",
            "value": self.pairs[0][1],
            "third": third,
            "fourth": fourth,
            "span": f"from {third} in {first.label} to {fourth} in {last.label}"
            if first and last else "",
            "what": what,
            "What": what[:1].upper() + what[1:],
            "part": ask.part.name.replace("_", " ") if ask.part else "",
            "cell": ask.cell.name if ask.cell else "",
            "end": ends[ask.is_lowest],
            "scope": ask.scope,
            "bound": "".join(words for _, words in ask.bounds),
        }  # fmt: skip

    def _turn(self) -> dict[str, str]:
        """Whether it rose or fell, in words."""
        change = _number(self.rows[0][1]) or 0.0
        points = "percentage points" if self.unit == "%" else self.unit
        by = amount_text(abs(change), "%" if self.intent.name == "growth" else points)
        falling = asks(self.question, "falling")
        how = "least" if falling != self.ask.is_lowest else "most" if change < 0 else "fastest"
        verb = "fell" if change < 0 else "grew"
        if (change < 0) != falling and how != "least":
            how = f"least; none {'fell' if falling else 'grew'}"
        rose = "grew" if self.intent.name == "growth" else "rose"
        changed = f"{rose} by {by}" if change > 0 else f"fell by {by}"
        changed = changed if change else "did not change"
        signed = f"{'+' if change > 0 else ''}{self.pairs[0][1]}"
        return {"verb": verb, "how": how, "changed": changed, "signed": signed}

    def _what(self) -> str:
        """The figure, in words."""
        ask = self.ask
        if ask.measure is None:
            rows = ask.rows_name or "rows"
            is_one = self.intent.name == "figure" and self.rows[0][1] == 1
            rows = rows.removesuffix("s") if is_one else rows
            return rows if self.intent.name in ("figure", "share") else f"number of {rows}"
        name = ask.measure.name.replace("_", " ")
        if ask.function == "avg" and ask.measure.role != "rate":
            return f"average {name}"
        is_total = ask.function == "sum" and self.intent.name == "figure"
        return (
            f"median {name}" if ask.function == "median" else f"total {name}" if is_total else name
        )

    def _figures(self) -> FigureTable | None:
        if len(self.rows) < 2 or self.intent.name == "cell":
            return None
        head = self.ask.name.name if self.ask.name else ""
        heads, rows = (head, self._what()), [*self.pairs]
        if self.intent.name == "growth" and self.ask.compared:
            first, last = self.ask.compared
            more = [(_text(row[2], self.unit), _text(row[3], self.unit)) for row in self.rows]
            table = [(n, *two, v) for (n, v), two in zip(self.pairs, more, strict=True)]
            heads = (head, first.label, last.label, "change")
            return FigureTable(columns=heads, rows=tuple(table))
        return FigureTable(columns=heads, rows=tuple(rows))

    def _of_rows(self) -> Iterator[str]:
        """The rows that a join leaves out, and names that may be those that are named."""
        for one in self.ask.joins:
            known = {*one.one.column.texts, ""}
            if lost := [text for text in one.many.column.texts if text not in known]:
                shown = joined_names([f"“{text}”" for text in dict.fromkeys(lost)], 3)
                yield (
                    f"{counted(len(lost), 'row')} of {one.many.table.source.name} left out: "
                    f"{one.one.table.source.name} does not have {shown}."
                )
        used = [(one.field, one.values) for one in self.ask.named]
        used += [(self.ask.name, self.names[:3])] if self.intent.gives != "number" else []
        for field, texts in used:
            alike = [other for text in texts if field for other in field.spelled_like(text)]
            if others := dict.fromkeys(other for other in alike if other not in texts):
                shown = joined_names([f"“{other}”" for other in others], 3)
                yield f"{shown} may be the same as {joined_names(list(texts), 3)}, and is apart."

    def _doubts(self) -> list[str]:
        measure, name = self.ask.measure, self.intent.name
        doubts = [f"{len(self.names)} have the same {self._what()}."] if name == "highest" else []
        doubts = doubts if self.names[1:] else []
        if measure and self.ask.function == "avg" and name == "difference":
            doubts.append("Means of the rows are compared.")
        if "AS filled" not in self.intent.sql:
            return doubts
        count, filled = (_number(cell) or 0 for cell in self.rows[0][2:4])
        asked = function_of(self.question) in ("avg", "median")
        if measure and measure.role == "rate" and count > 1 and not asked:
            is_sum = self.ask.function == "sum"
            how = "was added up" if is_sum else "can't be added up: means of the rows are taken"
            doubts.append(f"{measure.name} {how}.")
        if filled < count:
            doubts.append(f"{count - filled:g} of {count:g} rows have no figure and are left out.")
        if name == "cell" and not self.ask.scope:
            doubts.append("No rows were named; all were taken.")
        return doubts


def _name(ask: Ask, cell: Cell) -> str:
    is_month = ask.name is not None and ask.name.role == "date" and ask.grain == "month"
    return Period("month", dt.date.fromisoformat(f"{cell}-01")).label if is_month else str(cell)


def _text(cell: Cell, unit: str | None) -> str:
    number = _number(cell)
    if number is not None:
        return amount_text(number, unit)
    try:
        return values.date_text(dt.date.fromisoformat(str(cell)[:10]))
    except ValueError:
        return str(cell)


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None
