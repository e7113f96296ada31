"""The answer as Markdown and as a page: the answer, its figures, quotes, query and doubts."""

from collections.abc import Mapping, Sequence
from typing import Final

from leadhand import Answer
from leadhand_teams.research.output import ResearchAnswer
from leadhand_teams.shared import values
from leadhand_teams.shared.figures import Drawing, bars
from leadhand_teams.shared.report import (
    Block,
    CodeBlock,
    Items,
    QuoteBlock,
    Report,
    Section,
    TableBlock,
    saved,
)

_FOOTER: Final = "Figures are computed by code; quotations are the words of the files."


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The files of a finished run."""
    found = ResearchAnswer.model_validate(answer.output)
    footer = [_FOOTER, *([saved(answer)] if answer.tasks[1:] else [])]
    return report(answer.request, found, footer).files


def report(question: str, made: ResearchAnswer, footer: Sequence[str] = ()) -> Report:
    """The report of an answer; one without a footer is no file and stands beside the run's gaps."""
    figures: list[Block] = []
    if made.figures is not None:
        figures = [TableBlock(made.figures.columns, made.figures.rows), *_bars(made)]
    sections: dict[str, Sequence[Block]] = {
        "What is uncertain": [Items(made.doubts)],
        "Figures": figures,
        "From the files": [QuoteBlock(one.quote, one.ref) for one in made.citations if one.quote],
        "Also in the files": [QuoteBlock(one.quote, one.ref) for one in (*made.also, *made.added)],
        "How it was computed": [CodeBlock(made.sql, "sql")] if made.sql else [],
        "How the tables were read": [Items(made.notes)],
    }
    return Report(
        title=question,
        lead=[made.answer],
        sections=[Section(title, blocks) for title, blocks in sections.items()],
        missing=made.unread if footer else (),
        missing_first=bool(made.unread) and not made.answered,
        footer=footer,
    )


def _bars(made: ResearchAnswer) -> list[Drawing]:
    figures = made.figures
    if figures is None or len(figures.columns) != 2 or not 3 <= len(figures.rows) <= 40:
        return []
    rows = [(row[0], value) for row in figures.rows if (value := values.number(row[1])) is not None]
    if len(rows) != len(figures.rows):
        return []
    title = f"{figures.columns[1]} by {figures.columns[0]}"
    listed = ", ".join(f"{name} {values.number_text(value)}" for name, value in rows[:12])
    return [bars(title, rows, alternative=listed, unit=made.unit)]
