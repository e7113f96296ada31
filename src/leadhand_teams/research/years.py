"""Adds the year to the months and quarters of a question that lack it. Pure."""

import datetime as dt
import re
from collections.abc import Iterable
from typing import Final

from leadhand_teams.research import grammar
from leadhand_teams.research.words import listed
from leadhand_teams.shared import values

_NO_YEAR: Final = re.compile(
    rf"\b(?:Q[1-4]|(?:first|second|third|fourth) (?:quarter|half)|"
    rf"{'|'.join(map(str.capitalize, values.MONTHS))})\b(?!\.?,? ?(?:of |in )?\d)"
)
_MONTHS_OF: Final = re.compile(
    rf"(?:\bin )?\b(?:the )?(first|last) ({grammar.pattern('count')}) months of ((?:19|20)\d\d)\b"
)


def with_years(question: str, names: set[str], dates: Iterable[Iterable[dt.date | None]]) -> str:
    """`question` with the year of its months and quarters, if it or the dates have only one.

    `names` are of columns and values: `Q2` as one of them is no period.
    """
    question = _MONTHS_OF.sub(_spelled, question)
    found = values.periods(question)
    years = {one.start.year for one in found}
    years = years or {day.year for column in dates for day in column if day}
    bare = {one[0] for one in _NO_YEAR.finditer(question)} - names
    if len(years) == 1 and bare:
        year = min(years)
        if all(one.kind == "year" for one in found):
            question = re.sub(rf"(?:\b(?:in|of|during) )?\b{year}\b", "", question)
        question = _NO_YEAR.sub(
            lambda one: f"{one[0]} {year}" if one[0] in bare else one[0], question
        )
    for one in values.periods(question):
        if one.kind in ("quarter", "half"):  # "first" also asks for the earliest
            n = one.start.month // (3 if one.kind == "quarter" else 6) + 1
            question = question.replace(one.text, f"{one.kind[0].upper()}{n} {one.start.year}")
    return question


def count(word: str) -> int:
    """The number that `word` is: `3` or `three`."""
    return int(word) if word.isdigit() else listed("numbers").index(word.lower()) + 2


def _spelled(found: re.Match[str]) -> str:
    """`from October 2025 to December 2025`, for the last three months of it."""
    months = count(found[2])
    if not 1 <= months <= 12:
        return found[0]
    first = 1 if found[1] == "first" else 13 - months
    names = [values.MONTH_NAMES[n - 1] for n in (first, first + months - 1)]
    return f"from {names[0]} {found[3]} to {names[1]} {found[3]}"
