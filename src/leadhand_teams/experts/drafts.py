"""What each expert does by code: finds the places that answer its question, and quotes them."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from leadhand import Handoff, Result
from leadhand.errors import InputError
from leadhand_teams.experts.asking import parts_of
from leadhand_teams.experts.comparing import disagreements
from leadhand_teams.experts.fields import EXPERTS, Expert
from leadhand_teams.experts.finding import FoundAnswer, find
from leadhand_teams.experts.output import Disagreement, ExpertOpinion
from leadhand_teams.experts.quoting import doubt, forbidding, is_beside, named, passage, quoted
from leadhand_teams.experts.sentences import KnownLines, QuotableLine, known_documents
from leadhand_teams.experts.words import has_words, pattern, stems_of, units, weight, words
from leadhand_teams.shared.everyday import alike, subjects
from leadhand_teams.shared.search import stem, terms

_MOST_ROWS: Final = 6
_MOST_TO_READER: Final = 5
_MOST_NEAR: Final = 3
"""Passages that are shown if none surely answers."""


def draft(handoff: Handoff) -> Result:
    """What the documents say, as the expert with the worker's name reads them."""
    expert: Expert = next(one for one in EXPERTS if one == handoff.to_agent)
    question, case = _payload(handoff, "question"), _payload(handoff, "case")
    opinion = opinion_on(question, handoff.artifacts, expert, case=case)
    return Result(
        output=opinion.model_dump(mode="json"),
        summary=(opinion.answer or opinion.ask or "")[:600],
        evidence=[one.ref for one in opinion.citations],
        missing=[f"not read: {why}" for why in opinion.unread],
    )


def moderate(handoff: Handoff) -> Result:
    """Asks back if the question is for no expert; else lists what the experts contradict."""
    found = [ExpertOpinion.model_validate(one) for one in handoff.inputs.values()]
    pairs = {(d.one.ref, d.other.ref): d for one in found for d in one.disagreements}
    opinion = ExpertOpinion(question=_payload(handoff, "question"), disagreements=[*pairs.values()])
    if not found:
        opinion.ask = (
            f"Which expert is this for: {', '.join(EXPERTS[:-1])} or {EXPERTS[-1]}? Ask again in "
            "words of the field, and hand in the documents that should answer it."
        )
    summary = f"{len(pairs)} contradictions" if found else str(opinion.ask)
    return Result(output=opinion.model_dump(mode="json"), summary=summary)


def _payload(handoff: Handoff, name: str) -> str:
    given: object = handoff.payload
    payload = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    return str(payload.get(name, handoff.intent))


def opinion_on(
    question: str, paths: Sequence[str], expert: Expert, *, case: str = ""
) -> ExpertOpinion:
    """What the documents say on a question, as this expert reads them.

    `case` is the whole request if the question is a part of it.
    """
    opinion = ExpertOpinion(field=expert, question=question, checks=[words()["checks"][expert]])
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
    opinion.to_reader = [*known.to_reader[:_MOST_TO_READER]]
    if not known.sentences:
        opinion.ask = "No text could be read in these files. Which other documents are there?"
        return opinion
    rows = _rows(question, known) if expert == "financial" else None
    answers = (
        [rows]
        if rows
        else [_part_answer(o, case or question, known, expert) for o in parts_of(question)]
    )
    good = [*{one.lines[0]: one for one in reversed(answers) if one.text}.values()][::-1]
    shown = good or answers
    opinion.answered, opinion.lack = bool(good), "" if good else answers[0].lack
    opinion.answer = " ".join(one.text for one in good)
    opinion.citations = [*dict.fromkeys(line for one in shown for line in one.lines)]
    opinion.disagreements = [found for one in good for found in one.disagreements]
    opinion.notes = [*dict.fromkeys(note for one in good for note in one.notes)]
    opinion.ask = " ".join(dict.fromkeys(one.ask for one in answers if one.ask)) or None
    if expert != "technical" and pattern("advice").search(question):
        opinion.answered, opinion.answer, opinion.notes = False, "", []
        opinion.lack = "the experts give no advice"
        opinion.ask = "The experts give no advice: what should they look up in the documents?"
    checks = [known.kinds[line.file].check for one in shown for line in one.lines[:1]]
    opinion.checks = [*dict.fromkeys(filter(None, checks))] or opinion.checks
    return opinion


class PartAnswer(NamedTuple):
    """The answer to a part of a question."""

    text: str
    """Empty if there is none."""
    lines: Sequence[QuotableLine]
    """What it rests on, what it quotes first."""
    ask: str = ""
    lack: str = ""
    """Why it is none."""
    notes: Sequence[str] = ()
    disagreements: Sequence[Disagreement] = ()


def _part_answer(part: str, question: str, known: KnownLines, expert: Expert) -> PartAnswer:
    found = find(part, question, known, expert)
    if found.certainty == "none":
        is_near = found.near and found.near[0].share >= weight("near")
        lack = "no passage surely answers this" if is_near else "no passage answers this"
        if found.unknown:
            lack = f"not in the documents: {named([one.word for one in found.unknown])}"
        of = "" if part == question else f" (“{part.strip(' ?')}”)"
        ask = f"{lack[0].upper()}{lack[1:]}{of}. Which document has it, or in what words?"
        return PartAnswer("", found.passages[:_MOST_NEAR] if is_near else (), ask, lack)
    lines = passage(part, found, known)
    ask = doubt(part, question, found, lines, known)
    against = [*disagreements(found, known)]
    for one in against:
        # What another document replaces is no answer any more.
        if one.settled and one.one not in lines:
            lines = [o.sentence for o in found.near if o.sentence == one.one] + lines
    told = 1 if against and against[0].one is lines[0] else len(lines)
    text = quoted(lines[:told])
    if forbids := forbidding(found, lines):
        if not is_beside(forbids, lines[0]):  # a ban and its exception are no contradiction
            ask = f"One sentence forbids it ({forbids.ref}), another one does not ({lines[0].ref}):"
            ask += " which of them is for your case?"
        lines, text = [forbids, *lines], f"{quoted([forbids])} {text}"
    more = [found.rival] if found.rival else []
    notes = _read_as(found, known)
    if old := known.replaced.get(lines[0].file):
        notes.append(f"Replaced: {lines[0].file}, by {old[0]}. {old[1]}")
    return PartAnswer(text, [*lines, *more], ask, "", notes, against)


def _read_as(found: FoundAnswer, known: KnownLines) -> list[str]:
    """How words of the question that no document has were read."""
    first = found.near[0]
    said = re.findall(r"[^\W\d_]+", f"{first.sentence.quote} {first.sentence.heading}")
    read = {
        one.word: next((word for word in said if one.is_in(frozenset({stem(word)}))), "")
        for one, place in first.places.items()
        if not place.is_exact and not any(known.places.get(part) for part in one.stems)
    }
    return [f"“{word}” is not in the documents; read as “{of}”." for word, of in read.items() if of]


def _rows(question: str, known: KnownLines) -> PartAnswer | None:
    """The rows of figures that a question names; `None` if it asks for more than these."""
    rows = [one for one in known.sentences if one.title and has_words(question, one.title)]
    titles = units(" ".join(one.title for one in rows)) | stems_of("generic") | stems_of("noise")
    words = {stem for one in subjects(pattern("change").sub("", question)) for stem in terms(one)}
    if not rows or any(not word.isdigit() and not alike(word) & titles for word in words):
        return None
    below = [f" (below “{one.heading}”)" if one.heading else "" for one in rows[:_MOST_ROWS]]
    said = (f"“{one.quote}”{at}" for one, at in zip(rows, below, strict=False))
    return PartAnswer(f"{'; '.join(said)} ({rows[0].ref})", rows[:_MOST_ROWS])
