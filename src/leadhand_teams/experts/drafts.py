"""What each expert does by code: finds the places that answer its question, and quotes them."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final, cast

from leadhand import Handoff, Result
from leadhand.errors import InputError
from leadhand_teams.experts.fields import EXPERTS, Expert
from leadhand_teams.experts.finding import FoundAnswer, asked, find, meant
from leadhand_teams.experts.output import ExpertOpinion
from leadhand_teams.experts.sentences import KnownLines, QuotableLine, library
from leadhand_teams.experts.words import check, pattern, same, stems_of
from leadhand_teams.shared.reading import read_once

_MOST_STEPS: Final = 12
_MOST_ROWS: Final = 6
_MOST_TO_READER: Final = 5
known_documents = read_once(library)
"""The sentences of the files and folders at some paths, read once. Raises `InputError`."""


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
        "of the field, and hand in the documents that should answer it."
    )
    pairs = {(d.one.ref, d.other.ref): d for one in found for d in one.disagreements}
    opinion = ExpertOpinion(question=handoff.intent, disagreements=[*pairs.values()])
    opinion.ask = None if found else ask
    summary = f"{len(pairs)} contradictions" if found else ask
    return Result(output=opinion.model_dump(mode="json"), summary=summary)


def opinion_on(question: str, paths: Sequence[str], expert: Expert) -> ExpertOpinion:
    """What the documents say on a question, as this expert reads them."""
    opinion = ExpertOpinion(field=expert, question=question, checks=[check(expert)])
    opinion.ask = f"Which documents should the {expert} expert answer from? Hand them in."
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
    years = {*re.findall(r"\b(?:19|20)\d\d\b", question)} if expert == "financial" else set[str]()
    if years and findings.answers and not any(y in findings.found[0].sentence.quote for y in years):
        findings = findings._replace(answers=False)  # of another year
    advice = pattern("advice").search(question) is not None
    rows = _rows(question, known) if expert == "financial" else []
    opinion.answered = not advice and (findings.answers or bool(rows))
    text, cited = _answer(question, findings, known)
    if rows:
        below = [f" (below “{one.heading}”)" if one.heading else "" for one in rows]
        quoted = (f"“{one.quote}”{at}" for one, at in zip(rows, below, strict=True))
        text, cited = "; ".join(quoted), rows
    opinion.answer = text if opinion.answered else ""
    opinion.citations = [*cited]
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


def _rows(question: str, known: KnownLines) -> list[QuotableLine]:
    """The rows of figures that a question names; none if it asks for more than these."""
    said = [one for one in meant(question) if not pattern("change").search(one)]
    words = {word for one in said if not one.isdigit() for word in same(one).split()}
    titles = [(one, {*same(one.title).split()}) for one in known.sentences if one.title]
    named = [(one, title) for one, title in titles if title <= {*same(question).split()}]
    is_more = words - stems_of("generic") - {word for _, title in named for word in title}
    return [] if is_more else [one for one, _ in named[:_MOST_ROWS]]


def _ask_back(findings: FoundAnswer, known: KnownLines) -> str:
    if not known.sentences:
        return "No text could be read in these files. Which other documents are there?"
    if findings.unknown:
        words = ", ".join(f"“{word}”" for word in findings.unknown[:4])
        return f"The documents don't have {words}. What do they call it, or which document has it?"
    return "No place in the documents answers this. Which document should, or what does it call it?"
