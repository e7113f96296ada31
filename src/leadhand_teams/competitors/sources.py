"""Finds out which competitors the files are about, and what they state of each."""

import re
from collections.abc import Container, Iterator
from itertools import product
from typing import Final

from leadhand_teams.competitors.output import Competition, CompetitorFact
from leadhand_teams.competitors.prices import PATTERNS, VOCABULARY, price_of, prices, quantities
from leadhand_teams.shared.reading import Reading, Text, read_once
from leadhand_teams.shared.tables import DataColumn, DataTable
from leadhand_teams.shared.values import dates

OFFER: Final = "offer"
"""The attribute of a description in words."""
_LISTING: Final = 3
"""Entries with a link of their own that make a page a list of competitors."""
_MAX_NAME: Final = 60


@read_once
def sources_of(reading: Reading) -> Competition:
    """The facts of all files."""
    facts: list[CompetitorFact] = []
    owners: dict[str, str] = {}
    for text in reading.texts:
        entries = [*listed(text)]
        if len(entries) >= _LISTING:
            facts += entries
            continue
        owners[text.name] = name = _spelled(competitor_of(text.name, text.text), text.text)
        tables = [one.lines for one in reading.tables if one.file == text.name]
        facts += stated(text, name, {line for lines in tables for line in lines}) if name else ()
    for table in reading.tables:
        name = owners.get(table.file) or competitor_of(table.file, "")
        facts += _tabled(table, name, {one.lower() for one in owners.values() if one != name})
    unread = [f"{one.name}: {one.why}" for one in reading.unread]
    return Competition(facts=facts, unread=unread)


def fact_of(
    competitor: str, item: str, date: str | None, attribute: str, value: str, ref: str
) -> CompetitorFact:
    """A fact; `unit` is what a price is for."""
    price = price_of(value, heading=attribute)
    unit = " per ".join(filter(None, (price.currency, price.per))) if price else None
    return CompetitorFact(
        competitor=competitor.lower(), item=item or None, attribute=attribute, value=value,
        unit=unit, ref=ref, date=date, name=competitor,
    )  # fmt: skip


def listed(text: Text) -> Iterator[CompetitorFact]:
    """The entries of a list, `* [Name](address) — what is offered`; the address says who it is."""
    date = date_of(text.name, "")
    for number, line in enumerate(text.text.splitlines(), start=1):
        if entry := PATTERNS["entry"].match(line):
            offer, ref = entry["text"].strip(), f"{text.name}:{number}"
            fact = fact_of(entry["host"], "", date, OFFER, offer, ref)
            yield fact.model_copy(update={"name": entry["name"].strip()})


def _spelled(competitor: str, words: str) -> str:
    found = re.findall(rf"(?<!\w){re.escape(competitor)}(?!\w)", words, re.IGNORECASE)
    cased = [word for word in found if word != word.lower()]
    return max(set(cased), key=cased.count) if cased else competitor


def _tabled(table: DataTable, competitor: str, others: set[str]) -> Iterator[CompetitorFact]:
    """The fact of each cell that is filled.

    A row is an item or a competitor; or a feature, if columns stand for competitors or plans.
    """
    roles = VOCABULARY["columns"]
    who, what, when = (table.column(*roles[name]) for name in ("who", "what", "when"))
    first, *columns = table.columns
    names = [one.name.strip().lower() for one in columns]
    is_known = 2 * len(others.intersection(names)) > len(names)
    is_feature = is_known or first.name.strip().lower() in roles["feature"]
    is_grid = who is None and len(names) > 1 and is_feature
    if not is_grid:
        what = what or (None if who else first)
        if who is None and not competitor:
            who, what = what, None
            if who in (None, when) or who.kind in ("date", "period"):
                return
        columns = [one for one in table.columns if one not in (who, what, when)]
    date = date_of(table.file, "")
    nos = {text for column in columns for text in column.texts if PATTERNS["no"].match(text)}
    dashes = {text for text in nos if PATTERNS["dash"].match(text)}
    for row, column in product(range(len(table)), columns):

        def cell(of: DataColumn | None, row: int = row) -> str:
            return of.texts[row].strip() if of else ""

        attribute, about = column.name, (cell(who) or competitor, cell(what))
        if is_grid:
            attribute, name = cell(first), column.name.strip()
            about = (competitor, name) if competitor else (name, "")
        is_silent = dashes < nos and column.texts[row] in dashes
        if about[0] and attribute and cell(column) and not is_silent:
            yield fact_of(*about, cell(when) or date, attribute, cell(column), table.ref(row))


def date_of(file: str, text: str) -> str | None:
    """The date of a page, ISO 8601: in its file's name, or what it says of itself."""
    if found := PATTERNS["date"].search(file.rpartition("/")[2]):
        return "-".join(filter(None, found.groups()))
    stated = PATTERNS["as of"].search(text[:4_000])
    on = dates(stated[1]) if stated else []
    return on[0].value.isoformat() if on else None


def competitor_of(file: str, text: str) -> str:
    """Whom a page is about: its file's name without general words, else its first heading."""
    stem = PATTERNS["date"].sub(" ", file.rpartition("/")[2].rpartition(".")[0])
    lines = (PATTERNS["heading"].match(line) for line in text.splitlines()[:40])
    headings = (re.split(r"\s+[|–—-]\s+|:\s", found[2])[0] for found in lines if found)
    for name in (stem, *headings):
        words = [word for word in re.split(r"[\W_]+", name.lower()) if word]
        if kept := [word for word in words if not PATTERNS["generic"].fullmatch(word)]:
            return " ".join(kept)
    return ""


def stated(text: Text, competitor: str, left_out: Container[int] = ()) -> Iterator[CompetitorFact]:
    """What the lines of a page state."""
    item, date = "", date_of(text.name, text.text)
    for number, line in enumerate(text.text.splitlines(), start=1):
        if number in left_out:
            continue
        heading, bullet = PATTERNS["heading"].match(line), PATTERNS["bullet"].match(line)
        if heading:
            item = _plan(heading[2], competitor) if len(heading[1]) > 1 else ""
        words = (heading[2] if heading else bullet[1] if bullet else line).strip(" *_")
        if heading and not any(prices(words)):
            continue
        for about, name, value in _statements(words, item, is_entry=bullet is not None):
            yield fact_of(competitor, about, date, name, value, f"{text.name}:{number}")


def _statements(text: str, item: str, *, is_entry: bool) -> Iterator[tuple[str, str, str]]:
    """Item, attribute and value of each statement in a line."""
    priced, negative = any(prices(text)), PATTERNS["without"].match(text)
    if labelled := PATTERNS["labelled"].match(text):
        name, value = labelled[1].strip(" *_"), labelled[2].strip(" *_")
        if priced and not PATTERNS["price"].search(name):
            yield name, "price", value
        else:
            yield item, "price" if priced else name, value
    elif priced:
        yield item, "price", text
    elif is_entry and negative:
        yield item, _name(text[negative.end() :]), "no"
    elif is_entry:
        feature = PATTERNS["with"].sub("", text)
        counted = quantities(feature)
        if counted and counted[0].noun and counted[0][:2] != (24.0, ""):
            yield item, counted[0].noun, feature
        elif len(feature) <= 3 * _MAX_NAME:
            name, _, limit = feature.partition(" (")
            for part in re.split(r",\s+(?:and\s+)?", name):
                if part.strip():
                    yield item, _name(part), f"yes ({limit}" if limit else "yes"


def _plan(heading: str, competitor: str) -> str:
    """The plan that a heading names; empty for general sections."""
    found = next(prices(heading), None)
    name = heading[: found[1]] if found else heading
    name = re.sub(rf"(?i)\b{re.escape(competitor)}\b(?:['’]s)?", "", name).strip(" *_:|–—-(")
    return "" if PATTERNS["section"].match(name) or len(name) > _MAX_NAME else name


def _name(text: str) -> str:
    return re.split(r"[.;:]\s|\s[–—]\s", text.strip(" .,*_"))[0].strip(" .,*_")[:_MAX_NAME]
