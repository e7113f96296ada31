"""What sources state of each competitor, as records with their places. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from leadhand_teams.shared.values import amounts

OFFER: Final = "offer"
"""The attribute of a description in words."""
_ADDRESS: Final = re.compile(r"https?://\S+|\b[\w.-]+@[\w.-]+")
_WORDS: Final = "zero - two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {word: str(n) for n, word in enumerate(re.findall(r"\S+", _WORDS))}
_WORD: Final = re.compile(rf"\b({'|'.join(re.findall(r'[a-z]+', _WORDS))})\b", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r"(?:[ -]?(?P<unit>[kmgt]i?b\b))?(?:[\s/-]*(?P<noun>[^\W\d_]+))?", re.IGNORECASE
)
"""What stands behind a number."""


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """What one source states of a competitor, or of one of its items."""

    competitor: str
    item: str
    """The plan, model or product; empty: the competitor as a whole."""
    date: str | None
    """ISO 8601, of the snapshot or page."""
    values: Mapping[str, str]
    """Attribute to value, as written."""
    refs: Mapping[str, str]
    """The place of each value."""
    name: str = ""
    """The competitor as the source spells it."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is about."""
        return self.competitor, self.item

    @property
    def ref(self) -> str:
        """Where it begins."""
        return next(iter(self.refs.values()))


def merged(records: Iterable[SourceRecord]) -> dict[tuple[str, str], SourceRecord]:
    """One record for each competitor and item, with the values of all its lines."""
    found: dict[tuple[str, str], SourceRecord] = {}
    for one in records:
        if first := found.get(one.key):
            values = {**first.values, **one.values, **first.values}
            refs = {**first.refs, **one.refs, **first.refs}
            one = replace(first, values=values, refs=refs)
        found[one.key] = one
    return found


class Quantity(NamedTuple):
    """A number in a text: `unit` is a currency, `%`, `gb` or empty, `noun` the word after it."""

    value: float
    unit: str
    noun: str

    def __str__(self) -> str:
        return " ".join(filter(None, (f"{self.value:,.10g}", self.unit.upper(), self.noun)))


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text in their order, without those of addresses; `ten` is 10."""
    text = _WORD.sub(lambda word: _NUMBERS[word[1].lower()], _ADDRESS.sub(" ", text))
    found: list[Quantity] = []
    for one in amounts(text, "."):
        if after := _COUNTED.match(text, one.end):
            unit = (after["unit"] or one.unit or "").lower()
            found.append(Quantity(one.value, unit, (after["noun"] or "").lower()))
    return found
