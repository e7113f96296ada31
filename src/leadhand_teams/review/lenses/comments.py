"""The comments lens: what is written about code and does not agree with it after a change.

Code finds documented parameters that the change removed, in docstrings with Sphinx or epytext
fields, Google or NumPy sections, or Markdown bullets. A model compares everything else: docstrings
of what the change touches, and comments above it that ask to keep code in step with something else.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from leadhand.extension.findings import Finding
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison.code import definitions
from leadhand_teams.review.diff_rows import fitting, numbered
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import FUNCTIONS, Function, indent, pattern_of
from leadhand_teams.review.syntax.comments import split

MAX_CHARS = 8_000
"""The most text for one part of the change."""
_REACH = 60
"""A comment is looked for at most this many lines above changed code."""
_MAX_LINES = 30
"""The most lines of one docstring."""
_ASKS = pattern_of("comments.asks")
_RETIRED = re.compile(r"deprecat|removed|no longer|ignored|unused|obsolete", re.IGNORECASE)

_NAMES = r"(?P<names>\*{0,2}\w+(?:\s?,\s?\*{0,2}\w+){0,8})"
_FIELD = pattern_of("comments.field")
_ANY_FIELD = re.compile(r"\s*(?::\w[^:]{0,80}:|@\w+)")
_SECTION = pattern_of("comments.section")
_UNDERLINE = re.compile(r"\s*-{3,}\s*$")
_ENTRY = {
    True: re.compile(rf"\s*{_NAMES}(?:\s?:(?:\s.*)?)?$"),
    False: re.compile(rf"\s*{_NAMES}\s?(?:\(.*\)\s?)?:(?:\s|$)"),
}
"""The entries of NumPy's sections, which are underlined, and of Google's."""


class _Entry(NamedTuple):
    """What a docstring says about one parameter, and the line of the file where it starts."""

    line: int
    text: str


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings for docstrings that still document parameters which the change removed."""
    for file in files:
        if file.removed and file.base_tree is not None and file.head_tree is not None:
            was, now = definitions(file.base_tree), definitions(file.head_tree)
            for name, before in was.items():
                after, twice = now.get(name), f"{name}#2" in was.keys() | now.keys()
                if "#" in name or twice:
                    continue
                if isinstance(before, FUNCTIONS) and isinstance(after, FUNCTIONS):
                    owner = now.get(name.rpartition(".")[0])
                    documented = [after, owner] if owner and after.name == "__init__" else [after]
                    yield from _gone(file, name, before, after, documented)


def _gone(
    file: ChangedFile,
    name: str,
    before: Function,
    after: Function,
    documented: Sequence[Function | ast.ClassDef],
) -> Iterator[Finding]:
    """Findings for the documented parameters that a function no longer takes."""
    was, now = _parameters(before), _parameters(after)
    gone, new = ([one for one in x if one not in y] for x, y in ((was, now), (now, was)))
    if not gone or after.args.kwarg:
        return
    found = [_documented(one, file.head_lines) for one in documented]
    entries = next(filter(None, found), found[0])
    moved = len(gone) == len(new) == 1 and was.index(gone[0]) == now.index(new[0])
    for one in gone:
        entry, word = entries.get(one), re.compile(rf"\b{re.escape(one)}\b")
        signature = range(before.lineno, max(before.lineno, before.body[0].lineno - 1) + 1)
        line = next((n for n in signature if word.search(file.removed.get(n, ""))), 0)
        hunk = file.hunk_removing(line)
        if entry and hunk is not None and not _RETIRED.search(entry.text):
            renamed = f" (now `{new[0]}`)" if moved else ""
            yield rule("comments/documented-parameter-gone").finding(
                file,
                hunk.new_line,
                message=f"`{name}` no longer takes `{one}`{renamed}, but its docstring still "
                f"documents it on line {entry.line}.",
                evidence=file.removed[line].strip(),
            )


def _parameters(function: Function) -> list[str]:
    """The names of the parameters, without `*args` and `**kwargs`."""
    found = function.args
    return [one.arg for one in (*found.posonlyargs, *found.args, *found.kwonlyargs)]


def _documented(node: Function | ast.ClassDef, lines: Sequence[str]) -> dict[str, _Entry]:
    """Parameter name (without stars) -> entry in the docstring of `node`."""
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is None:
        return {}
    text = [line.rstrip().rstrip("\"'") for line in lines[first.lineno - 1 : first.end_lineno]]
    starts: list[tuple[int, str]] = []
    numpy, depth = False, -1  # outside of a section
    for index, line in enumerate(text):
        below = text[index + 1] if index + 1 < len(text) else ""
        title = _SECTION.match(line)
        found = _FIELD.match(line)
        if found:
            starts.append((index, found["names"] or found["bullet"]))
        elif _ANY_FIELD.match(line):
            starts.append((index, ""))
        elif title and (_UNDERLINE.match(below) or title["colon"]):
            numpy = _UNDERLINE.match(below) is not None
            inner = indent(next((one for one in text[index + 1 :] if one.strip()), ""))
            depth = indent(line) if numpy else inner if inner > indent(line) else -1
        elif depth >= 0 and line.strip() and not _UNDERLINE.match(line):
            if indent(line) < depth or _UNDERLINE.match(below):
                depth = -1
            entry = _ENTRY[numpy].match(line) if indent(line) == depth else None
            if indent(line) <= depth or depth == -1:
                starts.append((index, entry["names"] if entry else ""))
    entries: dict[str, _Entry] = {}
    for (start, names), end in zip(starts, [*(n for n, _ in starts[1:]), len(text)], strict=False):
        words = " ".join(" ".join(text[start:end]).split())
        for name in names.replace("*", "").split(",") if names else ():
            entries.setdefault(name.strip(), _Entry(first.lineno + start, words))
    return entries


def written_beside(change: Change, paths: AbstractSet[str]) -> str:
    """The docstrings and comments beside what the change does to `paths`, with their lines."""
    shown = [
        f"{path}:\n{numbered(file.head_lines[first - 1 : last], first)}"
        for path, file in sorted(change.by_path.items())
        if path in paths
        for first, last in sorted({*_docstrings(file), *_asking(file)})
        if not file.touches(first, last)
    ]
    return fitting(shown, MAX_CHARS)


def _docstrings(file: ChangedFile) -> Iterator[tuple[int, int]]:
    """The first and last lines of the docstrings of what the change touches."""
    for node in ast.walk(file.head_tree) if file.head_tree else ():
        if isinstance(node, Function | ast.ClassDef) and ast.get_docstring(node, clean=False):
            first, last = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
            if file.touches(node.lineno, node.end_lineno or node.lineno):
                yield first, min(last, first + _MAX_LINES)


def _asking(file: ChangedFile) -> Iterator[tuple[int, int]]:
    """The lines of comments above a hunk or within it that ask for a change elsewhere."""
    for hunk in file.hunks:
        last = min(hunk.new_end, len(file.head_lines))
        for number in range(max(1, hunk.new_line - _REACH), last + 1):
            text = file.head_lines[number - 1]
            if _ASKS.search(text) and _ASKS.search(split(text, file.language)[1]):
                yield number, number
