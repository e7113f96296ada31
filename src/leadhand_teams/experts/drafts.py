"""What each expert does by code: finds the places that answer its question, and quotes them."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, cast

from leadhand import Handoff, Result
from leadhand.errors import InputError
from leadhand_teams.experts.asking import AskedWord, is_open, names_in, parts_of
from leadhand_teams.experts.comparing import OtherCase, compared
from leadhand_teams.experts.fields import EXPERTS, Expert
from leadhand_teams.experts.finding import (
    BESIDE_FROM,
    NUMBERS,
    FoundAnswer,
    find,
    goes_on,
    meanings,
)
from leadhand_teams.experts.output import Citation, Disagreement, ExpertOpinion
from leadhand_teams.experts.sentences import KnownLines, QuotableLine, known_documents
from leadhand_teams.experts.words import has_words, pattern, stems_of, units, words
from leadhand_teams.shared.everyday import alike, subjects
from leadhand_teams.shared.search import terms

_CLAUSE: Final = re.compile(r"\W*\d+\.\d+")
_CLAUSES: Final = 0.3
"""A list of which so many items begin as clauses do has no steps."""
_MOST_STEPS: Final = 12
_MOST_ROWS: Final = 6
_MOST_IN_CLAUSE: Final = 4
_LIKELY: Final = 0.6
_MOST_TO_READER: Final = 5
_MOST_MEANINGS: Final = 6
_MOST_CLAUSE_CHARS: Final = 450
"""A numbered clause of so many characters is quoted whole."""
_MOST_SECTION_CHARS: Final = 250
"""So is a paragraph whose heading has a word of the question that the sentence does not have."""


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
        opinion.citations = [one.sentence for one in may_be[:_MOST_MEANINGS]]
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
    good = [one for one in answers if one.is_answer]
    opinion.answered = bool(good)
    shown = good or answers[:1]
    opinion.answer = " ".join(one.text for one in good)
    opinion.citations = [*dict.fromkeys(line for one in shown for line in one.lines)]
    opinion.disagreements = [found for one in good for found in one.disagreements]
    opinion.notes = [*dict.fromkeys(note for one in good for note in one.notes)]
    opinion.lack = answers[0].lack if not good else ""
    asks = dict.fromkeys(one.ask for one in answers if one.ask)
    opinion.ask = " ".join(asks) or None
    if pattern("advice").search(question):
        opinion.answered, opinion.answer, opinion.notes = False, "", []
        opinion.lack = "the experts give no advice"
        opinion.ask = "The experts give no advice: what should they look up in the documents?"
    checks = [known.kinds[line.file].check for one in shown for line in one.lines[:1]]
    opinion.checks = [*dict.fromkeys(filter(None, checks))] or opinion.checks
    return opinion


class PartAnswer(NamedTuple):
    """The answer to a part of a question."""

    text: str
    lines: Sequence[QuotableLine]
    """What it rests on, the answer's first."""
    is_answer: bool = True
    passage: Sequence[QuotableLine] = ()
    """The lines that it quotes."""
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
    for one in sorted(found, key=lambda one: (not one.is_answer, -len(one.passage))):
        if not any(other.is_answer and {*one.passage} <= {*other.passage} for other in kept):
            kept.append(one)
    return sorted(kept, key=found.index)


def _part_answer(
    part: str, question: str, known: KnownLines, expert: Expert, *, alone: bool
) -> PartAnswer:
    findings = find(part, question, known, expert)
    years = {*re.findall(r"\b(?:19|20)\d\d\b", part)} if expert == "financial" else set[str]()
    lines = _passage(part, findings, known)
    if years and not any(year in f"{o.heading} {o.quote}" for year in years for o in lines):
        findings = findings._replace(answers=False)  # of another year
    if not findings.answers:
        near = lines if findings.is_near else []
        lack, ask = _lack(findings, part, alone=alone)
        return PartAnswer("", near, is_answer=False, ask=ask, lack=lack)
    compares = [*compared(findings.kind, findings.near, known)]
    disagreements = [one for one in compares if isinstance(one, Disagreement)]
    # What another document replaces is no answer any more.
    holding = [
        o
        for one in disagreements
        if one.settled
        for o in known.sentences
        if o.ref == one.one.ref and o.quote == one.one.quote
    ]
    if holding and holding[0] not in lines:
        lines = [holding[0], *lines]
        text = _quoted(holding[:1])
    else:
        text = _quoted(lines)
    notes = [
        f"“{word}” is not in the documents; read as “{of}”."
        for word, of in findings.read_as
        if of[:3].lower() not in {one[:3].lower() for one in word.split()}
    ]
    said = ", ".join(f"“{word}”" for word in names_in(part, findings.unknown))
    asks = f"The documents don't have {said}: is it covered by these words?" if said else ""
    for one in compares:
        if isinstance(one, OtherCase):
            text += f" With “{one.case}” another sentence holds: {_quoted([one.sentence])}"
            lines = [*lines, one.sentence]
            asks = f"Does it concern “{one.case}”? {one.sentence.ref} has other numbers for that."
    passage = [*lines]
    beside = [one.sentence for one in findings.found if one.sentence not in lines]
    return PartAnswer(
        text, [*lines, *beside], passage=passage, ask=asks, notes=notes, disagreements=disagreements
    )


def _quoted(lines: Sequence[QuotableLine]) -> str:
    """The words of a passage, with its place, and the heading of an item of a list."""
    heading = lines[0].heading.rpartition(" > ")[2]
    is_bare = re.match(r"[-*•–] ", lines[0].quote) and heading
    below = f" (below “{heading}”)" if is_bare else ""
    return f"“{' '.join(line.quote for line in lines)}”{below} ({lines[0].ref})"


def _passage(part: str, findings: FoundAnswer, known: KnownLines) -> list[QuotableLine]:
    """The best sentence with those of its clause that go on with it, or all steps of a list."""
    if not findings.found:
        return []
    first = findings.found[0]
    if findings.kind == "steps":
        if steps := _steps(findings, known):
            return steps
        likely = [one for one in findings.near if one.score >= _LIKELY * first.score]
        first = max(likely, key=lambda one: (_weight(one.has), one.score))
    clause = known.clauses[first.sentence.file, first.sentence.clause]
    begin = end = clause.index(first.number)
    more = [goes_on(known.sentences[number]) for number in clause]
    least = BESIDE_FROM if findings.kind in NUMBERS else _LIKELY
    also = {one.number for one in findings.near if one.score >= least * first.score}
    is_plural = pattern("plural").search(part) is not None
    while begin and (more[begin] or (is_plural and clause[begin - 1] in also)):
        begin -= 1
    every = [known.sentences[number] for number in clause]
    chars = sum(len(one.quote) for one in every)
    is_numbered = _CLAUSE.match(every[0].quote) and chars <= _MOST_CLAUSE_CHARS
    if is_numbered or (findings.by_heading and chars <= _MOST_SECTION_CHARS):
        return every
    while end + 1 < len(clause) and (more[end + 1] or clause[end + 1] in also):
        end += 1
    return every[begin : end + 1][:_MOST_IN_CLAUSE]


def _steps(findings: FoundAnswer, known: KnownLines) -> list[QuotableLine]:
    """All steps of the list that has most of the question, if no sentence has more."""
    lists: dict[tuple[str, str], set[AskedWord]] = {}
    for one in findings.near:
        if pattern("step").match(one.sentence.quote):
            lists.setdefault((one.sentence.file, one.sentence.heading), set()).update(one.has)
    place = max(lists, key=lambda key: _weight(lists[key]), default=None)
    most = max(_weight(one.has) for one in findings.near)
    if place is None or _weight(lists[place]) < most:
        return []
    every = [o for o in known.sentences if (o.file, o.heading) == place and o.is_item]
    clauses = sum(pattern("clause").match(one.quote) is not None for one in every)
    return every[:_MOST_STEPS] if clauses < _CLAUSES * len(every) else []


def _weight(words: Iterable[AskedWord]) -> float:
    return sum(one.weight for one in words)


def _rows(question: str, known: KnownLines) -> list[QuotableLine]:
    """The rows of figures that a question names; none if it asks for more than these."""
    named = [one for one in known.sentences if one.title and has_words(question, one.title)]
    titles = units(" ".join(one.title for one in named))
    words = [
        one for one in subjects(question) if not pattern("change").search(one) and not one.isdigit()
    ]
    more = [one for one in words if not {*terms(one)} <= stems_of("generic") | stems_of("noise")]
    is_more = any(not alike(stem) & titles for one in more for stem in terms(one))
    return [] if is_more else named[:_MOST_ROWS]


def _rows_answer(rows: Sequence[QuotableLine]) -> PartAnswer:
    below = [f" (below “{one.heading}”)" if one.heading else "" for one in rows]
    quoted = (f"“{one.quote}”{at}" for one, at in zip(rows, below, strict=True))
    return PartAnswer(f"{'; '.join(quoted)} ({rows[0].ref})", rows)


def _lack(findings: FoundAnswer, part: str, *, alone: bool) -> tuple[str, str]:
    """What is not in the documents, and what would help."""
    of = "" if alone else f" (“{part.strip(' ?')}”)"
    if findings.unknown:
        said = ", ".join(f"“{word}”" for word in names_in(part, findings.unknown)[:4])
        more = "What do they call it, or which document has it?"
        return f"not in the documents: {said}", f"The documents don't have {said}{of}. {more}"
    if findings.absent:
        said = ", ".join(f"“{word}”" for word in findings.absent[:4])
        why = f"no passage has {said} with the rest of the question"
        return (
            why,
            f"{why.capitalize()}{of}. Is something else meant, or is there another document?",
        )
    why = "no passage answers this"
    return (
        why,
        f"No passage answers this{of}. What do the documents call it, or which one has it?",
    )
