"""What a clause sets: the limits, laws, parties and dates in its words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import TypeAdapter

from leadhand_teams.contracts.wording import packaged, wording
from leadhand_teams.shared import values

SLACK = 0.02
"""Twelve months are one year."""
TermKind = Literal["law", "party", "date", "end", "money", "percent", "period"]


@dataclass(frozen=True)
class Limit:
    """A quantity in a clause."""

    kind: Literal["period", "money", "percent"]
    value: float
    """Days, units of the currency, or per cent."""
    text: str
    start: int
    """Where it is in the clause."""


def limits(clause: str) -> list[Limit]:
    """The quantities of a clause: periods, then money and percentages. "Sixty (60) days" is one."""
    found: list[Limit] = []
    for match in wording("period").finditer(clause):
        unit, word = match["unit"].lower(), (match["word"] or "").lower()
        number = float(match["digits"] or match["number"] or _quantities()[word])
        text = f"{number:g} {unit}{'' if number == 1 else 's'}"
        found.append(Limit("period", number * _quantities()[unit], text, match.start()))
    for one in values.amounts(clause):
        if one.unit:
            kind = "percent" if one.unit == "%" else "money"
            found.append(Limit(kind, one.value, " ".join(one.text.split()), one.start))
    return found


@cache
def _quantities() -> Mapping[str, float]:
    return TypeAdapter(dict[str, float]).validate_python(packaged("quantities.yaml"))


def limits_of(kind: TermKind | None, near: str, clause: str) -> list[Limit]:
    """The limits of a kind; with `near`, the period that is nearest to these words."""
    if not near:
        return [one for one in limits(clause) if one.kind == kind]
    cues = [match.start() for match in re.finditer(near, clause, re.IGNORECASE)]
    found = [one for one in limits(clause) if one.kind == "period" and cues]
    return sorted(found, key=lambda one: min(abs(one.start - at) for at in cues))[:1]


def outside(found: Sequence[Limit], most: str | None, least: str | None) -> tuple[bool | None, str]:
    """Whether one of some limits exceeds `most` or falls short of `least`, and which.

    None if there is none of the same kind.
    """
    is_outside: bool | None = None
    for bound, sign, word in ((most, 1, "at most"), (least, -1, "at least")):
        for allowed in limits(bound or "")[:1]:
            for one in found:
                if one.kind == allowed.kind:
                    is_outside = False
                    if sign * one.value > sign * allowed.value * (1 + sign * SLACK):
                        return True, f"{one.text}, {word} {bound} allowed"
    return is_outside, ""


def compared_with(clause: str, most: str = "", least: str = "") -> str:
    """Say whether the limits of a clause are at most `most` and at least `least`.

    Args:
        clause: The clause, word for word.
        most: A period, a sum or a percentage, such as 60 days; empty if there is none.
        least: The same.
    """
    is_outside, why = outside(limits(clause), most, least)
    return why or ("it has no limit of that kind" if is_outside is None else "it is within them")


def terms(kind: TermKind | None, near: str, quotes: Sequence[str]) -> list[str]:
    """What the quotes of a clause set, each in as few words as it takes."""
    dates = [(one, date) for one in quotes for date in values.dates(one)]
    limited = [limit.text for one in quotes for limit in limits_of(kind, near, one)]
    match kind:
        case "law":
            found = [name for one in quotes for name in jurisdictions(one)]
        case "party":
            found = [name for one in quotes for name in _parties(one)]
        case "date":
            found = [date.value.isoformat() for _, date in dates[:1]]
        case "end" if any(wording("perpetual").search(one) for one in quotes):
            found = ["perpetual"]
        case "end":
            ends = [date for one, date in dates if wording("ends").search(one[: date.start])]
            found = [date.value.isoformat() for date in ends[-1:]]
            found = found or [f"a term of {text}" for text in limited[:1]]
        case _:
            found = limited[:3]
    return list(dict.fromkeys(found))


def _parties(text: str) -> list[str]:
    return [
        " ".join(f'{match["name"].strip(" ,")} ("{match["short"].strip(" ,")}")'.split())
        for match in wording("party").finditer(text)
        if not wording("no_party").match(match["name"])
        and not wording("no_short_name").match(match["short"].strip(" ,"))
    ]


def jurisdictions(clause: str) -> tuple[str, ...]:
    """The states or countries whose law a clause chooses, in its order; empty if it names none.

    Names behind the first mention of courts, venue or arbitration are not the law's.

    Args:
        clause: The clause, word for word.
    """
    law = wording("law").search(clause)
    text = clause[law.start() :] if law else clause
    venue = wording("venue").search(text)
    for part in (text[: venue.start()] if venue else text, clause):
        for which in ("place", "union", "other_place"):
            if names := [_name(one) for one in wording(which).finditer(part)]:
                return tuple(dict.fromkeys(names if which == "place" else names[:1]))
    return ()


def _name(place: re.Match[str]) -> str:
    plain = " ".join((place.groupdict().get("name") or place[0]).split())
    if plain.isupper() or plain.islower():
        plain = plain.title().replace(" Of ", " of ").replace("’S", "’s").replace("'S", "'s")
    return plain.removesuffix(" of America")
