"""What a question asks: its parts, the words that a passage must have, and its conditions. Pure."""

import re
from typing import Final, NamedTuple

from leadhand.tools.files import content_words
from leadhand_teams.experts.sentences import KnownLines
from leadhand_teams.experts.words import codes, digits, pattern, patterns, stems_of, weight
from leadhand_teams.shared.everyday import alike, is_passing, phrases, subjects
from leadhand_teams.shared.search import terms

_WORD: Final = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")
_CODE: Final = 3
"""Digits of a code or a year; shorter numbers are values of a case."""


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


def told_with(part: str, question: str) -> str:
    """A part of a question with what only tells something."""
    told = (one for one in pattern("parts").split(question) if not _is_asked(one))
    return " ".join([*told, part])


def codes_of(part: str, question: str) -> dict[str, str]:
    """The codes that a part of a question is about: its own, or those of the story before it."""
    is_bare = not parts_of(question)[1:] or pattern("refers").search(part)
    return codes(part) or (codes(question) if is_bare else {})


def _is_asked(part: str) -> bool:
    return "?" in part or pattern("asks").match(part) is not None


def wanted(part: str, question: str, known: KnownLines) -> list[AskedWord]:
    """The words of a part of a question, and those of the rest of it, which count less."""
    found = {one.stems: one for one in _wanted(part, known)}
    own = sum(one.weight > weight("noise") for one in found.values())
    is_bare = pattern("refers").search(part) or not any(one.is_subject for one in found.values())
    # What happened counts the less, the more words the part has itself.
    told = weight("told") * min(1.0, weight("bare") / max(own, 1))
    for other in pattern("parts").split(question):
        is_told = not _is_asked(other) or is_bare
        for one in _wanted(other, known):
            # Above all its nouns: "an old door" is no old backup.
            counts = one.weight**2 * (told if is_told else weight("asked"))
            is_name = one.is_name and is_told
            rest = one._replace(weight=counts, is_subject=False, is_name=is_name, is_context=True)
            found.setdefault(one.stems, rest)
    return [*found.values()]


def _wanted(text: str, known: KnownLines) -> list[AskedWord]:
    content, nouns = {*content_words(f"{text} word")}, {*subjects(text)}  # not all are stop words
    aside = {word for match in pattern("aside").finditer(text) for word in _WORD.findall(match[0])}
    noise = stems_of("noise") | stems_of("paying" if asked(text) == "money" else "noise")
    # Labels and phrases first: their words do not count again.
    labels = ((label[0], "_".join(terms(label[0]))) for label in pattern("label").finditer(text))
    found = [AskedWord(word, (unit,), 1.0, is_subject=True, is_name=True) for word, unit in labels]
    for unit, word in codes(text).items():
        found.append(AskedWord(word, (unit,), weight("code"), is_subject=True, is_name=True))
    for unit in phrases(text, apart=2):
        word = unit.replace("_", " ")
        words = {one for one in word.split() if len(one) > 1}
        is_noun = words <= content and bool(words & {*map(str.lower, nouns)})  # not "get rid of"
        counts = weight("subject" if is_noun else "phrase")
        found.append(AskedWord(word, (unit,), counts, is_subject=is_noun))
    gone = {part for one in found for part in terms(one.word)}
    for word in dict.fromkeys(_WORD.findall(pattern("contraction").sub(" ", text))):
        parts, stems = re.split(r"\W", word), {*terms(word)}
        is_said = content & {*map(str.lower, parts)} and not is_passing(word)
        is_value = (word.isdigit() and len(word) < _CODE) or digits(word).isdigit()
        if not is_said or stems <= gone or is_value or len(word) == 1:
            continue
        is_noun = not stems <= noise and bool(nouns & {word, f"{word}'s", f"{word}’s", *parts})
        is_free = word in aside or stems <= stems_of("generic")
        sort = "noise" if stems <= noise else "subject" if is_noun else "everyday"
        is_marked = (word[0].isupper() or not word.isalpha()) and not text.startswith(word)
        is_subject = is_noun and not is_free
        is_name = is_subject and is_marked
        sort = "code" if is_name and pattern("with_digits").search(word) else sort
        found.append(AskedWord(word, tuple(terms(word)), weight(sort), is_subject, is_name))
    return found
