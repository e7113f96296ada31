"""Pages and notes about one competitor: plans, prices, features and figures. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from leadhand_teams.competitors.prices import is_price_word, prices
from leadhand_teams.competitors.records import SourceRecord, quantities
from leadhand_teams.shared.values import dates

_HEADING: Final = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET: Final = re.compile(r"^\s*(?:[*+•·-]|\d+[.)])\s+(.*)$")
_LABELLED: Final = re.compile(r"^\W*([^\W\d][\w /&()'-]{1,48}?)\s*[:=]\s+(.+)$")
_NOT: Final = re.compile(
    r"^(?:no|without|not included:?|lacks?|(?:does not|doesn['’]t) (?:offer|support|include|have))"
    r"\s+(?:an?\s+|any\s+)?",
    re.IGNORECASE,
)
_HAS: Final = re.compile(
    r"^(?:includ(?:es?|ing)|offers?|supports?|comes with|provides?|has|with)\s+(?:an?\s+|the\s+)?",
    re.IGNORECASE,
)
_GENERIC: Final = re.compile(
    r"pric\w+|plans?|features?|page|web|site|notes?|data|sheet|info|overview|snapshots?|tables?|"
    r"compar\w+|products?|about|home|index|readme|request|report|old|new|current|latest|"
    r"competitors?|market|the|\d+",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])(?:[-_.]?([0-3]\d))?(?!\d)")
_AS_OF: Final = re.compile(
    r"\b(?:as of|updated|retrieved|checked|stand)\b:?(.{6,30})", re.IGNORECASE
)
_SECTION: Final = re.compile(
    r"^(?:pric\w+|plans?|features?|overview|about|faq|contact|support|security|integrations?|summary|"
    r"what.s \w+|compare|customers)\b.{0,20}$",
    re.IGNORECASE,
)
_MAX_NAME: Final = 60


def date_of(file: str, text: str) -> str | None:
    """The date of a page, ISO 8601: in its file's name, or what it says of itself."""
    if found := _DATE.search(file.rpartition("/")[2]):
        return "-".join(filter(None, found.groups()))
    stated = _AS_OF.search(text[:4_000])
    on = dates(stated[1]) if stated else []
    return on[0].value.isoformat() if on else None


def undated(file: str) -> str:
    """A file's name without its date: snapshots of one series share it."""
    return _DATE.sub("", file)


def competitor_of(file: str, text: str) -> str:
    """Whom a page is about: its file's name without general words, else its first heading."""
    stem = _DATE.sub(" ", file.rpartition("/")[2].rpartition(".")[0])
    headings = (found[2] for line in text.splitlines()[:40] if (found := _HEADING.match(line)))
    for name in (stem, *(re.split(r"\s+[|–—-]\s+|:\s", one)[0] for one in headings)):
        words = [word for word in re.split(r"[\W_]+", name.lower()) if word]
        if kept := [word for word in words if not _GENERIC.fullmatch(word)]:
            return " ".join(kept)
    return ""


def stated(
    lines: Sequence[tuple[int, str]], *, competitor: str, file: str, date: str | None
) -> Iterator[SourceRecord]:
    """What the numbered lines of a page state, a record for each statement."""
    item = ""
    for number, line in lines:
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if heading:
            item = _plan(heading[2], competitor) if len(heading[1]) > 1 else ""
        text = (heading[2] if heading else bullet[1] if bullet else line).strip(" *_")
        if heading and next(prices(text), None) is None:
            continue
        for about, name, value in _statements(text, item, is_entry=bullet is not None):
            yield SourceRecord(competitor, about, date, {name: value}, {name: f"{file}:{number}"})


def _statements(text: str, item: str, *, is_entry: bool) -> Iterator[tuple[str, str, str]]:
    """Item, attribute and value of each statement in a line."""
    priced = next(prices(text), None) is not None
    if labelled := _LABELLED.match(text):
        name, value = labelled[1].strip(" *_"), labelled[2].strip(" *_")
        if priced and not is_price_word(name):
            yield name, "price", value
        else:
            yield item, "price" if priced else name, value
    elif priced:
        yield item, "price", text
    elif is_entry and (negative := _NOT.match(text)):
        yield item, _name(text[negative.end() :]), "no"
    elif is_entry:
        positive = _HAS.match(text)
        feature = text[positive.end() :] if positive else text
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
    return "" if _SECTION.match(name) or len(name) > _MAX_NAME else name


def _name(text: str) -> str:
    return re.split(r"[.;:]\s|\s[–—]\s", text.strip(" .,*_"))[0].strip(" .,*_")[:_MAX_NAME]
