"""Finds out which competitors the files are about, and what they state of each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from leadhand_teams.competitors.pages import competitor_of, date_of, stated
from leadhand_teams.competitors.records import OFFER, SourceRecord
from leadhand_teams.shared.reading import Reading, Text, read_once
from leadhand_teams.shared.tables import DataTable

_WHO: Final = ("competitor", "vendor", "provider", "company", "supplier", "brand", "anbieter")
_WHAT: Final = ("plan", "model", "product", "tier", "edition", "package", "sku", "item", "tarif")
_WHEN: Final = ("date", "as of", "snapshot", "datum", "stand")
_FEATURE: Final = ("feature", "features", "attribute", "criterion", "capability", "funktion", "")
_ENTRY: Final = re.compile(
    r"^\s*[*+-]\s+\**\[(?P<name>[^\]]+)\]\((?P<url>[^)\s]+)[^)]*\)\**\s*(?:[-–—:|]+\s*)?(?P<text>.*)$"
)
_LISTING: Final = 3
"""Entries with a link of their own that make a page a list of competitors."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What was read."""

    records: tuple[SourceRecord, ...]
    names: dict[str, str]
    """Each competitor, in the order of the files, as its sources spell it."""
    unread: tuple[str, ...] = ()


@read_once
def sources_of(reading: Reading) -> Sources:
    """The records of all files."""
    records: list[SourceRecord] = []
    owners: dict[str, str] = {}
    for text in reading.texts:
        entries = list(listed(text))
        if len(entries) >= _LISTING:
            records += entries
            continue
        owners[text.name] = name = competitor_of(text.name, text.text)
        in_tables = {n for one in reading.tables if one.file == text.name for n in one.lines}
        lines = [line for line in enumerate(text.text.splitlines(), 1) if line[0] not in in_tables]
        date = date_of(text.name, text.text)
        records += stated(lines, competitor=name, file=text.name, date=date) if name else ()
    for table in reading.tables:
        name = owners.get(table.file) or competitor_of(table.file, "")
        records += _of_table(table, name, set(owners.values()) - {name})
    words = " ".join([one.text for one in reading.texts if one.name in owners])
    names = {one.competitor: one.name or _spelled(one.competitor, words) for one in records}
    unread = tuple(f"{one.name}: {one.why}" for one in reading.unread)
    return Sources(tuple(records), names, unread)


def listed(text: Text) -> Iterator[SourceRecord]:
    """The entries of a list, `* [Name](address) — what is offered`; the address says who it is."""
    date = date_of(text.name, "")
    for number, line in enumerate(text.text.splitlines(), start=1):
        if (entry := _ENTRY.match(line)) and (competitor := host(entry["url"])):
            values, refs = {OFFER: entry["text"].strip()}, {OFFER: f"{text.name}:{number}"}
            yield SourceRecord(competitor, "", date, values, refs, entry["name"].strip())


def host(address: str) -> str:
    """The host of an address, in lower case and without `www.`; empty if it has none."""
    try:
        return (urlsplit(address).hostname or "").lower().removeprefix("www.")
    except ValueError:
        return ""


def _spelled(competitor: str, words: str) -> str:
    found = re.findall(rf"(?<!\w){re.escape(competitor)}(?!\w)", words, re.IGNORECASE)
    cased = [word for word in found if word != word.lower()]
    return max(set(cased), key=cased.count) if cased else competitor


def _of_table(table: DataTable, competitor: str, others: set[str]) -> Iterator[SourceRecord]:
    who, when = table.column(*_WHO), table.column(*_WHEN)
    date = date_of(table.file, "")
    if who is None and (across := _across(table, others)):
        yield from _features(table, across, competitor, date)
        return
    what = table.column(*_WHAT) or (None if who else table.columns[0])
    if who is None and not competitor:
        who, what = what, None
    rest = [one for one in table.columns if one not in (who, what, when)]
    for row in range(len(table)):
        name = who.texts[row].strip() if who else competitor
        values = {one.name: value for one in rest if (value := one.texts[row].strip())}
        on = when.texts[row].strip() if when else ""
        item = what.texts[row].strip() if what else ""
        if name and values:
            refs = dict.fromkeys(values, table.ref(row))
            yield SourceRecord(name.lower(), item, on or date, values, refs, name if who else "")


def _across(table: DataTable, others: set[str]) -> list[int]:
    """The columns that stand for competitors or plans, if each row is a feature."""
    names = [one.name.strip().lower() for one in table.columns]
    known = sum(name in others for name in names[1:])
    is_grid = len(names) > 2 and (names[0] in _FEATURE or known * 2 >= len(names))
    return list(range(1, len(names))) if is_grid else []


def _features(
    table: DataTable, across: Sequence[int], competitor: str, date: str | None
) -> Iterator[SourceRecord]:
    for row in range(len(table)):
        feature = table.columns[0].texts[row].strip()
        for column in (table.columns[n] for n in across):
            value, name = column.texts[row].strip(), column.name.strip()
            if feature and value:
                refs = {feature: table.ref(row)}
                if competitor:
                    yield SourceRecord(competitor, name, date, {feature: value}, refs)
                else:
                    yield SourceRecord(name.lower(), "", date, {feature: value}, refs, name)
