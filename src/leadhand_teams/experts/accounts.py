"""Answers from rows of figures: those of a period, and how they changed. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from leadhand_teams.experts.finding import meant
from leadhand_teams.experts.sentences import KnownLines, QuotableLine
from leadhand_teams.experts.tools import change
from leadhand_teams.experts.words import pattern, same, stems_of
from leadhand_teams.shared import values

_MOST_ROWS: Final = 6
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def figure(question: str, known: KnownLines) -> tuple[str, list[QuotableLine]] | None:
    """The answer in the rows that the question is about, with them; `None` if it asks for more."""
    changes = pattern("change").search(question) is not None
    said = [one for one in meant(question) if not pattern("change").search(one)]
    words = {word for one in said if not one.isdigit() for word in same(one).split()}
    words -= stems_of("generic")
    rows = [(one, {*same(one.title).split()}) for one in known.sentences if one.cells]
    named = [(one, title) for one, title in rows if title and title <= {*same(question).split()}]
    if not named or words - {word for _, title in named for word in title}:
        return None
    years = _YEAR.findall(question)
    lines = [one for one, _ in named[:_MOST_ROWS]]
    return "; ".join(_row(one, years, changes) for one in lines), lines


def _row(row: QuotableLine, years: Sequence[str], changes: bool) -> str:
    """A row in words; of rows without years in their columns nothing is computed."""
    by_year = {year[0]: name for name in row.cells if (year := _YEAR.search(name))}
    if changes and len(by_year) > 1:
        ordered = sorted(by_year)
        asked = [year for year in ordered if year in years]
        after = asked[-1] if asked and asked[-1] != ordered[0] else ordered[-1]
        before = asked[0] if len(asked) > 1 else ordered[ordered.index(after) - 1]
        old, new = row.cells[by_year[before]], row.cells[by_year[after]]
        moved = change(old, new)
        percent = "" if moved["percent"] is None else f", {moved['percent']:+.1f} %"
        by = f"{moved['difference'] or 0.0:+,.10g}{percent}"
        before, after = _shown(by_year[before], old), _shown(by_year[after], new)
        return f"{row.title}: {after} after {before} ({by})"
    if len(by_year) < len(row.cells):
        return f"“{row.quote}”"
    asked = [by_year[year] for year in years if year in by_year] or [*row.cells]
    return f"{row.title}: " + "; ".join(_shown(name, row.cells[name]) for name in asked)


def _shown(name: str, value: float) -> str:
    return f"{values.number_text(value)} in {name}"
