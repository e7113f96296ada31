"""The curriculum as a report, a picture of its graph and a calendar: what is wrong comes first."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from leadhand import Answer
from leadhand.tools.text import counted
from leadhand_teams.curriculum.output import Curriculum, Lesson
from leadhand_teams.shared.calendar import Event, calendar
from leadhand_teams.shared.figures import Drawing, graph
from leadhand_teams.shared.report import Items, Report, Section, TableBlock
from leadhand_teams.shared.values import date_text

_MOST_DRAWN: Final = 40
_SCHOOL_WEEK: Final = dt.timedelta(days=4)


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown, the graph, and a calendar if there is a date."""
    found = Curriculum.model_validate(answer.output)
    written = report(answer.request, found, [one.about for one in answer.conflicts]).files
    for drawn in _graph(found):
        written["graph.svg"] = drawn.file
    events = [
        Event(f"{one.number}. {one.title}", day, day + _SCHOOL_WEEK, "\n".join(one.objectives))
        for one in found.lessons if (day := one.starts)
    ]  # fmt: skip
    made = calendar(events, name=answer.request, at=dt.datetime.now(dt.UTC))
    return written | ({"curriculum.ics": made} if events else {})


def report(request: str, found: Curriculum, conflicts: Sequence[str]) -> Report:
    """What is handed on."""
    titles = {one.id: one.title for one in found.concepts}
    missing = [one for one in found.problems if one.startswith("No ")]
    problems = [*conflicts, *(one for one in found.problems if one not in missing)]
    return Report(
        title="Curriculum", about=request, lead=_lead(found, problems),
        sections=[
            Section("Problems", [Items(problems)]),
            Section("Units", [_units(found)]),
            Section("What requires what", _graph(found)),
            Section("Order", [_order(found)]),
            *(_lesson(one, titles) for one in found.lessons),
        ],
        added=found.statements, removed=found.removed_statements,
        missing=[*missing, *(f"Not read: {why}" for why in found.unread)],
        footer=[
            "Order, units and sums were computed by code. A guessed prerequisite is a guess from "
            "the words of the topics; check it before you teach by it.",
        ],
    )  # fmt: skip


def _lead(found: Curriculum, problems: Sequence[str]) -> list[str]:
    count = counted(len(found.concepts), "topic")
    if not found.order:
        return [f"{count} found; they could not be ordered."]
    hours = sum(one.hours for one in found.lessons)
    unknown = sum(one.hours is None for one in found.concepts)
    guesses = sum(one.basis == "guessed" for one in found.prerequisites)
    given = counted(len(found.prerequisites) - guesses, "given prerequisite")
    assumed = f", those of {unknown} assumed" if unknown else ""
    lead = (
        f"{count} in {counted(len(found.lessons), 'unit')}, {hours:,.4g} hours in all{assumed}, in "
        f"an order that keeps {given} and {guesses} guessed."
    )
    if problems:
        return [lead, f"{counted(len(problems), 'problem')}; first: {problems[0]}"]
    return [lead, "No problem was found." if found.is_reviewed else "It was not reviewed."]


def _units(found: Curriculum) -> TableBlock:
    rows = [
        [
            str(one.number), date_text(one.starts) if one.starts else "", one.title,
            f"{one.hours:,.4g}", str(len(one.objectives)), str(len(one.exercises)),
        ]
        for one in found.lessons
    ]  # fmt: skip
    return TableBlock(["Unit", "Begins", "Topics", "Hours", "Objectives", "Exercises"], rows)


def _order(found: Curriculum) -> TableBlock:
    by_id, needs = {one.id: one for one in found.concepts}, dict[str, list[str]]()
    for one in found.prerequisites:
        note = f" (guessed, {one.score:.2f})" if one.basis == "guessed" else ""
        needs.setdefault(one.after, []).append(f"{by_id[one.before].title}{note}")
    rows = [
        [
            str(n), one.title, "" if one.hours is None else f"{one.hours:,.3g}",
            ", ".join(needs.get(name, ())), one.ref,
        ]
        for n, name in enumerate(found.order, start=1) if (one := by_id.get(name))
    ]  # fmt: skip
    return TableBlock(["", "Topic", "Hours", "Requires", "Source"], rows, max_rows=500)


def _lesson(lesson: Lesson, titles: Mapping[str, str]) -> Section:
    rows = [
        [
            titles.get(one.concept, one.concept), one.question,
            one.solution or "not in the sources", one.ref + (" (a model)" if one.by_model else ""),
        ]
        for one in lesson.exercises
    ]  # fmt: skip
    table = TableBlock(["Topic", "Exercise", "Solution", "Source"], rows)
    return Section(f"Unit {lesson.number}: {lesson.title}", [Items(lesson.objectives), table])


def _graph(found: Curriculum) -> list[Drawing]:
    """The topics that have most to do with others; guesses stand out."""
    edges = {(one.before, one.after): one.basis for one in found.prerequisites}
    seen = Counter(name for edge in edges for name in edge)
    drawn = {name for name, _ in seen.most_common(_MOST_DRAWN)}
    nodes = {one.id: one.title for one in found.concepts if one.id in drawn}
    shown = [edge for edge in edges if set(edge) <= drawn]
    guessed = frozenset(edge for edge in shown if edges[edge] == "guessed")
    words = "; ".join(f"{nodes[one]} before {nodes[other]}" for one, other in shown[:_MOST_DRAWN])
    title = "What comes before what (dashed: a guess)"
    made = graph(title, nodes, shown, alternative=f"{words}.", marked=guessed)
    return [made] if drawn else []
