"""The drafts of the two workers: what tables compute, and what texts say."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from leadhand import Handoff, Result
from leadhand.tools.sql import RequestFailed
from leadhand_teams.research.asking import Ask, has_value
from leadhand_teams.research.computing import compute, profile
from leadhand_teams.research.grammar import asks, compiled, intent_of
from leadhand_teams.research.output import ResearchFinding
from leadhand_teams.research.resolving import resolve
from leadhand_teams.research.schema import views
from leadhand_teams.research.settling import fits
from leadhand_teams.research.texts import TextLibrary
from leadhand_teams.research.times import spans
from leadhand_teams.research.words import alike, naming, plain, translated, words_of
from leadhand_teams.shared.reading import Reading, read_once
from leadhand_teams.shared.values import NO_YEAR

NAMES_UNREAD = "names what was not read"
"""The payload of the task whose result does."""
NOTHING = ResearchFinding()


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
        fields = (one.all_stems for view in self.tables for one in view.fields)
        return frozenset[str]().union(*fields, *(view.stems for view in self.tables))

    @cached_property
    def vocabulary(self) -> dict[str, str]:
        """The stems in all files, each with a word that has it."""
        found = dict(self.library.vocabulary)
        for view in self.tables:
            found |= dict.fromkeys(view.vocabulary, "") | view.terms
        return found

    def nowhere(self, question: str) -> tuple[str, ...]:
        """The words and times of a question that are in no file, nor any word of their family."""
        times, rest = spans(plain(question), (), set())
        dates = [day for view in self.tables for one in view.fields if one.role == "date"
                 for day in one.column.dates if day]  # fmt: skip
        found = [
            one.label
            for one in times
            if one.first.year != NO_YEAR
            and not any(map(one.holds, dates))
            and any(word.stem not in self.vocabulary for word in words_of(one.label))
        ]
        words = translated(words_of(rest), self.vocabulary)[0]
        unknown = [
            word.text
            for word in naming(words)
            if (not word.is_doing or word.text.endswith("est"))
            and not any(alike(word.stem, other) for other in self.vocabulary)
        ]
        return tuple(dict.fromkeys([*found, *unknown]))


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
    return asks(question, "why")


def parts_of(question: str) -> tuple[str, str]:
    """The first question of a request, and the second; a reason is asked with the first."""
    found = compiled("<second>").search(question, 12)
    is_compared = asks(question, "difference", "growth", "between")
    if found is None or asks(question[found.start() :], "why") or (found["part"] and is_compared):
        return question, ""
    rest = (found["rest"] or found["part"]).rstrip(" ?.")
    amount = r"^(?:by )?(?:how (?:much|many)|what (?:amount|percent\w*))$"
    is_same = asks(rest, amount) and (is_compared or not rest.startswith("by"))
    return f"{question[: found.start()]}?", "" if is_same else rest


def of_tables(question: str, given: AskedFiles) -> ResearchFinding:
    """What the tables answer."""
    question = plain(question)
    why = compiled("<why>").search(question)
    first, second = (f"{question[: why.start()]}?", "") if why else parts_of(question)
    try:
        if asks(question, "profile") and len(question.split()) <= 12:
            return profile(given.tables)
        found = resolve(first, given.tables) if len(first) > 10 else []
        found = [one for one in found if one.explained]
        made = _best(found, first, given)
        if second and made.sentence:
            made = made.model_copy(update={"second": _second(second, made, found[0], given)})
    except RequestFailed as error:
        return ResearchFinding(doubts=(f"The tables could not be queried: {error}",))
    return made


def _best(found: Sequence[Ask], question: str, given: AskedFiles) -> ResearchFinding:
    """The answer of the table that knows most of the question."""
    if not found or found[0].unknown:
        lacking = " with ".join(found[0].unknown) if found else ""
        return ResearchFinding(not_found=(lacking,) if lacking else ())
    best = found[0]
    if best.missing and not best.is_understood:
        return ResearchFinding(not_found=tuple(best.missing))
    made = compute(best, question, given.reading)
    differing = tuple(_others(made, found, question, given.reading))
    changes = {"doubts": (*made.doubts, *differing), "conflicts": differing}
    if best.missing:
        kind = "part" if made.kind == "answer" else "nothing"
        changes |= {"kind": kind, "not_found": tuple(best.missing)}
    elif made.kind == "answer" and (best.is_guessed or any(map(given.library.knows, best.unused))):
        # What grows is a shop's revenue, if that is its only money.
        is_growth = best.intent is not None and best.intent.name == "growth"
        figures = [one for one in best.view.fields if one.is_figure]
        money = [one for one in figures if one.is_money]
        is_only = len(money if is_growth and money else figures) == 1 and not best.unused
        guess = made.sentence if is_only else f"A guess: {made.sentence}"
        changes |= {"kind": "guess", "sentence": guess}
    return made.model_copy(update=changes)


def _second(
    question: str, first: ResearchFinding, asked: Ask, given: AskedFiles
) -> ResearchFinding:
    """What they answer to a second question about the same rows."""
    found = [one for one in resolve(question, given.tables) if one.view is asked.view]
    if not found or found[0].unknown or found[0].missing:
        return NOTHING
    if found[0].unused and not asks(question, "where"):
        return NOTHING
    ask = found[0]
    if not ask.named:
        ask.named += asked.named
        if asked.name and len(first.subjects) == 1 and asked.name.role in ("group", "key"):
            ask.named.append(has_value(asked.name, list(first.subjects)))
        ask.joins += [one for one in asked.joins if one not in ask.joins]
    if asks(question, "share") and ask.measure is None and not ask.is_of_rows:
        ask.measure, ask.function = asked.measure, asked.function
    ask.when = ask.when or asked.when
    ask.intent = intent_of(question, ask)
    if not fits(ask, question, words_of(question)):
        return NOTHING
    return compute(ask, question, given.reading)


def of_texts(question: str, given: AskedFiles, subjects: Sequence[str] = ()) -> ResearchFinding:
    """What the texts answer; `subjects` are what the tables single out."""
    question = plain(question)
    if asks_why(question):
        return given.library.fact(question, about=subjects, why=True, columns=given.titles)
    found = given.library.compare(question) if asks(question, "compares") else NOTHING
    if found.sentence or asks(question, "dimensional"):
        return found
    first, second = parts_of(question)
    found = given.library.fact(first, about=subjects, columns=given.titles)
    if asks(second, r"^(?:\w+ )?(?:how|what|which|who|whom|whose|when|where)"):
        more = given.library.fact(second, columns=given.titles)
        more = more if more.sentence else given.library.fact(second, after=first)
        found = found.model_copy(update={"second": more})
    return found


def _others(
    found: ResearchFinding, asked: Sequence[Ask], question: str, reading: Reading
) -> Iterator[str]:
    """Another answer of another table that is as good as the first."""
    first = asked[0]
    for other in asked[1:3] if found.sentence else ():
        names = [one.measure.name.lower() if one.measure else "" for one in (first, other)]
        same = other.explained == first.explained and len(other.joins) == len(first.joins)
        if same and names[0] == names[1] and not other.unknown and not other.missing:
            also = compute(other, question, reading)
            if also.sentence and also.value != found.value:
                yield f"{other.view.source.name} says otherwise: {also.sentence}"
