"""Reads contracts, each file once in a process."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from leadhand_teams.contracts.output import ReadContract
from leadhand_teams.contracts.passages import ContractPassage, passages, words
from leadhand_teams.contracts.wording import wording
from leadhand_teams.shared.reading import Reading, Text, read

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
    state = Path(path).stat() if Path(path).exists() else None
    return _reading(path, state.st_mtime if state else 0.0, state.st_size if state else 0)


def contract(path: str, name: str = "") -> Contract | None:
    """The contract in a file, called `name` in the report; `None` if it could not be read."""
    texts = reading(path).texts
    if not texts or not texts[0].text.strip():
        return None
    return _contract(replace(texts[0], name=name or texts[0].name))


@lru_cache(maxsize=256)
def _reading(path: str, modified: float, size: int) -> Reading:
    del modified, size  # they only tell whether the file is still the same
    return read([path])


@lru_cache(maxsize=256)
def _contract(text: Text) -> Contract:
    beginning = text.text[:3000]
    title = _title(beginning) or text.name
    kind = "services" if wording("services").search(beginning) else "other"
    if wording("nda").search(title) or len(wording("nda").findall(beginning)) > 1:
        kind = "nda"
    found = tuple(one for one in passages(text.text) if not one.is_heading)
    frequent = len(wording("english").findall(text.text[:20_000]))
    is_english = frequent * 8 >= len(words(text.text[:20_000]))
    about = ReadContract(
        file=text.name,
        title=title,
        kind=kind,
        characters=len(text.text),
        problems=tuple(_problems(text, is_english)),
    )
    return Contract(text, found, about, is_english)


def _problems(text: Text, is_english: bool) -> list[str]:
    found: list[str] = []
    length = len(text.text.strip())
    if length < MIN_CHARACTERS:
        found.append(f"{text.name} has only {length} characters of text: it may be a scan")
    elif not is_english:
        found.append(f"{text.name} is not in English: rules are for English and may miss much")
    if blanks := len(wording("blank").findall(text.text)):
        found.append(f"{text.name} has blanks to fill in: {blanks}")
    if order := wording("instruction").search(text.text):
        found.append(f"{text.ref(order.start())} addresses an AI: it was not followed")
    return found


def _title(beginning: str) -> str:
    for line in re.split(r"\n+|\s{3,}", beginning):
        plain = line.strip(" *#_\t")
        is_short = 5 < len(plain) <= 90 and plain[-1] not in ".,;"
        if is_short and wording("title").search(plain):
            return plain
    return ""
