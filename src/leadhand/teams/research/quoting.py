"""Text of strangers as Markdown that says what they wrote and does nothing (rows F16, F32, F34).

No heading, link, picture, HTML or table of theirs comes to life, and no reference definition, which
would reach all of a report. Emphasis and code that end where they began stay as they are.
"""

import re
from collections.abc import Sequence
from typing import Final

from leadhand.tools.files.legible import cleaned
from leadhand.untrusted.markdown import escaped

_KEPT: Final = re.compile(r"((?<!`)`[^`\n]+`(?!`)|(\*{1,2})(?=[^\s*])[^*`\n]+(?<=[^\s*])\2(?!\*))")
_RULE: Final = re.compile(r"[-=_*+|: ]+")
_BULLET: Final = re.compile(r"( {0,2}) *([-*+]) +(?=\S)")


def inline(text: str, *, max_chars: int = 200) -> str:
    """`text` on one line, to stand in a sentence, a heading or a cell of a table."""
    line = " ".join(cleaned(text).split())
    if len(line) > max_chars:
        line = line[: max_chars - 1] + "…"
    return _line(line).replace("|", "\\|")


def cited(place: str) -> str:
    """`place` as it is cited, in brackets; nothing that is quoted can make a link of it."""
    return f"[{inline(place)}]"


def block(text: str) -> str:
    """`text` as a quotation, line by line."""
    lines = cleaned(text).expandtabs(4).strip("\n").split("\n")
    return "\n".join(f"> {_quoted(line)}".rstrip() for line in lines)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A Markdown table that can be read as it stands; columns from `left` on are figures.

    Cells are Markdown already.
    """
    widths = [max(3, *(len(row[n]) for row in (header, *rows))) for n in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if n < left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if n < left else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
    return "\n".join([line(header), line(rule), *map(line, rows)])


def _quoted(line: str) -> str:
    bare = line.strip()
    if bullet := _BULLET.match(line):
        return f"{bullet[1]}{bullet[2]} {_line(line[bullet.end() :].rstrip())}"
    return _line(bare)


def _line(text: str) -> str:
    if text and _RULE.fullmatch(text):
        shown = text.replace("|", "\\|")
        return shown if shown.startswith("\\") else f"\\{shown}"
    parts = _KEPT.split(text)
    # Between two kept spans stand the text and the marker of the second, which is part of it.
    shown = "".join(
        part if n % 3 == 1 and _is_harmless(part) else escaped(part)
        for n, part in enumerate(parts)
        if n % 3 != 2
    )
    return f"\\{shown}" if shown.startswith("#") else shown


def _is_harmless(span: str) -> bool:
    """Whether a span may stand: code acts on nothing, and emphasis on nothing but its words."""
    return span.startswith("`") or escaped(words := span.strip("*")) == words
