"""Runs the SQL of a question over typed tables, and says in words what it gives."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from leadhand.tools.files import Inputs
from leadhand.tools.scratch import scratch_folder
from leadhand.tools.sql import Cell, Row, SqlTools
from leadhand_teams.research.grammar import Ask, Filter, is_falling
from leadhand_teams.research.output import CitedWords, FigureTable, ResearchFinding
from leadhand_teams.research.schema import View
from leadhand_teams.research.statements import ROW, aggregate, rows_statement, statement
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Reading
from leadhand_teams.shared.values import Period, amount_text

TIE = 1e-9
_COMPARING: Final = ("difference", "growth", "max", "min", "ranking")
_Two = tuple[str, float | None, float | None]
"""A group and its figures before and after."""


_NOTHING = ResearchFinding()


@contextmanager
def database(views: Sequence[View]) -> Generator[SqlTools]:
    """The typed tables in a database of their own."""
    with scratch_folder("leadhand-tables-") as folder:
        for view in views:
            _write(view, folder / f"{view.sql_name}.jsonl")
        with SqlTools(Inputs.of([folder])) as tools:
            yield tools


def compute(ask: Ask, question: str, reading: Reading) -> ResearchFinding:
    """The answer of the tables to `ask`. Raises `RequestFailed`."""
    used = [ask.view, *(one.one.table for one in ask.joins)]
    sql = statement(ask)
    with database(used) as tools:
        rows, numbers = tools.select([sql, rows_statement(ask)])
    found = _answer(ask, rows, question)
    changes: dict[str, object] = {
        "sql": sql,
        "citations": _cited(ask, [int(str(row[0])) for row in numbers], reading),
        "doubts": (*ask.doubts, *found.doubts),
        "notes": tuple(f"{view.source.name}: {note}" for view in used for note in view.notes),
    }
    if not numbers or not found.sentence:
        not_found = () if numbers else _named(ask)
        changes |= {"sentence": "", "value": None, "not_found": not_found}
    return found.model_copy(update=changes)


def _cited(ask: Ask, rows: Sequence[int], reading: Reading) -> tuple[CitedWords, ...]:
    places = [(ask.view, row) for row in rows] + [(j.one.table, 0) for j in ask.joins]
    cited: list[CitedWords] = []
    for view, row in places:
        line, text = reading.line(view.ref(row)) or "", view.text(row)
        has_row = all(part in line for part in text.split(" | ")[:2])
        cited.append(CitedWords(ref=view.ref(row), quote=line if has_row else text))
    return tuple(cited)


def _write(view: View, path: Path) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for n in range(len(view.source)):
            row = {c.name: _json(c.cells[n]) for c in view.source.columns}
            stream.write(json.dumps({**row, ROW: n}) + "\n")


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


def _answer(ask: Ask, rows: Sequence[Row], question: str) -> ResearchFinding:
    match ask.kind:
        case "share":
            return _share(ask, rows)
        case "growth" if not (ask.date and ask.date.is_series):
            return _NOTHING
        case "growth" if not ask.periods[1:]:
            return _growth(ask, _compared(rows), question)
        case "growth":
            two = [(str(row[0]), _float(row[1]), _float(row[2])) for row in rows]
            first, last = sorted((ask.periods[0], ask.periods[-1]), key=lambda one: one.start)
            return _growth(ask, (two, first.label, last.label), question)
        case "difference" if len(ask.periods) >= 2:
            return _change(ask, rows)
        case "difference":
            return _difference(ask, rows)
        case "max" | "min" | "ranking":
            return _ordered(ask, rows)
        case "count":
            count = _float(rows[0][0]) if rows else None
            return _single(ask, count, None, f"{_what(ask)}")
        case "mean" | "median" | "sum":
            return _aggregated(ask, rows)
        case "value":
            return _cells(ask, rows)


def _single(ask: Ask, value: float | None, unit: str | None, what: str) -> ResearchFinding:
    if value is None:
        return _NOTHING
    shown = amount_text(value, unit)
    sentence = f"{shown}: {what}{_scope(ask)}."
    return ResearchFinding(sentence=sentence, value=value, unit=unit)


def _share(ask: Ask, rows: Sequence[Row]) -> ResearchFinding:
    part, whole = (_float(rows[0][0]) or 0.0, _float(rows[0][1])) if rows else (0.0, None)
    if not whole or not (ask.filters or ask.whole):
        return _NOTHING
    value = part / whole * 100
    unit = _unit(ask)
    figures = f"{amount_text(part, unit)} of {amount_text(whole, unit)}"
    sentence = f"{amount_text(value, '%')} ({figures}): share of {_what(ask)}{_scope(ask)}."
    return ResearchFinding(sentence=sentence, value=value, unit="%")


def _compared(rows: Sequence[Row]) -> tuple[list[_Two], str, str]:
    """Of each group its figures of the first and the last year, or month, that are whole."""
    by_name: dict[str, dict[str, float]] = {}
    for name, period, figure in rows:
        if period is not None and (value := _float(figure)) is not None:
            by_name.setdefault(str(name), {})[str(period)] = value
    periods = sorted({period for one in by_name.values() for period in one})
    months = Counter(period[:4] for period in periods)
    full = [year for year, count in months.items() if count == max(months.values())]
    if len(periods) < 2:
        return [], "", ""
    compared = full if len(full) >= 2 else periods
    first, last = compared[0], compared[-1]
    found = [(name, _total(one, first), _total(one, last)) for name, one in by_name.items()]
    return found, _period_text(first), _period_text(last)


def _total(one: Mapping[str, float], start: str) -> float | None:
    figures = [value for period, value in one.items() if period.startswith(start)]
    return sum(figures) if figures else None


def _period_text(text: str) -> str:
    found = values.period(text)
    return found.label if found else text


def _growth(ask: Ask, compared: tuple[list[_Two], str, str], question: str) -> ResearchFinding:
    rows, first, last = compared
    unit = _unit(ask)
    rates = [
        (name, before, after, (after / before - 1) * 100)
        for name, before, after in rows
        if before and after is not None and before > 0
    ]
    if not rates:
        return _NOTHING
    falling = is_falling(question)
    if ask.group is None or len(rates) == 1:
        name, before, after, rate = rates[0]
        verb = "grew" if rate > 0 else "fell" if rate < 0 else "did not change"
        by = f" by {amount_text(abs(rate), '%')}" if rate else ""
        span = (
            f"from {amount_text(before, unit)} in {first} to {amount_text(after, unit)} in {last}"
        )
        sentence = f"{_capital(_what(ask))}{_scope(ask)} {verb}{by}, {span}."
        return ResearchFinding(
            sentence=sentence, value=rate, unit="%", subjects=(name,) if name else ()
        )
    least = ask.is_lowest or any(word in question.lower() for word in ("slowest", "least"))
    rates.sort(key=lambda one: one[3] if falling != least else -one[3])
    best = [one for one in rates if abs(one[3] - rates[0][3]) < TIE]
    shown = [one for one in rates if one[3] < 0] if falling and not least else best
    names = [one[0] for one in (shown or best)]
    name, before, after, rate = (shown or best)[0]
    verb = "fell" if rate < 0 else "grew"
    how = "most" if falling else "least" if least else "fastest"
    span = f"from {amount_text(before, unit)} in {first} to {amount_text(after, unit)} in {last}"
    sentence = f"{_names(names)} {verb} {how}: {_what(ask)}{_scope(ask)} {span} ({rate:+.1f} %)."
    if falling and rate >= 0:
        sentence = f"None fell: {name} grew least, by {amount_text(rate, '%')}."
    elif not falling and not least and rate < 0:
        sentence = f"None grew: {name} fell least, by {amount_text(-rate, '%')}."
    table = [
        [n, amount_text(b, unit), amount_text(a, unit), amount_text(r, "%")]
        for n, b, a, r in rates[:50]
    ]
    figures = _table((ask.group.name, first, last, "change"), table)
    return ResearchFinding(
        sentence=sentence, value=_names(names), figures=figures, subjects=tuple(names)
    )


def _change(ask: Ask, rows: Sequence[Row]) -> ResearchFinding:
    unit = _unit(ask)
    if not rows or (before := _float(rows[0][1])) is None or (after := _float(rows[0][2])) is None:
        return _NOTHING
    value = after - before
    verb = "rose" if value > 0 else "fell" if value < 0 else "did not change"
    points = "percentage points" if unit == "%" else unit
    by = f" by {amount_text(abs(value), points)}" if value else ""
    span = f"from {amount_text(before, unit)} to {amount_text(after, unit)}"
    sentence = f"{_capital(_what(ask))}{_scope(ask)} {verb}{by}, {span}."
    found = ResearchFinding(sentence=sentence, value=value, unit=unit)
    is_mean = aggregate(ask).startswith("avg")
    return _doubted(found, "Means of the rows are compared.") if is_mean else found


def _difference(ask: Ask, rows: Sequence[Row]) -> ResearchFinding:
    found = [(str(row[0]), value) for row in rows if (value := _float(row[1])) is not None]
    if len(found) != 2:
        return _NOTHING
    found.sort(key=lambda pair: -pair[1])
    unit = _unit(ask)
    (more, high), (less, low) = found
    figures = f"{more} {amount_text(high, unit)}, {less} {amount_text(low, unit)}"
    sentence = f"{amount_text(high - low, unit)} more for {more} than for {less} ({figures})."
    return ResearchFinding(sentence=sentence, value=high - low, unit=unit, subjects=(more, less))


def _ordered(ask: Ask, rows: Sequence[Row]) -> ResearchFinding:
    found = [(_label(ask, row[0]), row[1]) for row in rows if row[1] is not None]
    if not found:
        return _NOTHING
    unit = _unit(ask)
    is_date = ask.measure is not None and ask.measure.role == "date"
    shown = [[name, _shown(cell, unit)] for name, cell in found]
    head = ask.group.name if ask.group else (ask.view.label.name if ask.view.label else "")
    figures = _table((head, _what(ask)), shown)
    first = found[0][1]
    best = [name for name, cell in found if cell == first]
    low, high = ("earliest", "latest") if is_date else ("lowest", "highest")
    word = low if ask.is_lowest else high
    if ask.kind == "ranking":
        limit = ask.limit or len(found)
        names = [name for name, _ in found[:limit]]
        listed = "; ".join(f"{name} ({cell})" for name, cell in shown[:limit][:20])
        sentence = f"By {_what(ask)}{_scope(ask)}, {word} first: {listed}."
        return ResearchFinding(
            sentence=sentence, value=", ".join(names), figures=figures, subjects=tuple(names)
        )
    number = _float(first)
    if ask.group is None or (ask.is_figure and number is not None):
        who = f" ({_names(best[:5])})" if best[0] else ""
        sentence = f"{_shown(first, unit)}{who}: the {word} {_what(ask)}{_scope(ask)}."
        return ResearchFinding(
            sentence=sentence, value=number, unit=unit, figures=figures, subjects=tuple(best)
        )
    doubts = [f"{len(best)} have the same {_what(ask)}."] if len(best) > 1 else []
    has_means = any(len(row) > 2 and (_float(row[2]) or 1) > 1 for row in rows)
    if has_means and ask.measure is not None and ask.measure.role == "rate":
        doubts.append(f"{_capital(_what(ask))} can't be added up: means of the rows are compared.")
    has = "have" if len(best) > 1 else "has"
    sentence = f"{_names(best)} {has} the {word} {_what(ask)}{_scope(ask)}: {_shown(first, unit)}."
    return ResearchFinding(
        sentence=sentence, value=_names(best), figures=figures, subjects=tuple(best),
        doubts=tuple(doubts),
    )  # fmt: skip


def _aggregated(ask: Ask, rows: Sequence[Row]) -> ResearchFinding:
    unit = _unit(ask)
    figure = aggregate(ask).partition("(")[0]
    words = {"avg": "average ", "sum": "total ", "median": "median ", "count": "number of "}
    word = words.get(figure, "")
    if rows and len(rows[0]) == 3 and isinstance(rows[0][0], str):
        shown = [[str(row[0]), _shown(row[1], unit)] for row in rows]
        listed = "; ".join(f"{name} {cell}" for name, cell in shown[:12])
        figures = _table((ask.group.name if ask.group else "", f"{word}{_what(ask)}"), shown)
        sentence = f"{_capital(word + _what(ask))}{_scope(ask)}: {listed}."
        return ResearchFinding(sentence=sentence, value=listed, unit=unit, figures=figures)
    value = _float(rows[0][0]) if rows else None
    found = _single(ask, value, unit, f"{word}{_what(ask)}")
    count, filled = (int(_float(cell) or 0) for cell in rows[0][1:3]) if rows else (0, 0)
    if ask.kind == "sum" and figure == "avg" and count > 1:
        return _doubted(
            found, f"{_capital(_what(ask))} can't be added up; this is the mean of the rows."
        )
    if filled < count:
        return _doubted(found, f"{count - filled} of {count} rows have no figure and are left out.")
    return found


def _cells(ask: Ask, rows: Sequence[Row]) -> ResearchFinding:
    given = [row[1] for row in rows if row[1] is not None]
    what = ask.measure or ask.attribute or ask.group
    is_asked = ask.filters or ask.periods or ask.bound
    if not given or not is_asked or what is None or what in [one.field for one in ask.filters]:
        return _NOTHING
    unit = _unit(ask) if what is ask.measure else None
    different = list(dict.fromkeys(_shown(cell, unit) for cell in given))
    if what.column.kind == "number" and len(given) > 1:
        figures = [value for cell in given if (value := _float(cell)) is not None]
        is_rate = what.role == "rate"
        value = sum(figures) / (len(figures) if is_rate else 1)
        found = _single(ask, value, unit, f"{'average' if is_rate else 'total'} {_what(ask)}")
        if is_rate and len(different) > 1:
            return _doubted(found, f"{len(given)} rows fit; this is the mean of their figures.")
        return found
    if what.column.kind == "number":
        return _single(ask, _float(given[0]), unit, _what(ask))
    if len(different) > 20:
        return _NOTHING
    sentence = f"{_names(different)}: {what.name}{_scope(ask)}."
    doubts = (f"{len(different)} rows fit.",) if len(different) > 1 and not ask.bound else ()
    return ResearchFinding(
        sentence=sentence, value=_names(different), subjects=tuple(different), doubts=doubts
    )


def _doubted(found: ResearchFinding, doubt: str) -> ResearchFinding:
    return found.model_copy(update={"doubts": (*found.doubts, doubt)})


def _table(columns: tuple[str, ...], rows: Sequence[Sequence[str]]) -> FigureTable | None:
    return FigureTable(columns=columns, rows=tuple(map(tuple, rows))) if rows else None


def _unit(ask: Ask) -> str | None:
    if ask.measure is None or (ask.is_rate and ask.kind != "share"):
        return "%" if ask.is_rate else None
    return ask.measure.unit


def _what(ask: Ask) -> str:
    if ask.is_rate and ask.measure is not None and ask.whole is not None and ask.kind != "share":
        return f"rate of {ask.measure.name} in {ask.whole.name}".replace("_", " ")
    if ask.measure is not None:
        name = ask.measure.name.replace("_", " ")
        is_mean = ask.is_mean and ask.measure.role != "rate"
        return f"average {name}" if is_mean and ask.kind in _COMPARING else name
    return "rows" if ask.kind in ("count", "share") else "number of rows"


def _scope(ask: Ask) -> str:
    """The rows that were counted, in words."""
    parts = [_filter_text(one) for one in ask.filters]
    parts += [one.label for one in ask.periods] if ask.kind not in ("growth", "difference") else []
    if ask.kind == "difference" and len(ask.periods) >= 2:
        parts.append(f"{ask.periods[0].label} to {ask.periods[-1].label}")
    if ask.bound is not None:
        name = ask.bound.field.name.replace("_", " ")
        parts.append(f"{name} {ask.bound.operator} {amount_text(ask.bound.number)}")
    parts += [values.MONTH_NAMES[month - 1] for month in ask.months]
    return f" ({', '.join(parts)})" if parts else ""


def _filter_text(one: Filter) -> str:
    texts = " or ".join(one.texts[:5]) + (" or others" if len(one.texts) > 5 else "")
    return f"{one.field.name} with “{one.word}”" if one.word else f"{one.field.name} {texts}"


def _named(ask: Ask) -> tuple[str, ...]:
    parts = [text for one in ask.filters for text in ([one.word] if one.word else one.texts)]
    parts += [one.text for one in ask.periods]
    return (" with ".join(parts),) if parts else ()


def _label(ask: Ask, cell: Cell) -> str:
    text = "" if cell is None else str(cell)
    if ask.group is not None and ask.group.role == "date" and ask.grain == "month":
        return Period("month", dt.date.fromisoformat(f"{text}-01")).label
    return text


def _shown(cell: Cell, unit: str | None) -> str:
    number = _float(cell)
    if number is not None:
        return amount_text(number, unit)
    text = str(cell)
    try:
        return values.date_text(dt.date.fromisoformat(text[:10]))
    except ValueError:
        return text


def _float(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
