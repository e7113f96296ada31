"""Finds the clauses of a contract by the categories of `categories.yaml`, and what each sets."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from leadhand_teams.contracts.documents import Contract, ContractPassage
from leadhand_teams.contracts.output import Clause
from leadhand_teams.contracts.recognition import Cues, Recogniser, log_odds, matched
from leadhand_teams.contracts.wording import table, wording
from leadhand_teams.shared import values

TermKind = Literal["law", "party", "date", "end", "money", "percent", "period"]
MAX_QUOTES = 12
MAX_WORDED = 3
FRONT = 4000
"""The characters at the beginning that parties and dates are read from."""


class Category(BaseModel):
    """A row of `categories.yaml`, which explains the fields, with its trained weights."""

    model_config = ConfigDict(frozen=True)

    cues: tuple[re.Pattern[str], ...] = ()
    value: TermKind | None = None
    near: str = ""
    asked: str = "(?!)"
    in_front: int = 0
    weights: Recogniser | None = None


@cache
def categories() -> Mapping[str, Category]:
    """All categories that can be found, by name."""
    trained = table(Recogniser, "weights/clauses.json")
    rows = table(Category, "categories.yaml").items()
    return {name: one.model_copy(update={"weights": trained.get(name)}) for name, one in rows}


def asked(request: str) -> tuple[str, ...]:
    """The categories that a request names."""
    return tuple(
        name
        for name, one in categories().items()
        if name.lower() in request.lower() or re.search(one.asked, request, re.IGNORECASE)
    )


@lru_cache(maxsize=4096)
def clause(contract: Contract, name: str, words: Cues | None = None) -> Clause:
    """The clause of a category, present or not, with its quotes and its value.

    With `words`, passages that match one of these, or the first cue, count if there is no other.
    """
    category = categories()[name]
    chosen = _chosen(contract, category)
    if not chosen and words is not None:
        cues = words or category.cues[:1]
        chosen = [one for one in contract.passages if matched(one, cues)][:MAX_WORDED]
    found = terms(category.value, category.near, [one.text for one in chosen])
    return Clause(
        contract=contract.text.name,
        category=name,
        present=bool(chosen),
        quotes=tuple(chosen),
        answer="; ".join(found) or "Yes" if chosen else None,
    )


def _chosen(contract: Contract, category: Category) -> list[ContractPassage]:
    weights, cues, every = category.weights, category.cues, contract.passages
    if category.in_front:
        front = (one for one in every if one.start < FRONT and (not cues or matched(one, cues)))
        set_here = [one for one in front if terms(category.value, "", [one.text])]
        return set_here[: category.in_front]
    if weights is None:
        return [one for one in every if matched(one, cues[:1])][:MAX_QUOTES]
    scores = [log_odds(one, weights, cues) for one in every]
    ranked = sorted(range(len(every)), key=lambda index: -scores[index])
    if not ranked or scores[ranked[0]] < weights.present:
        return []
    above = [index for index in ranked if scores[index] >= weights.quote][:MAX_QUOTES]
    return [every[index] for index in sorted(above or ranked[:1])]


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
    """Name the periods, in days, and the sums and percentages of a clause.

    Args:
        clause: The clause, word for word; "sixty (60) days" is one period.
    """
    found: list[Limit] = []
    counts = table(float, "quantities.yaml")
    for match in wording("period").finditer(clause):
        unit, word = match["unit"].lower(), (match["word"] or "").lower()
        number = float(match["digits"] or match["number"] or counts[word])
        text = f"{number:g} {unit}{'' if number == 1 else 's'}"
        found.append(Limit("period", number * counts[unit], text, match.start()))
    for one in values.amounts(clause):
        if one.unit:
            kind = "percent" if one.unit == "%" else "money"
            found.append(Limit(kind, one.value, " ".join(one.text.split()), one.start))
    return found


def limits_of(kind: TermKind | None, near: str, clause: str) -> list[Limit]:
    """The limits of a kind; with `near`, the period that is nearest to these words."""
    if not near:
        return [one for one in limits(clause) if one.kind == kind]
    cues = [match.start() for match in re.finditer(near, clause, re.IGNORECASE)]
    found = [one for one in limits(clause) if one.kind == "period" and cues]
    return sorted(found, key=lambda one: min(abs(one.start - at) for at in cues))[:1]


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
