"""Reads contracts, each file once in a process."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from leadhand_teams.contracts.output import ReadContract
from leadhand_teams.contracts.passages import ContractPassage, passages, words
from leadhand_teams.contracts.wording import wording
from leadhand_teams.shared.reading import Reading, Text, read, stamps

MIN_CHARACTERS = 300
"""A contract with fewer has probably no text layer."""


@dataclass(frozen=True, eq=False)
class Contract:
    """A contract as it was read."""

    text: Text
    passages: tuple[ContractPassage, ...]
    """Without headings."""
    about: ReadContract
    is_english: bool
    """Whether it can be judged: rules and patterns are for English."""


def reading(path: str) -> Reading:
    """What a file contains; a file that did not change is read once."""
    return _reading(path, stamps([path]))


def contract(path: str, name: str = "") -> Contract | None:
    """The contract in a file, called `name` in the report; `None` if it could not be read."""
    texts = reading(path).texts
    if not texts or not texts[0].text.strip():
        return None
    return _contract(replace(texts[0], name=name or texts[0].name))


@lru_cache(maxsize=256)
def _reading(path: str, states: object) -> Reading:
    del states  # it only tells whether the file is still the same
    return read([path])


@lru_cache(maxsize=256)
def _contract(text: Text) -> Contract:
    beginning = text.text[:3000]
    lines = (line.strip(" *#_\t") for line in re.split(r"\n+|\s{3,}", beginning))
    title = next(filter(_is_title, lines), text.name)
    kind = "services" if wording("services").search(beginning) else "other"
    if wording("nda").search(title) or len(wording("nda").findall(beginning)) > 1:
        kind = "nda"
    frequent = len(wording("english").findall(text.text[:20_000]))
    is_english = frequent * 8 >= len(words(text.text[:20_000]))
    problems = tuple(_problems(text, is_english=is_english))
    about = ReadContract(file=text.name, title=title, kind=kind, problems=problems)
    found = tuple(one for one in passages(text.text) if not one.is_heading)
    return Contract(text, found, about, is_english)


def _is_title(line: str) -> bool:
    is_short = 5 < len(line) <= 90 and line[-1] not in ".,;"
    return is_short and wording("title").search(line) is not None


def _problems(text: Text, *, is_english: bool) -> Iterator[str]:
    length = len(text.text.strip())
    if length < MIN_CHARACTERS:
        yield f"{text.name} has only {length} characters of text: it may be a scan"
    elif not is_english:
        yield f"{text.name} is not in English: rules are for English and may miss much"
    if order := wording("instruction").search(text.text):
        yield f"{text.ref(order.start())} addresses an AI: it was not followed"
