"""Guidelines on files as text: their length, ends, blanks and indentation, and where tests go."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines.declared import FORMATTER
from leadhand.teams.review.lenses.guidelines.documents import Project
from leadhand.teams.review.lenses.guidelines.guideline import Guideline
from leadhand.teams.review.lenses.guidelines.hit import (
    GuidelineHit,
    aside,
    generated,
    in_tests,
    nearest,
    statements,
    string_lines,
)

_TEST_DEF = re.compile(r"(?:    )?(?:async )?def test_\w+\(|class Test\w*[(:]")
_UNBROKEN = re.compile(r"[\"'#\\]")
_SPLITTABLE = re.compile(r"[(\[{].*[,)\]}]")
_OPENS = re.compile(r":\s*(?:#.*)?$")
_TEST_NAME = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_PROSE = ("text", "markdown")


def file_length(
    project: Project, file: ChangedFile, found: Sequence[Guideline]
) -> Iterator[GuidelineHit]:
    """A file that the change takes over the longest length that a document allows."""
    if file.language in _PROSE or in_tests(file.path) or generated(file.path) or not file.complete:
        return
    one = max(nearest(found), key=lambda one: one.number)
    lines, before = _length(file.head), _length(file.base)
    if lines > one.number >= before:
        over = [number for number, text in file.added.items() if len(text.strip()) > 8]
        line = next((number for number in over if number > one.number), over[-1] if over else 0)
        if line:
            was = f" ({before} before)" if before else ""
            yield GuidelineHit(
                one, line, line, f"`{PurePosixPath(file.path).name}` has {lines} lines{was}"
            )


def long_lines(
    project: Project, file: ChangedFile, found: Sequence[Guideline]
) -> Iterator[GuidelineHit]:
    """Code that a formatter set to a length would break; strings and comments may run over."""
    one = nearest(found)[0]
    if not one.value.startswith(FORMATTER) or file.language != "python" or generated(file.path):
        return
    limit = int(one.value.removeprefix(FORMATTER))
    long = [
        number for number, text in file.added.items()
        if len(text) > limit and not _UNBROKEN.search(text) and _SPLITTABLE.search(text[:2000])
    ]  # fmt: skip
    if not long or "fmt: off" in file.head or "fmt:off" in file.head or file.head_tree is None:
        return
    inside = string_lines(file.head_tree)
    for number in long:
        if number not in inside and not file.head_lines[number - 1].lstrip().startswith(
            ("import ", "def ", "class ")
        ):
            yield GuidelineHit(
                one, number, number, f"the line has {len(file.head_lines[number - 1])} characters"
            )


def final_newline(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """A file whose last line, which the change adds, has no line end."""
    last = len(file.head_lines)
    if one.value == "true" and file.head and not file.head.endswith("\n") and file.touches(last):
        yield GuidelineHit(one, last, last, "the last line has no line end")


def trailing_whitespace(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """Added lines that end in blanks, outside strings and but for Markdown's line break."""
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
                yield GuidelineHit(
                    one, number, number, "the line ends in blanks", file.added[number]
                )


def indent_style(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """Added lines that begin with the other kind of blank than declared."""
    style = one.value.partition(":")[2]
    if style == "space":
        wrong = [number for number, text in file.added.items() if text[:1] == "\t" and text.strip()]
    elif style == "tab":
        wrong = [
            number for number, text in file.added.items()
            if re.match(r" {2,}(?![ *])", text[:200]) and not text.lstrip().startswith("*")
        ]  # fmt: skip
        if len(wrong) < 3:  # a few are alignment
            return
    else:
        return
    inside = string_lines(file.head_tree) if wrong else set[int]()
    for number in wrong:
        if number not in inside:
            other = "a tab" if style == "space" else "spaces"
            yield GuidelineHit(
                one, number, number, f"the line is indented with {other}", file.added[number]
            )


def indent_size(
    project: Project, file: ChangedFile, found: Sequence[Guideline]
) -> Iterator[GuidelineHit]:
    """Python blocks that the change adds with another depth than declared."""
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
    for node, body in statements(file.head_tree):
        first = body[0]
        before = file.head_lines[first.lineno - 1][: first.col_offset]
        if first.lineno <= node.lineno or before.strip() or not file.touches(first.lineno):
            continue
        depth = first.col_offset - node.col_offset
        decorated = (
            isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and first.decorator_list
        )
        if (
            depth != size
            and depth > 0
            and not decorated
            and not file.head_lines[first.lineno - 1].startswith("\t")
        ):
            yield GuidelineHit(one, first.lineno, first.lineno, f"the block is indented by {depth}")


def test_location(
    project: Project, file: ChangedFile, found: Sequence[Guideline]
) -> Iterator[GuidelineHit]:
    """A new test file outside every folder that a document names for tests."""
    if (
        file.status not in ("added", "renamed")
        or not _TEST_NAME.search(file.path)
        or aside(file.path)
    ):
        return
    folders = [one.value.strip("./").removesuffix("/") for one in found]
    if any(f"/{folder}/" in f"/{file.path}" for folder in folders) or not all(
        any(f"/{folder}/" in f"/{path}" for path in project.paths) for folder in folders
    ):
        return
    line = next((number for number, text in file.added.items() if _TEST_DEF.match(text)), 0)
    if line:
        yield GuidelineHit(
            found[0], line, line, f"`{file.path}` holds tests and is not below `{folders[0]}/`"
        )


def file_names(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """A new Python file whose name is not as a document asks: of modules, or of test files."""
    if file.status not in ("added", "renamed") or file.language != "python":
        return
    name = PurePosixPath(file.path).name
    if one.value == "file":
        bad = re.search(r"[A-Z-]", name.removesuffix(".py")) is not None and not aside(file.path)
        line = next((number for number, text in file.added.items() if text.strip()), 0)
        if bad and line and re.search(r"^(?:import|from|def|class) ", file.head, re.MULTILINE):
            yield GuidelineHit(one, line, line, f"the file is named `{name}`")
    elif one.value.startswith("test-file:"):
        pattern = one.value.partition(":")[2]
        held = re.escape(pattern).replace(r"\*", "[^/]*")
        line = next(
            (
                number
                for number, text in file.added.items()
                if re.match(r"(?:async )?def test_\w+\(", text)
            ),
            0,
        )
        if line and in_tests(file.path) and name != "conftest.py" and not re.fullmatch(held, name):
            yield GuidelineHit(
                one, line, line, f"`{name}` holds tests and is not named `{pattern}`"
            )


def changelog(
    project: Project, files: Sequence[ChangedFile], found: Sequence[Guideline]
) -> tuple[ChangedFile, GuidelineHit] | None:
    """The one place to say that a change of the product's code leaves the changelog alone."""
    logs = re.compile(
        r"(?:^|/)(?:change(?:s|log)|history|news|newsfragments|changelog\.d|changes\.d)\b[^/]*(?:/|$)",
        re.IGNORECASE,
    )
    if any(logs.search(file.path) for file in files) or not any(
        logs.search(path) for path in project.paths
    ):
        return None
    changed = [
        file for file in files
        if file.language == "python" and file.status != "deleted"
        and not in_tests(file.path) and not aside(file.path)
    ]  # fmt: skip
    size = sum(
        bool(text.strip()) and not text.lstrip().startswith("#")
        for file in changed
        for text in file.added.values()
    )
    if size < 10:
        return None
    file = max(changed, key=lambda file: (len(file.added), file.path))
    line = next(
        (
            number
            for number, text in file.added.items()
            if re.match(r"\s*(?:async def|def|class) ", text)
        ),
        0,
    )
    line = line or next(number for number, text in file.added.items() if text.strip())
    return file, GuidelineHit(
        found[0],
        line,
        line,
        f"the change adds {size} lines of code and leaves the changelog as it is",
    )


def _length(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
