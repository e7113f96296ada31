"""The days and periods that a question names, and the rows of a table that are of them. Pure."""

import datetime as dt
from collections import Counter
from collections.abc import Container, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from leadhand_teams.research.grammar import asks, compiled
from leadhand_teams.research.words import listed
from leadhand_teams.shared import values
from leadhand_teams.shared.values import NO_YEAR, Period

_SINCE: Final = {"since": ">= DATE '{0.first}'", "after": "> DATE '{0.last}'",
                 "before": "< DATE '{0.first}'", "until": "<= DATE '{0.last}'"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A day, a period, or several that follow each other."""

    first: dt.date
    """Of the year `NO_YEAR` if that is unknown."""
    last: dt.date
    label: str
    start: int = 0
    end: int = 0
    """Where its words are in the question."""

    @property
    def is_within_year(self) -> bool:
        """Whether it is less than a year."""
        return (self.last - self.first).days < 364

    def holds(self, day: dt.date) -> bool:
        """Whether it has this day."""
        if self.first.year == NO_YEAR:
            return self.first.month <= day.month <= self.last.month
        return self.first <= day <= self.last

    def sql(self, date: str) -> str:
        """The rows with such a date."""
        if self.first.year == NO_YEAR:
            return f"month({date}) BETWEEN {self.first.month} AND {self.last.month}"
        return f"{date} BETWEEN DATE '{self.first}' AND DATE '{self.last}'"


def spans(question: str, names: Container[str], years: set[int]) -> tuple[list[NamedTime], str]:
    """Those of a question, the earliest first, and the question with blanks in their place.

    What has no year is of the one that the question names, else of `years` if there is only one.
    `names` are of columns and values: `Q2` as one of them is no period.
    """
    found = [
        NamedTime(one.value, one.value, values.date_text(one.value), one.start, one.end)
        for one in values.dates(question)
    ]
    for match in compiled("<months_of>").finditer(question):
        months = count(match["count"])
        if 1 <= months <= 12:
            n = 1 if match["which"].lower() == "first" else 13 - months
            ends = (dt.date(int(match["year"]), month, 1) for month in (n, n + months - 1))
            both = joined([_span(Period("month", day)) for day in ends])
            found.append(replace(both, start=match.start(), end=match.end()))
    masked = question
    for one in found:
        masked = blanked(masked, one.start, one.end)
    named = values.periods(masked, bare=True)
    named = [one for one in named if one.start.year != NO_YEAR or one.text not in names]
    known = {one.start.year for one in named} - {NO_YEAR} or years
    is_one = len(known) == 1 and any(one.start.year == NO_YEAR for one in named)
    for one in named:
        at = masked.index(one.text)
        masked = blanked(masked, at, at + len(one.text))
        if not is_one:
            found.append(_span(one, at))
        elif one.kind != "year":  # a year alone is that of the others
            found.append(_span(replace(one, start=one.start.replace(year=min(known))), at))
    return sorted(found, key=lambda one: one.first), masked


def in_years(question: str, years: Set[int], *, now: bool) -> tuple[str, dict[str, str]]:
    """A question with years for `this year` and `last season`, and as what these were read.

    This year is the one that the question names, else the newest of `years`. Without this year no
    other is known: the newest may be the last one. With `now`, that word is the newest year too.
    """
    if now and years and (found := compiled("<now>").search(question)):
        year = str(max(years))
        return f"{question[: found.start()]}in {year}{question[found.end() :]}", {found[0]: year}
    named = {one.start.year for one in values.periods(question)}
    found = [*compiled("<this_year>").finditer(question)]
    read: dict[str, str] = {}
    if not (named or (years and any(one["before"] is None for one in found))):
        return question, read
    for one in found:
        if one["before"] or not named:
            read[one[0]] = str(max(named or years) - (one["before"] is not None))
            question = question.replace(one[0], read[one[0]])
    return question, read


def count(word: str) -> int:
    """The number that `word` is: `3` or `three`."""
    return int(word) if word.isdigit() else listed("numbers").index(word.lower()) + 2


def blanked(text: str, start: int, end: int) -> str:
    """`text` with blanks instead of a part."""
    return f"{text[:start]}{' ' * (end - start)}{text[end:]}"


def joined(found: Sequence[NamedTime]) -> NamedTime:
    """From the first of them to the last."""
    label = f"{found[0].label} to {found[-1].label}"
    return replace(found[0], last=found[-1].last, label=label)


def condition(question: str, found: Sequence[NamedTime], date: str) -> tuple[str, str]:
    """The rows of a question's spans, as SQL and in words."""
    if len(found) == 2 and asks(question, "from|between"):
        found = [joined(found)]
    if len(found) > 1:
        parts = " OR ".join(one.sql(date) for one in found)
        return f"({parts})", " or ".join(one.label for one in found)
    before = (question[: found[0].start].lower().split() or [""])[-1]
    if before not in _SINCE:
        return found[0].sql(date), found[0].label
    return f"{date} {_SINCE[before].format(found[0])}", f"{before} {found[0].label}"


def ends(dates: Iterable[dt.date | None], *, years: bool) -> list[NamedTime]:
    """The first and the last year that have all months, if `years`, else the months."""
    months = sorted({day.replace(day=1) for day in dates if day})
    counts = Counter(day.year for day in months)
    whole = [year for year, n in counts.items() if n == max(counts.values())]
    if len(whole) > 1 and years:
        return [_span(Period("year", dt.date(year, 1, 1))) for year in (whole[0], whole[-1])]
    return [_span(Period("month", day)) for day in (months[0], months[-1])] if months[1:] else []


def year_of(year: int, at: NamedTime | None = None) -> NamedTime:
    """A year, at the place of another time."""
    found = _span(Period("year", dt.date(year, 1, 1)))
    return replace(found, start=at.start, end=at.end) if at else found


def _span(one: Period, at: int = 0) -> NamedTime:
    return NamedTime(one.start, one.end, one.label, at, at + len(one.text))
