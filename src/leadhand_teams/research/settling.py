"""What the parts of a question mean together: the measure that is not named, the function. Pure."""

import datetime as dt
from collections.abc import Iterable, Sequence
from itertools import pairwise

from leadhand_teams.research import grammar
from leadhand_teams.research.asking import Ask, RowFilter
from leadhand_teams.research.grammar import asks, compiled
from leadhand_teams.research.schema import Field
from leadhand_teams.research.times import NamedTime, condition, ends, year_of
from leadhand_teams.research.words import Word, stems_of
from leadhand_teams.shared import values


def read_times(
    ask: Ask,
    question: str,
    words: Sequence[Word],
    named: Sequence[NamedTime],
    dates: Sequence[Field],
) -> Iterable[int]:
    """The rows of the times that are named, and which words are weekdays of theirs."""
    if not named:
        ask.unknown += [one[0] for one in compiled("<relative>").finditer(question)]
    ask.date = next(iter(dates), None)
    if ask.date is None:
        fields = (one.name for view in ask.tables for one in view.fields)
        titles = f"{ask.view.source.name} {' '.join(fields)}"
        ask.unknown += [one.label for one in named if one.label not in titles]
        return ()
    days = [day for day in ask.date.column.dates if day]
    if ask.date.is_of_years:
        ask.unknown += [one.label for one in named if one.is_within_year]
    ask.is_outside = not all(any(map(one.holds, days)) for one in named)
    ask.explained += bool(named)
    if len(named) > 1 and asks(question, "growth", "difference"):
        ask.compared = (named[0], named[-1])
    elif named and (newest := _newest_after(question, named[0], days)):
        ask.compared = (named[0], newest)
        ask.doubts.append(f"It is compared with {newest.label}, the newest year.")
    elif named:
        ask.when.append(RowFilter(*condition(question, named, ask.date.sql)))
    weekdays = [n for n, word in enumerate(words) if word.stem in stems_of("weekdays")]
    if not weekdays or not ask.date.is_series:
        return ()
    texts = dict.fromkeys(words[n].text.removesuffix("s").title() for n in weekdays)
    sql = f"dayname({ask.date.sql}) IN ({', '.join(repr(text) for text in texts)})"
    ask.when.append(RowFilter(sql, " or ".join(texts)))
    return weekdays


def _newest_after(question: str, named: NamedTime, days: Sequence[dt.date]) -> NamedTime | None:
    """The newest year, if the one that is named is only what it is compared with."""
    newest = max(day.year for day in days)
    before = question[: named.start].rstrip()[-20:]
    is_year = named == year_of(named.first.year, named) and named.first.year < newest
    is_against = is_year and asks(before, "(?:against|versus|vs|with|to|than)$")
    return year_of(newest) if is_against and asks(question, "growth", "difference") else None


def settle(ask: Ask, question: str, words: Sequence[Word]) -> None:
    """What the parts mean together."""
    asked = grammar.function_of(question)
    ask.is_lowest = asks(question, "<least>") and not asks(question, "<most>")
    rows = [word.text for word in words if ask.view.is_rows(word.stem)]
    ask.rows_name = next((one.lower() for one in rows if one.lower().endswith("s")), "")
    ask.is_of_rows = ask.is_of_rows or bool(rows)
    if ask.measure and (nested := compiled("<nested>").search(question)):
        ask.unknown.append(nested[1])  # the fee of the heaviest: two questions in one
    pair = next((one for one in ask.named if one.count == 2), None)
    if pair and ask.group is None:
        ask.group = pair.field
    named = [one.field for one in ask.named]
    ask.group = ask.group or (ask.cell if asks(question, "who|whose|whom") else None)
    is_who = asks(question, "who|where")
    is_listed = not asks(question, "who") or ask.group is ask.view.label
    found = (ask.cell, ask.group if is_listed else None)[:: 1 if is_who else -1]
    ask.cell = next((one for one in found if one and one not in named), None)
    is_growth = asks(question, "growth") and asked != "count_of"
    is_ranked = asks(question, "extreme", "ranking")
    if ask.group is None and is_ranked and ask.cell and ask.cell.role == "group":
        ask.group = ask.cell
    is_wide = ask.view.size < len(ask.view.source)
    if ask.group is None and is_wide and is_ranked and ask.view.label not in named:
        ask.group = ask.view.label
        ask.explained += is_growth  # "what went up most" names no more
    ask.split = ask.split and ask.group not in named
    if is_growth and not ask.compared and ask.date and ask.date.is_series:
        found_ends = ends(ask.date.column.dates, years=not ask.when)
        ask.compared = (found_ends[0], found_ends[-1]) if found_ends else None
    if asked == "count_of":
        _count(ask, words)
    elif ask.measure is None or ask.fit < 0.5:
        _default_measure(ask, question, asked, words)
    measure = ask.measure
    if measure is None:
        ask.function = "count"
        if ask.group is ask.view.label and asks(question, "extreme"):
            ask.group = None  # each has one row
        if ask.group and asks(question, "extreme") and not ask.is_of_rows:
            ask.doubts.append("No column was named; rows were counted.")
    elif measure.role == "date" or (ask.group is None and asks(question, "extreme")):
        ask.function = "min" if ask.is_lowest else "max"
    elif asked == "median" and "median" not in measure.name.lower():
        ask.function = "median"
    else:  # Rates, medians and percentages are never added up.
        is_cell = not asked and not asks(question, "extreme") and asks(measure.name, "of_each")
        is_sum = asked == "sum" and measure.is_money and (ask.is_guessed or asks(question, "added"))
        is_each = is_cell or (measure.role == "rate" and not is_sum)
        ask.function = "avg" if asked == "avg" or is_each else "sum"
    _place_bounds(ask, question, asked)


def fits(ask: Ask, question: str, words: Sequence[Word]) -> bool:
    """Whether the figure is of the kind that is asked for: rows are no money, and no growth."""
    if ask.intent is None:
        return False
    if (
        ask.intent.name == "growth"
        and not ask.group
        and asks(question, "most|least|fastest|slowest")
    ):
        return False
    is_dimension = asks(question, "dimensional", "<dimensions>|slowest|fastest")
    if is_dimension and ask.intent.name != "growth" and not ask.fit:
        return ask.measure is not None and ask.measure.role == "date"
    is_paid = asks(question, "<spending>") and grammar.function_of(question) != "count_of"
    if is_paid and ask.measure and ask.measure.role != "date" and not ask.measure.is_money:
        if not ask.view.stems >= {*ask.measure.stems}:
            return False
        ask.doubts.append(f"{ask.measure.name} is not known to be money.")
    if ask.group and not ask.split and ask.intent.gives == "number" and asks(question, "^which"):
        return ask.intent.name == "extreme"
    is_date = ask.intent.name == "cell" and ask.cell and ask.cell.role == "date"
    if is_date and not asks(
        question, "when|since|until|how long", r"\w* ?(?:date|day|month|year)s?"
    ):
        return False
    if ask.intent.gives == "names" and any(
        one.field is ask.name and one.count == 1 for one in ask.named
    ):
        return False  # of one there is no highest
    if ask.intent.gives == "number" and asks(question, r"^(?:and )?(?:who|where|when)"):
        return ask.intent.name == "extreme" or bool(ask.measure and ask.measure.role == "date")
    if ask.measure or grammar.function_of(question) == "count_of":
        return True
    if asks(question, "paying") or any(word.stem in stems_of("money") for word in words):
        return ask.intent.name == "cell" and asks(question, "who|which|when|where")
    if ask.intent.name == "cell":
        return not asks(question, "how (?:much|many|often)", "sum", "avg", "share")
    return ask.is_of_rows or ask.intent.name not in ("growth", "difference")


def _count(ask: Ask, words: Sequence[Word]) -> None:
    if ask.measure and ask.measure.unit in values.CURRENCIES.values() and not ask.bounds:
        ask.measure = None  # Money is not counted, its rows are.
    if ask.measure is None and ask.named:
        # "How many chairs": pieces are counted where the table has them, not its rows.
        is_rows = any(w.stem in ask.view.stems and not w.is_doing for w in words)
        pieces = [one for one in ask.view.fields if one.role == "measure"]
        pieces = [one for one in pieces if stems_of("units") & set(one.stems)]
        ask.measure = pieces[0] if pieces and not is_rows else None


def _default_measure(ask: Ask, question: str, asked: str | None, words: Sequence[Word]) -> None:
    """The measure of a question that names none."""
    fields = ask.view.fields
    is_growth, is_paid = asks(question, "growth"), asks(question, "paying")
    in_money = {w.text for w in words if w.stem in stems_of("money") and not w.is_light}
    in_money -= {w.text for w in words if w.is_name}
    is_paid = is_paid or bool(in_money)
    asked = asked or ("sum" if in_money else None)
    found = [one for one in fields if one.role == "measure" and not one.is_trait]
    money = [one for one in fields if one.is_money and (one in found or is_paid)]
    money.sort(key=lambda one: one.role)
    if is_paid and not money:
        own = ask.view.stems - stems_of("units")
        found = [one for one in found if own >= {*one.stems}]
    is_most = asks(question, "most|fewest|many") and not is_growth and not is_paid
    if ask.measure is None and asks(question, "oldest|newest|youngest|latest|earliest|first"):
        ask.measure = next((one for one in fields if one.role == "date"), None)
        if ask.measure:
            ask.doubts.append(f"No column was named; {ask.measure.name} was taken.")
    elif ask.measure and is_paid and money and ask.measure not in money:
        ask.measure = None  # "pay in a week" names no column of weeks
    is_of_units = asks(question, "how many <units_of>") and not asks(question, "how many <percent>")
    is_listed = asks(question, "who|which|where|when") and not asks(question, "extreme", "growth")
    is_listed = is_listed and grammar.function_of(question) is None
    is_other = ask.cell and not is_paid and not ask.group and asked  # the sum of another column
    if ask.measure or is_other or is_of_units or is_listed or (is_most and ask.is_of_rows):
        return
    is_ranked = ask.group or ask.cell is ask.view.label or ask.is_of_rows
    is_extreme = is_ranked and asks(question, "extreme") and not is_most
    is_whole = asks(question, "share") and asks(question, "whole") and not ask.is_of_rows
    is_read = ask.view.size < len(ask.view.source) and ask.named  # the figures of years
    is_only = len(found) == 1 and money in ([], found)
    is_only = is_only and bool(asked or is_most or is_whole or is_read)
    if (is_growth or is_extreme or (is_paid and asked) or is_only) and (money or found):
        ask.measure = (money or found)[0]
        ask.is_guessed = not is_only
        if ask.measure.is_money:
            ask.missing = [word for word in ask.missing if word not in in_money]
            # "bar revenue" is not all revenue
            pairs = pairwise([word.text for word in words])
            ask.unknown += [one for one, two in pairs if one in ask.missing and two in in_money]
        ask.doubts.append(f"No column was named; {ask.measure.name} was taken.")


def _place_bounds(ask: Ask, question: str, asked: str | None) -> None:
    """A bound is of the groups if they are asked for, else of the rows."""
    pair = ask.two or ask.compared or any(one.count > 1 for one in ask.named)
    if not ask.bounds and not pair and (more := compiled("<more> than").search(question)):
        ask.unknown.append(more[0])  # figures of two columns are not compared
    if not ask.bounds:
        return
    sign, words = ask.bounds[0]
    unit = next(values.amounts(words)).unit
    of_unit = [one for one in ask.view.fields if one.is_figure and one.unit == unit]
    measure = ask.measure or (of_unit[0] if len(of_unit) == 1 else None)
    if measure is None or ask.bounds[1:]:
        ask.unknown += [words for _, words in ask.bounds]
    elif ask.group is None or asked:
        ask.named.append(RowFilter(f"{measure.sql} {sign}", f"{measure.name} {words}"))
        if asked == "count_of":
            ask.measure, ask.function = None, "count"
    else:
        ask.measure = measure
