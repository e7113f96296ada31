"""The SQL of a question: one statement for each line of the grammar. Pure."""

import datetime as dt
from collections.abc import Sequence

from leadhand.tools.sql import quoted_name
from leadhand_teams.research.grammar import Ask, Filter, Grain
from leadhand_teams.research.schema import Field
from leadhand_teams.shared.values import Period

ROW = "row_"
"""The column with a row's number in its file, for citations."""
_FORMATS: dict[Grain, str] = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}


def statement(ask: Ask) -> str:
    """The SQL that answers `ask`."""
    where = _where(ask, ask.filters, ask.periods)
    source = _from(ask)
    figure = aggregate(ask)
    order = "ASC" if ask.is_lowest else "DESC"
    match ask.kind:
        case "share" if ask.whole is not None:
            whole = field_sql(ask.whole)
            return f"SELECT {figure} AS part, sum({whole}) AS whole FROM {source}{where}"
        case "share":
            part, rest = _parts(ask)
            return (
                f"SELECT {figure} FILTER (WHERE {part}) AS part, {figure} AS whole "
                f"FROM {source}{rest}"
            )
        case "growth" | "difference" if len(ask.periods) >= 2:
            return _between(ask, source)
        case "growth" if ask.date:
            return _first_and_last(ask, source, figure)
        case "difference":
            two = next(one for one in ask.filters if len(one.texts) == 2)
            name = field_sql(two.field)
            return f"SELECT {name} AS name, {figure} AS figure FROM {source}{where} GROUP BY 1"
        case "max" | "min" | "ranking":
            return _ordered(ask, source, where, figure, order)
        case "count":
            if ask.group is not None and ask.group.table is not ask.view:
                return f"SELECT count(DISTINCT {_group(ask)}) FROM {source}{where}"
            return f"SELECT count(*) FROM {source}{where}"
        case "mean" | "median" | "sum":
            if ask.is_split and _is_grouped(ask):
                return (
                    f"SELECT {_group(ask)} AS name, {figure} AS figure, count(*) AS n "
                    f"FROM {source}{where} GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 50"
                )
            return f"SELECT {figure}, count(*), count({_counted(ask)}) FROM {source}{where}"
        case "value" | "growth":
            return _cells(ask, source, where)


def rows_statement(ask: Ask) -> str:
    """The SQL for the numbers of the first rows of the asked table that count."""
    where = _where(ask, ask.filters, ask.periods)
    return f"SELECT {_column(ask.view.sql_name, ROW)} FROM {_from(ask)}{where} ORDER BY 1 LIMIT 3"


def aggregate(ask: Ask, condition: str = "") -> str:
    """How the rows of a group, those that meet the condition, become one figure."""
    rows = f" FILTER (WHERE {condition})" if condition else ""
    if ask.measure is None or ask.measure.role == "date":
        return f"count(*){rows}"
    column = field_sql(ask.measure)
    if ask.is_rate and ask.whole is not None and ask.kind != "share":
        whole = field_sql(ask.whole)
        return f"100.0 * sum({column}){rows} / nullif(sum({whole}){rows}, 0)"
    is_mean = ask.is_mean or ask.kind == "mean" or ask.measure.role == "rate"
    function = "median" if ask.kind == "median" else "avg" if is_mean else "sum"
    return f"{function}({column}){rows}"


def _is_grouped(ask: Ask) -> bool:
    return ask.group is not None and ask.group not in [one.field for one in ask.filters]


def _counted(ask: Ask) -> str:
    return field_sql(ask.measure) if ask.measure else "*"


def _ordered(ask: Ask, source: str, where: str, figure: str, order: str) -> str:
    if ask.measure is not None and (ask.group is None or ask.measure.role == "date"):
        name = _group(ask) if ask.group else _label(ask)
        return (
            f"SELECT {name} AS name, {_shown(ask.measure)} AS figure FROM {source}{where} "
            f"ORDER BY 2 {order} NULLS LAST LIMIT 20"
        )
    having = f" HAVING count({_counted(ask)}) > 0" if ask.measure else ""
    return (
        f"SELECT {_group(ask)} AS name, {figure} AS figure, count(*) AS n FROM {source}"
        f"{_and(where, f'{_group(ask)} IS NOT NULL')} GROUP BY 1{having} "
        f"ORDER BY 2 {order} NULLS LAST, 1 LIMIT 50"
    )


def _between(ask: Ask, source: str) -> str:
    first, last = sorted((ask.periods[0], ask.periods[-1]), key=lambda one: one.start)
    name = _group(ask) if _is_grouped(ask) else "''"
    return (
        f"SELECT {name} AS name, {aggregate(ask, _in(ask, [first]))} AS before, "
        f"{aggregate(ask, _in(ask, [last]))} AS after "
        f"FROM {source}{_where(ask, ask.filters, ())} GROUP BY 1 ORDER BY 1 LIMIT 1000"
    )


def _first_and_last(ask: Ask, source: str, figure: str) -> str:
    """Of each group, the figures of all periods; which are compared is decided with them."""
    name = _group(ask) if _is_grouped(ask) else "''"
    date = ask.date
    assert date is not None
    return (
        f"SELECT {name} AS name, strftime({field_sql(date)}, '%Y-%m') AS period, "
        f"{figure} AS figure FROM {source}{_where(ask, ask.filters, ask.periods)} "
        f"GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 20000"
    )


def _cells(ask: Ask, source: str, where: str) -> str:
    what = ask.measure or ask.attribute or ask.group
    wanted = _shown(what) if what else "NULL"
    row = _column(ask.view.sql_name, ROW)
    return (
        f"SELECT {_label(ask)} AS name, {wanted} AS cell FROM {source}{where} "
        f"ORDER BY {row} LIMIT 200"
    )


def _label(ask: Ask) -> str:
    return field_sql(ask.view.label) if ask.view.label else "NULL"


def _parts(ask: Ask) -> tuple[str, str]:
    """The condition of the part, and the WHERE of the whole."""
    part = ask.filters[-1:] if len(ask.filters) > 1 else ask.filters
    part = [one for one in ask.filters if one.field is ask.attribute] or part
    rest = [one for one in ask.filters if one not in part]
    condition = " AND ".join(map(_condition, part)) or "true"
    return condition, _where(ask, rest, ask.periods)


def _where(ask: Ask, filters: Sequence[Filter], periods: Sequence[Period]) -> str:
    found = [_condition(one) for one in filters]
    if periods and ask.date is not None:
        found.append(_in(ask, periods))
    if ask.months and ask.date is not None:
        months = ", ".join(map(str, ask.months))
        found.append(f"month({field_sql(ask.date)}) IN ({months})")
    if ask.bound is not None:
        found.append(f"{field_sql(ask.bound.field)} {ask.bound.operator} {ask.bound.number:g}")
    return f" WHERE {' AND '.join(found)}" if found else ""


def _and(where: str, condition: str) -> str:
    return f"{where} AND {condition}" if where else f" WHERE {condition}"


def _in(ask: Ask, periods: Sequence[Period]) -> str:
    assert ask.date is not None
    column = field_sql(ask.date)
    every = [f"{column} BETWEEN {_day(one.start)} AND {_day(one.end)}" for one in periods]
    return every[0] if len(every) == 1 else f"({' OR '.join(every)})"


def _condition(one: Filter) -> str:
    column = f"{field_sql(one.field)}::VARCHAR"
    if len(one.texts) == 1:
        return f"{column} = {_text(one.texts[0])}"
    return f"{column} IN ({', '.join(map(_text, one.texts))})"


def _group(ask: Ask) -> str:
    assert ask.group is not None
    column = field_sql(ask.group)
    if ask.group.role != "date":
        return column
    if ask.grain == "quarter":
        return f"year({column}) || '-Q' || quarter({column})"
    return f"strftime({column}, '{_FORMATS[ask.grain or 'day']}')"


def _from(ask: Ask) -> str:
    parts = [quoted_name(ask.view.sql_name)]
    for one in ask.joins:
        other = quoted_name(one.one.table.sql_name)
        on = f"{field_sql(one.many)}::VARCHAR = {field_sql(one.one)}::VARCHAR"
        parts.append(f"JOIN {other} ON {on}")
    return " ".join(parts)


def field_sql(one: Field) -> str:
    """A column in SQL."""
    return _column(one.table.sql_name, one.name)


def _shown(one: Field) -> str:
    return f"{field_sql(one)}::VARCHAR" if one.role == "date" else field_sql(one)


def _column(table: str, name: str) -> str:
    return f"{quoted_name(table)}.{quoted_name(name)}"


def _day(value: dt.date) -> str:
    return f"DATE '{value.isoformat()}'"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
