"""The documenter: the section that answers, in its own words, with its code and its links."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final

from leadhand import Handoff, Result
from leadhand_teams.support.findings import Documented, SectionClash, brief_of
from leadhand_teams.support.library import SupportLibrary, library_of
from leadhand_teams.support.output import FoundSection
from leadhand_teams.support.retrieval import ANSWERS_FROM
from leadhand_teams.support.sections import DocSection
from leadhand_teams.support.signals import pattern
from leadhand_teams.support.words import stems

_WHOLE: Final = 2_000
"""A section of at most so many characters is shown whole."""
_PART: Final = 900
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_FITS, _MAY_FIT, _ALIKE, _MOST_SENTENCES = 0.6, 0.5, 0.7, 100
_MOST_QUESTIONS: Final = 4
_BLOCK: Final = re.compile(
    r"^[ ]{0,3}(```+|~~~+).*?^[ ]{0,3}\1[ \t]*$|[^\n.!?]+(?:[.!?](?=\S)[^\n.!?]*)*[.!?\n]*\s*",
    re.MULTILINE | re.DOTALL,
)
"""A code example, a line or a sentence."""
_QUESTION: Final = re.compile(r"(?<![^.!?\n])[^.!?\n]+\?")
_HOW_MUCH: Final = re.compile(r"\b(?:how (?:long|many|much|soon|often)|when)\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"(\d+)(?: ?(?:to|-|–|or) ?(\d+))?[ -]((?:business |working )?(?:minute|hour|day|week|month))",
    re.IGNORECASE,
)


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
    asked = [one.strip() for one in _QUESTION.findall(request)[:_MOST_QUESTIONS]]
    others = [one for one in asked if one != request.strip() and not pattern("problem").search(one)]
    also = tuple(found for one in others if (found := _documented(one, library)).sections)
    return _documented(request, library).model_copy(update={"also": also})


def _documented(request: str, library: SupportLibrary) -> Documented:
    """The sections that fit best, and the part of the best that says most about the request."""
    ranked = library.index.ranked(request)
    found = Documented(
        answered=bool(ranked) and ranked[0].score >= ANSWERS_FROM,
        sections=tuple(
            FoundSection(ref=one.section.ref, title=one.section.title, score=one.score)
            for one in ranked
        ),
        searched=len(library.sections),
        unread=tuple(library.unread),
        own=library.own,
    )
    if not ranked:
        return found
    how_much = _HOW_MUCH.search(request) is not None
    least = (_MAY_FIT if how_much else _FITS) * ranked[0].score
    fitting = [one.section for one in ranked if one.score >= least]
    best = ranked[0].section
    words = set(library.index.words(request))
    shown = part_of(best.text, words)
    code = tuple(one for one in best.code[:3] if one not in shown)
    clashes = tuple(contradictions(fitting, words if how_much else ()))
    more = {"path": best.path, "text": shown, "code": code, "links": best.links[:5]}
    return found.model_copy(update={**more, "contradictions": clashes})


def contradictions(
    sections: Sequence[DocSection], asked: Collection[str] = ()
) -> Iterator[SectionClash]:
    """Sentences of two sections with nearly the same words and other numbers, or that give other
    times for what was asked."""
    said = [
        (one, sentence, frozenset(_NUMBER.sub("", sentence.casefold()).split()))
        for one in sections
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", one.text)
        if _NUMBER.search(sentence)
    ]
    for (one, first, words), (other, second, others) in combinations(said[:_MOST_SENTENCES], 2):
        alike = len(words & others) >= _ALIKE * len(words | others) and len(words) >= 4
        clash = alike and _NUMBER.findall(first) != _NUMBER.findall(second)
        if one.ref != other.ref and (clash or _other_times(first, second, asked)):
            texts = (first.strip(), second.strip())
            yield SectionClash(refs=(one.ref, other.ref), texts=texts, certain=clash)


def _other_times(first: str, second: str, asked: Collection[str]) -> bool:
    """Whether two sentences with a word that was asked for give other times in the same unit."""
    times, others = _TIME.search(first), _TIME.search(second)
    if times is None or others is None or not {*stems(first)} & {*stems(second)} & {*asked}:
        return False
    return times[3].casefold() == others[3].casefold() and times.groups() != others.groups()


def part_of(text: str, words: set[str]) -> str:
    """The part of a text that says most about these words, word for word; all of a short one."""
    if len(text) <= _WHOLE:
        return text.strip()
    pieces = [match[0] for match in _BLOCK.finditer(text)]
    best, most = "", -1
    for start in range(len(pieces)):
        end, length = start, 0
        while end < len(pieces) and (length := length + len(pieces[end])) <= _PART:
            end += 1
        part = "".join(pieces[start : max(end, start + 1)])
        if (has := len(words.intersection(stems(part)))) > most:
            best, most = part, has
    return best.strip()[:_WHOLE]
