"""What each expert does by code: finds the places that answer its question, and quotes them."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from leadhand import Handoff, Result
from leadhand.errors import InputError
from leadhand_teams.experts.asking import is_open, names_in, parts_of
from leadhand_teams.experts.comparing import compared
from leadhand_teams.experts.fields import EXPERTS, Expert
from leadhand_teams.experts.finding import FoundAnswer, find, meanings
from leadhand_teams.experts.output import Citation, Disagreement, ExpertOpinion
from leadhand_teams.experts.quoting import doubts, forbidding, passage, quoted
from leadhand_teams.experts.sentences import KnownLines, QuotableLine, known_documents
from leadhand_teams.experts.words import has_words, pattern, stems_of, units, weight, words
from leadhand_teams.shared.everyday import alike, subjects
from leadhand_teams.shared.search import terms

_MOST_ROWS: Final = 6
_MOST_TO_READER: Final = 5
_MOST_MEANINGS: Final = 6
_MOST_WORDS: Final = 4


def draft(handoff: Handoff) -> Result:
    """What the documents say, as the expert with the worker's name reads them."""
    expert: Expert = next(one for one in EXPERTS if one == handoff.to_agent)
    opinion = opinion_on(_payload(handoff, "question"), handoff.artifacts, expert)
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
        _ask_which(opinion, handoff.artifacts)
    summary = f"{len(pairs)} contradictions" if found else str(opinion.ask)
    return Result(output=opinion.model_dump(mode="json"), summary=summary)


def _ask_which(opinion: ExpertOpinion, paths: Sequence[str]) -> None:
    """Ask for what the question may mean in the documents, or for the expert."""
    known = known_documents(paths) if paths else None
    may_be = meanings(opinion.question, known) if known and is_open(opinion.question) else []
    if may_be[1:]:
        opinion.citations = [*may_be[:_MOST_MEANINGS]]
        named = dict.fromkeys(f"“{_about(one)}” ({one.ref})" for one in opinion.citations)
        opinion.ask = f"What is it about: {', '.join(named)}?"
        return
    opinion.ask = (
        f"Which expert is this for: {', '.join(EXPERTS[:-1])} or {EXPERTS[-1]}? Ask again in words "
        "of the field, and hand in the documents that should answer it."
    )


def _about(one: Citation) -> str:
    """What a sentence is about: the words before its verb."""
    said = pattern("number").sub("", one.quote)
    match = pattern("about").match(said)
    return match["what"] if match else said[:60]


def _payload(handoff: Handoff, name: str) -> str:
    given: object = handoff.payload
    payload = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    return str(payload.get(name, handoff.intent))


def opinion_on(question: str, paths: Sequence[str], expert: Expert) -> ExpertOpinion:
    """What the documents say on a question, as this expert reads them."""
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
    rows = _rows(question, known) if expert == "financial" else []
    answers = [_rows_answer(rows)] if rows else _each_part(question, known, expert)
    good = [one for one in answers if one.text]
    shown = good or answers[:1]
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
    quotes: int = 0
    """So many of the lines are quoted."""
    ask: str = ""
    lack: str = ""
    """Why it is none."""
    notes: Sequence[str] = ()
    disagreements: Sequence[Disagreement] = ()


def _each_part(question: str, known: KnownLines, expert: Expert) -> list[PartAnswer]:
    """The answers to the parts of a question; one that stands in another one is left out."""
    parts = parts_of(question)
    found = [_part_answer(one, question, known, expert, alone=len(parts) == 1) for one in parts]
    kept: list[PartAnswer] = []
    for one in sorted(found, key=lambda one: -one.quotes):
        said = {*one.lines[: one.quotes]}
        if not one.text or not any(said <= {*other.lines[: other.quotes]} for other in kept):
            kept.append(one)
    return sorted(kept, key=found.index)


def _part_answer(
    part: str, question: str, known: KnownLines, expert: Expert, *, alone: bool
) -> PartAnswer:
    found = find(part, question, known, expert)
    lines = passage(part, found, known)
    years = {*re.findall(r"\b(?:19|20)\d\d\b", part)} if expert == "financial" else set[str]()
    is_other_year = years and not any(y in f"{o.heading} {o.quote}" for y in years for o in lines)
    if is_other_year or not found.answers:
        of = "" if alone else f" (“{part.strip(' ?')}”)"
        is_near = found.near and found.near[0].share >= weight("near")
        return PartAnswer(
            "", lines if is_near else [], ask=_ask(found, part, of), lack=_lack(found, part)
        )
    notes = [
        f"“{word}” is not in the documents; read as “{of}”."
        for word, of in found.read_as
        if of[:3].lower() not in {one[:3].lower() for one in word.split()}
    ]
    doubt = doubts(part, found, lines, known)
    ask = f"The passage does not have {_named(doubt)}: is it about that?" if doubt else ""
    exact = {"own!", "heading!", "clause!"} & {*found.near[0].places.values()}
    if not doubt and not exact:
        ask = "The passage was found only by words that mean nearly the same: is it what you mean?"
    forbids = forbidding(found, lines)
    if forbids:
        ask = f"One sentence forbids it ({forbids.ref}), another one does not ({lines[0].ref}): "
        ask += "which of them is for your case?"
    others: list[str] = []
    disagreements: list[Disagreement] = []
    for one in compared(found.kind, found.near, known):
        if isinstance(one, Disagreement):
            disagreements.append(one)
            # What another document replaces is no answer any more.
            if one.settled and one.one not in lines:
                holds = [o.sentence for o in found.near if o.sentence == one.one]
                lines = [*holds, *lines]
        else:
            others.append(f" With “{one.case}” another sentence holds: {quoted([one.sentence])}")
            lines = [*lines, one.sentence]
            ask = f"Does it concern “{one.case}”? {one.sentence.ref} has other numbers for that."
    told = len(lines) - len(others)
    told = 1 if any(one.one is lines[0] for one in disagreements) else told
    text = quoted(lines[:told]) + "".join(others)
    if forbids:
        lines, text = [forbids, *lines], f"{quoted([forbids])} {text}"
    beside = [one.sentence for one in found.best if one.sentence not in lines]
    return PartAnswer(text, [*lines, *beside], len(lines), ask, "", notes, disagreements)


def _rows(question: str, known: KnownLines) -> list[QuotableLine]:
    """The rows of figures that a question names; none if it asks for more than these."""
    named = [one for one in known.sentences if one.title and has_words(question, one.title)]
    titles = units(" ".join(one.title for one in named)) | stems_of("generic") | stems_of("noise")
    words = {stem for one in subjects(pattern("change").sub("", question)) for stem in terms(one)}
    more = {word for word in words if not word.isdigit() and not alike(word) & titles}
    return [] if more else named[:_MOST_ROWS]


def _rows_answer(rows: Sequence[QuotableLine]) -> PartAnswer:
    below = [f" (below “{one.heading}”)" if one.heading else "" for one in rows]
    said = (f"“{one.quote}”{at}" for one, at in zip(rows, below, strict=True))
    return PartAnswer(f"{'; '.join(said)} ({rows[0].ref})", rows)


def _named(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:_MOST_WORDS])


def _lack(found: FoundAnswer, part: str) -> str:
    if found.unknown:
        names = names_in(part, [one.word for one in found.unknown])
        return f"not in the documents: {_named(names)}"
    return "no passage answers this"


def _ask(found: FoundAnswer, part: str, of: str) -> str:
    """What would help to answer a part of the question."""
    why = _lack(found, part)
    return f"{why[0].upper()}{why[1:]}{of}. Which document has it, or in what words?"
