"""The drafts of the two workers: what tables compute, and what texts say."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from leadhand import Handoff, Result
from leadhand.tools.sql import RequestFailed
from leadhand_teams.research.asking import Ask
from leadhand_teams.research.computing import compute, profile
from leadhand_teams.research.grammar import asks
from leadhand_teams.research.output import ResearchFinding
from leadhand_teams.research.resolving import resolve
from leadhand_teams.research.schema import views
from leadhand_teams.research.texts import TextLibrary
from leadhand_teams.research.words import alike, naming, words_of
from leadhand_teams.shared.reading import Reading, read_once

_WHY: Final = re.compile(r"[,;.]?\s*\b(?:and|but)?,?\s*(?:what do .* say about )?\bwhy\b", re.I)
_COMPARES: Final = r"differ\w*|compar\w+|change[sd]?|between|versus|vs|old and (?:the )?new"
_SECOND: Final = re.compile(
    r"(?:[,;]?\s+and\s+(?:also\s+)?|\?\s+(?:and\s+)?)"
    r"(?P<rest>(?:how|what|which|who|whom|whose|when|where)\b.+)|"
    r"[,;]\s+and\s+(?P<part>(?:in|at|for|of|on|from|during|by)\b.+)",
    re.IGNORECASE | re.DOTALL,
)
"""Where a second question begins, whole or in short."""
NAMES_UNREAD: Final = "names what was not read"
"""The payload of the task whose result does."""


class AskedFiles:
    """What was read, as tables and texts that can be asked."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.tables = views(reading.tables)
        self.library = TextLibrary(reading.texts)
        self.unread = tuple(
            f"{one.name}: {one.why}" for one in reading.unread if one.why != "hidden"
        )

    @cached_property
    def titles(self) -> frozenset[str]:
        """The stems of the names of tables and columns."""
        fields = [one for view in self.tables for one in view.fields]
        titles = {stem for view in self.tables for stem in view.stems}
        return frozenset(titles | {stem for one in fields for stem in one.all_stems})

    @cached_property
    def _cells(self) -> frozenset[str]:
        columns = (one for table in self.reading.tables for one in table.columns)
        texts = {text for one in columns if one.kind == "text" for text in one.texts}
        return frozenset(word.stem for text in texts for word in words_of(text))

    def nowhere(self, question: str) -> tuple[str, ...]:
        """The words of a question that are in no file, nor any word of their family."""
        known = self.titles | self._cells
        return tuple(
            word.text
            for word in naming(words_of(question))
            if not self.library.knows(word.stem)
            and not any(alike(word.stem, other) for other in known)
        )


material = read_once(AskedFiles)
"""The files at some paths, read once for both workers."""


def work_out(handoff: Handoff) -> Result:
    """What the tables among the handoff's files answer."""
    given = material(handoff.artifacts)
    return _result(of_tables(_question_in(handoff), given), given, handoff)


def find(handoff: Handoff) -> Result:
    """What the texts among the handoff's files answer."""
    given = material(handoff.artifacts)
    subjects: list[str] = []
    for output in handoff.inputs.values():
        if isinstance(output, dict) and output.get("sentence"):
            subjects += ResearchFinding.model_validate({**output, "added": None}).subjects
    return _result(of_texts(_question_in(handoff), given, subjects), given, handoff)


def _question_in(handoff: Handoff) -> str:
    return handoff.intent.partition(": ")[2] or handoff.intent


def _result(found: ResearchFinding, given: AskedFiles, handoff: Handoff) -> Result:
    changes = {"nowhere": given.nowhere(_question_in(handoff)), "unread": given.unread}
    return Result(
        output=found.model_copy(update=changes).model_dump(mode="json"),
        summary=found.sentence or "Nothing was found.",
        evidence=tuple(f"[{one.ref}]" for one in found.citations),
        missing=given.unread if handoff.payload == NAMES_UNREAD else (),
    )


def asks_why(question: str) -> bool:
    """Whether a reason is asked for."""
    return _WHY.search(question) is not None


def first_question(question: str) -> tuple[str, str]:
    """The first question of a request, and what else it asks; a reason is asked with the first."""
    found = _SECOND.search(question, 12)
    is_compared = asks(question, "difference", "growth", "between")
    if found is None or (found["part"] and is_compared):
        return question, ""
    rest = (found["rest"] or found["part"]).rstrip(" ?.")
    return f"{question[: found.start()]}?", "" if rest.lower() in ("how much", "how many") else rest


def of_tables(question: str, given: AskedFiles) -> ResearchFinding:
    """What the tables answer."""
    why = _WHY.search(question)
    asked = f"{question[: why.start()]}?" if why else first_question(question)[0]
    try:
        if asks(question, "profile") and len(question.split()) <= 12:
            return profile(given.tables)
        found = resolve(asked, given.tables) if len(asked) > 10 else []
        good = [ask for ask in found if not ask.unknown]
        if not good:
            lacking = " with ".join(found[0].unknown) if found else ""
            return ResearchFinding(not_found=(lacking,) if lacking else ())
        made = compute(good[0], asked, given.reading)
        differing = tuple(_others(made, good, asked, given.reading))
    except RequestFailed as error:
        return ResearchFinding(not_found=(f"the tables could not be queried: {error}",))
    doubts = (*made.doubts, *differing)
    return made.model_copy(update={"doubts": doubts, "conflicts": differing})


def of_texts(question: str, given: AskedFiles, subjects: Sequence[str] = ()) -> ResearchFinding:
    """What the texts answer; `subjects` are what the tables single out."""
    why = asks_why(question)
    question = question if why else first_question(question)[0]
    found = given.library.compare(question) if asks(question, _COMPARES) else ResearchFinding()
    if found.sentence:
        return found
    return given.library.fact(question, about=subjects, why=why, columns=given.titles)


def _others(
    found: ResearchFinding, good: Sequence[Ask], question: str, reading: Reading
) -> Iterator[str]:
    """Another answer of another table that is as good as the first."""
    first = good[0]
    for other in good[1:3] if found.sentence else ():
        names = [one.measure.name.lower() if one.measure else "" for one in (first, other)]
        same = other.explained == first.explained and len(other.joins) == len(first.joins)
        if same and names[0] == names[1]:
            also = compute(other, question, reading)
            if also.sentence and also.value != found.value:
                yield f"{other.view.source.name} says otherwise: {also.sentence}"
