"""The drafts of the two workers: what tables compute, and what texts say."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from leadhand import Handoff, Result
from leadhand.tools.files import Inputs
from leadhand.tools.sql import RequestFailed, SqlTools, quoted_name
from leadhand_teams.research import asking, contents
from leadhand_teams.research.computing import compute
from leadhand_teams.research.grammar import Ask, first_question
from leadhand_teams.research.output import ResearchFinding
from leadhand_teams.research.schema import View, views
from leadhand_teams.research.texts import TextLibrary
from leadhand_teams.research.words import alike, naming, stem, words_of
from leadhand_teams.shared.reading import Reading, read
from leadhand_teams.shared.tables import typed

_WHY: Final = re.compile(r"[,;.]?\s*\b(?:and|but)?,?\s*(?:what do .* say about )?\bwhy\b", re.I)
_COMPARES: Final = re.compile(r"\b(?:differ\w*|compar\w+|change[sd]?|between|versus|vs)\b", re.I)
_SAYS: Final = re.compile(r"\b(?:sa(?:y|ys|id)|mention\w*|wr(?:ite|ites|ote)|summar\w+)\b", re.I)


NAMES_UNREAD: Final = "names what was not read"
"""The payload of the task whose result does."""


def question_in(handoff: Handoff) -> str:
    """The question at the end of a task's intent."""
    return handoff.intent.partition(": ")[2] or handoff.intent


def work_out(handoff: Handoff) -> Result:
    """What the tables among the handoff's files answer."""
    reading = _with_parquet(read(handoff.artifacts), handoff.artifacts)
    return _result(of_tables(question_in(handoff), reading), handoff)


def find(handoff: Handoff) -> Result:
    """What the texts among the handoff's files answer."""
    subjects: list[str] = []
    for output in handoff.inputs.values():
        if isinstance(output, dict) and output.get("sentence"):
            subjects += ResearchFinding.model_validate({**output, "added": None}).subjects
    return _result(of_texts(question_in(handoff), read(handoff.artifacts), subjects), handoff)


def _with_parquet(reading: Reading, paths: Sequence[str]) -> Reading:
    """`reading` with the rows of Parquet files, which the database reads."""
    inputs = Inputs.of([Path(path) for path in paths])
    found = list(reading.tables)
    files = {file.name for file in inputs.of_kind("parquet")}
    if not files:
        return reading
    with SqlTools(inputs) as tools:
        for table in tools.tables:
            if table.file in files:
                names = [column.name for column in table.columns]
                cells = ", ".join(f"{quoted_name(name)}::VARCHAR" for name in names)
                (rows,) = tools.select([f"SELECT {cells} FROM {table.name}"])
                texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
                found.append(typed(table.file, names, [*enumerate(texts, 1)], decimal="."))
                files.discard(table.file)
    loaded = {file.name for file in inputs.of_kind("parquet")} - files
    unread = [one for one in reading.unread if one.name not in loaded]
    return replace(reading, tables=tuple(found), unread=tuple(unread))


def _result(found: ResearchFinding, handoff: Handoff) -> Result:
    return Result(
        output=found.model_dump(mode="json"),
        summary=found.sentence or "Nothing was found.",
        evidence=tuple(f"[{one.ref}]" for one in found.citations),
        missing=found.unread if handoff.payload == NAMES_UNREAD else (),
    )


def asks_why(question: str) -> bool:
    """Whether a reason is asked for."""
    return _WHY.search(question) is not None


def of_tables(question: str, reading: Reading) -> ResearchFinding:
    """What the tables answer."""
    unread = _unread(reading)
    tables = views(reading.tables)
    if contents.is_asked(question):
        return contents.of(tables, unread)
    asked = _before_why(first_question(question)[0])
    asks = asking.read(asked, tables) if asked else []
    known = _known(tables)
    named = {word.text: word.stem for word in naming(words_of(question))}
    unknown = tuple(text for text, stemmed in named.items() if stemmed not in known)
    good = [ask for ask in asks if not ask.unknown]
    if not good:
        lacking = asks[0].unknown if asks else unknown
        nowhere = [word for word in lacking if word in named and not _occurs(word, known, tables)]
        apart = " with ".join(word for word in lacking if word not in nowhere)
        not_found = (apart,) if apart else ()
        return ResearchFinding(unknown=tuple(nowhere), not_found=not_found, unread=unread)
    try:
        found = compute(good[0], asked, reading)
        if not found.sentence and len(good) > 1:
            other = compute(good[1], asked, reading)
            found, good = (other, good[1:]) if other.sentence else (found, good)
        doubts = (*found.doubts, *_doubts_of_others(found, good, asked, reading))
    except RequestFailed as error:
        return ResearchFinding(
            not_found=(f"the tables could not be queried: {error}",), unread=unread
        )
    return found.model_copy(update={"doubts": doubts, "unread": unread})


def of_texts(question: str, reading: Reading, subjects: Sequence[str] = ()) -> ResearchFinding:
    """What the texts answer; `subjects` are what the tables single out."""
    unread = _unread(reading)
    question = question if asks_why(question) else first_question(question)[0]
    library = TextLibrary(reading.texts)
    if not library.texts:
        named = tuple(word.text for word in naming(words_of(question)))
        return ResearchFinding(unknown=named, unread=unread)
    known = _known(views(reading.tables))
    found = library.compare(question) if _COMPARES.search(question) else None
    if found is None or not found.sentence:
        found = library.fact(question, about=subjects, why=asks_why(question), known=known)
    if not found.sentence and _SAYS.search(question):
        found = library.passages(question, known=known)
    unknown = tuple(w.text for w in naming(words_of(question)) if not library.knows(w.stem))
    return found.model_copy(update={"unknown": unknown, "unread": unread})


def _before_why(question: str) -> str:
    """The part of a question that tables may answer."""
    found = _WHY.search(question)
    if found is None:
        return question
    return question[: found.start()].strip() + "?" if found.start() > 10 else ""


def _known(tables: Sequence[View]) -> frozenset[str]:
    """The stems of all names in the tables."""
    found = {stem for view in tables for stem in view.stems}
    fields = [field for view in tables for field in view.fields]
    found |= {stem for field in fields for stem in (*field.stems, *field.unit_stems)}
    return frozenset(found | {stem for f in fields for named in f.named for stem in named})


def _occurs(word: str, known: frozenset[str], tables: Sequence[View]) -> bool:
    """Whether a word, or one of its family, is anywhere in the tables."""
    if any(alike(stem(word), one) for one in known):
        return True
    columns = (column for view in tables for column in view.source.columns)
    return any(word.lower() in text.lower() for column in columns for text in column.texts)


def _doubts_of_others(
    found: ResearchFinding, good: Sequence[Ask], question: str, reading: Reading
) -> Iterator[str]:
    """Another answer of another table that is as good as the first."""
    first = good[0]
    for other in good[1:3]:
        same = other.explained == first.explained and len(other.joins) == len(first.joins)
        names = [one.measure.name.lower() if one.measure else "" for one in (first, other)]
        same = same and names[0] == names[1]
        if found.sentence and same and other.view is not first.view:
            also = compute(other, question, reading)
            if also.sentence and also.value != found.value:
                yield f"{other.view.source.name} says otherwise: {also.sentence}"


def _unread(reading: Reading) -> tuple[str, ...]:
    return tuple(f"{one.name}: {one.why}" for one in reading.unread if one.why != "hidden")
