"""The limits that a clause sets: periods, sums of money and percentages in it."""

import re
from dataclasses import dataclass
from typing import Literal

from leadhand_teams.contracts.wording import wording
from leadhand_teams.shared import values

Kind = Literal["period", "money", "percent"]

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_OTHERS = {"a": 1, "an": 1, "thirty": 30, "forty-five": 45, "sixty": 60, "ninety": 90}
_NUMBERS = {word: number for number, word in enumerate(_WORDS.split())} | _OTHERS
_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.4, "quarter": 91.3, "year": 365.25}
_PERIOD = re.compile(
    rf"\b(?P<number>\d+(?:\.\d+)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
    r"(?:\s*\(\s*(?P<digits>\d+(?:\.\d+)?)\s*\))?[\s-]+"
    r"(?:(?:calendar|business|working|full|successive|consecutive|additional)[\s-]+)*"
    r"(?P<unit>hour|day|week|month|quarter|year)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Limit:
    """A quantity in a clause."""

    kind: Kind
    value: float
    """Days, units of the currency, or per cent."""
    text: str
    start: int
    """Where it is in the clause."""
    is_most: bool | None
    """Whether it is the most or the least; `None` if the words before it do not say."""


def limits(clause: str) -> tuple[Limit, ...]:
    """The quantities of a clause: periods, then money and percentages. "Sixty (60) days" is one."""
    found: list[Limit] = []
    for match in _PERIOD.finditer(clause):
        word = match["digits"] or match["number"].lower()
        number = float(_NUMBERS[word]) if word in _NUMBERS else float(word)
        unit = match["unit"].lower()
        text = f"{number:g} {unit}{'' if number == 1 else 's'}"
        found.append(_limit(clause, "period", number * _DAYS[unit], text, match.start()))
    for one in values.amounts(clause):
        if one.unit:
            kind = "percent" if one.unit == "%" else "money"
            found.append(_limit(clause, kind, one.value, " ".join(one.text.split()), one.start))
    return tuple(found)


def _limit(clause: str, kind: Kind, value: float, text: str, start: int) -> Limit:
    before = clause[max(0, start - 80) : start]
    least = False if wording("at_least").search(before) else None
    return Limit(kind, value, text, start, True if wording("at_most").search(before) else least)


def nearest(clause: str, cue: re.Pattern[str]) -> Limit | None:
    """The period that stands nearest to a cue; `None` if the clause has none or no cue."""
    cues = [match.start() for match in cue.finditer(clause)]
    found = [limit for limit in limits(clause) if limit.kind == "period" and cues]
    return min(found, key=lambda one: min(abs(one.start - at) for at in cues), default=None)


def tightened(before: str, after: str, *, more_is_looser: bool) -> tuple[int, str]:
    """Whether limits of a clause bind more (above 0) or less (below 0), and which changed.

    The most that is allowed binds more if it falls, other limits if they rise, unless
    `more_is_looser`. Limits of one kind are compared if there are as many as before.
    """
    direction, words = 0, list[str]()
    for kind in ("period", "money", "percent"):
        was = [limit for limit in limits(before) if limit.kind == kind]
        now = [limit for limit in limits(after) if limit.kind == kind]
        for one, other in zip(was, now, strict=True) if len(was) == len(now) else ():
            if one.value != other.value:
                falls = more_is_looser if other.is_most is None else other.is_most
                direction += -1 if (other.value > one.value) == falls else 1
                words.append(f"{one.text} became {other.text}")
    return direction, "; ".join(words)
