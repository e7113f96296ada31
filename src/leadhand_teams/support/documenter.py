"""The documenter: the section that answers, in its own words, with its code and its links."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from leadhand import Handoff, Result
from leadhand_teams.support.findings import Documented, SectionClash, brief_of
from leadhand_teams.support.library import SupportLibrary, library_of
from leadhand_teams.support.output import FoundSection
from leadhand_teams.support.retrieval import ANSWERS_FROM
from leadhand_teams.support.sections import DocSection
from leadhand_teams.support.words import stems

_WHOLE: Final = 2_000
"""A section of at most so many characters is shown whole."""
_PART: Final = 900
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_FITS, _ALIKE, _MOST_SENTENCES = 0.6, 0.7, 100
_BLOCK: Final = re.compile(
    r"^[ ]{0,3}(```+|~~~+).*?^[ ]{0,3}\1[ \t]*$|[^\n.!?]+(?:[.!?](?=\S)[^\n.!?]*)*[.!?\n]*\s*",
    re.MULTILINE | re.DOTALL,
)
"""A code example, a line or a sentence."""


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
    """The sections that fit a request best, and the part of the best that says most about it."""
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
    fitting = [one.section for one in ranked if one.score >= _FITS * ranked[0].score]
    best = ranked[0].section
    shown = part_of(best.text, set(library.index.words(request)))
    code = tuple(one for one in best.code[:3] if one not in shown)
    clashes = tuple(contradictions(fitting))
    more = {"path": best.path, "text": shown, "code": code, "links": best.links[:5]}
    return found.model_copy(update={**more, "contradictions": clashes})


def contradictions(sections: Sequence[DocSection]) -> Iterator[SectionClash]:
    """Sentences of two sections with nearly the same words and other numbers."""
    said = [
        (one, sentence, frozenset(_NUMBER.sub("", sentence.casefold()).split()))
        for one in sections
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", one.text)
        if _NUMBER.search(sentence)
    ]
    for (one, first, words), (other, second, others) in combinations(said[:_MOST_SENTENCES], 2):
        alike = len(words & others) >= _ALIKE * len(words | others) and len(words) >= 4
        if one.ref != other.ref and alike and _NUMBER.findall(first) != _NUMBER.findall(second):
            yield SectionClash(refs=(one.ref, other.ref), texts=(first.strip(), second.strip()))


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
