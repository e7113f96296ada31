"""What changed from one snapshot to the next. Pure.

A thing, plan or column under a new name has not vanished, and a price in another unit is the same.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeVar

from rapidfuzz import fuzz

from leadhand_teams.competitors.features import same_feature
from leadhand_teams.competitors.output import CompetitorFact, Facts, Kind, MarketChange
from leadhand_teams.competitors.prices import PATTERNS, Quantity, prices, quantities
from leadhand_teams.competitors.sources import OFFER

_ALIKE: Final = 80
"""The least similarity of two descriptions, of 100, for a rename."""
_TELLING_WORDS: Final = 8
"""Shorter descriptions are alike by chance."""
_ALIKE_NAME: Final = 60
_MOST: Final = 0.6
"""The share of values that are the same in a plan or column under a new name."""
_FACTORS: Final = (1.0, 1e3, 1e-3, 1e6, 1e-6, 12.0, 1 / 12, 100.0, 0.01)
Thing = dict[str, CompetitorFact]
"""What a snapshot states of a competitor or of one of its items, by attribute."""
Columns = Mapping[str, tuple[str, float]]
"""For each earlier attribute its name in the later snapshot, and the factor of its unit."""
_Maybe = CompetitorFact | None
T = TypeVar("T")


def all_changes(facts: Facts) -> list[MarketChange]:
    """The changes in each series of snapshots: files whose names differ in the date alone."""
    found: list[MarketChange] = []
    series: dict[str, list[CompetitorFact]] = {}
    for one in facts:
        series.setdefault(PATTERNS["date"].sub("", one.file), []).append(one)
    for own in series.values():
        for since, to in pairwise(sorted({one.date for one in own if one.date})):
            before, after = ([one for one in own if one.date == date] for date in (since, to))
            dates = {"since": since, "to": to}
            found += [one.model_copy(update=dates) for one in changes(before, after)]
    return found


def changes(before: Facts, after: Facts) -> Iterator[MarketChange]:
    """Everything that differs between two snapshots, by competitor and item."""
    old, new = _things(before), _things(after)
    gone, come = [key for key in old if key not in new], [key for key in new if key not in old]
    renamed = _matched(gone, come, lambda key, other: _likeness(old[key], new[other]))
    yield from (_change("removed", _first(old[key]), None) for key in gone if key not in renamed)
    known = renamed.values()
    yield from (_change("added", None, _first(new[key])) for key in come if key not in known)
    for key, other in renamed.items():
        one, two = _first(old[key]), _first(new[other])
        called = {"before": one.item or one.name, "after": two.item or two.name}
        yield _change("renamed", one, two, attribute="name", **called)
    pairs = [(old[key], new[renamed.get(key, key)]) for key in old if key in new or key in renamed]
    columns = _columns(pairs)
    for key, (other, _) in columns.items():
        if key != other:
            one, two = ({**thing, "": _first(thing)} for thing in pairs[0])
            facts = one.get(key, one[""]), two.get(other, two[""])
            yield _change("renamed", *facts, attribute=key, before=key, after=other)
    for pair in pairs:
        yield from _differences(*pair, columns)


def _things(facts: Facts) -> dict[tuple[str, str | None], Thing]:
    found: dict[tuple[str, str | None], Thing] = {}
    for one in facts:
        found.setdefault((one.competitor, one.item), {}).setdefault(one.attribute, one)
    return found


def _first(thing: Thing) -> CompetitorFact:
    return next(iter(thing.values()))


def _change(kind: Kind, one: _Maybe, two: _Maybe, **what: str | None) -> MarketChange:
    """A change of what `one` states, or if it is None of what `two` does."""
    about = next(fact for fact in (one, two) if fact is not None)
    refs = {"ref_before": one and one.ref, "ref_after": two and two.ref}
    own = {"kind": kind, "competitor": about.competitor, "item": about.item}
    return MarketChange.model_validate({**own, **what, **refs})


def _matched(gone: Sequence[T], come: Sequence[T], likeness: Callable[[T, T], float]) -> dict[T, T]:
    """What each of `gone` is now; the most alike are matched first, each once."""
    scored = [(likeness(one, two), one, two) for one in gone for two in come]
    found: dict[T, T] = {}
    for score, one, two in sorted(scored, key=lambda row: -row[0]):
        if score > 0 and one not in found and two not in found.values():
            found[one] = two
    return found


def _likeness(one: Thing, two: Thing) -> float:
    """How surely `two` is `one` under a new name, of 100; 0 if nothing says so."""
    old, new = _first(one), _first(two)
    if bool(old.item) != bool(new.item) or (old.item and old.competitor != new.competitor):
        return 0
    name = old.item or old.name
    words = f"{new.name} {' '.join(fact.value for fact in two.values())}".lower()
    former = rf"\b(?:formerly|previously|ex-|was)\s*(?:known as\s+)?{re.escape(name.lower())}\b"
    if name and (_plain(name) == _plain(new.item or new.name) or re.search(former, words)):
        return 100
    if not old.item:
        texts = [fact.value if fact.attribute == OFFER else "" for fact in (old, new)]
        is_telling = min(len(text.split()) for text in texts) >= _TELLING_WORDS
        score = fuzz.token_sort_ratio(*texts)
        return score if is_telling and score >= _ALIKE else 0
    both = [(one[a].value, two[b].value) for a in one for b in two if same_feature(a, b)]
    same = [pair for pair in both if _same(*pair)]
    if _is_page(one) and _is_page(two):
        # The same plan if most of what is stated of it is the same, and the price.
        most = max(2, max(len(one), len(two)) * _MOST - 0.5)
        return 98 if len(same) >= most and any(any(prices(old)) for old, _ in same) else 0
    # Names that differ in a number are versions of a model, not new names of it.
    names = [(fact.item or "").lower() for fact in (old, new)]
    score, versions = fuzz.token_sort_ratio(*names), [re.findall(r"\d+", name) for name in names]
    is_same = len(same) == len(both) > 1 and versions[0] == versions[1]
    return score if is_same and score >= _ALIKE_NAME else 0


def _is_page(thing: Thing) -> bool:
    """Whether its values stand in lines of their own, not in a row of a table."""
    return len({one.ref for one in thing.values()}) == len(thing)


def _columns(pairs: Sequence[tuple[Thing, Thing]]) -> Columns:
    """The columns; the factor is that at which most values are the same."""
    old, new = ({key for pair in pairs for key in pair[n]} for n in (0, 1))

    def factor(key: str, other: str) -> float:
        both = [(a[key].value, b[other].value) for a, b in pairs if key in a and other in b]
        for factor in _FACTORS if len(both) > 1 else ():
            if sum(_same(one, two, factor) for one, two in both) >= _MOST * len(both):
                return factor
        return 0.0

    names = {key: key for key in old & new}
    gone, come = sorted(old - new), sorted(new - old)
    names |= _matched(gone, come, lambda key, other: bool(factor(key, other)))
    return {key: (other, factor(key, other) or 1.0) for key, other in names.items()}


def _differences(one: Thing, two: Thing, columns: Columns) -> Iterator[MarketChange]:
    left, gone = dict(two), list[CompetitorFact]()
    for key, old in one.items():
        other, factor = columns.get(key, (key, 1.0))
        if other not in left:
            other = next((name for name in left if same_feature(name, key)), other)
        new = left.pop(other, None)
        if new is None:
            gone.append(old)
        elif key == OFFER:
            yield from _numbers(old, new)
        elif not _same(old.value, new.value, factor):
            values = {"before": old.value, "after": new.value}
            yield _change("changed", old, new, attribute=key, **values)
    # A line that is gone says something, an empty cell does not.
    if _is_page(one) and _is_page(two):
        for old in gone:
            yield _change("removed", old, _first(two), attribute=old.attribute, before=old.value)
        for new in left.values():
            yield _change("added", _first(one), new, attribute=new.attribute, after=new.value)


def _numbers(one: CompetitorFact, two: CompetitorFact) -> Iterator[MarketChange]:
    """The numbers of a description that changed, with what they count where both say it."""
    old = [number for number in quantities(one.value) if not _in_words(number, two.value)]
    new = [number for number in quantities(two.value) if not _in_words(number, one.value)]

    def likeness(n: int, m: int) -> float:
        return 2 * (old[n][:2] == new[m][:2]) + (old[n].noun == new[m].noun != "")

    pairs = _matched(range(len(old)), range(len(new)), likeness)
    for n, m in pairs.items():
        if old[n][:2] != new[m][:2]:
            values = {"before": str(old[n]), "after": str(new[m])}
            yield _change("changed", one, two, attribute=old[n].noun, **values)
    gone = ", ".join(str(number) for n, number in enumerate(old) if n not in pairs)
    come = ", ".join(str(number) for m, number in enumerate(new) if m not in pairs.values())
    if gone or come:
        values = {"before": gone or None, "after": come or None}
        yield _change("changed", one, two, attribute="numbers", **values)


def _in_words(number: Quantity, text: str) -> bool:
    """Whether `text` has `one project` for `1 project`."""
    words = rf"\bone (?:[\w-]+ )?{re.escape(number.noun)}\b"
    return number.value == 1 and bool(number.noun and re.search(words, text, re.IGNORECASE))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _same(one: str, two: str, factor: float = 1.0) -> bool:
    """Whether two values are the same, the later one times `factor` in another unit."""
    if factor == 1.0 and _plain(one) == _plain(two):
        return True
    old, new = next(prices(one), None), next(prices(two), None)
    if factor == 1.0 and old and new:
        return (old[0].comparable, old[0].currency) == (new[0].comparable, new[0].currency)
    first, second = quantities(one), quantities(two)
    if len(first) != 1 or len(second) != 1:
        return False
    is_equal = abs(first[0].value * factor - second[0].value) <= 1e-9 * abs(second[0].value)
    return is_equal and (factor != 1.0 or first[0].unit == second[0].unit)
