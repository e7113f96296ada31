"""The words of a question: their stems, which of them mean the same, and which name nothing. Pure.

The lists are in `words.yaml`. English; words of other languages are compared as written.
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, cast

import yaml

from leadhand.tools.files import content_words
from leadhand_teams.shared.search import stem as _snowball

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)?")
_CAMEL: Final = re.compile(r"(?<=[a-z]{2})(?=[A-Z])")
_FIRST: Final = re.compile(r"(?:^|[a-z]{4}\.|[?!:])[\s\"“(]*$")
_ASKED: Final = re.compile(
    r"(?:^|[:.,;] )(?:and )?(?:how|what|which|who|whom|whose|when|where|why)\b[^?]*", re.IGNORECASE
)
_GOES_ON: Final = re.compile(r",?\s+(?!(?:over|of|in|on|at|for|to)\b)\w")
"""After a verb; not so `left over`, and `how many are left`."""
_ENDS: Final = re.compile(r"[?.!,;]|$|\s+(?:in|for|of|on|at|by|and)\b")
_VERB: Final = re.compile(
    r"\b(?:do|does|did|can|could|will|would|shall|should|must|may|might)(?:n['’]t| not)?"
    r"(?: (?:we|you|they|i|it|he|she|people)| (?:the|an?|our|my|your|their|this) (?:\w+ ){1,2}?)"
    r"\s*(?:\w+ly )?(?P<verb>[a-z]+)\b(?= (?:[a-z]{1,4}|about|during|after|before|there)\b|\W|$)|"
    r"\b(?P<other>[a-z]+) the (?:most|least|fewest|\w+est)\b",
    re.IGNORECASE,
)
"""The verb after `did we`, and that before `the most`."""
_MONTH: Final = re.compile(
    r"(?<!\w)(?:january|february|april|june|july|august|september|october|november|december|"
    r"(?:(?<=in )|(?<=of )|(?<=to )|(?<=from )|(?<=and )|(?<=since )|(?<=until ))(?:may|march))"
    r"(?!\w)"
)
"""In lower case; `may` and `march` only where no verb stands."""
_LISTS: Final = cast(
    "dict[str, str | list[str]]",
    yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")),
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question."""

    text: str
    stem: str
    start: int
    end: int
    is_name: bool
    """Whether it begins with a capital within a sentence, or has a digit."""
    is_aside: bool = False
    """Whether it stands before or after the question: “If you look at the lists, which ...”."""
    is_verb: bool = False
    """Whether it stands where a verb does."""

    is_noun: bool = False
    """Whether it ends what an article begins: `of the lift in May`."""

    @property
    def is_light(self) -> bool:
        """Whether it is a verb that says little: `have`, `do`."""
        return _bare(self.text) in _verbs("verbs")

    @property
    def is_doing(self) -> bool:
        """Whether it looks like a form of a verb, which seldom names a thing."""
        if self.is_verb or _bare(self.text) in _verbs("more_verbs"):
            return not (self.is_name or self.is_noun)
        low = self.text.lower()
        is_form = re.search(r"(ed|ing|ly)$", low) or not (low.endswith("s") or _lemma(low) == low)
        return bool(is_form) and not self.is_name


def listed(name: str) -> list[str]:
    """The words of a list of `words.yaml`."""
    found = _LISTS[name]
    return found.split() if isinstance(found, str) else found


def words_of(text: str) -> list[Word]:
    """The words of `text`, in order."""
    found: list[Word] = []
    asked = _ASKED.search(text)
    start, end = asked.span() if asked else (0, len(text))
    verbs = {max(one.start("verb"), one.start("other")) for one in _VERB.finditer(text)}
    for match in _WORD.finditer(text):
        word, at = re.sub(r"['’]s?$", "", match[0]), match.start()
        is_capital = word[0].isupper() and word != "I" and not _FIRST.search(text[:at])
        is_name = is_capital or any(map(str.isdigit, word))
        is_aside = not start <= at < end
        before = found[-1].text.lower() if found else ""
        is_everyday = word.lower() in listed("everyday") and before not in listed("before_nouns")
        is_verb = at in verbs or bool(is_everyday and _GOES_ON.match(text, match.end()))
        found.append(Word(word, stem(word), at, at + len(word), is_name, is_aside, is_verb))
        if before in ("the", "a", "an", "our") and _ENDS.match(text, match.end()):
            found[-1] = replace(found[-1], is_noun=True)
        if found[-1].is_light and found[1:] and found[-2].is_verb:
            found[-2] = replace(found[-2], is_verb=False)  # "did the new pump cost"
    return found


def stems_in(name: str) -> tuple[str, ...]:
    """The stems of the words of a text, or of a column's or file's name."""
    spaced = _CAMEL.sub(" ", name).replace("_", " ")
    return tuple(stem(re.sub(r"['’]s?$", "", word)) for word in _WORD.findall(spaced))


@lru_cache(100_000)
def stem(word: str) -> str:
    """The same for `grow`, `grew` and `growth`, and for `dept` and `departments`."""
    found = _bare(word)
    return _same().get(found, found)


def _bare(word: str) -> str:
    return _snowball(_lemma(word.lower()))


@lru_cache(100_000)
def _lemma(word: str) -> str:
    from simplemma import lemmatize

    return lemmatize(word, lang="en") if word.isascii() and word.isalpha() else word


@cache
def _same() -> dict[str, str]:
    groups = [[_bare(word) for word in line.split()] for line in listed("same")]
    return {word: group[0] for group in groups for word in group}


@cache
def _verbs(name: str) -> frozenset[str]:
    """Not by `stem`: `salary` is no verb, though it means the same as `earn`."""
    return frozenset(map(_bare, listed(name)))


@cache
def stems_of(name: str) -> frozenset[str]:
    """The stems of a list of `words.yaml`."""
    return frozenset(map(stem, listed(name)))


def alike(one: str, other: str) -> bool:
    """Whether two stems are of one family: `suppli` and `supplier`, `house` and `household`."""
    if one == other:
        return True
    shorter = min(len(one), len(other))
    same = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    return same >= 5 and same >= 0.75 * max(len(one), len(other))


def naming(words: Sequence[Word]) -> list[Word]:
    """The words that name something: no small words, no words for computing or doing."""
    carrying = set(content_words(" ".join(word.text for word in words)))
    found: list[Word] = []
    before = ""
    for word in words:
        is_noun = before in listed("articles") or word.text.lower() in listed("nouns")
        is_verb = word.is_light and not is_noun
        is_empty = word.stem in stems_of("empty") or word.text.lower() not in carrying
        is_named = not (is_verb or is_empty or word.is_aside)
        if word.stem in stems_of("titles"):
            continue
        if word.text[0].isdigit() or (word.is_name and before) or is_named:
            found.append(word)
        before = word.text.lower()
    return found


@cache
def _phrases() -> list[tuple[re.Pattern[str], str]]:
    pairs = (line.split(" = ") for line in listed("phrases"))
    return [(re.compile(rf"(?i)\b(?:{said.replace(', ', '|')})\b"), word) for said, word in pairs]


def plain(question: str) -> str:
    """A question with its months in capitals, and a word for each phrase that has one."""
    question = _MONTH.sub(lambda found: found[0].title(), question)
    for phrase, word in _phrases():
        question = phrase.sub(word, question)
    return question


@cache
def _synonyms() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in listed("synonyms"):
        read, _, more = line.partition("<")
        group = list(map(stem, read.split()))
        for word in (*group, *map(stem, more.split())):
            found.setdefault(word, []).extend(one for one in group if one != word)
    return found


def _is_part(word: str, compound: str) -> bool:
    from simplemma import is_known

    low, whole = word.lower(), compound.lower()
    rest = whole.removeprefix(low) if whole.startswith(low) else whole.removesuffix(low)
    return len(low) > 3 and 3 < len(rest) < len(whole) and is_known(rest, lang="en")


def translated(
    words: Sequence[Word],
    known: Mapping[str, str],
    every: Container[str] = (),
    figures: Container[str] = (),
) -> tuple[list[Word], dict[str, str]]:
    """The words, and those that were read as another that means about the same and is known.

    `known` are stems, each with a word as it is written in the files; what is in `every` stays. A
    word for rows is read only as one of `figures`. What is in no list is read as a compound
    that has it: `lime` as `limestone`.
    """
    found: list[Word] = []
    read: dict[str, str] = {}
    carrying = set(content_words(" ".join(word.text for word in words)))
    for word in words:
        is_small = word.stem in stems_of("empty") or word.text.lower() not in carrying
        stays = word.stem in known or word.stem in every or word.is_name or is_small
        others = () if stays else _synonyms().get(word.stem, ())
        allowed = figures if word.stem in stems_of("rows") | stems_of("persons") else known
        other = next((one for one in others if one in known and one in allowed), None)
        if not other and not (stays or word.is_doing):
            other = next((one for one in known if _is_part(word.text, known[one])), None)
        found.append(replace(word, stem=other) if other else word)
        if other:
            read[word.text] = known[other]
    return found, read
