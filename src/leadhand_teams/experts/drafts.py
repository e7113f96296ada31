"""What each expert does by code: finds the places that answer its question, and quotes them."""

import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, cast

from leadhand import Handoff, Result
from leadhand.errors import InputError
from leadhand_teams.experts.accounts import figure
from leadhand_teams.experts.fields import EXPERTS, Expert
from leadhand_teams.experts.finding import FoundAnswer, asked, find
from leadhand_teams.experts.output import ExpertOpinion
from leadhand_teams.experts.sentences import KnownLines, QuotableLine, library
from leadhand_teams.experts.words import check, pattern, patterns
from leadhand_teams.shared.reading import read, stamps

_MOST_STEPS: Final = 12
_MOST_TO_READER: Final = 5
_lock = threading.Lock()


def known_documents(paths: Sequence[str]) -> KnownLines:
    """The sentences of the files and folders at `paths`, read once. Raises `InputError`."""
    with _lock:
        return _library(tuple(paths), stamps(paths))


@lru_cache(4)
def _library(paths: tuple[str, ...], states: tuple[tuple[str, int, int], ...]) -> KnownLines:
    return library(read(paths))


def draft(handoff: Handoff) -> Result:
    """What the documents say, as the expert with the worker's name reads them."""
    expert: Expert = next(one for one in EXPERTS if one == handoff.to_agent)
    given: object = handoff.payload
    payload = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    opinion = opinion_on(str(payload.get("question", handoff.intent)), handoff.artifacts, expert)
    return Result(
        output=opinion.model_dump(mode="json"),
        summary=(opinion.answer or opinion.ask or "")[:600],
        evidence=[one.ref for one in opinion.citations],
        missing=[f"not read: {why}" for why in opinion.unread],
    )


def moderate(handoff: Handoff) -> Result:
    """Asks back if the question is for no expert; else lists what the experts contradict."""
    found = [ExpertOpinion.model_validate(one) for one in handoff.inputs.values()]
    ask = (
        f"Which expert is this for: {', '.join(EXPERTS[:-1])} or {EXPERTS[-1]}? Ask again in words "
        "of the field, and hand in the documents that should answer it with --input."
    )
    pairs = {(d.one.ref, d.other.ref): d for one in found for d in one.disagreements}
    opinion = ExpertOpinion(question=handoff.intent, disagreements=[*pairs.values()])
    opinion.ask = None if found else ask
    summary = f"{len(pairs)} contradictions" if found else ask
    return Result(output=opinion.model_dump(mode="json"), summary=summary)


def opinion_on(question: str, paths: Sequence[str], expert: Expert) -> ExpertOpinion:
    """What the documents say on a question, as this expert reads them."""
    opinion = ExpertOpinion(field=expert, question=question, checks=[check(expert)])
    opinion.ask = f"Which documents should the {expert} expert answer from? Use --input."
    if not paths:
        return opinion
    try:
        known = known_documents(paths)
    except InputError as error:
        return opinion.model_copy(update={"ask": str(error)})
    opinion.files = len(known.reading.files)
    opinion.unread = [f"{one.name}: {one.why}" for one in known.reading.unread]
    if known.is_cut:
        opinion.unread.append(f"what comes after the first {len(known.sentences):,} sentences")
    findings = find(question, known, expert)
    opinion.disagreements = [*findings.disagreements]
    computed = figure(question, known) if expert == "financial" else None
    years = {*re.findall(r"\b(?:19|20)\d\d\b", question)} if expert == "financial" else set[str]()
    if years and findings.answers and not any(y in findings.found[0].sentence.quote for y in years):
        findings = findings._replace(answers=False)  # of another year
    advice = pattern("advice").search(question) is not None
    opinion.answered = not advice and (findings.answers or computed is not None)
    text, cited = computed or _answer(question, findings, known)
    opinion.answer = text if opinion.answered else ""
    opinion.citations = [*cited]
    opinion.checks += _beside(cited, known, expert)
    opinion.to_reader = [*known.to_reader[:_MOST_TO_READER]]
    opinion.ask = None if opinion.answered else _ask_back(findings, known)
    if advice:
        opinion.ask = "The experts give no advice: what should they look up in the documents?"
    return opinion


def _answer(
    question: str, findings: FoundAnswer, known: KnownLines
) -> tuple[str, list[QuotableLine]]:
    """The direct answer, and the sentences that it rests on."""
    found = [one.sentence for one in findings.found]
    if found and asked(question) == "steps" and found[0].is_item:
        together = groupby(known.sentences, lambda one: (one.is_item, one.heading))
        lists = ([*lines] for _, lines in together)
        steps = next(lines for lines in lists if found[0] in lines)[:_MOST_STEPS]
        return " ".join(step.quote for step in steps), steps
    # What another document replaces is no answer any more.
    holding = {one.one.ref for one in findings.disagreements if one.settled}
    found = [one for one in known.sentences if one.ref in holding] + [
        one for one in found if one.ref not in holding
    ]
    return f"“{found[0].quote}”" if found else "", found


def _beside(cited: Sequence[QuotableLine], known: KnownLines, expert: Expert) -> list[str]:
    """What else in the cited sections needs a look, each kind once."""
    files, places = {one.file for one in cited}, {(one.file, one.heading) for one in cited}
    here = [one for one in known.sentences if one.file in files and not one.cells]
    found: list[str] = []
    for what, words in patterns("beside", expert).items():
        for one in here:
            is_near = what.endswith("applies") or (one.file, one.heading) in places
            if is_near and one not in cited and words.search(one.quote):
                found.append(f"Check {what}: “{one.quote[:200]}” ({one.ref})")
                break
    return found


def _ask_back(findings: FoundAnswer, known: KnownLines) -> str:
    if not known.sentences:
        return "No text could be read in these files. Which other documents are there?"
    if findings.unknown:
        words = ", ".join(f"“{word}”" for word in findings.unknown[:4])
        return f"The documents don't have {words}. What do they call it, or which document has it?"
    return "No place in the documents answers this. Which document should, or what does it call it?"
