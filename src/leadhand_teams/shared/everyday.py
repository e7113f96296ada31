"""Everyday words: which ones of a question a document must have, and what it may call them. Pure.

The words are in `everyday.yaml`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, cast

import yaml

from leadhand.tools.files import content_words
from leadhand_teams.shared.search import stem, terms

_WORD: Final = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_LOADER: Final = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader  # much faster
_NO_NOUN: Final = re.compile(r".{3,}(?:ous|ful|able|ible|less|ive|ly|ish|iest|ed)$")


@cache
def _data() -> Mapping[str, object]:
    text = (files("leadhand_teams.shared") / "everyday.yaml").read_text(encoding="utf-8")
    return cast("Mapping[str, object]", yaml.load(text, Loader=_LOADER))


def _rows(name: str) -> list[str]:
    return cast("list[str]", _data()[name])


def _unit(phrase: str) -> str:
    return "_".join(terms(phrase.replace("_", " ")))


@cache
def _forms() -> Mapping[str, tuple[str, ...]]:
    """For each form of an irregular verb all of them."""
    rows = [tuple(map(stem, line.split())) for line in _rows("irregular")]
    return {form: row for row in rows for form in row}


def _with_forms(phrases: str) -> list[str]:
    """The units of words and phrases, those of irregular verbs in all forms: also `paid_off`."""
    units = [_unit(one).partition("_") for one in phrases.split()]
    return [f"{form}{_}{rest}" for verb, _, rest in units for form in _forms().get(verb, (verb,))]


@cache
def _groups(row: str) -> tuple[frozenset[str], frozenset[str]]:
    """The units of a row that mean the same, and their special cases."""
    same, special = f"{row} >".split(">")[:2]
    return frozenset(_with_forms(same)), frozenset(_with_forms(special))


@cache
def _phrases() -> frozenset[str]:
    rows = " ".join(_rows("synonyms"))
    return frozenset(_with_forms(" ".join({one for one in rows.split() if "_" in one})))


@cache
def _first_words() -> frozenset[str]:
    return frozenset(unit.partition("_")[0] for unit in _phrases())


@cache
def _stems(name: str) -> frozenset[str]:
    return frozenset(map(stem, str(_data()[name]).split()))


@cache
def alike(unit: str) -> frozenset[str]:
    """The stems, and phrases of stems such as `pay_off`, that mean the same as one; itself too."""
    found, first = {unit}, unit.partition("_")[0]
    # A stem has the letters of its word but the last. To stem all rows takes a tenth of a second.
    starts = [f" {form[: max(2, len(form) - 1)]}" for form in _forms().get(first, (first,))]
    for row in (*_rows("synonyms"), *_rows("irregular")):
        if any(start in f" {row}" for start in starts):
            same, special = _groups(row)
            found |= same | special if unit in same else same if unit in special else set()
    return frozenset(found)


def phrases(text: str, *, apart: int = 0) -> list[str]:
    """The known phrases of a text as units; `apart`: so many words may stand between two parts."""
    stems, found = terms(text), list[str]()
    for at, first in enumerate(stems):
        if first not in _first_words():
            continue
        spans = [stems[at : at + size] for size in (2, 3, 4)]
        spans += [[first, other] for other in stems[at + 2 : at + 2 + apart]]
        found += [unit for unit in map("_".join, spans) if unit in _phrases()]
    return list(dict.fromkeys(found))


def is_passing(word: str) -> bool:
    """Whether a word only surrounds a question: a time, an adverb, a feeling."""
    return stem(word) in _stems("passing")


def is_everyday(word: str) -> bool:
    """Whether a word says nothing that a document must have: a verb, an adverb, a time."""
    known = is_passing(word) or stem(word) in _stems("everyday")
    return known or _NO_NOUN.match(word.lower()) is not None


def subjects(question: str) -> list[str]:
    """The nouns and names that a question is about, as written: what a document must have."""
    sentences = re.split(r"(?<=[.!?])\s+", question)
    return list(dict.fromkeys(word for one in sentences for word in _nouns(_WORD.findall(one))))


def _nouns(words: list[str]) -> Iterator[str]:
    content = {*content_words(" ".join([*words, "word"]))}
    for at, word in enumerate(words):
        before = stem(words[at - 1]) if at else ""
        after = stem(words[at + 1]) if at + 1 < len(words) else ""
        is_name = at > 0 and (word[0].isupper() or not word.isalpha())
        # "my booking", "a bar." are nouns, though "book" and "bar" are everyday verbs.
        is_last = not after or not content & {words[at + 1].lower()}
        is_noun = before in _stems("articles") and (word.endswith("ing") or is_last)
        is_verb = before in _stems("before_verbs") or (
            after in _stems("objects")
            and (word.endswith("ing") or before not in _stems("before_nouns"))
        )
        is_content = len(word) > 1 and content & {*re.split(r"[-.]", word.lower())}
        if is_content and (
            is_name
            or not (
                is_verb
                or (is_everyday(word) and (is_passing(word) or not is_noun))
                or word.isdigit()
            )
        ):
            yield word
