"""What sources state of each competitor, as records with their places. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

OFFER: Final = "offer"
"""The attribute of a description in words."""
_ADDRESS: Final = re.compile(r"https?://\S+|\b[\w.-]+@[\w.-]+")
_WORDS: Final = "zero - two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {word: str(n) for n, word in enumerate(re.findall(r"\S+", _WORDS))}
_WORD: Final = re.compile(rf"\b({'|'.join(re.findall(r'[a-z]+', _WORDS))})\b", re.IGNORECASE)
_QUANTITY: Final = re.compile(
    r"(?<![\w.,])(?P<money>[$€£])?\s?"
    r"(?P<number>\d{1,3}(?:[,\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?!\d)"
    r"(?:[ -]?(?P<scale>k|m|hundred|thousand|million|billion)\b)?"
    r"(?:[ -]?(?P<unit>%|[kmgt]i?b\b))?(?:[\s/-]*(?P<noun>[^\W\d_]+))?",
    re.IGNORECASE,
)
_SCALES: Final = {
    "hundred": 1e2, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9,
}  # fmt: skip


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
    """A number in a text: `unit` is `$`, `%`, `gb` or empty, `noun` the word after it."""

    value: float
    unit: str
    noun: str

    def __str__(self) -> str:
        value = f"{self.value:,.10g}"
        value = f"{self.unit}{value}" if self.unit in "$€£" else f"{value} {self.unit.upper()}"
        return f"{value.strip()} {self.noun}".strip()


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text in their order, without those of addresses; `ten` is 10."""
    text = _WORD.sub(lambda word: _NUMBERS[word[1].lower()], _ADDRESS.sub(" ", text))
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        value = float(re.sub(r"[,\u00a0 ]", "", match["number"]))
        value *= _SCALES.get((match["scale"] or "").lower(), 1.0)
        unit = match["unit"] or match["money"] or ""
        found.append(Quantity(value, unit.lower(), (match["noun"] or "").lower()))
    return found
