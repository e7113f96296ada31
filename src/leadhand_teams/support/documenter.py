"""The documenter: the section that answers, in its own words, with its code and its links."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final

from leadhand import Handoff, Result
from leadhand.tools.files import Document, split_into_passages
from leadhand_teams.shared.everyday import is_everyday
from leadhand_teams.support.library import SupportLibrary, library_of
from leadhand_teams.support.output import (
    DocSection,
    Documented,
    FoundSection,
    SectionClash,
    brief_of,
)
from leadhand_teams.support.sections import ANSWERS_FROM, MAYBE, NEAR, blocks, codes_in
from leadhand_teams.support.signals import concerns, wish_in
from leadhand_teams.support.troubleshooter import concerned, evidence_of, symptoms_of
from leadhand_teams.support.words import DATA, carrying, meanings, pattern, stems

_WHOLE: Final = 2_000
"""A section of at most so many characters beside its tables is shown whole."""
_AHEAD, _BESIDE, _RELATED = 1.4, 0.75, 2.8
"""How far ahead of the next a section may be of help, how near the next is shown too, and what a
section must score on what another says has to be done."""
_COVERED, _FITS, _ALIKE, _MOST_SENTENCES, _MOST_QUESTIONS = 0.2, 0.4, 0.7, 100, 4


def explain(handoff: Handoff) -> Result:
    """The worker's draft."""
    found = documented(brief_of(handoff).request, library_of(handoff.artifacts))
    best = next((one.section for one in found.findings if one.sure), None)
    return Result(
        output=found.model_dump(mode="json"),
        summary=f"“{best.title}” ({best.ref}) answers it." if best else "No section answers it.",
        confidence=80 if best else 20,
        evidence=[best.ref] if best else [],
    )


def documented(request: str, library: SupportLibrary) -> Documented:
    """The section that fits a request best, and those that answer its other questions."""
    evidence = concerned(request, evidence_of(request, library))
    reports = symptoms_of(request, evidence).best(library.runbooks) is not None
    main, others = concerns(request, reports=reports)
    sections, findings = _found(main, library, "\n".join(one.text for one in evidence))
    answered = any(one.sure for one in findings)
    left, sure = list[str](), list[bool]()
    for question in others[:_MOST_QUESTIONS]:
        _, its = _found(question, library)
        sure.append(any(one.sure for one in its))
        is_own = sum(not is_everyday(word) for word in carrying(stems(question))) > 1
        beside = its[:1] if sure[-1] or is_own else []
        findings += [one.model_copy(update={"beside": True}) for one in beside]
        left += [question] if is_own and not (its or wish_in(question)) else []
    names = pattern("name").findall(pattern("place").sub("", pattern("signature").sub("", request)))
    is_known = any(stems(one)[0] in library.index.known for one in names)
    unknown = () if is_known else tuple(dict.fromkeys(names))
    if unknown and not any(one.sure for one in findings):
        findings = []
    once = {one.section.ref: one for one in sorted(findings, key=lambda one: one.sure)}
    return Documented(
        answered=answered or (len(sure) > 1 and all(sure)),
        findings=tuple(once[ref] for ref in dict.fromkeys(one.section.ref for one in findings)),
        sections=tuple(one.model_copy(update={"text": ""}) for one in sections),
        open=tuple(left),
        unknown=unknown,
    )


def _found(
    request: str, library: SupportLibrary, log: str = ""
) -> tuple[list[DocSection], list[FoundSection]]:
    """The sections that are nearest, and the one or two of them that answer or may."""
    request = pattern("no_error").sub(" ", request)
    nearest = library.index.ranked(request, log=log)
    books = {one.ref for one in library.runbooks}
    ranked = [one for one in nearest if one.ref not in books]
    best, second = [*(one.score for one in ranked[:2]), 0.0, 0.0][:2]
    counted = stems(" ".join(pattern("how_many").findall(request)))
    lacks = any(not meanings(one, library.index.known) for one in counted)
    if lacks or best < min(MAYBE, max(NEAR, _AHEAD * second)):
        return nearest, []
    sure, words = best >= ANSWERS_FROM, {*library.index.words(request)}
    about = f"{ranked[0].title}\n{ranked[0].text}"
    if not sure and len(words.intersection(stems(about))) < _COVERED * len(words):
        return nearest, []
    fitting = [one for one in ranked if one.score >= max(NEAR, _FITS * best)]
    asked = words if pattern("how_much").search(request) else set[str]()
    clashes = tuple(contradictions(fitting, asked))
    codes = codes_in(f"{request}\n{log}")
    findings = list[FoundSection]()
    for at, one in enumerate(ranked[: 1 if sure else 2]):
        if not at or one.score >= max(NEAR, _BESIDE * best):
            text = part_of(one.text, words, codes)
            section = one.model_copy(update={"text": text})
            says = _refusal(text, words) if pattern("asks_whether").search(request) else ""
            findings.append(FoundSection(section=section, sure=sure, says=says, clashes=clashes))
            clashes = ()
    if sure:
        findings += _further(findings[0].section, codes, library)
    return nearest, findings


def _refusal(text: str, words: set[str]) -> str:
    """The sentence that says that what a question asks for is not so; empty: none does."""
    sentences = [
        re.sub(r"\s+|[*`]+", lambda found: " " * found[0].isspace(), one).strip()
        for one in pattern("between_sentences").split(text)
    ]
    refusing = [one for one in sentences if pattern("says_no").search(one) and "|" not in one]
    best = max(refusing, key=lambda one: len(words.intersection(stems(one))), default="")
    return best if len(words.intersection(stems(best))) > 1 else ""


def _further(
    found: DocSection, codes: Collection[str], library: SupportLibrary
) -> Iterator[FoundSection]:
    """The section on what another says has to be done: of a code, and to get what was repaired."""
    wanted, least = "", 0.0
    if not codes_in(f"{found.title}\n{found.text}").isdisjoint(codes):
        rows = [one for one in found.text.splitlines() if not codes_in(one).isdisjoint(codes)]
        wanted, least = "\n".join(rows) or found.text, _RELATED
    elif pattern("fixed_in").search(found.text):
        wanted, least = DATA["updating"], MAYBE
    wanted = pattern("error_code").sub(" ", wanted[:400])
    for one in library.index.ranked(wanted) if wanted else ():
        if one.ref != found.ref and one.score >= least:
            yield FoundSection(section=one, sure=True)
            return


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


def part_of(text: str, words: set[str], codes: Collection[str] = ()) -> str:
    """The part of a text that says most about these words, word for word; all of a short one, with
    its tables, but of those of codes only the rows of the codes.

    It has the code examples and the addresses of the whole.
    """

    def rows_asked(table: re.Match[str]) -> str:
        rows = table["rows"].splitlines(keepends=True)
        asked = [one for one in rows if not codes_in(one).isdisjoint(codes)]
        return table["head"] + "".join(asked or rows)

    text = pattern("table").sub(rows_asked, text)
    if len(pattern("table").sub("", text)) <= _WHOLE:
        return text.strip()
    parts = [one.text for one in split_into_passages(Document("", text))]
    best = max(parts, key=lambda part: len(words.intersection(stems(part))))
    code = [one.text for one in blocks(text) if one.node.type == "fence"][:3]
    more = [*code, *[one[0] for one in pattern("link").finditer(text)][:5]]
    return "\n\n".join([best, *(one for one in more if one.strip() not in best)])
