"""One report, as Markdown and as a page: the answer, tables, quotes, figures, what is missing.

Plain strings are text: whatever is in them shows as written, apart from code between backticks. The
page needs nothing else, is readable on a phone, on paper, in light and in dark, and has no links
but `http`, `https` and `mailto`.
"""

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final, cast

from pydantic import BaseModel

from leadhand import Answer
from leadhand.extension.output import code, fenced, prose
from leadhand.tools.files import cleaned
from leadhand_teams.shared import figures, values
from leadhand_teams.shared.figures import Drawing

_CODE: Final = re.compile(r"`([^`\n]+)`")
_PAGE: Final = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title><style>{style}</style></head><body><main>
{body}
</main></body></html>
"""
_STYLE: Final = Path(__file__).with_name("report.css").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Markdown:
    """Text with markup, of a model for example; HTML and pictures in it are not rendered."""

    text: str


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table; columns of figures are aligned to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    max_rows: int = 200
    """Rows that are shown; a line says how many more there are."""


@dataclass(frozen=True, slots=True)
class QuoteBlock:
    """The words of a source."""

    text: str
    ref: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    lines: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code or a query."""

    text: str
    language: str = ""


Block = str | Markdown | TableBlock | QuoteBlock | Items | CodeBlock | Drawing


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it; the report leaves out tables and lists without rows."""

    title: str
    blocks: Sequence[Block]

    @property
    def shown(self) -> list[Block]:
        """The blocks that have something to show."""
        return [block for block in self.blocks if _has_content(block)]


@dataclass(frozen=True, slots=True)
class Report:
    """What a team hands on."""

    title: str
    lead: Sequence[str]
    """The answer or decision, in one or two sentences."""
    sections: Sequence[Section] = ()
    missing: Sequence[str] = ()
    """What could not be found or read."""
    missing_first: bool = False
    """Whether that changes the answer: then it comes before it."""
    about: str = ""
    """A line below the title: what was asked, when, over which files."""
    footer: Sequence[str] = ()
    """How it was made, and what a professional must check."""
    language: str = "en"

    @property
    def _shown(self) -> list[Section]:
        return [section for section in self.sections if section.shown]

    @property
    def files(self) -> dict[str, str | bytes]:
        """It as the files of `run --out`."""
        return {"report.html": self.html(), "report.md": self.markdown()}

    def markdown(self, *, title: bool = True) -> str:
        """As Markdown; `title` is for a file of its own."""
        missing = ["## Missing", _list_md(self.missing)] if self.missing else []
        parts = [f"# {_md(self.title)}"] if title and self.title else []
        parts += [_md(self.about)] if title and self.about else []
        parts += missing if self.missing_first else []
        parts += [_md(line) for line in self.lead]
        for section in self._shown:
            parts += [f"## {_md(section.title)}"] if section.title else []
            parts += [_block_md(block) for block in section.shown]
        parts += [] if self.missing_first else missing
        parts += ["---", *(_md(line) for line in self.footer)] if self.footer else []
        return "\n\n".join(filter(None, parts)) + "\n"

    def html(self) -> str:
        """As a page."""
        missing = ""
        if self.missing:
            listed = "".join(f"<li>{_html(line)}</li>" for line in self.missing)
            missing = f'<section class="missing"><h2>Missing</h2><ul>{listed}</ul></section>'
        parts = [f"<h1>{_html(self.title)}</h1>"]
        parts += [f'<p class="about">{_html(self.about)}</p>'] if self.about else []
        parts += [missing] if self.missing_first else []
        parts += [f'<p class="lead">{_html(line)}</p>' for line in self.lead]
        for section in self._shown:
            parts += [f"<h2>{_html(section.title)}</h2>"] if section.title else []
            parts += [_block_html(block) for block in section.shown]
        parts += [] if self.missing_first else [missing]
        if self.footer:
            lines = "".join(f"<p>{_html(line)}</p>" for line in self.footer)
            parts.append(f"<footer>{lines}</footer>")
        return _PAGE.format(
            language=escape(self.language),
            title=escape(cleaned(self.title)),
            style=_STYLE + figures.STYLE,
            body="\n".join(filter(None, parts)),
        )


def saved(answer: Answer) -> str:
    """What running in parallel saved, in a sentence."""
    took = answer.metrics
    gain = round(took.sequential_s - took.makespan_s, 1)
    told = f"saved {gain:.1f} s" if gain > 0 else "saved no time"
    work = f"Work of {took.sequential_s:.1f} s was done in {took.makespan_s:.1f} s"
    return f"{work}: running tasks side by side {told}."


def table_of(
    rows: Iterable[BaseModel], *names: str, percent: Collection[str] = (), caption: str = ""
) -> TableBlock:
    """A table of the fields `names`; those of `percent` are fractions of 1."""
    cells = [
        [_cell_of(getattr(row, name), percent=name in percent) for name in names] for row in rows
    ]
    return TableBlock([name.replace("_", " ") for name in names], cells, caption)


def _cell_of(value: object, *, percent: bool) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{100 * value:.1f} %" if percent else f"{value:,.2f}"
        case list() | tuple():
            return ", ".join(map(str, cast("Iterable[object]", value)))
        case _:
            return str(value)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV, in which a spreadsheet takes no text for a formula."""
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(columns)
    for row in rows:
        writer.writerow(
            f"'{cell}" if isinstance(cell, str) and cell[:1] in tuple("=+-@\t\r") else cell
            for cell in row
        )
    return lines.getvalue()


def _has_content(block: Block) -> bool:
    match block:
        case TableBlock():
            return bool(block.rows)
        case Items():
            return bool(block.lines)
        case str():
            return bool(block)
        case _:
            return True


def _block_md(block: Block) -> str:
    match block:
        case str():
            return "\n\n".join(_md(part) for part in _paragraphs(block))
        case Markdown():
            return _harmless(block.text)
        case TableBlock():
            return _table_md(block)
        case QuoteBlock():
            lines = cleaned(block.text).strip("\n").split("\n")
            quoted = "\n".join(f"> {_md(line)}".rstrip() for line in lines)
            about = f"{_md(block.about)}\n\n" if block.about else ""
            return f"{about}{quoted}\n>\n> {code(' '.join(cleaned(block.ref).split()))}"
        case Items():
            return _list_md(block.lines, numbered=block.numbered)
        case CodeBlock():
            return fenced(cleaned(block.text), block.language)
        case Drawing():
            return f"**{_md(block.title)}.** {_md(block.alternative)}"


def _block_html(block: Block) -> str:
    match block:
        case str():
            return "".join(f"<p>{_html(part)}</p>" for part in _paragraphs(block))
        case Markdown():
            return _rendered(block.text)
        case TableBlock():
            return _table_html(block)
        case QuoteBlock():
            about = f"<p>{_html(block.about)}</p>" if block.about else ""
            words = f"<p>{_html(block.text, line=False)}</p>"
            ref = f'<p class="ref">{_html(block.ref)}</p>'
            return f"{about}<blockquote>{words}{ref}</blockquote>"
        case Items():
            name = "ol" if block.numbered else "ul"
            listed = "".join(f"<li>{_html(line)}</li>" for line in block.lines)
            return f"<{name}>{listed}</{name}>"
        case CodeBlock():
            return f"<pre><code>{escape(cleaned(block.text))}</code></pre>"
        case Drawing():
            return f"<figure>{block.svg}</figure>"


def _table_md(table: TableBlock) -> str:
    rows = list(table.rows[: table.max_rows])
    figures = _figures(table)
    rule = ["--:" if is_figure else "---" for is_figure in figures]
    lines = [_row_md(table.columns), f"| {' | '.join(rule)} |", *map(_row_md, rows)]
    return "\n\n".join(filter(None, [_md(table.caption), "\n".join(lines), _more(table)]))


def _row_md(cells: Sequence[str]) -> str:
    # `50.8 %` at the start of a cell is no list.
    shown = [cell if values.number(cell) is not None else _md(cell) for cell in cells]
    return f"| {' | '.join(' '.join(cell.split()) for cell in shown)} |"


def _table_html(table: TableBlock) -> str:
    marks = [' class="n"' if is_figure else "" for is_figure in _figures(table)]

    def row(cells: Sequence[str], name: str) -> str:
        shown = (
            f"<{name}{mark}>{_html(cell)}</{name}>" for cell, mark in zip(cells, marks, strict=True)
        )
        return f"<tr>{''.join(shown)}</tr>"

    caption = f"<caption>{_html(table.caption)}</caption>" if table.caption else ""
    body = "".join(row(cells, "td") for cells in table.rows[: table.max_rows])
    more = f"<p>{_more(table)}</p>" if _more(table) else ""
    head = f"<thead>{row(table.columns, 'th')}</thead>"
    return f'<div class="table"><table>{caption}{head}<tbody>{body}</tbody></table></div>{more}'


def _figures(table: TableBlock) -> list[bool]:
    """Of each column: whether its cells are figures."""
    found: list[bool] = []
    for n in range(len(table.columns)):
        cells = [row[n] for row in table.rows if row[n].strip() not in ("", "-", "–", "—")]
        found.append(bool(cells) and all(values.number(cell) is not None for cell in cells))
    return found


def _more(table: TableBlock) -> str:
    left = len(table.rows) - table.max_rows
    return f"{left:,} more rows are not shown." if left > 0 else ""


def _list_md(lines: Iterable[str], *, numbered: bool = False) -> str:
    return "\n".join(
        f"{f'{n}.' if numbered else '-'} {_md(line)}" for n, line in enumerate(lines, 1)
    )


def _paragraphs(text: str) -> list[str]:
    return [part for part in cleaned(text).split("\n\n") if part.strip()]


def _md(text: str) -> str:
    return prose(" ".join(cleaned(text).split()))


def _html(text: str, *, line: bool = True) -> str:
    text = cleaned(text)
    return _CODE.sub(r"<code>\1</code>", escape(" ".join(text.split()) if line else text.strip()))


def _harmless(text: str) -> str:
    """Markdown without HTML and pictures, and without addresses that run something."""
    text = cleaned(text).replace("![", "!\\[").replace("<", "\\<")
    return re.sub(r"\]\(\s*(?!https?:|mailto:|#)[^)]*\)", "]", text, flags=re.IGNORECASE)


def _rendered(text: str) -> str:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_allowed
    shown: str = parser.render(cleaned(text))
    return shown.replace("<table>", '<div class="table"><table>').replace(
        "</table>", "</table></div>"
    )


def _is_allowed(url: str) -> bool:
    return re.match(r"(https?|mailto):", url.strip(), re.IGNORECASE) is not None
