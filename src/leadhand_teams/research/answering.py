"""Puts what the tables and the texts answer together: the answer first, or what is missing."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from leadhand import Plan
from leadhand.errors import LeadhandError
from leadhand.extension.roles import Gap, Source, Synthesis, TaskResult
from leadhand.tools.files import Inputs
from leadhand.tools.sql import SqlTools
from leadhand_teams.research.finding import asks_why
from leadhand_teams.research.grammar import first_question
from leadhand_teams.research.output import CitedWords, ResearchAnswer, ResearchFinding
from leadhand_teams.research.report import report
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import read
from leadhand_teams.shared.statements import Added, check

_STARTS_WITH_WHY: Final = re.compile(r"\s*why\b", re.IGNORECASE)


class Query(BaseModel):
    """What a model adds to the tables: a query of its own, and what it shows."""

    model_config = ConfigDict(frozen=True)

    answer: str = Field(default="", max_length=1_000)
    """One sentence with the figures that `sql` gives."""
    sql: str = Field(default="", max_length=5_000)
    """One SELECT statement that computes the answer."""


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The answer of a run of the team, of whatever results there are."""
    found = {one.task.worker: _finding(one) for one in results}
    tables, texts = found.get("analyst"), found.get("researcher")
    # What a kind of file that is not there does not know decides nothing.
    tables = tables or ResearchFinding(unknown=texts.unknown if texts else ())
    texts = texts or ResearchFinding(unknown=tables.unknown)
    made = combined(plan.goal, tables, texts)
    made = _with_models(made, results)
    missing = [f"not answered: {one}" for one in made.not_answered]
    missing = missing if made.answered else [made.answer]
    gaps = tuple(Gap(task_id=results[-1].task.id, why=why) for why in missing if results)
    sources = tuple(Source(task_id=_task(results, one), ref=one.ref) for one in made.citations)
    return Synthesis(
        answer=report(plan.goal, made, is_file=False).markdown(title=False),
        output=made.model_dump(mode="json"),
        sources=sources,
        gaps=gaps,
    )


def combined(question: str, tables: ResearchFinding, texts: ResearchFinding) -> ResearchAnswer:
    """One answer of both findings."""
    unread = tuple(dict.fromkeys((*tables.unread, *texts.unread)))
    if _STARTS_WITH_WHY.match(question):
        tables = tables.model_copy(update={"sentence": ""})
    if not tables.sentence and not texts.sentence:
        nowhere = tuple(word for word in tables.unknown if word in texts.unknown)
        # Else what no row or passage has together.
        missing = nowhere or tables.not_found or texts.not_found
        listed = ", ".join(f"“{one}”" for one in missing)
        said = f"Not in your files: {listed}." if nowhere else "No answer was found in your files"
        if not nowhere:
            said += f": no row or sentence that fits has {listed}." if listed else "."
        return ResearchAnswer(answer=said, answered=False, not_found=missing, unread=unread)
    first, second = (tables, texts) if tables.sentence else (texts, ResearchFinding())
    sentence, doubts, citations = first.sentence, first.doubts, first.citations
    also: tuple[CitedWords, ...] = ()
    if tables.sentence and asks_why(question):
        if texts.sentence:
            sentence = f"{sentence} {texts.sentence}"
            citations += texts.citations
            doubts += texts.doubts
        else:
            sentence = f"{sentence} The files do not say why."
            doubts += ("No text gives a reason.",)
    elif second.sentence:
        also = second.citations
    rest = first_question(question)[1]
    rest = "" if asks_why(rest) else rest  # answered above
    if rest:
        sentence = f"{sentence} Not answered: “{rest}”; ask it alone."
    return ResearchAnswer(
        answer=sentence,
        answered=True,
        value=first.value,
        unit=first.unit,
        citations=citations,
        doubts=tuple(dict.fromkeys(doubts)),
        not_answered=(rest,) if rest else (),
        sql=first.sql or None,
        figures=first.figures,
        also=also,
        notes=first.notes,
        unread=unread,
    )


def _finding(one: TaskResult) -> ResearchFinding | None:
    output = one.result.output if one.result is not None else None
    try:
        return ResearchFinding.model_validate(output)
    except ValidationError:
        return None


def _task(results: Sequence[TaskResult], cited: CitedWords) -> str:
    for one in results:
        found = _finding(one)
        if found is not None and cited in found.citations:
            return one.task.id
    return results[0].task.id if results else ""


def _with_models(made: ResearchAnswer, results: Sequence[TaskResult]) -> ResearchAnswer:
    """The answer with what models added, as far as code finds it in the files."""
    for one in results:
        added = _added(one)
        if added is None:
            continue
        made = (
            _with_query(made, one, added)
            if one.task.worker == "analyst"
            else _with_statements(made, one, added)
        )
    return made


def _added(one: TaskResult) -> JsonValue:
    output = one.result.output if one.result is not None else None
    return output.get("added") if isinstance(output, dict) else None


def _with_query(made: ResearchAnswer, one: TaskResult, added: JsonValue) -> ResearchAnswer:
    """A model's query is run again; its figure answers if code has none, else it is compared."""
    try:
        query = Query.model_validate(added)
        if not query.sql:
            return made
        with SqlTools(Inputs.of([Path(path) for path in one.task.artifacts])) as tools:
            shown = tools.query(query.sql)
    except (LeadhandError, ValidationError):
        return made
    figures = [round(value.value, 6) for value in values.amounts(shown)]
    claimed = [round(value.value, 6) for value in values.amounts(query.answer)]
    if not query.answer or not claimed or any(value not in figures for value in claimed):
        return made
    value = claimed[-1]
    if not made.answered:
        cited = tuple(CitedWords(ref=Path(path).name, quote="") for path in one.task.artifacts[:1])
        doubt = "A model wrote the query; code ran it and found the figures."
        changes = {
            "answer": query.answer, "answered": True, "value": value, "sql": query.sql,
            "citations": cited, "doubts": (doubt,), "not_found": (),
        }  # fmt: skip
        return made.model_copy(update=changes)
    same = isinstance(made.value, str) or any(
        abs(value - (made.value or 0)) <= 0.005 * abs(value) for value in claimed
    )
    if same or not made.sql:
        return made
    doubt = f"A model's query says otherwise: {query.answer} ({query.sql})"
    return made.model_copy(update={"doubts": (*made.doubts, doubt)})


def _with_statements(made: ResearchAnswer, one: TaskResult, added: JsonValue) -> ResearchAnswer:
    """A model's statements are kept if the words that they quote are in the files."""
    try:
        statements = Added.model_validate(added).statements
        texts = read(one.task.artifacts).texts
    except (LeadhandError, ValidationError):
        return made
    checked = check(statements, texts)
    kept = tuple(CitedWords(ref=s.ref, quote=s.quote) for s in checked.kept)
    note = (checked.note,) if checked.note else ()
    made = made.model_copy(update={"added": kept, "notes": (*made.notes, *note)})
    if made.answered or not kept:
        return made
    doubt = "A model found it; code checked its quotation."
    said = " ".join(s.text for s in checked.kept[:2])
    changes = {
        "answer": said, "answered": True, "value": said, "citations": kept, "doubts": (doubt,),
        "not_found": (),
    }  # fmt: skip
    return made.model_copy(update=changes)
