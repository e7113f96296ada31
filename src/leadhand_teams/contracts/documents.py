"""Reads contracts, each file once in a process."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from leadhand_teams.contracts.output import ContractQuote, ReadContract
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
    about: ReadContract
    is_english: bool
    """Whether it can be judged: rules and patterns are for English."""

    def quote(self, passage: ContractPassage) -> ContractQuote:
        """A passage, with its place."""
        start, page = passage.start, self.text.page(passage.start)
        place = f"page {page}" if page else f"line {self.text.line(start)}"
        ref = f"{self.text.name}#{passage.section}" if passage.section else self.text.ref(start)
        return ContractQuote(text=passage.text, start=start, end=passage.end, ref=ref, place=place)


def contract(path: str, name: str = "") -> Contract | str:
    """The contract in a file, called `name` in the report; or why it could not be read."""
    found = _reading(path, stamps([path]))
    if not found.texts or not found.texts[0].text.strip():
        return next((one.why for one in found.unread), "it has no text")
    return _contract(replace(found.texts[0], name=name or found.texts[0].name))


@lru_cache(maxsize=256)
def _reading(path: str, states: object) -> Reading:
    del states  # it only tells whether the file is still the same
    return read([path])


@lru_cache(maxsize=256)
def _contract(text: Text) -> Contract:
    beginning, sample = text.text[:3000], text.text[:20_000]
    kind = "services" if wording("services").search(beginning) else "other"
    if wording("nda").search(beginning[:300]) or len(wording("nda").findall(beginning)) > 1:
        kind = "nda"
    is_english = len(wording("english").findall(sample)) * 8 >= len(words(sample))
    problems = tuple(_problems(text, is_english=is_english))
    about = ReadContract(file=text.name, kind=kind, problems=problems)
    return Contract(text, passages(text.text), about, is_english)


def _problems(text: Text, *, is_english: bool) -> Iterator[str]:
    length = len(text.text.strip())
    if length < MIN_CHARACTERS:
        yield f"{text.name} has only {length} characters of text: it may be a scan"
    elif not is_english:
        yield f"{text.name} is not in English: rules are for English and may miss much"
    if order := wording("instruction").search(text.text):
        yield f"{text.ref(order.start())} addresses an AI: it was not followed"
