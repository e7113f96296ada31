"""The researcher's work without a model: the passages that answer a request best, quoted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from leadhand.contracts.outcome import Handoff, Result
from leadhand.teams.research.excerpts import excerpt
from leadhand.teams.research.figures import counted
from leadhand.teams.research.findings import Findings, MissingInput, ReportSection
from leadhand.teams.research.mentions import Note, notes_on, said_of, singled_out
from leadhand.teams.research.quoting import block, cited, inline
from leadhand.teams.research.word_forms import asked, irregular_forms, merit, subject, weights
from leadhand.tools.files import Documents, Index, InputFile, Inputs, Kind, Passage, best
from leadhand.tools.files.documents import Document, reference
from leadhand.tools.files.kinds import NOT_READ
from leadhand.tools.files.listing import HIDDEN
from leadhand.tools.files.passage import cut
from leadhand.tools.text import listed

MAX_QUOTED: Final = 8
"""Passages that are quoted in all."""
_CANDIDATES: Final = 60
_RELEVANT: Final = 0.28
"""How much another passage must say of the words, of what the best one says of them."""
_ABOVE: Final = ("What the documents say on this is quoted above.",)
_DOCUMENTS: Final[tuple[Kind, ...]] = ("text", "markdown", "html", "pdf", "docx")


@dataclass(frozen=True, slots=True)
class _Quotation:
    passage: Passage
    text: str
    heading: str
    place: str


def find(handoff: Handoff) -> Result:
    """What the documents among the handoff's files say on what it asks."""
    inputs = Inputs.of([Path(path) for path in handoff.artifacts])
    gaps = [
        MissingInput(name=one.name, why=one.why, by_choice=one.why == HIDDEN)
        for one in inputs.skipped
    ]
    gaps += [MissingInput(name=file.name, why=NOT_READ) for file in inputs.of_kind("other")]
    files = inputs.of_kind(*_DOCUMENTS)
    if not files:
        lead = ("There are no documents among the files handed in.",)
        return _result(Findings(about="sources", lead=lead, found=False, gaps=tuple(gaps)), [])
    words = subject(asked(handoff.intent))
    about = singled_out(handoff.inputs.values())
    if not words and about is None:
        return _beginnings(inputs, files, gaps)
    index = Index(Documents(inputs))
    names = {file.name for file in files}
    hits = [
        hit
        for hit in best(index, " ".join((*words, *irregular_forms(words))), _CANDIDATES)
        if hit.name in names
    ]
    said = weights(words, [f"{hit.name} {hit.heading} {hit.text}" for hit in hits])
    quoted = [_quotation(hit, said) for hit in _relevant(hits, said)[:MAX_QUOTED]]
    gaps += [MissingInput(name=one.name, why=one.why) for one in index.gaps() if one.name in names]
    notes: list[Note] = []
    if about is not None:
        notes = notes_on(about, index, files=names, words=words)
        told = {one.place for one in notes}
        quoted = [one for one in quoted if one.place[1:-1] not in told]
    return _result(
        Findings(
            about="sources",
            answer=said_of(about, notes) if about is not None else (),
            lead=_ABOVE if notes and not quoted else _lead(quoted, len(files), words),
            sections=_sections(quoted),
            found=bool(notes) if about is not None else bool(quoted),
            unknown=tuple(word for word in words if not _occurs(index, word, names)),
            gaps=tuple(gaps),
        ),
        quoted,
        notes,
    )


def _relevant(hits: Sequence[Passage], said: Mapping[str, float]) -> Sequence[Passage]:
    """Without those that say far less of the words than the best of them."""
    merits = [merit(said, hit.text, hit.heading, hit.name) for hit in hits]
    least = max(merits, default=0) * _RELEVANT
    return [hit for hit, own in zip(hits, merits, strict=True) if own >= least]


def _quotation(hit: Passage, said: Mapping[str, float]) -> _Quotation:
    part = excerpt(hit.text, said)
    line = hit.line + hit.text.count("\n", 0, part.offset)
    place = reference(hit.name, line=line, page=hit.page)
    return _Quotation(hit, part.text, part.heading or hit.heading, place)


def _occurs(index: Index, word: str, names: set[str]) -> bool:
    forms = " ".join((word, *irregular_forms([word])))
    return any(hit.name in names for hit in index.search(forms, _CANDIDATES))


def _lead(quoted: Sequence[_Quotation], documents: int, words: Sequence[str]) -> tuple[str, ...]:
    count = counted(documents, "document")
    if not quoted:
        about = listed([f'"{inline(word)}"' for word in words])
        return (f"Nothing in {count} speaks of {about}.",)
    sources = len({one.passage.name for one in quoted})
    of = count if documents == sources else f"{sources:,} of {count}"
    return (f"{counted(len(quoted), 'passage')} from {of} on this, quoted below.",)


def _sections(quoted: Sequence[_Quotation]) -> tuple[ReportSection, ...]:
    """A section for each file, the best file first; in it the order is the file's own."""
    rank = {one.passage.name: n for n, one in reversed(list(enumerate(quoted)))}
    ordered = sorted(quoted, key=lambda one: (rank[one.passage.name], one.passage.offset))
    return tuple(
        ReportSection(title=inline(name), body="\n\n".join(map(_shown, group)))
        for name, group in groupby(ordered, key=lambda one: one.passage.name)
    )


def _shown(one: _Quotation) -> str:
    heading = f"{inline(one.heading)} " if one.heading else ""
    return f"{heading}{cited(one.place[1:-1])}\n\n{block(one.text)}"


def _beginnings(inputs: Inputs, files: Sequence[InputFile], gaps: list[MissingInput]) -> Result:
    """How each of the first documents begins: for a request that names no subject."""
    quoted: list[_Quotation] = []
    shown, rest = files[:MAX_QUOTED], files[MAX_QUOTED:]
    for document in Documents(inputs).read_each(shown):
        if not isinstance(document, Document):
            gaps.append(MissingInput(name=document.name, why=document.why))
            continue
        if document.cut is not None:
            gaps.append(MissingInput(name=document.name, why=document.cut))
        first = next(cut(document), None)
        if first is not None:
            quoted.append(_quotation(first, {}))
    why = "not quoted, as the request names no subject"
    gaps += [MissingInput(name=file.name, why=why, by_choice=True) for file in rest]
    lead = (
        "The request names no subject to search for, so this is how "
        f"{counted(len(quoted), 'document')} of {len(files):,} begin.",
    )
    findings = Findings(about="sources", lead=lead, sections=_sections(quoted), gaps=tuple(gaps))
    return _result(findings, quoted)


def _result(findings: Findings, quoted: Sequence[_Quotation], notes: Sequence[Note] = ()) -> Result:
    places = dict.fromkeys([*(f"[{one.place}]" for one in notes), *(one.place for one in quoted)])
    return Result(
        output=findings.model_dump(mode="json"),
        summary=" ".join(findings.lead),
        evidence=tuple(places),
        missing=findings.missing,
    )
