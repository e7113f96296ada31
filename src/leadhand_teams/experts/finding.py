"""Finds the passages that answer a question. Pure.

A passage is a sentence with its clause, its headings and the title of its document. It answers if
it has the nouns of the question, in its own words or in others that mean the same, and what the
question asks for: an amount, a time, a permission, steps.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Final, Literal, NamedTuple

from leadhand_teams.experts.asking import AskedWord, asked, codes_of, wanted
from leadhand_teams.experts.cases import fit_of_case
from leadhand_teams.experts.fields import Expert
from leadhand_teams.experts.sentences import KnownLines, QuotableLine
from leadhand_teams.experts.words import digits, pattern, patterns, shared_part, weight
from leadhand_teams.shared import values
from leadhand_teams.shared.everyday import alike

NUMBERS: Final = ("amount", "time", "duration", "money")
"""Questions that want a number."""
_CANDIDATES: Final = 400
_SAME: Final = 0.5
"""Sentences that share so much are on the same: they agree or contradict each other."""


class FoundPlace(NamedTuple):
    """Where a passage has a word of the question: the nearest place."""

    name: Literal["own", "heading", "clause", "top"]
    """The sentence itself, its headings, its clause, or what its document is about."""
    is_exact: bool
    """Whether it is the word itself, not another one that means the same."""
    counts: float


class FoundLine(NamedTuple):
    """A sentence that has words of the question."""

    sentence: QuotableLine
    number: int
    """Among all sentences."""
    score: float
    share: float
    """Of the question's words that are in the documents, weighed by their rarity; 0 to 1."""
    places: Mapping[AskedWord, FoundPlace]
    is_replaced: bool
    """Whether another document replaces its own one."""


class FoundAnswer(NamedTuple):
    """What the documents say on a question."""

    kind: str
    """What it asks for: a key of `asked` in `words.yaml`."""
    asks: Sequence[AskedWord]
    """The words of the question."""
    near: Sequence[FoundLine]
    """All that have words of the question, best first."""
    unknown: Sequence[AskedWord]
    """Nouns and names of the question that no document has."""
    known: float
    """The share of the question's words that are in the documents, weighed by their rarity."""
    certainty: Literal["sure", "likely", "none"] = "none"
    """Whether the best passage answers."""
    rival: QuotableLine | None = None
    """A passage of another document that may be meant as well."""

    @property
    def passages(self) -> list[QuotableLine]:
        """The best sentence of each clause, best first."""
        clauses = {(one.file, one.clause): one for one in (o.sentence for o in self.near[::-1])}
        return [*clauses.values()][::-1]


def find(part: str, question: str, known: KnownLines, expert: Expert | None) -> FoundAnswer:
    """The passages that answer a part of a question, best first.

    Documents of another field than the expert's count less.
    """
    kind, asks = asked(part), wanted(part, question, known)
    coded = known.coded(codes_of(part, question))
    here = {one: _numbers(one, known) for one in asks}
    elsewhere = {one for one in asks if _numbers(one, known, exactly=True)}
    words = [one for one in asks if here[one]]
    names = {one for one in words if one.is_name}
    count = len(known.sentences)
    rare = {
        one: one.weight * math.log(1 + (count - len(here[one]) + 0.5) / (len(here[one]) + 0.5))
        for one in words
    }
    heavy: Counter[int] = Counter()
    for one in words:
        heavy.update(dict.fromkeys(here[one], rare[one]))
    # A passage need not have a long story as a whole, and of other parts of the question little.
    need = {one: rare[one] * (weight("context") if one.is_context else 1.0) for one in words}
    whole = sum(sorted(need.values(), reverse=True)[: int(weight("most_words"))]) or 1.0
    near: list[FoundLine] = []
    for number, _ in heavy.most_common(_CANDIDATES):
        sentence = known.sentences[number]
        if sentence.quote.endswith("?"):  # a question answers nothing
            continue
        at = {one: _place(one, number, known, is_elsewhere=one in elsewhere) for one in words}
        places = {one: place for one, place in at.items() if place}
        share = min(1.0, sum(need[one] for one in places) / whole) if number not in coded else 1.0
        score = sum(rare[one] * place.counts for one, place in places.items())
        score *= (weight("share") + share) * _for_case(kind, question, number, known)
        score *= weight("unnamed") if names and not names & places.keys() else 1.0
        is_replaced = sentence.file in known.replaced
        near.append(FoundLine(sentence, number, score, share, places, is_replaced))
    others = {
        file for file, kind in known.kinds.items() if expert and kind.field not in (expert, None)
    }
    factor = {file: weight("other_field") if file in others else 1.0 for file in known.kinds}
    near.sort(key=lambda one: (-one.score * factor[one.sentence.file], one.number))
    near.sort(key=lambda one: one.number not in coded)
    unknown = [one for one in asks if one.is_subject and not here[one]]
    lost = sum(one.weight for one in unknown) * math.log(2 * count + 2)
    found = FoundAnswer(kind, asks, near, unknown, whole / (whole + lost))
    return _judged(found, part, expert, coded) if near else found


def _judged(found: FoundAnswer, part: str, expert: Expert | None, coded: Set[int]) -> FoundAnswer:
    """How sure it is that the best passage answers."""
    first = found.near[0]
    is_fit = fits(found.kind, first.sentence)
    # A clause that forbids letting answers for a guest whom it does not name.
    is_clause = expert == "legal" and found.kind == "permission" and is_fit
    is_whole = first.number in coded or (is_clause and first.share >= weight("whole"))
    lacks = [one for one in found.unknown if one.is_name or not is_whole]
    needs_number = pattern("quantity").search(part) is not None and not is_fit
    if lacks or needs_number or first.share < weight("likely"):
        return found
    rivals = (
        one.sentence
        for one in found.near
        if one.score >= weight("rival") * first.score
        and not one.is_replaced
        and one.sentence.file != first.sentence.file
        and shared_part(one.sentence.quote, first.sentence.quote) < _SAME
    )
    rival = next(rivals, None)
    if first.share < weight("answers"):
        return found if rival else found._replace(certainty="likely")
    return found._replace(certainty="likely" if rival else "sure", rival=rival)


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
) -> FoundPlace | None:
    sentence = known.sentences[number]
    body, heads = known.stems[number]
    # What a document is about, says little in one of its sentences.
    if one.is_in(known.tops[sentence.file], exactly=True):
        return FoundPlace("own" if one.is_in(body) else "top", is_exact=True, counts=weight("top"))
    clause = known.clauses[sentence.file, sentence.clause]
    beside = frozenset[str]().union(*(known.stems[other][0] for other in clause))
    like = weight("like_elsewhere" if is_elsewhere else "like")
    names: Sequence[Literal["own", "heading", "clause"]] = ("own", "heading", "clause")
    for name, has in zip(names, (body, heads, beside), strict=True):
        if one.is_in(has):
            is_exact = one.is_in(has, exactly=True)
            return FoundPlace(name, is_exact, weight(name) * (1.0 if is_exact else like))
    return None


def _for_case(kind: str, question: str, number: int, known: KnownLines) -> float:
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
    return factor * weight("fits") if fits(kind, sentence) else factor


def fits(kind: str, sentence: QuotableLine) -> bool:
    """Whether a sentence has what is asked for."""
    text = digits(pattern("number").sub("", sentence.quote))
    if kind == "amount":
        return re.search(r"\d", text) is not None
    if kind in ("time", "duration") and (pattern("duration").search(text) or values.periods(text)):
        return True
    fitting = patterns("answers").get(kind)
    return sentence.is_item if kind == "steps" else bool(fitting and fitting.search(text))
