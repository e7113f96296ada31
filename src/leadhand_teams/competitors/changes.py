"""What changed from one snapshot to the next. Pure.

A thing, plan or column under a new name has not vanished, and a price in another unit is the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from rapidfuzz import fuzz

from leadhand_teams.competitors.features import same_feature
from leadhand_teams.competitors.output import Kind, MarketChange
from leadhand_teams.competitors.prices import prices
from leadhand_teams.competitors.records import OFFER, Quantity, SourceRecord, merged, quantities

_ALIKE: Final = 80
"""The least similarity of two descriptions, of 100, for a rename; shorter ones are alike by chance.
"""
_TELLING_WORDS: Final = 8
_ALIKE_NAME: Final = 60
_MOST: Final = 0.6
"""The share of values that are the same in a plan or column under a new name."""
_FACTORS: Final = (1.0, 1e3, 1e-3, 1e6, 1e-6, 12.0, 1 / 12, 100.0, 0.01)
_Pair = tuple[SourceRecord, SourceRecord]


def all_changes(records: Sequence[SourceRecord], undated: Mapping[str, str]) -> list[MarketChange]:
    """The changes in each series of snapshots: files whose names differ in the date alone.

    `undated` has the series of each file.
    """
    found: list[MarketChange] = []
    for series in dict.fromkeys(undated.values()):
        own = [one for one in records if undated.get(one.ref.rpartition(":")[0]) == series]
        dates = sorted({one.date for one in own if one.date})
        for since, to in pairwise(dates):
            before = [one for one in own if one.date == since]
            after = [one for one in own if one.date == to]
            found += changes(before, after)
    return found


def changes(before: Sequence[SourceRecord], after: Sequence[SourceRecord]) -> list[MarketChange]:
    """Everything that differs between two snapshots, by competitor and item."""
    old, new = merged(before), merged(after)
    gone = [old[key] for key in old if key not in new]
    come = [new[key] for key in new if key not in old]
    renamed = _renamed(gone, come)
    moved = {one.key for pair in renamed for one in pair}
    pairs = [*((old[key], new[key]) for key in old if key in new), *renamed]
    found = [_change("removed", one, after[0]) for one in gone if one.key not in moved]
    found += [_change("added", before[0], one) for one in come if one.key not in moved]
    for one, two in renamed:
        names = one.item or one.name, two.item or two.name
        found.append(_change("renamed", one, two, "name", *names))
    columns = _columns(pairs)
    for key, (other, _) in columns.items():
        if key != other:
            found.append(_change("renamed", *pairs[0], key, key, other, later=other))
    return found + [change for pair in pairs for change in _differences(*pair, columns)]


def _change(
    kind: Kind,
    one: SourceRecord,
    two: SourceRecord,
    key: str = "",
    *values: str | None,
    later: str = "",
) -> MarketChange:
    """A change of the attribute `key`, which is called `later` afterwards; without one, of all."""
    about = two if kind == "added" else one
    before, after = values or (None, None)
    change = MarketChange(kind=kind, competitor=about.competitor, item=about.item or None)
    change.attribute, change.before, change.after = key or None, before, after
    change.since, change.to = one.date, two.date
    if key or kind != "added":
        change.ref_before = one.refs.get(key, one.ref)
    if key or kind != "removed":
        change.ref_after = two.refs.get(later or key, two.ref)
    return change


def _renamed(gone: Sequence[SourceRecord], come: Sequence[SourceRecord]) -> list[_Pair]:
    """Pairs of old and new names; the most alike are matched first, each name once."""
    scored = [
        (_likeness(one, two), n, m) for n, one in enumerate(gone) for m, two in enumerate(come)
    ]
    found: list[tuple[int, int]] = []
    for score, n, m in sorted(scored, reverse=True):
        if score > 0 and all(n != one and m != two for one, two in found):
            found.append((n, m))
    return [(gone[n], come[m]) for n, m in found]


def _likeness(one: SourceRecord, two: SourceRecord) -> float:
    """How surely `two` is `one` under a new name, of 100; 0 if nothing says so."""
    if bool(one.item) != bool(two.item) or (one.item and one.competitor != two.competitor):
        return 0
    first, second = one.item or one.name, two.item or two.name
    words = f"{two.name} {' '.join(two.values.values())}".lower()
    former = rf"\b(?:formerly|previously|ex-|was)\s*(?:known as\s+)?{re.escape(first.lower())}\b"
    if first and (_plain(first) == _plain(second) or re.search(former, words)):
        return 100
    if one.item:
        return _likeness_of_items(one, two)
    texts = one.values.get(OFFER, ""), two.values.get(OFFER, "")
    if min(len(text.split()) for text in texts) < _TELLING_WORDS:
        return 0
    score = fuzz.token_sort_ratio(*texts)
    return score if score >= _ALIKE else 0


def _likeness_of_items(one: SourceRecord, two: SourceRecord) -> float:
    both = [
        (value, two.values[other])
        for key, value in one.values.items()
        for other in two.values
        if same_feature(key, other)
    ]
    same = [pair for pair in both if not _differ(*pair)]
    if _is_page(one) and _is_page(two):
        # The same plan if most of what is stated of it is the same, and the price.
        most = max(2, max(len(one.values), len(two.values)) * _MOST - 0.5)
        return 98 if len(same) >= most and any(next(prices(old), None) for old, _ in same) else 0
    # Names that differ in a number are versions of a model, not new names of it.
    versions = [re.findall(r"\d+", record.item) for record in (one, two)]
    score = fuzz.token_sort_ratio(one.item.lower(), two.item.lower())
    is_same = len(same) == len(both) > 1 and versions[0] == versions[1]
    return score if is_same and score >= _ALIKE_NAME else 0


def _is_page(record: SourceRecord) -> bool:
    """Whether its values stand in lines of their own, not in a row of a table."""
    return len(set(record.refs.values())) == len(record.refs)


def _columns(pairs: Sequence[_Pair]) -> dict[str, tuple[str, float]]:
    """For each attribute of the earlier snapshot its name in the later one, and the factor of its
    unit."""
    old = {key for one, _ in pairs for key in one.values}
    new = {key for _, two in pairs for key in two.values}
    found = {key: (key, _factor(pairs, key, key) or 1.0) for key in old & new}
    free = sorted(new - old)
    for key in sorted(old - new):
        for other in free:
            if factor := _factor(pairs, key, other):
                found[key] = (other, factor)
                free.remove(other)
                break
    return found


def _factor(pairs: Sequence[_Pair], key: str, other: str) -> float | None:
    """The factor at which most values of two columns are the same; None if there is none."""
    both = [
        (one.values[key], two.values[other])
        for one, two in pairs
        if key in one.values and other in two.values
    ]
    for factor in _FACTORS if len(both) > 1 else ():
        if sum(_same(one, two, factor) for one, two in both) >= _MOST * len(both):
            return factor
    return None


def _differences(
    one: SourceRecord, two: SourceRecord, columns: Mapping[str, tuple[str, float]]
) -> Iterator[MarketChange]:
    left, gone = dict(two.values), dict[str, str]()
    for key, old in one.values.items():
        other, factor = columns.get(key, (key, 1.0))
        if other not in left:
            other = next((name for name in left if same_feature(name, key)), other)
        new = left.pop(other, None)
        if new is None:
            gone[key] = old
        elif key == OFFER:
            yield from _numbers(one, two, old, new)
        elif _differ(old, new) if factor == 1.0 else not _same(old, new, factor):
            yield _change("changed", one, two, key, old, new, later=other)
    # A line that is gone says something, an empty cell does not.
    if _is_page(one) and _is_page(two):
        yield from (_change("removed", one, two, key, old, None) for key, old in gone.items())
        yield from (_change("added", one, two, key, None, new) for key, new in left.items())


def _numbers(
    one: SourceRecord, two: SourceRecord, before: str, after: str
) -> Iterator[MarketChange]:
    """The numbers of a description that changed, with what they count where both say it."""
    old, new = quantities(before), quantities(after)
    for number in list(old):
        if match := next((other for other in new if other[:2] == number[:2]), None):
            old.remove(number)
            new.remove(match)
    old = [number for number in old if not _in_words(number, after)]
    new = [number for number in new if not _in_words(number, before)]
    for number in [number for number in old if number.noun]:
        if match := next((other for other in new if other.noun == number.noun), None):
            old.remove(number)
            new.remove(match)
            yield _change("changed", one, two, number.noun, str(number), str(match))
    if old or new:
        rest = (", ".join(map(str, numbers)) or None for numbers in (old, new))
        yield _change("changed", one, two, "numbers", *rest)


def _in_words(number: Quantity, text: str) -> bool:
    """Whether `text` has `one project` for `1 project`."""
    words = rf"\bone (?:[\w-]+ )?{re.escape(number.noun)}\b"
    return number.value == 1 and bool(number.noun and re.search(words, text, re.IGNORECASE))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _amount(value: str) -> tuple[float, str] | None:
    found = quantities(value)
    return found[0][:2] if len(found) == 1 else None


def _differ(one: str, two: str) -> bool:
    if _plain(one) == _plain(two):
        return False
    old, new = next(prices(one), None), next(prices(two), None)
    if old and new:
        return (old[0].comparable, old[0].currency) != (new[0].comparable, new[0].currency)
    first, second = _amount(one), _amount(two)
    return first is None or second is None or first != second


def _same(one: str, two: str, factor: float) -> bool:
    first, second = _amount(one), _amount(two)
    if first is None or second is None:
        return factor == 1.0 and _plain(one) == _plain(two)
    return abs(first[0] * factor - second[0]) <= 1e-9 * abs(second[0])
