"""What the model of the comments lens reads: what is written about changed code and stays as it is.

Docstrings of the functions and classes that the change touches, and comments above it that ask to
keep code in step with something else.
"""

import ast
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.diff_rows import numbered
from leadhand_teams.review.syntax import Function
from leadhand_teams.review.syntax.comments import split, syntax_of

MAX_CHARS = 8_000
"""The most text for one part of the change."""
_REACH = 60
"""A comment is looked for at most this many lines above changed code."""
_MAX_LINES = 30
"""The most lines of one docstring."""
_ASKS = re.compile(
    r"in[ -]sync|\bkeep\b.{0,30}\b(?:consistent|identical|in step|the same)\b"
    r"|\b(?:must|needs? to|has to|have to)\b.{0,20}\b(?:match|mirror|agree)\b"
    r"|\b(?:also|remember to|forget to|make sure to) (?:update|change|edit|adapt)|LINT\.ThenChange",
    re.IGNORECASE,
)


def written_beside(change: Change, paths: AbstractSet[str]) -> str:
    """The docstrings and comments beside what the change does to `paths`, with their lines."""
    shown: list[str] = []
    room = MAX_CHARS
    for path in sorted(paths & change.by_path.keys()):
        file = change.by_path[path]
        for first, last in sorted({*_docstrings(file), *_asking(file)}):
            if not file.touches(first, last):
                text = f"{path}:\n{numbered(file.head_lines[first - 1 : last], first)}"
                room -= len(text) + 1
                shown += [text] if room > 0 else []
    return "\n".join([*shown, "(more was left out)"] if room < 0 else shown)


def _docstrings(file: ChangedFile) -> Iterator[tuple[int, int]]:
    """The first and last lines of the docstrings of what the change touches."""
    for node in ast.walk(file.head_tree) if file.head_tree else ():
        if isinstance(node, Function | ast.ClassDef) and ast.get_docstring(node, clean=False):
            first, last = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
            if file.touches(node.lineno, node.end_lineno or node.lineno):
                yield first, min(last, first + _MAX_LINES)


def _asking(file: ChangedFile) -> Iterator[tuple[int, int]]:
    """The lines of comments above a hunk or within it that ask for a change elsewhere."""
    syntax = syntax_of(file.language)
    for hunk in file.hunks if syntax else ():
        last = min(hunk.new_end, len(file.head_lines))
        for number in range(max(1, hunk.new_line - _REACH), last + 1):
            text = file.head_lines[number - 1]
            if syntax and _ASKS.search(text) and _ASKS.search(split(text, syntax)[1]):
                yield number, number
