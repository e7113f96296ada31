"""What a question asks: its parts, the words that a passage must have, and its conditions. Pure."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from leadhand.tools.files import content_words
from leadhand_teams.experts.sentences import KnownLines
from leadhand_teams.experts.words import opposites, pattern, patterns, stems_of, units, words
from leadhand_teams.shared.everyday import alike, is_everyday, is_passing, phrases, subjects
from leadhand_teams.shared.search import stem, terms

_WORD: Final = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")
_RUN: Final = r"(?:[A-Z][\w'’-]*)(?: [A-Z][\w'’-]*)*(?: [a-z][\w'’-]*)?"
_WEIGHTS: Final = {"subject": 1.0, "everyday": 0.5, "noise": 0.15}
_CODE: Final = 3
"""Digits of a code or a year; shorter numbers are values of a case."""
_PHRASE: Final = 0.8
_ASIDE: Final = 0.6
"""What a word counts that only surrounds the question."""
_SAME_CASE: Final = 1.3
_OTHER_CASE: Final = 0.5
"""What a sentence for the case of the question counts, and one for another case."""
_CONTEXT: Final = {"asked": 0.2, "told": 1.0}
"""What a word of another part of the question counts, by whether that part asks or tells."""


class AskedWord(NamedTuple):
    """A word or phrase of a question."""

    word: str
    """As written."""
    stems: tuple[str, ...]
    """Of its parts: a passage must have each, or a word that means the same."""
    weight: float
    is_subject: bool
    """Whether it is a noun or name of this very part of the question."""
    is_name: bool = False
    is_context: bool = False
    """Whether it is of another part: an answer need not have it."""

    def is_in(self, has: frozenset[str], *, exactly: bool = False) -> bool:
        """Whether a passage with these stems has the word, or one that means the same."""
        return all(({one} if exactly else alike(one)) & has for one in self.stems)


def asked(question: str) -> str:
    """What a question asks for: a key of `asked` in `words.yaml`, or `fact`."""
    return next((kind for kind, one in patterns("asked").items() if one.search(question)), "fact")


def parts_of(question: str) -> list[str]:
    """The questions in a request; what only tells something is in none of them."""
    parts = [*filter(None, map(str.strip, pattern("parts").split(question)))]
    return [part for part in parts if _is_asked(part)] or [question]


def _is_asked(part: str) -> bool:
    return "?" in part or pattern("asks").match(part) is not None


def wanted(part: str, question: str, known: KnownLines) -> list[AskedWord]:
    """The words of a part of a question, and those of the rest of it, which count less."""
    own = _wanted(part, known)
    seen = {one.stems for one in own}
    is_bare = pattern("refers").search(part) or not any(one.is_subject for one in own)
    for other in pattern("parts").split(question):
        sort = "asked" if _is_asked(other) else "told"
        share = _CONTEXT[sort] if sort == "told" or not is_bare else 1.0
        rest = [one for one in _wanted(other, known) if one.stems not in seen]
        own += [
            one._replace(weight=one.weight * share, is_subject=False, is_context=True)
            for one in rest
        ]
        seen |= {one.stems for one in rest}
    return own


def _wanted(text: str, known: KnownLines) -> list[AskedWord]:
    pays = asked(text) == "money"
    content, nouns = {*content_words(f"{text} word")}, {*subjects(text)}  # not all are stop words
    aside = {word for match in pattern("aside").finditer(text) for word in _WORD.findall(match[0])}
    # Labels and phrases first: their words do not count again.
    found = [
        AskedWord(label[0], ("_".join(terms(label[0])),), 1.0, is_subject=True, is_name=True)
        for label in pattern("label").finditer(text)
    ]
    every = re.findall(r"[^\W\d_]+", text.lower())
    joined = ((f"{one} {two}", stem(one + two)) for one, two in pairwise(every) if one in content)
    said = ((unit.replace("_", " "), unit) for unit in phrases(text, apart=2))
    for word, unit in [*((word, unit) for word, unit in joined if unit in known.places), *said]:
        is_noun = word.partition(" ")[0] in nouns
        found.append(AskedWord(word, (unit,), 1.0 if is_noun else _PHRASE, is_subject=is_noun))
    gone = {part for one in found for part in terms(one.word)}
    for word in dict.fromkeys(re.sub(r"['’]s$", "", one) for one in _WORD.findall(text)):
        parts = tuple(terms(word))
        is_said = content & {*re.split(r"\W", word.lower())} and not is_passing(word)
        if not is_said or {*parts} <= gone or (word.isdigit() and len(word) < _CODE):
            continue
        is_noun = word in nouns or any(part in nouns for part in re.split(r"['’]", word))
        is_noise = {*parts} <= stems_of("noise") | (stems_of("paying") if pays else frozenset())
        sort = "noise" if is_noise else "subject" if is_noun else "everyday"
        is_marked = word[0].isupper() or not word.isalpha()
        is_name = sort == "subject" and is_marked and not text.startswith(word)
        if len(word) > 1:
            is_free = (
                {*parts} <= stems_of("generic") or word in aside or pattern("age").fullmatch(word)
            )
            is_subject = sort == "subject" and not is_free
            weight = _WEIGHTS[sort] * (_ASIDE if word in aside else 1.0)
            found.append(AskedWord(word, parts, weight, is_subject, is_name and word not in aside))
    return found


def names_in(question: str, words: Sequence[str]) -> list[str]:
    """Words of a question; one within a name of several words as that whole name."""
    nouns = {part for one in subjects(question) for part in re.split(r"['’]", one)}
    names = ["".join(match) for match in re.findall(_RUN, question)]
    found: list[str] = []
    for word in words:
        runs = [
            name
            for name in names
            if word in name and all(one in nouns for one in re.findall(r"\w{2,}", name))
        ]
        found.append(next(iter(runs), word))
    return list(dict.fromkeys(found))


def is_open(question: str) -> bool:
    """Whether a question does not say what it is about: it has no noun and no name."""
    return not any(
        not {*terms(one)} <= stems_of("generic") | stems_of("noise") for one in subjects(question)
    )


def opposed(question: str, text: str) -> float:
    """Below 1 if a text is for another case than the question, above 1 if it is for the same."""
    asks, says = units(question), units(text)
    factor = 1.0
    for row in opposites():
        mine = [bool(side & asks) for side in row]
        theirs = [bool(side & says) for side in row]
        if any(mine) and any(theirs):
            same = any(one and other for one, other in zip(mine, theirs, strict=True))
            factor *= _SAME_CASE if same else _OTHER_CASE
    for case, things in _times(question).items():
        for other, others in _times(text).items():
            if {kin for thing in things for kin in alike(thing)} & others:
                factor *= _SAME_CASE if case == other else _OTHER_CASE
    # "During ..., ..." is for another time than "after".
    opening = pattern("opening").match(text)
    if opening and _times(question):
        factor *= 1.1 if opening["time"].lower() in _times(question) else 0.8
    return factor * _within(question, text)


def _within(question: str, text: str) -> float:
    """Whether a value of the question, as in "weighs 15 kilos", is in the range of a sentence."""
    value = pattern("value").search(question)
    if not value:
        return 1.0
    number, unit = float(value["number"] or value["number2"]), (value["unit"] or "year")[0]
    fits = [
        float(one["low"] or one["over"] or 0) <= number < float(one["under"] or "inf")
        and number <= float(one["high"] or "inf")
        for one in pattern("range").finditer(text)
        if (one["unit"] or one["unit2"] or one["unit3"] or unit)[0] == unit
    ]
    return (_SAME_CASE if any(fits) else _OTHER_CASE) if fits else 1.0


def _times(text: str) -> dict[str, set[str]]:
    """What a text names after each time word: "after my probation" is after: probation."""
    cases = [side.strip() for side in words()["times"][0].split("|")]
    found: dict[str, set[str]] = {}
    for match in re.finditer(
        rf"\b({'|'.join(cases)})\b((?: [\w'’-]+){{1,4}})", text, re.IGNORECASE
    ):
        things = {one for one in terms(match[2]) if not is_everyday(one)}
        case = match[1].lower().replace("once", "after")
        found.setdefault(case, set()).update(things)
    return found
