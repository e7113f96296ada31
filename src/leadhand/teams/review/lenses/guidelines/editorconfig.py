"""Reads `.editorconfig` files: sections of globs with properties, as the specification says.

Keeps only properties that can be checked in text, and skips lines that do not follow the format.
"""

import functools
import re
from collections.abc import Iterator

from leadhand.teams.review.lenses.guidelines.guideline import Guideline, Kind
from leadhand.teams.review.lenses.guidelines.prose import GuidelineSource

_KINDS: dict[str, Kind] = {
    "indent_style": "indentation",
    "indent_size": "indentation",
    "max_line_length": "line-length",
    "insert_final_newline": "final-newline",
    "trim_trailing_whitespace": "trailing-whitespace",
}
_MAX_GLOB = 200
_MAX_SECTIONS = 100


def read_editorconfig(path: str, text: str, folder: str) -> Iterator[Guideline]:
    """The properties that the `.editorconfig` at `path` sets, in order; later ones win."""
    glob = ""
    sections = 0
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            glob, sections = stripped[1:-1], sections + 1
            if sections > _MAX_SECTIONS:
                return
            continue
        name, equals, value = stripped.partition("=")
        kind = _KINDS.get(name.strip().lower())
        if not equals or not glob or kind is None or stripped.startswith(("#", ";")):
            continue
        value = re.split(r"\s[#;]", value)[0].strip().lower()
        source = GuidelineSource(path, number, f"[{glob}] {name.strip()} = {value}"[:140])
        if kind == "indentation":
            value = f"{name.strip().lower()}:{value}"
        yield Guideline(kind=kind, value=value, source=source, folder=folder, glob=glob)


def effective(found: list[Guideline], path: str) -> dict[str, Guideline]:
    """Property -> its guideline for the file at `path`: the last one that matches."""
    chosen: dict[str, Guideline] = {}
    for one in sorted(found, key=lambda one: len(one.folder)):
        if path.startswith(one.folder) and _matcher(one.glob).fullmatch(path[len(one.folder) :]):
            name = one.value.split(":", 1)[0] if one.kind == "indentation" else one.kind
            chosen[name] = one
    return chosen


@functools.lru_cache(maxsize=256)
def _matcher(glob: str) -> re.Pattern[str]:
    """A regular expression for an EditorConfig glob; for an invalid glob, one that never matches.

    Merges repeated stars and limits their number, so that matching any pattern is cheap.
    """
    if len(glob) > _MAX_GLOB or glob.count("*") > 8:
        return re.compile(r"(?!)")
    anchored = "/" in glob
    body = glob.removeprefix("/")
    try:
        return re.compile(("" if anchored else r"(?:.*/)?") + "".join(_pieces(body)), re.DOTALL)
    except re.error:
        return re.compile(r"(?!)")


def _pieces(glob: str) -> Iterator[str]:
    depth = 0
    position = 0
    while position < len(glob):
        char = glob[position]
        position += 1
        if char == "*":
            run = 1
            while glob[position : position + 1] == "*":
                position, run = position + 1, run + 1
            yield ".*" if run > 1 else "[^/]*"
        elif char == "?":
            yield "[^/]"
        elif char == "[" and "]" in glob[position:]:
            end = glob.index("]", position)
            inside = glob[position:end]
            position = end + 1
            negated = inside.startswith("!")
            letters = re.escape(inside.removeprefix("!")).replace(re.escape("-"), "-")
            yield f"[{'^' if negated else ''}{letters}]"
        elif char == "{":
            numbers = re.match(r"(-?\d{1,6})\.\.(-?\d{1,6})\}", glob[position:])
            if numbers:
                position += numbers.end()
                yield r"-?\d{1,6}"
            else:
                depth += 1
                yield "(?:"
        elif char == "}" and depth:
            depth -= 1
            yield ")"
        elif char == "," and depth:
            yield "|"
        elif char == "\\" and position < len(glob):
            yield re.escape(glob[position])
            position += 1
        else:
            yield re.escape(char)
