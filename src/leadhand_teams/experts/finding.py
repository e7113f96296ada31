"""Finds the passages that answer a question. Pure.

A passage is a sentence with its clause, its headings and the title of its document. It answers if
it has the nouns of the question, in its own words or in others that mean the same, and what the
question asks for: an amount, a time, a permission, steps.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from leadhand_teams.experts.asking import AskedWord, asked, is_open, opposed, wanted
from leadhand_teams.experts.fields import Expert
from leadhand_teams.experts.sentences import KnownLines, QuotableLine
from leadhand_teams.experts.words import digits, pattern, patterns
from leadhand_teams.shared import values
from leadhand_teams.shared.everyday import alike, subjects
from leadhand_teams.shared.search import stem, terms

ANSWERS_FROM: Final = 0.55
"""A passage answers if it has this share of the question's words, weighed by their rarity."""
FITTING_FROM: Final = 0.4
"""The same if it has all nouns of the question and what is asked for."""
BESIDE_FROM: Final = 0.8
"""Further passages are quoted if they score this share of the best one."""
MOST_QUOTES: Final = 4
_CANDIDATES: Final = 400
_PLACES: Final = {"own": 1.0, "heading": 0.7, "top": 0.7, "clause": 0.5}
"""What a word counts in the sentence, its headings, the top of its document and its clause."""
_TOO: Final = 0.2
"""What it counts more if the sentence has it too, or a heading of a sentence that has it."""
_LIKE: Final = 0.7
"""What a word that means the same counts beside the word itself."""
_LIKE_BESIDE: Final = 0.45
"""The same if the documents have the word itself elsewhere: then it is seldom meant."""
_FITS: Final = 1.35
_MISFITS: Final = 0.6
"""A sentence counts more, or less, by whether it has what the question asks for."""
_OWN_FIELD: Final = 1.15
"""A sentence of a document of the expert's own field counts this much more."""
_RULE_FIRST: Final = 0.9
"""A sentence that goes on with the one before it, as an exception does."""
_NEAR_FROM: Final = 0.5
"""A passage that does not answer is shown if it has this share of the known words."""
NUMBERS: Final = ("amount", "time", "duration", "money")
"""Questions that want a number."""
_CLAUSE_FROM: Final = 0.9
_CONTEXT: Final = 0.4
"""What a word of another part of the question counts in the share that a passage must have."""
_REAL: Final = 0.5
"""The least weight of a word that is no noise."""
_BESIDE: Final = 0.3
"""What two words count more that stand together in the question and in the sentence."""
_RULE_FROM: Final = 0.85
_CASE: Final = 1.2
"""A sentence for a case, if the question tells a case."""
_SPECIAL: Final = 0.8
"""A sentence for special cases, of which the question has none."""


class FoundLine(NamedTuple):
    """A sentence that has words of the question."""

    sentence: QuotableLine
    number: int
    """Among all sentences."""
    score: float
    share: float
    """Of the question's words, weighed by their rarity, in the whole passage; 0 to 1."""
    near: float
    """The same of the words that the documents have."""
    said: float
    """The same of the words that its document does not have at the top, in the clause itself."""
    is_exact: bool
    """Whether it has a word of the question itself, or two that mean the same."""
    has: frozenset[AskedWord]
    names: frozenset[AskedWord]
    """What another sentence on the same must have too."""


class FoundAnswer(NamedTuple):
    """What the documents say on a question."""

    kind: str
    found: Sequence[FoundLine]
    """Best first."""
    near: Sequence[FoundLine]
    """All that have words of the question, best first."""
    answers: bool
    unknown: Sequence[str]
    """Nouns and names of the question that no document has."""
    absent: Sequence[str]
    """Nouns and names that are in other passages than the best one."""
    by_heading: bool
    """Whether the heading of the best passage has a word that the sentence does not have."""
    is_near: bool
    """Whether the best passage has most of what the documents have of the question."""
    read_as: Sequence[tuple[str, str]]
    """Words of the question that no document has, and the words of the best passage for them."""


def find(part: str, question: str, known: KnownLines, expert: Expert | None) -> FoundAnswer:
    """The passages that answer a part of a question, best first."""
    kind, words = asked(part), wanted(part, question, known)
    here = {one: _numbers(one, known) for one in words}
    known_nouns = {one.word for one in words if here[one]}
    unknown = [
        one
        for one in words
        # Of "pension pot" one word is enough.
        if one.is_subject and not here[one] and not _beside(one, part, known_nouns)
    ]
    words = [one for one in words if here[one] or one in unknown]
    count = len(known.sentences)
    rare = {
        one: one.weight * math.log(1 + (count - len(here[one]) + 0.5) / (len(here[one]) + 0.5))
        for one in words
    }
    itself = {one for one in words if _numbers(one, known, exactly=True)}
    likes = {one: _LIKE_BESIDE if one in itself else _LIKE for one in words}
    need = {one: rare[one] * (_CONTEXT if one.is_context else 1.0) for one in words}
    whole = sum(need.values()) or 1.0
    here_whole = sum(need[one] for one in words if one not in unknown) or 1.0
    heavy: Counter[int] = Counter()
    for one in words:
        heavy.update(dict.fromkeys(here[one], rare[one]))
    lengths = sum(len(body) for body, _ in known.stems) / max(1, count)
    found: list[FoundLine] = []
    own_only = expert is not None and is_open(question)
    for number, _ in heavy.most_common(_CANDIDATES):
        sentence = known.sentences[number]
        own = expert is not None and known.kinds[sentence.file].field == expert
        if own_only and not own:
            continue
        places = {one: _place(one, number, known, likes[one]) for one in words}
        has = {one for one, (_, part_of) in places.items() if part_of}
        outside = sum(need[one] for one in has if places[one][0] == "top")
        score = sum(rare[one] * part_of for one, (_, part_of) in places.items())
        score += _BESIDE * sum(rare[one] + rare[two] for one, two in _neighbours(words, sentence))
        score /= 0.75 + 0.25 * max(1.0, len(known.stems[number][0]) / lengths)
        score *= _for_case(kind, question, number, known) * (_OWN_FIELD if own else 1.0)
        exact = [one for one in has if one.is_in(_all_stems(number, known), exactly=True)]
        if own_only:  # it names nothing: its very words count
            score *= 0.5 + len(exact) / len(words)
        all_has = sum(need[one] for one in has)
        score *= 0.3 + all_has / whole
        found.append(
            FoundLine(
                sentence,
                number,
                score,
                share=all_has / whole,
                near=all_has / here_whole,
                said=(all_has - outside) / ((whole - outside) or 1.0),
                is_exact=any(one.weight >= _REAL for one in exact)
                or sum(one.weight >= _REAL for one in has) > 1,
                has=frozenset(has),
                names=frozenset(one for one in has if one.is_name or places[one][0] != "top"),
            )
        )
    found.sort(key=lambda one: (-one.score, one.number))
    _put_rule_first(kind, found)
    return _judged(kind, part, found, words, unknown, known, expert)


def _beside(one: AskedWord, part: str, nouns: set[str]) -> bool:
    """Whether a common noun stands directly after a noun that is in the documents."""
    before = re.search(rf"([\w-]+) {re.escape(one.word)}\b", part)
    return not one.is_name and before is not None and before[1] in nouns & {*subjects(part)}


def _for_case(kind: str, question: str, number: int, known: KnownLines) -> float:
    """How well a sentence fits the case of a question and what it asks for."""
    sentence = known.sentences[number]
    factor = opposed(question, sentence.quote)
    if pattern("told").search(question) and pattern("case").match(sentence.quote):
        factor *= _CASE
    if goes_on(sentence):
        factor *= _RULE_FIRST
    if sentence.quote.endswith("?"):
        factor *= _SPECIAL * _MISFITS
    if pattern("special").search(sentence.quote) and not pattern("special").search(question):
        factor *= _SPECIAL
    if _fits(kind, sentence):
        return factor * _FITS
    clause = known.clauses[sentence.file, sentence.clause]
    lacks = kind in NUMBERS and not any(_fits(kind, known.sentences[one]) for one in clause)
    return factor * (_MISFITS if lacks else 1.0)


def _neighbours(
    words: Sequence[AskedWord], sentence: QuotableLine
) -> list[tuple[AskedWord, AskedWord]]:
    """The words that stand together in the question and in a sentence."""
    said = f" {' '.join(terms(sentence.quote))} "
    pairs = pairwise(words)
    return [(a, b) for a, b in pairs if f" {' '.join((*a.stems, *b.stems))} " in said]


def _all_stems(number: int, known: KnownLines) -> frozenset[str]:
    body, heads = known.stems[number]
    return body | heads | known.tops[known.sentences[number].file]


def _put_rule_first(kind: str, found: list[FoundLine]) -> None:
    """Of clauses of one section that are nearly as good, the first one is the rule."""
    if not found or kind in NUMBERS:
        return
    best = found[0]
    beside = [
        one
        for one in found
        if (one.sentence.file, one.sentence.heading) == (best.sentence.file, best.sentence.heading)
        and one.score >= _RULE_FROM * best.score
    ]
    rule = min(beside, key=lambda one: one.number)
    if rule.sentence.clause != best.sentence.clause:
        found.remove(rule)
        found.insert(0, rule)


def _judged(
    kind: str,
    part: str,
    found: list[FoundLine],
    words: list[AskedWord],
    unknown: list[AskedWord],
    known: KnownLines,
    expert: Expert | None,
) -> FoundAnswer:
    best = _best(found)
    if not best:
        return FoundAnswer(
            kind, best, found, False, [one.word for one in unknown], [], False, False, []
        )
    first = best[0]
    places = {one: _place(one, first.number, known)[0] for one in words}
    absent = [one for one in words if one.is_subject and not places[one] and one not in unknown]
    top = known.tops[first.sentence.file]
    by_heading = any(place == "heading" and not one.is_in(top) for one, place in places.items())
    needs_number = pattern("quantity").search(part) is not None and not _fits(kind, first.sentence)
    # What only surrounds the question, as "while I travel", may be missing.
    subjects = [one for one in words if one.is_subject]
    # A code that the sentence itself has tells more than a noun that is in no document.
    named = any(not one.word.isalpha() and places[one] == "own" for one in subjects)
    # A clause that forbids letting answers for a guest whom it does not name.
    is_clause = expert == "legal" and kind == "permission" and _fits(kind, first.sentence)
    named = named or (is_clause and first.near >= _CLAUSE_FROM and first.said > 0)
    lacks = [one for one in unknown if one.is_name or not named]
    is_whole = (
        kind != "fact"
        and subjects
        and all(places[one] for one in subjects)
        and _fits(kind, first.sentence)
    )
    least = FITTING_FROM if is_whole else ANSWERS_FROM
    share = first.near if unknown and not lacks else first.share
    answers = not lacks and share >= least and first.said >= 0.4 and not needs_number
    read_as = [
        (one.word, _word_for(one, first.sentence))
        for one in words
        if not _numbers(one, known, exactly=True)
    ]
    return FoundAnswer(
        kind,
        best,
        found,
        answers,
        [one.word for one in unknown],
        [one.word for one in absent],
        by_heading,
        first.said > 0 and first.near >= _NEAR_FROM,
        [(word, of) for word, of in read_as if of],
    )


def _numbers(one: AskedWord, known: KnownLines, *, exactly: bool = False) -> frozenset[int]:
    """The sentences that have a word, themselves, in a heading or at the top of their document."""
    found: frozenset[int] | None = None
    for part in one.stems:
        kin = {part} if exactly else alike(part)
        here = frozenset[int]().union(*(known.places.get(other, ()) for other in kin))
        found = here if found is None else found & here
    return found or frozenset()


def _place(one: AskedWord, number: int, known: KnownLines, like: float = 1.0) -> tuple[str, float]:
    """Where a passage has a word, the nearest place, and what it counts there."""
    sentence = known.sentences[number]
    body, heads = known.stems[number]
    clause = known.clauses[sentence.file, sentence.clause]
    beside = frozenset[str]().union(*(known.stems[other][0] for other in clause if other != number))
    every = {"own": body, "heading": heads, "top": known.tops[sentence.file], "clause": beside}
    # What is about animals does not speak of cats: at the top only the word itself counts.
    found = {
        place: _PLACES[place] * (1.0 if one.is_in(has, exactly=True) else like)
        for place, has in every.items()
        if one.is_in(has, exactly=place == "top")
    }
    if not found:
        return "", 0.0
    nearest = next(iter(found))
    if "top" in found:  # what the document is about says little in one of its sentences
        return nearest, found["top"] + (_TOO if nearest != "top" else 0.0)
    return nearest, found[nearest] + (_TOO if nearest == "own" and "heading" in found else 0.0)


def meanings(question: str, known: KnownLines) -> list[FoundLine]:
    """The passages that a question may mean which names nothing: they have all its words."""
    kind, words = asked(question), wanted(question, question, known)
    found: dict[tuple[str, int], tuple[int, FoundLine]] = {}
    for one in find(question, question, known, None).near:
        body, heads = known.stems[one.number]
        if all(word.is_in(body | heads) for word in words) and (
            kind not in NUMBERS or _fits(kind, one.sentence)
        ):
            exact = sum(word.is_in(body | heads, exactly=True) for word in words)
            found.setdefault((one.sentence.file, one.sentence.clause), (exact, one))
    most = max((exact for exact, _ in found.values()), default=0)
    return [one for exact, one in found.values() if exact == most]


def _word_for(one: AskedWord, sentence: QuotableLine) -> str:
    """The word of a passage that means the same as one of the question; empty if there is none."""
    said = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", f"{sentence.quote} {sentence.heading}")
    kin = {unit for part in one.stems for unit in alike(part)}
    return next((word for word in said if stem(word) in kin), "")


def goes_on(one: QuotableLine) -> bool:
    """Whether a sentence goes on with the one before it, as an exception does."""
    return pattern("continues").match(pattern("number").sub("", one.quote)) is not None


def _fits(kind: str, sentence: QuotableLine) -> bool:
    """Whether a sentence has what is asked for."""
    text = digits(pattern("number").sub("", sentence.quote))
    if kind == "amount":
        return re.search(r"\d", text) is not None
    if kind in ("time", "duration") and (pattern("duration").search(text) or values.periods(text)):
        return True
    fitting = patterns("answers").get(kind)
    return sentence.is_item if kind == "steps" else bool(fitting and fitting.search(text))


def _best(found: Sequence[FoundLine]) -> list[FoundLine]:
    """The first, and further ones that are nearly as good and say something else."""
    kept: list[FoundLine] = []
    for one in found:
        if len(kept) == MOST_QUOTES or one.score < BESIDE_FROM * found[0].score:
            break
        words = {*terms(one.sentence.quote)}
        if all(len(words & {*terms(k.sentence.quote)}) < 0.8 * len(words) for k in kept):
            kept.append(one)
    return kept
