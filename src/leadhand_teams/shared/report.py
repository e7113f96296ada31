"""One report, as Markdown and as a page: the answer, tables, quotes, figures, what is missing.

Plain strings are text: whatever is in them shows as written, apart from code between backticks. The
page needs nothing else, is readable on a phone, on paper, in light and in dark, and has no links
but `http`, `https` and `mailto`.
"""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Final, cast

from pydantic import BaseModel

from leadhand import Answer
from leadhand.extension.output import code, fenced, prose
from leadhand.tools.files import cleaned
from leadhand.tools.text import counted
from leadhand_teams.shared import figures, values
from leadhand_teams.shared.figures import Drawing
from leadhand_teams.shared.statements import Statement

Say = Callable[[str], str]
"""Writes a line as Markdown in which nothing is markup."""
_MARK: Final = re.compile(r"(?P<code>`[^`\n]+`)|[!-/:-@\[-`{-~]")
_PAGE: Final = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
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

    def __len__(self) -> int:
        return len(self.rows)


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

    def __len__(self) -> int:
        return len(self.lines)


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
        return [block for block in self.blocks if block]


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
    added: Sequence[Statement] = ()
    """What a model stated and is kept; a section of its own, the last one."""
    removed: int = 0
    """Statements of a model that were left out."""

    @property
    def files(self) -> dict[str, str | bytes]:
        """It as the files of `run --out`."""
        return {"report.html": self.html(), "report.md": self.markdown()}

    def markdown(self, *, title: bool = True) -> str:
        """As Markdown; `title` is for a file of its own."""
        parts = self._parts(_md)[0 if title else 2 :]
        texts = [
            f"**{_md(one.title)}.** {_md(one.alternative)}" if isinstance(one, Drawing) else one
            for _, blocks in parts
            for one in blocks
        ]
        return "\n\n".join(filter(None, texts)) + "\n"

    def html(self) -> str:
        """As a page."""
        body = [
            f'<div class="{name}">{"".join(map(_rendered, blocks))}</div>'
            for name, blocks in self._parts(_literal)
            if blocks
        ]
        return _PAGE.format(
            title=escape(cleaned(self.title)),
            style=_STYLE + figures.STYLE,
            body="\n".join(body),
        )

    def _parts(self, say: Say) -> list[tuple[str, Sequence[str | Drawing]]]:
        """Its parts in order, each with the class that it has in the page."""
        missing = ["## Missing", _list(self.missing, say)] if self.missing else []
        sections: list[str | Drawing] = []
        added = Items([f"{one.text} [{one.ref}]" for one in self.added])
        for section in (*self.sections, Section("What a model added", [added])):
            shown = [_block(block, say) for block in section.shown]
            sections += [f"## {say(section.title)}"] if shown and section.title else []
            sections += shown
        footer = [*self.footer]
        if self.removed:
            count = counted(self.removed, "statement")
            why = "the citation does not hold, or the team does not allow it"
            footer.append(f"{count} of a model left out: {why}.")
        answer: list[tuple[str, Sequence[str | Drawing]]] = [
            ("lead", [*map(say, self.lead)]),
            ("sections", sections),
        ]
        answer.insert(0 if self.missing_first else 2, ("missing", missing))
        return [
            ("title", [f"# {say(self.title)}"] if self.title else []),
            ("about", [say(self.about)] if self.about else []),
            *answer,
            ("footer", ["---", *map(say, footer)] if footer else []),
        ]


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
    lines, unsafe = io.StringIO(), tuple("=+-@\t\r")
    csv.writer(lines).writerows(
        [f"'{one}" if isinstance(one, str) and one.startswith(unsafe) else one for one in row]
        for row in (columns, *rows)
    )
    return lines.getvalue()


def _block(block: Block, say: Say) -> str | Drawing:
    match block:
        case str():
            return "\n\n".join(say(part) for part in block.split("\n\n") if part.strip())
        case Markdown():
            return _harmless(block.text)
        case TableBlock():
            return _table(block, say)
        case QuoteBlock():
            lines = cleaned(block.text).strip("\n").split("\n")
            quoted = "\n".join(f"> {say(line)}".rstrip() for line in lines)
            about = f"{say(block.about)}\n\n" if block.about else ""
            return f"{about}{quoted}\n>\n> {code(' '.join(cleaned(block.ref).split()))}"
        case Items():
            return _list(block.lines, say, numbered=block.numbered)
        case CodeBlock():
            return fenced(cleaned(block.text), block.language)
        case Drawing():
            return block


def _table(table: TableBlock, say: Say) -> str:
    def line(cells: Sequence[str]) -> str:
        # `50.8 %` at the start of a cell is no list.
        shown = [cell if values.number(cell) is not None else say(cell) for cell in cells]
        return f"| {' | '.join(' '.join(cell.split()) for cell in shown)} |"

    rule = ["--:" if is_figure else "---" for is_figure in _figures(table)]
    lines = [line(table.columns), f"| {' | '.join(rule)} |"]
    lines += map(line, table.rows[: table.max_rows])
    left = len(table.rows) - table.max_rows
    more = f"{left:,} more rows are not shown." if left > 0 else ""
    return "\n\n".join(filter(None, [say(table.caption), "\n".join(lines), more]))


def _figures(table: TableBlock) -> list[bool]:
    """Of each column: whether its cells are figures."""
    found: list[bool] = []
    for n in range(len(table.columns)):
        cells = [row[n] for row in table.rows if row[n].strip() not in ("", "-", "–", "—")]
        found.append(bool(cells) and all(values.number(cell) is not None for cell in cells))
    return found


def _list(lines: Iterable[str], say: Say, *, numbered: bool = False) -> str:
    return "\n".join(
        f"{f'{n}.' if numbered else '-'} {say(line)}" for n, line in enumerate(lines, 1)
    )


def _md(text: str) -> str:
    """Markdown of `text` for GitHub and its like, which also make links of what is escaped."""
    return prose(" ".join(cleaned(text).split()))


def _literal(text: str) -> str:
    """Markdown of `text` for the page: every mark is escaped, but for code between backticks."""
    line = " ".join(cleaned(text).split())
    return _MARK.sub(lambda found: found[0] if found["code"] else f"\\{found[0]}", line)


def _harmless(text: str) -> str:
    """Markdown without HTML and pictures, and without addresses that run something."""
    text = cleaned(text).replace("![", "!\\[").replace("<", "\\<")
    return re.sub(r"\]\(\s*(?!https?:|mailto:|#)[^)]*\)", "]", text, flags=re.IGNORECASE)


def _rendered(block: str | Drawing) -> str:
    if isinstance(block, Drawing):
        return f"<figure>{block.svg()}</figure>"
    table = '<div class="table"><table>'
    return _page()(block).replace("<table>", table).replace("</table>", "</table></div>")


@cache
def _page() -> Callable[[str], str]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_allowed
    return parser.render


def _is_allowed(url: str) -> bool:
    return re.match(r"(https?|mailto):", url.strip(), re.IGNORECASE) is not None
