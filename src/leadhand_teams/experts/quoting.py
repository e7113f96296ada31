"""What is quoted: the clause in its order, or all steps of a list; and what is doubted. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from leadhand_teams.experts.asking import AskedWord, told_with
from leadhand_teams.experts.finding import NUMBERS, FoundAnswer
from leadhand_teams.experts.sentences import KnownLines, QuotableLine
from leadhand_teams.experts.words import pattern, units, weight
from leadhand_teams.shared.everyday import subjects

_MOST_CHARS: Final = 450
"""A clause of so many characters is quoted whole if only its heading has a word of the question."""
_MOST_IN_CLAUSE: Final = 4
_MOST_STEPS: Final = 12
_CLAUSES: Final = 0.3
"""A list of which so many items begin as clauses do has no steps."""


def quoted(lines: Sequence[QuotableLine]) -> str:
    """The words of a passage, with its place, and the heading of an item of a list or a row."""
    heading = lines[0].heading.rpartition(" > ")[2]
    is_bare = re.match(r"[-*•–|] |.* \| ", lines[0].quote) and heading
    below = f" (below “{heading}”)" if is_bare else ""
    return f"“{' '.join(line.quote for line in lines)}”{below} ({lines[0].ref})"


def passage(part: str, found: FoundAnswer, known: KnownLines) -> list[QuotableLine]:
    """The best sentence with those of its clause that go on with it, or all steps of a list."""
    first = found.near[0]
    if found.kind == "steps" and (steps := _steps(found, known)):
        return steps
    clause = known.clauses[first.sentence.file, first.sentence.clause]
    every = [known.sentences[number] for number in clause]
    is_below = any(one.name == "heading" for one in first.places.values())
    if is_below and sum(len(one.quote) for one in every) <= _MOST_CHARS:
        return every
    begin = end = clause.index(first.number)
    more = [pattern("continues").match(pattern("number").sub("", one.quote)) for one in every]
    least = weight("beside" if found.kind in NUMBERS else "also") * first.score
    also = {one.number for one in found.near if one.score >= least}
    is_plural = pattern("plural").search(part) is not None
    while begin and (more[begin] or (is_plural and clause[begin - 1] in also)):
        begin -= 1
    while end + 1 < len(clause) and (more[end + 1] or clause[end + 1] in also):
        end += 1
    return every[begin : end + 1][:_MOST_IN_CLAUSE]


def _steps(found: FoundAnswer, known: KnownLines) -> list[QuotableLine]:
    """All steps of the list that has most of the question, if no sentence has more."""
    lists: dict[tuple[str, str], set[AskedWord]] = {}
    for one in found.near:
        if pattern("step").match(one.sentence.quote):
            lists.setdefault((one.sentence.file, one.sentence.heading), set()).update(one.places)
    place = max(lists, key=lambda key: _sum(lists[key]), default=None)
    if place is None or _sum(lists[place]) < max(_sum(one.places) for one in found.near):
        return []
    every = [one for one in known.sentences if (one.file, one.heading) == place and one.is_item]
    clauses = sum(pattern("clause").match(one.quote) is not None for one in every)
    return every[:_MOST_STEPS] if clauses < _CLAUSES * len(every) else []


def _sum(words: Iterable[AskedWord]) -> float:
    return sum(one.weight for one in words)


def doubt(
    part: str, question: str, found: FoundAnswer, lines: Sequence[QuotableLine], known: KnownLines
) -> str:
    """What is doubted of a passage that answers, as a question; empty if nothing is."""
    lacks = _lacking(part, question, found, lines, known)
    if found.rival:
        return f"Or is this meant: {quoted([found.rival])}?"
    if lacks:
        return f"The passage does not have {named(lacks)}: is it about that?"
    if not any(one.is_exact and one.name != "top" for one in found.near[0].places.values()):
        return "The passage was found only by words that mean nearly the same: is it what you mean?"
    return ""


def _lacking(
    part: str, question: str, found: FoundAnswer, lines: Sequence[QuotableLine], known: KnownLines
) -> list[str]:
    """The nouns, names and conditions of a question that a passage lacks."""
    has = units(" ".join(f"{one.heading} {one.quote}" for one in lines))
    has |= known.tops[lines[0].file]
    asides = pattern("aside").finditer(told_with(part, question))
    conditions = {*subjects(" ".join(one[0] for one in asides))}
    own = [one for one in found.asks if not one.is_context or one.word in conditions]
    said = "|".join(re.escape(one.word) for one in own if one.is_in(has)) or "$"
    return [
        one.word
        for one in own
        if not one.is_in(has)
        and (one.is_subject or one.word in conditions)
        # Of "car loan" a passage on the loan need not have the car.
        and not re.search(rf"\b{re.escape(one.word)} (?:{said})\b", part)
    ]


def named(words: Sequence[str]) -> str:
    """Words of a question in quotation marks, the first four."""
    return ", ".join(f"“{word}”" for word in words[:4])


def forbidding(found: FoundAnswer, lines: Sequence[QuotableLine]) -> QuotableLine | None:
    """A sentence that forbids, by itself or its heading, what the best passage does not."""
    if found.kind != "permission" or any(_forbids(one) for one in lines):
        return None
    exact = {one for one, place in found.near[0].places.items() if place.is_exact}
    for one in found.near[1:]:
        also = {word for word in exact & one.places.keys() if one.places[word].is_exact}
        is_near = not one.is_replaced and one.score >= weight("forbids") * found.near[0].score
        if is_near and len(also) > 1 and 2 * len(also) > len(exact) and _forbids(one.sentence):
            return one.sentence
    return None


def is_beside(one: QuotableLine, other: QuotableLine) -> bool:
    """Whether two sentences are of the same paragraph or section."""
    is_section = " > " in one.heading and one.heading == other.heading
    return one.file == other.file and (one.clause == other.clause or is_section)


def _forbids(one: QuotableLine) -> bool:
    above = one.heading.rpartition(" > ")[2]
    return pattern("forbids").search(f"{above}. {one.quote}") is not None
