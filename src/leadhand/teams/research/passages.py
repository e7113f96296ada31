"""The researcher without a model: quotes the passages that answer a request best."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from leadhand.contracts.outcome import Handoff, Result
from leadhand.teams.research.excerpts import Quotation, excerpt
from leadhand.teams.research.findings import Findings, MissingInput, ReportSection
from leadhand.teams.research.mentions import mentions_of, mentions_shown, naming_groups
from leadhand.teams.research.quoting import inline
from leadhand.teams.research.word_forms import (
    irregular_forms,
    relevance,
    request_in,
    subject,
    weights,
)
from leadhand.tools.files.documents import Document, Documents
from leadhand.tools.files.index import SearchIndex
from leadhand.tools.files.inputs import InputFile, Inputs
from leadhand.tools.files.kinds import NOT_READ, FileKind
from leadhand.tools.files.listing import HIDDEN
from leadhand.tools.files.passage import Passage, split_into_passages
from leadhand.tools.files.ranking import best_passages
from leadhand.tools.text import counted, joined_names

MAX_QUOTED: Final = 8
"""The most passages that are quoted."""
_CANDIDATES: Final = 60
_MIN_RELEVANCE: Final = 0.28
"""The least relevance of a quoted passage, as a part of the best one's."""
_ABOVE: Final = ("What the documents say on this is quoted above.",)
_DOCUMENTS: Final[tuple[FileKind, ...]] = ("text", "markdown", "html", "pdf", "docx")


def find(handoff: Handoff) -> Result:
    """Search the documents among the handoff's files for passages on its request."""
    inputs = Inputs.of([Path(path) for path in handoff.artifacts])
    gaps = [
        MissingInput(name=skipped.name, why=skipped.why, by_choice=skipped.why == HIDDEN)
        for skipped in inputs.skipped
    ]
    gaps += [MissingInput(name=file.name, why=NOT_READ) for file in inputs.of_kind("other")]
    files = inputs.of_kind(*_DOCUMENTS)
    if not files:
        lead = ("There are no documents among the files handed in.",)
        return Findings(about="sources", lead=lead, found=False, gaps=tuple(gaps)).result()
    words = subject(request_in(handoff.intent))
    about = naming_groups(handoff.inputs.values())
    if not words and about is None:
        return _beginnings(inputs, files, gaps)
    index = SearchIndex(Documents(inputs))
    names = {file.name for file in files}
    hits = [
        hit
        for hit in best_passages(index, " ".join((*words, *irregular_forms(words))), _CANDIDATES)
        if hit.name in names
    ]
    weight = weights(words, [f"{hit.name} {hit.heading} {hit.text}" for hit in hits])
    quoted = [
        Quotation(hit, excerpt(hit.text, weight)) for hit in _relevant(hits, weight)[:MAX_QUOTED]
    ]
    gaps += [MissingInput(name=gap.name, why=gap.why) for gap in index.gaps() if gap.name in names]
    mentions: list[Quotation] = []
    if about is not None:
        mentions = mentions_of(about, index, files=names, words=words)
        mentioned = {mention.citation for mention in mentions}
        quoted = [one for one in quoted if one.citation not in mentioned]
    findings = Findings(
        about="sources",
        answer=mentions_shown(about, mentions) if about is not None else (),
        lead=_ABOVE if mentions and not quoted else _lead(quoted, len(files), words),
        sections=_sections(quoted),
        found=bool(mentions) if about is not None else bool(quoted),
        unknown=tuple(word for word in words if not _occurs(index, word, names)),
        gaps=tuple(gaps),
    )
    return findings.result(one.citation for one in (*mentions, *quoted))


def _relevant(hits: Sequence[Passage], weight: Mapping[str, float]) -> Sequence[Passage]:
    """`hits` without those that are far less relevant than the best."""
    scores = [relevance(weight, hit.text, hit.heading, hit.name) for hit in hits]
    least = max(scores, default=0) * _MIN_RELEVANCE
    return [hit for hit, score in zip(hits, scores, strict=True) if score >= least]


def _occurs(index: SearchIndex, word: str, names: set[str]) -> bool:
    forms = " ".join((word, *irregular_forms([word])))
    return any(hit.name in names for hit in index.search(forms, _CANDIDATES))


def _lead(quoted: Sequence[Quotation], documents: int, words: Sequence[str]) -> tuple[str, ...]:
    count = counted(documents, "document")
    if not quoted:
        about = joined_names([f'"{inline(word)}"' for word in words])
        return (f"Nothing in {count} mentions {about}." if words else f"Nothing in {count}.",)
    sources = len({one.passage.name for one in quoted})
    of = count if documents == sources else f"{sources:,} of {count}"
    return (f"{counted(len(quoted), 'passage')} from {of} on this, quoted below.",)


def _sections(quoted: Sequence[Quotation]) -> tuple[ReportSection, ...]:
    """A section for each file, the most relevant file first; within it in the file's order."""
    rank = {one.passage.name: n for n, one in reversed(list(enumerate(quoted)))}
    ordered = sorted(quoted, key=lambda one: (rank[one.passage.name], one.passage.offset))
    return tuple(
        ReportSection(title=inline(name), body="\n\n".join(one.markdown for one in group))
        for name, group in groupby(ordered, key=lambda one: one.passage.name)
    )


def _beginnings(inputs: Inputs, files: Sequence[InputFile], gaps: list[MissingInput]) -> Result:
    """The beginnings of the first documents, for a request that names no subject."""
    quoted: list[Quotation] = []
    shown, rest = files[:MAX_QUOTED], files[MAX_QUOTED:]
    for document in Documents(inputs).read_each(shown):
        if not isinstance(document, Document):
            gaps.append(MissingInput(name=document.name, why=document.why))
            continue
        if document.cut is not None:
            gaps.append(MissingInput(name=document.name, why=document.cut))
        first = next(split_into_passages(document), None)
        if first is not None:
            quoted.append(Quotation(first, excerpt(first.text, {})))
    why = "not quoted, because the request names no subject"
    gaps += [MissingInput(name=file.name, why=why, by_choice=True) for file in rest]
    lead = (
        "The request names no subject to search for, so this is how "
        f"{counted(len(quoted), 'document')} of {len(files):,} begin.",
    )
    findings = Findings(about="sources", lead=lead, sections=_sections(quoted), gaps=tuple(gaps))
    return findings.result(one.citation for one in quoted)
