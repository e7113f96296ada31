"""Docstrings that no longer agree with a signature that the change altered.

Covers parameters that the change removed, added or gave another default. Docstrings that were wrong
before are not reported.
"""

import ast
import bisect
import re
from collections.abc import Iterator

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule, Seen
from leadhand.teams.review.lenses.comments.docfields import ParameterEntry
from leadhand.teams.review.lenses.comments.signatures import Signature, signatures
from leadhand.teams.review.syntax import defaults, is_test

PARAMETER_GONE = LensRule(
    "comments/documented-parameter-gone", "comments/parameters", "warning",
    "Callers who follow the documentation get a TypeError.",
    "Remove the parameter from the docstring, or rename its entry.",
)  # fmt: skip
PARAMETER_UNDOCUMENTED = LensRule(
    "comments/parameter-undocumented", "comments/parameters", "info",
    "Every other parameter of the function is documented.",
    "Describe the parameter in the docstring.",
)  # fmt: skip
STALE_DEFAULT = LensRule(
    "comments/stale-default", "comments/parameters", "warning",
    "Callers who rely on the documented default get another one.",
    "Update the default in the docstring.",
)  # fmt: skip

_DOCUMENTS = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword|kwarg)\s|@(?:param|keyword|kwarg)\s"
    r"|\b(?:Arg|Param|Parameter|Argument)s\b",
    re.IGNORECASE,
)
_DEF = re.compile(r"(?:async\s+)?def\s")
_SIGNATURE_LINES = 80
_RETIRED = re.compile(r"deprecat|removed|no longer|ignored|unused|obsolete", re.IGNORECASE)


def stale_docstrings(file: ChangedFile) -> Iterator[Seen]:
    """Findings for docstrings in `file` that disagree with the signatures that changed."""
    if file.language != "python" or not file.hunks or not _DOCUMENTS.search(file.head):
        return
    changed = _changed_lines(file)
    if not any(_in_signature(file.head_lines, line) for line in changed):
        return
    if file.head_tree is None:
        why = "it does not parse as Python" if file.complete else "only a patch was given"
        yield NotAssessed(lens="comments", path=file.path, why=f"docstrings not compared: {why}")
        return
    touched = [
        function
        for function in signatures(file.head_tree).values()
        if _touches(changed, function.first, function.last)
    ]
    if not touched:
        return
    # Parse the old text only if it may define one of them.
    known = any(f"def {one.name.rpartition('.')[2]}" in file.base for one in touched)
    earlier = signatures(file.base_tree) if known and file.base_tree is not None else {}
    for function in touched:
        before = earlier.get(function.name)
        if before is not None:
            yield from _compare(file, function, before)
        elif not known or file.base_tree is not None:
            yield from _left_out(file, function)


def _changed_lines(file: ChangedFile) -> list[int]:
    """The lines of the new file that the change added, or beside which it removed some, sorted."""
    lines: list[int] = []
    for hunk in file.hunks:
        end = hunk.new_start + hunk.new_count if hunk.new_count else hunk.new_start + 2
        lines.extend(range(hunk.new_start, end))
    return sorted(lines)


def _in_signature(lines: list[str], line: int) -> bool:
    """Whether `line` may be part of a signature; a cheap check that needs no parsing."""
    for number in range(min(line, len(lines)), max(0, line - _SIGNATURE_LINES), -1):
        text = lines[number - 1].strip()
        ended = number < line and (not text or text.endswith(":"))
        if _DEF.match(text):
            return not ended
        if ended:
            return False
    return False


def _touches(changed: list[int], first: int, last: int) -> bool:
    at = bisect.bisect_left(changed, first)
    return at < len(changed) and changed[at] <= last


def _compare(file: ChangedFile, function: Signature, before: Signature) -> Iterator[Finding]:
    now, was = function.parameters, before.parameters
    gone = [name for name in was if name not in now]
    new = [name for name in now if name not in was]
    entries = function.entries(file.head_lines)
    if not entries:
        return
    renamed = _renamed(function, before, gone, new)
    for name in gone:
        entry = entries.get(name)
        if entry and not function.open_ended and not _RETIRED.search(entry.text):
            yield from _gone(file, function, before, name, entry, renamed)
    others = [name for name in now if name in was and not name.startswith("_")]
    if (
        not is_test(file.path)
        and others
        and all(name in entries for name in others)
        and not renamed
    ):
        for name in new:
            yield from _undocumented(file, function, name, entries)
    earlier = defaults(before.node)
    for name, value in defaults(function.node).items():
        yield from _default(file, function, name, earlier.get(name), value, entries)


def _renamed(function: Signature, before: Signature, gone: list[str], new: list[str]) -> str | None:
    """The new name of a parameter that was renamed, if the change renamed exactly one."""
    if len(gone) != 1 or len(new) != 1:
        return None
    same = list(before.parameters).index(gone[0]) == list(function.parameters).index(new[0])
    return new[0] if same else None


def _gone(
    file: ChangedFile,
    function: Signature,
    before: Signature,
    name: str,
    entry: ParameterEntry,
    renamed: str | None,
) -> Iterator[Finding]:
    place = _removal(file, before, name)
    if place is None:
        return
    now = f" (now `{renamed}`)" if renamed else ""
    yield PARAMETER_GONE.finding(
        file,
        place[0],
        message=f"`{function.name}` no longer takes `{name}`{now}, but its docstring still "
        f"documents it on line {entry.line}.",
        evidence=place[1],
    )


def _removal(file: ChangedFile, before: Signature, name: str) -> tuple[int, str] | None:
    """The removed line of the old signature that had `name`: its new place and its text."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for hunk in file.hunks:
        for line, text in enumerate(file.removed_in(hunk), start=hunk.old_start):
            if before.first <= line <= before.last and word.search(text):
                return hunk.new_line, text.strip()
    return None


def _undocumented(
    file: ChangedFile, function: Signature, name: str, entries: dict[str, ParameterEntry]
) -> Iterator[Finding]:
    line = function.parameters[name].lineno
    if name in entries or name.startswith("_") or line not in file.added:
        return
    if re.search(rf"\b{re.escape(name)}\b", function.prose()):
        return
    yield PARAMETER_UNDOCUMENTED.finding(
        file,
        line,
        message=f"The docstring of `{function.name}` lacks the new parameter `{name}`.",
    )


def _left_out(file: ChangedFile, function: Signature) -> Iterator[Finding]:
    """The only parameter of a new function that its docstring leaves out."""
    names = [name for name in function.parameters if not name.startswith("_")]
    if len(names) < 4 or is_test(file.path):
        return
    entries = function.entries(file.head_lines)
    missing = [name for name in names if name not in entries]
    if len(missing) == 1:
        yield from _undocumented(file, function, missing[0], entries)


def _default(
    file: ChangedFile,
    function: Signature,
    name: str,
    was: ast.expr | None,
    now: ast.expr,
    entries: dict[str, ParameterEntry],
) -> Iterator[Finding]:
    entry = entries.get(name)
    if entry is None or not isinstance(was, ast.Constant) or not isinstance(now, ast.Constant):
        return
    # `None` often stands for a default that the body sets and that the docstring states.
    if repr(was.value) == repr(now.value) or now.value is None or now.lineno not in file.added:
        return
    if _states(entry.text, was.value) and not _mentions(entry.text, now.value):
        yield STALE_DEFAULT.finding(
            file,
            now.lineno,
            message=f"The default of `{name}` in `{function.name}` changed from {was.value!r} to "
            f"{now.value!r}, but line {entry.line} of its docstring still states the old one.",
        )


def _states(text: str, value: object) -> bool:
    if value == "":
        return False
    shown, marks = re.escape(str(value)), r"[`'\"*]{0,3}"
    before = r"\b[Dd]efault(?:s|ing)?(?: value)?(?: is| to| of)?\s?[:=]?\s?"
    after = r"(?: by default|,? \(?(?:the )?default\b)"
    return bool(re.search(rf"{before}{marks}{shown}(?!\w|\.\w)|(?<!\w){shown}{marks}{after}", text))


def _mentions(text: str, value: object) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", text))
