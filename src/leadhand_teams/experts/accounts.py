"""Answers from rows of tables: a figure of a period, its change. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from leadhand_teams.experts.sentences import Library, QuotableLine
from leadhand_teams.experts.tools import change
from leadhand_teams.experts.words import pattern, same
from leadhand_teams.shared import values

_MOST_ROWS: Final = 6
_Cells = dict[str, float]


def figure(question: str, known: Library) -> tuple[str, list[QuotableLine]] | None:
    """The answer in the rows that the question names, with them; `None` if it names none."""
    years = re.findall(r"\b(?:19|20)\d\d\b", question)
    words = {*same(question).split()}
    titles = [({*same(_title(one)).split()}, one) for one in known.sentences if one.row]
    named = [one for title, one in titles if title and title <= words]
    changes = pattern("change").search(question) is not None
    said = [(text, one) for one in named[:_MOST_ROWS] if (text := _of_row(one, years, changes))]
    return ("; ".join(text for text, _ in said), [one for _, one in said]) if said else None


def _of_row(row: QuotableLine, years: Sequence[str], changes: bool) -> str:
    cells = _cells(row)
    asked = [name for year in years for name in cells if year in name]
    ordered = sorted(cells)  # in the order of time
    if changes and len(ordered) > 1:
        after = asked[-1] if asked and asked[-1] != ordered[0] else ordered[-1]
        before = asked[0] if len(asked) > 1 else ordered[ordered.index(after) - 1]
        moved = change(cells[before], cells[after])
        percent = "" if moved["percent"] is None else f", {moved['percent']:+.1f} %"
        by = f"{moved['difference'] or 0.0:+,.10g}{percent}"
        return f"{_title(row)} {_shown(cells, after)} after {_shown(cells, before)} ({by})"
    shown = "; ".join(_shown(cells, name) for name in asked or cells)
    return f"{_title(row)} {shown}" if shown else ""


def _cells(sentence: QuotableLine) -> _Cells:
    """The figures of a row by their columns."""
    table, row = sentence.row or (None, 0)
    columns = table.columns if table else ()
    return {one.name: value for one in columns if (value := one.numbers[row]) is not None}


def _title(sentence: QuotableLine) -> str:
    """The first cell of a row that is text."""
    table, row = sentence.row or (None, 0)
    texts = [one.texts[row] for one in table.columns if one.kind == "text"] if table else []
    return next(filter(None, texts), "")


def _shown(cells: _Cells, name: str) -> str:
    return f"{name}: {values.number_text(cells[name])}"
