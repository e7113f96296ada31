"""What the tables contain, shown only if it is asked for. Pure."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from leadhand.tools.text import counted
from leadhand_teams.research.output import FigureTable, ResearchFinding
from leadhand_teams.research.schema import Field, View
from leadhand_teams.shared.values import date_text, number_text

_ASKED: Final = re.compile(
    r"\b(?:profile|overview|describe|what (?:is|are|do|does) (?:in )?(?:the|these|this|my) "
    r"(?:tables?|files?|data|spreadsheets?)\b.*|which (?:columns|tables)|columns)\b",
    re.IGNORECASE,
)


def is_asked(question: str) -> bool:
    """Whether a question asks what the tables contain."""
    found = _ASKED.search(question)
    return found is not None and len(question.split()) <= 12


def of(tables: Sequence[View], unread: tuple[str, ...]) -> ResearchFinding:
    """A line for each column."""
    rows = [
        (view.source.name, one.name, one.column.kind, _range(one))
        for view in tables
        for one in view.fields
    ]
    sizes = [f"{view.source.name} ({counted(len(view.source), 'row')})" for view in tables]
    return ResearchFinding(
        sentence=f"{counted(len(tables), 'table')}: {'; '.join(sizes)}." if tables else "",
        value=float(len(tables)),
        figures=FigureTable(columns=("table", "column", "kind", "values"), rows=tuple(rows)),
        notes=tuple(f"{view.source.name}: {note}" for view in tables for note in view.notes),
        unread=unread,
    )


def _range(one: Field) -> str:
    numbers = [value for value in one.column.numbers if value is not None]
    dates: list[dt.date] = [value for value in one.column.dates if value is not None]
    empty = sum(cell is None for cell in one.column.cells)
    left = f", {empty:,} empty" if empty else ""
    if numbers:
        return f"{number_text(min(numbers))} to {number_text(max(numbers))}{left}"
    if dates:
        return f"{date_text(min(dates))} to {date_text(max(dates))}{left}"
    counts = Counter(cell for cell in one.column.texts if cell)
    most = ", ".join(text for text, _ in counts.most_common(3))
    return f"{len(counts):,} different: {most}{', …' if len(counts) > 3 else ''}{left}"
