"""Finds the passages that answer a question. Pure.

A passage is a sentence with its clause, its headings and the title of its document. It answers if
it has the nouns of the question, in its own words or in others that mean the same, and what the
question asks for: an amount, a time, a permission, steps.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from leadhand_teams.experts.asking import AskedWord, asked, is_open, wanted
from leadhand_teams.experts.cases import fit_of_case
from leadhand_teams.experts.fields import Expert
from leadhand_teams.experts.sentences import KnownLines, QuotableLine
from leadhand_teams.experts.words import digits, pattern, patterns, weight
from leadhand_teams.shared import values
from leadhand_teams.shared.everyday import alike
from leadhand_teams.shared.search import stem

NUMBERS: Final = ("amount", "time", "duration", "money")
"""Questions that want a number."""
_CANDIDATES: Final = 400
_MOST_QUOTES: Final = 4


class FoundLine(NamedTuple):
    """A sentence that has words of the question."""

    sentence: QuotableLine
    number: int
    """Among all sentences."""
    score: float
    share: float
    """Of the question's words that are in the documents, weighed by their rarity; 0 to 1."""
    places: Mapping[AskedWord, str]
    """Where the passage has each word: the nearest place."""


class FoundAnswer(NamedTuple):
    """What the documents say on a question."""

    kind: str
    near: Sequence[FoundLine]
    """All that have words of the question, best first."""
    known: float
    """The share of the question's words that are in the documents, weighed by their rarity."""
    answers: bool = False
    unknown: Sequence[AskedWord] = ()
    """Nouns and names of the question that no document has."""
    asks: Sequence[AskedWord] = ()
    """The words of the question."""
    read_as: Sequence[tuple[str, str]] = ()
    """Words of the question that no document has, and the words of the best passage for them."""

    @property
    def best(self) -> list[FoundLine]:
        """The first, and further ones that are nearly as good."""
        least = weight("beside") * self.near[0].score if self.near else 0.0
        return [one for one in self.near[:_MOST_QUOTES] if one.score >= least]


def find(part: str, question: str, known: KnownLines, expert: Expert | None) -> FoundAnswer:
    """The passages that answer a part of a question, best first."""
    kind, asks = asked(part), wanted(part, question, known)
    here = {one: _numbers(one, known) for one in asks}
    exact = {one for one in asks if _numbers(one, known, exactly=True)}
    words = [one for one in asks if here[one]]
    count = len(known.sentences)
    rare = {
        one: one.weight * math.log(1 + (count - len(here[one]) + 0.5) / (len(here[one]) + 0.5))
        for one in words
    }
    heavy: Counter[int] = Counter()
    for one in words:
        heavy.update(dict.fromkeys(here[one], rare[one]))
    # A passage need not have the words that only other parts of the question have.
    need = {one: rare[one] * (weight("context") if one.is_context else 1.0) for one in words}
    # A long story need not be in a passage as a whole.
    whole = sum(sorted(need.values(), reverse=True)[: int(weight("most_words"))]) or 1.0
    names_nothing = expert is not None and is_open(question)
    near: list[FoundLine] = []
    names = {one for one in words if one.is_name}
    for number, _ in heavy.most_common(_CANDIDATES):
        sentence = known.sentences[number]
        if names_nothing and known.kinds[sentence.file].field != expert:
            continue
        at = {one: _place(one, number, known, is_elsewhere=one in exact) for one in words}
        has = {one: place for one, (place, _) in at.items() if place}
        score = sum(rare[one] * counts for one, (_, counts) in at.items())
        score *= _for_case(kind, question, number, known, expert)
        if names and not names & has.keys():
            score *= weight("unnamed")
        share = min(1.0, sum(need[one] for one in has) / whole)
        near.append(FoundLine(sentence, number, score * (weight("share") + share), share, has))
    near.sort(key=lambda one: (-one.score, one.number))
    unknown = [one for one in asks if one.is_subject and not here[one]]
    lost = sum(one.weight for one in unknown) * math.log(2 * count + 2)
    found = FoundAnswer(kind, near, whole / (whole + lost), unknown=unknown, asks=asks)
    return _judged(found, part, known, expert) if near else found


def _judged(found: FoundAnswer, part: str, known: KnownLines, expert: Expert | None) -> FoundAnswer:
    """Whether the best passage answers, and what it lacks."""
    first = found.near[0]
    is_fit = fits(found.kind, first.sentence)
    # A code that the sentence itself has tells more than a noun that is in no document; and a
    # clause that forbids letting answers for a guest whom it does not name.
    codes = {one for one in found.asks if one.is_subject and pattern("code").search(one.word)}
    is_code = any(first.places.get(one) == "own!" for one in codes)
    is_clause = expert == "legal" and found.kind == "permission" and is_fit
    is_whole = is_code or (is_clause and first.share >= weight("clause_whole"))
    lacks = [one for one in found.unknown if one.is_name or not is_whole]
    is_enough = first.share >= weight("answers")
    needs_number = pattern("quantity").search(part) is not None and not is_fit
    said = re.findall(
        r"[^\W\d_]+(?:-[^\W\d_]+)*", f"{first.sentence.quote} {first.sentence.heading}"
    )
    return found._replace(
        answers=is_enough and not lacks and not needs_number,
        read_as=[
            (one.word, other)
            for one, place in first.places.items()
            if not place.endswith("!") and not _numbers(one, known, exactly=True)
            for other in [next((word for word in said if one.is_in(frozenset({stem(word)}))), "")]
            if other
        ],
    )


def _numbers(one: AskedWord, known: KnownLines, *, exactly: bool = False) -> frozenset[int]:
    """The sentences that have a word, themselves, in a heading or at the top of their document."""
    found: frozenset[int] | None = None
    for part in one.stems:
        kin = {part} if exactly else alike(part)
        here = frozenset[int]().union(*(known.places.get(other, ()) for other in kin))
        found = here if found is None else found & here
    return found or frozenset()


def _place(
    one: AskedWord, number: int, known: KnownLines, *, is_elsewhere: bool
) -> tuple[str, float]:
    """Where a passage has a word, and what it counts there; "!" marks the word itself."""
    sentence = known.sentences[number]
    body, heads = known.stems[number]
    # What a document is about, says little in one of its sentences.
    top = known.tops[sentence.file]
    if one.is_in(top, exactly=True):
        place = "own!" if one.is_in(body) else "section!" if one.is_in(heads) else "top!"
        return place, weight("top")
    clause = known.clauses[sentence.file, sentence.clause]
    beside = frozenset[str]().union(*(known.stems[other][0] for other in clause))
    for place, has in (("own", body), ("heading", heads), ("clause", beside)):
        if one.is_in(has, exactly=True):
            return f"{place}!", weight(place)
        if one.is_in(has):
            return place, weight(place) * weight("like_elsewhere" if is_elsewhere else "like")
    return "", 0.0


def _for_case(
    kind: str, question: str, number: int, known: KnownLines, expert: Expert | None
) -> float:
    """How well a sentence fits the case of a question and what it asks for."""
    sentence = known.sentences[number]
    length = len(known.stems[number][0]) / weight("words")
    factor = fit_of_case(question, sentence.quote) / max(1.0, length) ** weight("length")
    if pattern("told").search(question) and pattern("case").match(sentence.quote):
        factor *= weight("told_case")
    if pattern("special").search(sentence.quote) and not pattern("special").search(question):
        factor *= weight("special")
    if pattern("definition").match(sentence.quote) and "mean" not in question:
        factor *= weight("definition")
    if sentence.file in known.replaced:
        factor *= weight("replaced")
    if expert and known.kinds[sentence.file].field not in (expert, None):
        factor *= weight("other_field")
    if fits(kind, sentence):
        return factor * weight("fits")
    clause = known.clauses[sentence.file, sentence.clause]
    lacks = kind in NUMBERS and not any(fits(kind, known.sentences[one]) for one in clause)
    return factor * (weight("misfits") if lacks else 1.0)


def meanings(question: str, known: KnownLines) -> list[QuotableLine]:
    """One sentence of each clause that a question may mean which names nothing."""
    found = find(question, question, known, None)
    most = max((len([*one.places]) for one in found.near), default=0)
    whole = [
        one
        for one in found.near
        if len(one.places) == most
        and not any(place.startswith(("top", "clause")) for place in one.places.values())
        and (found.kind not in NUMBERS or fits(found.kind, one.sentence))
    ]
    exact = [sum(place.endswith("!") for place in one.places.values()) for one in whole]
    likely = [one.sentence for one, own in zip(whole, exact, strict=True) if own == max(exact)]
    return [*{(one.file, one.clause): one for one in reversed(likely)}.values()][::-1]


def fits(kind: str, sentence: QuotableLine) -> bool:
    """Whether a sentence has what is asked for."""
    text = digits(pattern("number").sub("", sentence.quote))
    if kind == "amount":
        return re.search(r"\d", text) is not None
    if kind in ("time", "duration") and (pattern("duration").search(text) or values.periods(text)):
        return True
    fitting = patterns("answers").get(kind)
    return sentence.is_item if kind == "steps" else bool(fitting and fitting.search(text))
