"""The documenter: the section that answers, in its own words, with its code and its links."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final

from leadhand import Handoff, Result
from leadhand.tools.files import Document, split_into_passages
from leadhand_teams.shared.everyday import is_everyday
from leadhand_teams.support.library import SupportLibrary, library_of
from leadhand_teams.support.output import DocSection, Documented, SectionClash, brief_of
from leadhand_teams.support.sections import ANSWERS_FROM, MAYBE, MOST, NEAR, blocks
from leadhand_teams.support.signals import concerns, wish_in
from leadhand_teams.support.troubleshooter import concerned, evidence_of, symptoms_of
from leadhand_teams.support.words import content, meanings, pattern, stems

_WHOLE: Final = 2_000
"""A section of at most so many characters is shown whole."""
_AHEAD, _FITS, _ALIKE, _MOST_SENTENCES, _MOST_QUESTIONS = 1.4, 0.4, 0.7, 100, 4


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
    evidence = concerned(request, evidence_of(request, library))
    log = "\n".join(one.text for one in evidence)
    reports = symptoms_of(request, evidence).best(library.runbooks) is not None
    main, others = concerns(request, reports=reports)
    others = others[:_MOST_QUESTIONS]
    found = _documented(main, library, log)
    each = [_documented(one, library) for one in others]
    strong = [sum(not is_everyday(word) for word in content(one)) > 1 for one in others]
    also = tuple(
        one
        for one, says in zip(each, strong, strict=True)
        if one.sections and (one.answered or says)
    )
    names = pattern("name").findall(pattern("signature").sub("", request))
    is_known = any(not library.index.known.isdisjoint(stems(one)) for one in names)
    left = (
        one
        for one, its, says in zip(others, each, strong, strict=True)
        if says and not (its.answered or its.may_help or wish_in(one))
    )
    whole = len(also) == len(others) > 1 and all(one.answered for one in also)
    unknown = () if is_known else tuple(dict.fromkeys(names))
    more = {"answered": found.answered or whole, "also": also, "open": tuple(left)}
    return found.model_copy(update=more | {"unknown": unknown})


def _documented(request: str, library: SupportLibrary, log: str = "") -> Documented:
    """The sections that fit best, and the part of the best that says most about the request."""
    request = pattern("no_error").sub(" ", request)
    books = {one.ref for one in library.runbooks}
    ranked = library.index.ranked(request, MOST + len(books), log=log)
    if not (ranked := [one for one in ranked if one.ref not in books][:MOST]):
        return Documented()
    best, words = ranked[0], {*library.index.words(request)}
    counted = stems(" ".join(pattern("how_many").findall(request)))
    lacks = any(not meanings(one, library.index.known) for one in counted)
    second = ranked[1].score if ranked[1:] else 0.0
    fitting = [one for one in ranked if one.score >= max(NEAR, _FITS * best.score)]
    asked = words if pattern("how_much").search(request) else set[str]()
    shown = [part_of(best.text, words), *("" for _ in ranked[1:])]
    return Documented(
        answered=best.score >= ANSWERS_FROM and not lacks,
        may_help=best.score >= min(MAYBE, max(NEAR, _AHEAD * second)) and not lacks,
        sections=tuple(
            one.model_copy(update={"text": text}) for one, text in zip(ranked, shown, strict=True)
        ),
        contradictions=tuple(contradictions(fitting, asked)),
    )


def contradictions(
    sections: Sequence[DocSection], asked: Collection[str] = ()
) -> Iterator[SectionClash]:
    """Sentences of two sections that have the same words and other numbers of the same; also of
    other words, if they give an amount that was asked for."""
    said = [
        (one, sentence.strip(), amount, frozenset(stems(sentence.replace(amount[0], ""))))
        for one in sections
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", one.text)
        if "|" not in sentence and (amount := pattern("amount").search(sentence))
    ]
    for one, other in combinations(said[:_MOST_SENTENCES], 2):
        (section, text, amount, words), (beside, other_text, other_amount, others) = one, other
        alike = len(words & others) >= _ALIKE * len(words | others) and len(words) >= 4
        differ = amount.groups() != other_amount.groups() and amount[3] == other_amount[3]
        if section.ref != beside.ref and differ and (alike or words & others & {*asked}):
            yield SectionClash(
                task_ids=("documenter",),
                kind="contradiction" if alike else "difference",
                about=section.title,
                why=f"{section.ref}: {text} / {beside.ref}: {other_text}",
                texts=(text, other_text),
            )


def part_of(text: str, words: set[str]) -> str:
    """The part of a text that says most about these words, word for word; all of a short one.

    It has the code examples and the addresses of the whole.
    """
    if len(text) <= _WHOLE:
        return text.strip()
    parts = [one.text for one in split_into_passages(Document("", text))]
    best = max(parts, key=lambda part: len(words.intersection(stems(part))))
    code = [one.text for one in blocks(text) if one.node.type == "fence"][:3]
    more = [*code, *[one[0] for one in pattern("link").finditer(text)][:5]]
    return "\n\n".join([best, *(one for one in more if one.strip() not in best)])
