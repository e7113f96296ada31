"""Checks of files as text: length, line ends, white space, indentation, names and places."""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines.guideline import Guideline
from leadhand.teams.review.lenses.guidelines.hits import (
    GuidelineHit,
    compound_statements,
    is_auxiliary,
    is_generated,
    nearest,
    string_lines,
)
from leadhand.teams.review.lenses.guidelines.style_settings import FORMATTER
from leadhand.teams.review.syntax import is_test

_TEST_DEF = re.compile(r"(?:    )?(?:async )?def test_\w+\(|class Test\w*[(:]")
_TEXT = re.compile(r"[\"'#\\]")
_SPLITTABLE = re.compile(r"[(\[{].*[,)\]}]")
_OPENS = re.compile(r":\s*(?:#.*)?$")
_TEST_NAME = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_TEST_FUNCTION = re.compile(r"(?:async )?def test_\w+\(")
_DEFINITION = re.compile(r"\s*(?:async def|def|class) ")
_NOT_BLANK = re.compile(r"\s*\S")
_LOGS = re.compile(
    r"(?:^|/)(?:change(?:s|log)|history|news|newsfragments|changelog\.d|changes\.d)\b[^/]*(?:/|$)",
    re.IGNORECASE,
)


def file_length(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """A file that the change makes longer than any document allows."""
    path = file.path
    prose = file.language in ("text", "markdown")
    if prose or is_test(path) or is_generated(path) or not file.complete:
        return
    one = max(nearest(found), key=lambda one: one.number)
    lines, before = _length(file.head), _length(file.base)
    if lines > one.number >= before:
        over = [number for number, text in file.added.items() if len(text.strip()) > 8]
        line = next((number for number in over if number > one.number), over[-1] if over else 0)
        if line:
            was = f" ({before} before)" if before else ""
            yield GuidelineHit(one, line, f"`{PurePosixPath(path).name}` has {lines} lines{was}")


def long_lines(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """Lines that the project's formatter would split; it leaves strings and comments alone."""
    one = nearest(found)[0]
    if not one.value.startswith(FORMATTER) or file.language != "python" or is_generated(file.path):
        return
    limit = int(one.value.removeprefix(FORMATTER))
    long = [
        number for number, text in file.added.items()
        if len(text) > limit and not _TEXT.search(text) and _SPLITTABLE.search(text[:2000])
    ]  # fmt: skip
    if not long or "fmt: off" in file.head or "fmt:off" in file.head or file.head_tree is None:
        return
    inside = string_lines(file.head_tree)
    for number in long:
        text = file.head_lines[number - 1]
        if number not in inside and not text.lstrip().startswith(("import ", "def ", "class ")):
            yield GuidelineHit(one, number, f"the line has {len(text)} characters")


def final_newline(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """A last line without a newline, if the change adds it."""
    last = len(file.head_lines)
    if one.value == "true" and file.head and not file.head.endswith("\n") and file.touches(last):
        yield GuidelineHit(one, last, "the last line has no newline")


def trailing_whitespace(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """Added lines with trailing white space, except in strings and for Markdown's line break."""
    if one.value != "true":
        return
    ends = [
        number for number, text in file.added.items()
        if text[-1:] in (" ", "\t") and not (file.language == "markdown" and text.strip())
    ]  # fmt: skip
    if ends:
        inside = string_lines(file.head_tree)
        for number in ends:
            if number not in inside:
                what = "the line has trailing white space"
                yield GuidelineHit(one, number, what, file.added[number])


def indent_style(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """Added lines that are indented with tabs instead of spaces, or the reverse."""
    style = one.value.partition(":")[2]
    if style == "space":
        wrong = [number for number, text in file.added.items() if text[:1] == "\t" and text.strip()]
    elif style == "tab":
        wrong = [
            number for number, text in file.added.items()
            if re.match(r" {2,}(?![ *])", text[:200]) and not text.lstrip().startswith("*")
        ]  # fmt: skip
        if len(wrong) < 3:  # a few may be alignment
            return
    else:
        return
    inside = string_lines(file.head_tree) if wrong else set[int]()
    what = f"the line is indented with {'a tab' if style == 'space' else 'spaces'}"
    for number in wrong:
        if number not in inside:
            yield GuidelineHit(one, number, what, file.added[number])


def indent_size(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """Added Python blocks with another depth than the declared one."""
    one = nearest(found)[0]
    raw = one.value.rpartition(":")[2]
    if file.language != "python" or not raw.isdigit() or not 1 <= int(raw) <= 8:
        return
    size = int(raw)
    lines = file.head_lines
    if not any(
        (len(text) - len(text.lstrip(" "))) % size and _OPENS.search(lines[number - 2][-200:])
        for number, text in file.added.items()
        if number > 1 and text.strip()
    ):
        return
    for node, body in compound_statements(file.head_tree):
        first = body[0]
        line = lines[first.lineno - 1]
        before = line[: first.col_offset]
        if first.lineno <= node.lineno or before.strip() or not file.touches(first.lineno):
            continue
        depth = first.col_offset - node.col_offset
        decorated = (
            isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and first.decorator_list
        )
        if depth != size and depth > 0 and not decorated and not line.startswith("\t"):
            yield GuidelineHit(one, first.lineno, f"the block is indented by {depth} columns")


def test_location(
    paths: Collection[str], file: ChangedFile, found: Sequence[Guideline]
) -> Iterator[GuidelineHit]:
    """A new test file outside all folders that documents name for tests, if these exist."""
    new = file.status in ("added", "renamed")
    if not new or not _TEST_NAME.search(file.path) or is_auxiliary(file.path):
        return
    folders = [one.value.strip("./").removesuffix("/") for one in found]
    if any(f"/{folder}/" in f"/{file.path}" for folder in folders) or not all(
        any(f"/{folder}/" in f"/{path}" for path in paths) for folder in folders
    ):
        return
    if line := _first_line(file, _TEST_DEF):
        what = f"`{file.path}` holds tests, but is not in `{folders[0]}/`"
        yield GuidelineHit(found[0], line, what)


def file_names(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """A new module or test file whose name is not as a document demands."""
    if file.status not in ("added", "renamed") or file.language != "python":
        return
    name = PurePosixPath(file.path).name
    if one.value == "file":
        bad = re.search(r"[A-Z-]", name.removesuffix(".py")) and not is_auxiliary(file.path)
        line = _first_line(file, _NOT_BLANK)
        if bad and line and re.search(r"^(?:import|from|def|class) ", file.head, re.MULTILINE):
            yield GuidelineHit(one, line, f"the file is named `{name}`")
    elif one.value.startswith("test-file:"):
        pattern = one.value.partition(":")[2]
        expected = re.escape(pattern).replace(r"\*", "[^/]*")
        line = _first_line(file, _TEST_FUNCTION)
        exempt = not is_test(file.path) or name == "conftest.py"
        if line and not exempt and not re.fullmatch(expected, name):
            yield GuidelineHit(one, line, f"`{name}` holds tests, but is not named `{pattern}`")


def changelog(
    paths: Collection[str], files: Sequence[ChangedFile], found: Sequence[Guideline]
) -> tuple[ChangedFile, GuidelineHit] | None:
    """The place at which to report that a change of product code has no changelog entry."""
    if any(_LOGS.search(file.path) for file in files) or not any(map(_LOGS.search, paths)):
        return None
    changed = [
        file for file in files
        if file.language == "python" and file.status != "deleted"
        and not is_test(file.path) and not is_auxiliary(file.path)
    ]  # fmt: skip
    size = sum(
        bool(text.strip()) and not text.lstrip().startswith("#")
        for file in changed
        for text in file.added.values()
    )
    if size < 10:
        return None
    file = max(changed, key=lambda file: (len(file.added), file.path))
    line = _first_line(file, _DEFINITION) or _first_line(file, _NOT_BLANK)
    what = f"the change adds {size} lines of code, but no changelog entry"
    return file, GuidelineHit(found[0], line, what)


def _first_line(file: ChangedFile, pattern: re.Pattern[str]) -> int:
    """The first added line that starts with `pattern`; 0 if there is none."""
    return next((number for number, text in file.added.items() if pattern.match(text)), 0)


def _length(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
