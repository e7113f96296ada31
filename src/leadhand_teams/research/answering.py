"""Puts what the tables and the texts answer together: the answer first, or what is missing."""

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from leadhand import Plan
from leadhand.errors import LeadhandError
from leadhand.extension.roles import Conflict, Gap, Source, Synthesis, TaskResult
from leadhand.tools.files import Inputs
from leadhand.tools.sql import SqlTools
from leadhand_teams.research.finding import asks_why, material, parts_of
from leadhand_teams.research.grammar import asks, compiled
from leadhand_teams.research.output import CitedWords, ResearchAnswer, ResearchFinding
from leadhand_teams.research.queries import WANTED
from leadhand_teams.research.report import report
from leadhand_teams.research.times import spans
from leadhand_teams.shared import values
from leadhand_teams.shared.statements import Added, check

_KINDS = ("answer", "guess", "part", "no rows", "nothing")
"""The better ones first."""


class Query(BaseModel):
    """What a model adds to the tables: a query of its own, and what it shows."""

    model_config = ConfigDict(frozen=True)

    answer: str = Field(default="", max_length=1_000)
    """One sentence with the figures that `sql` gives."""
    sql: str = Field(default="", max_length=5_000)
    """One SELECT statement that computes the answer."""


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The answer of a run of the team, of whatever results there are."""
    given = [(one.task, made) for one in results if (made := _finding(one))]
    found = {task.worker: one for task, one in given}
    made = combined(
        plan.goal,
        found.get("analyst", ResearchFinding()),
        found.get("researcher", ResearchFinding()),
    )
    for one in results:
        made = _with_added(made, one)
    tasks = {cited: task.id for task, one in given for cited in one.citations}
    last = results[-1].task.id if results else ""
    missing = [f"not answered: {one}" for one in made.not_answered]
    if not made.answered:
        is_part = made.value is not None
        missing = [f"answered without {_quoted(made.not_found)}" if is_part else "no answer"]
    conflicts = [
        Conflict(task_ids=(task.id,), about=about) for task, one in given for about in one.conflicts
    ]
    return Synthesis(
        answer=report(plan.goal, made).markdown(title=False),
        output=made.model_dump(mode="json"),
        sources=tuple(Source(task_id=tasks.get(one, last), ref=one.ref) for one in made.citations),
        conflicts=tuple(conflicts),
        gaps=tuple(Gap(task_id=last, why=why) for why in missing if last),
    )


def combined(question: str, tables: ResearchFinding, texts: ResearchFinding) -> ResearchAnswer:
    """One answer of both findings."""
    made = _first(question, tables, texts)
    why = compiled("<why>").search(question)
    second = parts_of(question)[1]
    if why and made.answered:
        missing = _unanswered(question[: why.start()], tables, texts)
        left = f" Not answered: “{missing}”." if missing else ""
        return made.model_copy(
            update={
                "answer": made.answer + left,
                "not_answered": (missing,) if missing else made.not_answered,
            }
        )
    if not second or why:
        return made
    more = _first(second, tables.second or ResearchFinding(), texts.second or ResearchFinding())
    if not (made.answered and more.answered):
        left = f" Not answered: “{second}”; ask it alone."
        return made.model_copy(update={"answer": made.answer + left, "not_answered": (second,)})
    changes = {
        "answer": f"{made.answer} {more.answer}",
        "citations": tuple(dict.fromkeys((*made.citations, *more.citations))),
        "doubts": tuple(dict.fromkeys((*made.doubts, *more.doubts))),
        "sql": "; ".join(filter(None, (made.sql, more.sql))) or None,
    }
    return made.model_copy(update=changes)


def _unanswered(first: str, tables: ResearchFinding, texts: ResearchFinding) -> str:
    """The question before that for a reason, if only the reason was found."""
    wanted = next((one for one in WANTED if one.words and asks(first, one.words)), None)
    has_time = asks(first, "when") and spans(texts.sentence, (), set())[0]
    is_open = wanted and not tables.sentence and not has_time and not wanted.parts(texts.sentence)
    return re.sub(r"[\s,?!]+(?:and\s*)?$", "", first) if is_open else ""


def _first(question: str, tables: ResearchFinding, texts: ResearchFinding) -> ResearchAnswer:
    unread = tuple(dict.fromkeys((*tables.unread, *texts.unread)))
    nowhere = tables.nowhere or texts.nowhere
    if asks(question, r"^\s*why"):
        tables = ResearchFinding()
    if tables.kind == "no rows":
        texts = ResearchFinding()
    first = min((tables, texts), key=lambda one: _KINDS.index(one.kind))
    first = tables if tables.sentence and asks_why(question) else first
    if first.kind in ("no rows", "nothing"):
        return _not_found(nowhere, tables, texts, unread)
    sentence, doubts, citations = first.sentence, first.doubts, first.citations
    has_reason = tables.sentence and texts.sentence and asks_why(question)
    if has_reason:
        is_near = any("that it is the reason" in one for one in texts.doubts)
        nearest = "No reason is stated; nearest is: " if is_near else ""
        sentence = f"{sentence} {nearest}{texts.sentence}"
        citations += texts.citations
        doubts += texts.doubts
    elif tables.sentence and asks_why(question):
        sentence = f"{sentence} No reason was found in the files."
        doubts += ("No text was found that gives a reason.",)
    if first.kind == "part":
        words = "these words" if first.not_found[1:] else "this word"
        place = "the table" if first is tables else "the texts"
        place = "your files" if set(first.not_found) <= set(nowhere) else place
        sentence = f"Not in {place}: {_quoted(first.not_found)}. Without {words}: {sentence}"
    return ResearchAnswer(
        answer=sentence,
        answered=first.kind != "part",
        value=first.value,
        unit=first.unit,
        citations=citations,
        doubts=tuple(dict.fromkeys(doubts)),
        not_found=first.not_found,
        sql=first.sql,
        figures=first.figures,
        also=texts.citations if first is tables and not has_reason else (),
        notes=first.notes,
        unread=unread,
    )


def _not_found(
    nowhere: Sequence[str],
    tables: ResearchFinding,
    texts: ResearchFinding,
    unread: tuple[str, ...],
) -> ResearchAnswer:
    """What the files do not have, or not together."""
    missing = tuple(nowhere) or texts.not_found or tables.not_found
    said = "No answer was found in your files"
    if nowhere:
        said = f"Not in your files: {_quoted(nowhere)}"
    elif tables.kind == "no rows":
        said += f": no row has {_quoted(missing)}"
    elif missing:
        said += f": they have {_quoted(missing)}, but not together with the rest"
    return ResearchAnswer(
        answer=f"{said}.",
        answered=False,
        doubts=tables.doubts if tables.kind == "nothing" else (),
        not_found=missing,
        unread=unread,
    )


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{one}”" for one in words)


def _finding(one: TaskResult) -> ResearchFinding | None:
    try:
        return ResearchFinding.model_validate(one.result.output if one.result else None)
    except ValidationError:
        return None


def _with_added(made: ResearchAnswer, one: TaskResult) -> ResearchAnswer:
    """The answer with what a model added, as far as code finds it in the files."""
    output = one.result.output if one.result is not None else None
    added = output.get("added") if isinstance(output, dict) else None
    try:
        if added is None:
            return made
        if one.task.worker == "analyst":
            return _with_query(made, one, Query.model_validate(added))
        return _with_statements(made, one, Added.model_validate(added))
    except (LeadhandError, ValidationError):
        return made


def _with_query(made: ResearchAnswer, one: TaskResult, query: Query) -> ResearchAnswer:
    """A model's query is run again; its figure answers if code has none, else it is compared."""
    if not query.sql:
        return made
    with SqlTools(Inputs.of([Path(path) for path in one.task.artifacts])) as tools:
        shown = tools.query(query.sql)
    figures = [round(value.value, 6) for value in values.amounts(shown)]
    claimed = [round(value.value, 6) for value in values.amounts(query.answer)]
    if not claimed or any(value not in figures for value in claimed):
        return made
    if not made.answered:
        cited = tuple(CitedWords(ref=Path(path).name, quote="") for path in one.task.artifacts[:1])
        doubt = "A model wrote the query; code ran it and found the figures."
        return _found(made, query.answer, claimed[-1], cited, doubt, sql=query.sql)
    same = isinstance(made.value, str) or any(
        abs(value - (made.value or 0)) <= 0.005 * abs(value) for value in claimed
    )
    if same or not made.sql:
        return made
    doubt = f"A model's query says otherwise: {query.answer} ({query.sql})"
    return made.model_copy(update={"doubts": (*made.doubts, doubt)})


def _with_statements(made: ResearchAnswer, one: TaskResult, added: Added) -> ResearchAnswer:
    """A model's statements are kept if the words that they quote are in the files."""
    checked = check(added.statements, material(one.task.artifacts).reading.texts)
    kept = tuple(CitedWords(ref=s.ref, quote=s.quote) for s in checked.kept)
    notes = (*made.notes, *filter(None, [checked.note]))
    made = made.model_copy(update={"added": kept, "notes": notes})
    if made.answered or not kept:
        return made
    said = " ".join(s.text for s in checked.kept[:2])
    return _found(made, said, said, kept, "A model found it; code checked its quotation.")


def _found(
    made: ResearchAnswer,
    said: str,
    value: float | str,
    cited: tuple[CitedWords, ...],
    doubt: str,
    *,
    sql: str | None = None,
) -> ResearchAnswer:
    changes: dict[str, JsonValue | tuple[CitedWords, ...] | tuple[str, ...]] = {
        "answer": said, "answered": True, "value": value, "citations": cited, "doubts": (doubt,),
        "not_found": (), "sql": sql,
    }  # fmt: skip
    return made.model_copy(update=changes)
