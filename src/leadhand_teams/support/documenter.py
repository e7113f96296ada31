"""The documenter: the section that answers, in its own words, with its code and its links."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final

from leadhand import Handoff, Result
from leadhand_teams.support.library import SupportLibrary, library_of
from leadhand_teams.support.output import Documented, FoundSection, SectionClash, brief_of
from leadhand_teams.support.sections import ANSWERS_FROM, DocSection
from leadhand_teams.support.words import pattern, stems

_WHOLE: Final = 2_000
"""A section of at most so many characters is shown whole."""
_PART: Final = 900
_FITS, _ALIKE, _MOST_SENTENCES, _MOST_QUESTIONS = 0.5, 0.7, 100, 4


def explain(handoff: Handoff) -> Result:
    """The worker's draft."""
    found = documented(brief_of(handoff).request, library_of(handoff.artifacts))
    best = found.sections[0] if found.answered else None
    return Result(
        output=found.model_dump(mode="json"),
        summary=f"“{best.title}” ({best.ref}) answers it." if best else "No section answers it.",
        confidence=80 if best else 20,
        evidence=[best.ref] if best else [],
    )


def documented(request: str, library: SupportLibrary) -> Documented:
    """The section that fits a request best, and those that answer its other questions."""
    asked = [one.strip() for one in pattern("question").findall(request)[:_MOST_QUESTIONS]]
    others = [one for one in asked if one != request.strip() and not pattern("problem").search(one)]
    also = tuple(found for one in others if (found := _documented(one, library)).sections)
    return _documented(request, library).model_copy(update={"also": also})


def _documented(request: str, library: SupportLibrary) -> Documented:
    """The sections that fit best, and the part of the best that says most about the request."""
    ranked = library.index.ranked(request)
    if not ranked:
        return Documented(searched=len(library.sections))
    best, words = ranked[0].section, set(library.index.words(request))
    shown = part_of(best.text, words)
    fitting = [one.section for one in ranked if one.score >= _FITS * ranked[0].score]
    asked = words if pattern("how_much").search(request) else set[str]()
    return Documented(
        answered=ranked[0].score >= ANSWERS_FROM,
        sections=tuple(
            FoundSection(ref=one.section.ref, title=one.section.title, score=one.score)
            for one in ranked
        ),
        path=best.path,
        text=shown,
        code=tuple(one for one in best.code[:3] if one not in shown),
        links=best.links[:5],
        contradictions=tuple(contradictions(fitting, asked)),
        searched=len(library.sections),
    )


def contradictions(
    sections: Sequence[DocSection], asked: Collection[str] = ()
) -> Iterator[SectionClash]:
    """Sentences of two sections that have the same words and other numbers of the same; also of
    other words, if they give an amount that was asked for."""
    said = [
        (one.ref, sentence.strip(), amount, frozenset(stems(sentence.replace(amount[0], ""))))
        for one in sections
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", one.text)
        if (amount := pattern("amount").search(sentence))
    ]
    for one, other in combinations(said[:_MOST_SENTENCES], 2):
        (ref, text, amount, words), (other_ref, other_text, other_amount, others) = one, other
        alike = len(words & others) >= _ALIKE * len(words | others) and len(words) >= 4
        differ = amount.groups() != other_amount.groups() and amount[3] == other_amount[3]
        if ref != other_ref and differ and (alike or words & others & {*asked}):
            yield SectionClash(refs=(ref, other_ref), texts=(text, other_text), certain=alike)


def part_of(text: str, words: set[str]) -> str:
    """The part of a text that says most about these words, word for word; all of a short one."""
    if len(text) <= _WHOLE:
        return text.strip()
    pieces = [match[0] for match in pattern("block").finditer(text)]
    best, most = "", -1
    for start in range(len(pieces)):
        end, length = start, 0
        while end < len(pieces) and (length := length + len(pieces[end])) <= _PART:
            end += 1
        part = "".join(pieces[start : max(end, start + 1)])
        if (has := len(words.intersection(stems(part)))) > most:
            best, most = part, has
    return best.strip()[:_WHOLE]
