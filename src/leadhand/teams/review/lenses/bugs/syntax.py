"""Changed files that no longer parse.

Python 2, templates and files that are broken on purpose (test data) are not bugs; they are reported
as not assessed.
"""

import re
from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import NotAssessed
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule, Seen
from leadhand.tools.ruff import UNREADABLE, Diagnostic

SYNTAX_ERROR = LensRule(
    "bugs/syntax-error", "bugs/syntax", "critical",
    "The file can't be imported or run.",
    "Correct the syntax.",
)  # fmt: skip
CONFLICT = LensRule(
    "bugs/conflict-marker", "bugs/syntax", "critical",
    "A merge is unfinished, and the file can't be imported or run.",
    "Resolve the conflict and remove the markers.",
)  # fmt: skip
RULES = (SYNTAX_ERROR, CONFLICT)

_OLD = re.compile(
    r"""^[ \t]*(?:print[ \t]+["'\w]|exec[ \t]+["'\w]|raise[ \t]+\w+,[ \t]"""
    r"""|except[ \t]+[\w.]+,[ \t]*\w+:)|<>|\bur["']|\b0[0-7]+\b(?![.\w])|\b\d+L\b|\.has_key\(""",
    re.MULTILINE,
)
_TEMPLATE = re.compile(r"\{\{[ \w]|\{%[- \w]|<%|\$\{\w|@@\w+@@|^[ \t]*[%!]\w", re.MULTILINE)
_DATA = re.compile(
    r"(?:^|/)(?:[^/]*(?:data|fixtures?|samples?|examples?|snippets?|templates?|invalid|broken|bad|"
    r"cookiecutter|skeleton|resources|corpus|cases|input|golden|snapshots?|py2)[^/]*)/",
    re.IGNORECASE,
)
_BAD_NAME = re.compile(r"bad|broken|invalid|syntax_?err|nonparse|py2", re.IGNORECASE)
_MARKER = re.compile(r"^(?:<{7} |>{7} |={7}$)")


def find(file: ChangedFile, found: Sequence[Diagnostic]) -> Iterator[Seen]:
    """One finding for a file that parsed before the change, or is new and written for Python 3."""
    if any(one.code == UNREADABLE for one in found):
        yield _skipped(file, "the linter can't read it (nested too deeply, or damaged)")
        return
    if file.head_tree is not None:
        # It parses: the error is one of compilation, or depends on the Python version.
        yield _skipped(file, f"the linter does not accept it: {_words(found[0])}")
        return
    marker = next((n for n, text in file.added.items() if _MARKER.match(text)), None)
    if marker is not None and any(text.startswith("<<<<<<<") for text in file.added.values()):
        yield CONFLICT.finding(
            file,
            marker,
            message="The code contains a conflict marker of git.",
            evidence=file.head_lines[marker - 1],
        )
        return
    excuse = _excuse(file)
    line = _line(file, found[0])
    if excuse is not None or line is None:
        yield _skipped(file, f"it does not parse as Python 3 ({excuse or _words(found[0])})")
        return
    before = " It parsed before this change." if file.status != "added" else ""
    message = f"This does not parse: {_words(found[0])} (line {found[0].line}).{before}"
    yield SYNTAX_ERROR.finding(file, line, message=message)


def _words(one: Diagnostic) -> str:
    words = one.message.splitlines()[0][:160]
    return words[:1].lower() + words[1:]


def _skipped(file: ChangedFile, why: str) -> NotAssessed:
    return NotAssessed(lens="bugs", path=file.path, why=why)


def _excuse(file: ChangedFile) -> str | None:
    """Why the file need not parse, or `None`."""
    if file.status != "added":
        return None if file.base_tree is not None else "it did not before the change either"
    name = file.path.rsplit("/", 1)[-1]
    if _OLD.search(file.head):
        return "it looks like Python 2"
    if _TEMPLATE.search(file.head) or "{" in file.path:
        return "it looks like a template or a notebook"
    if _DATA.search(file.path) or _BAD_NAME.search(name):
        return "it looks like data for tests"
    return None


def _line(file: ChangedFile, one: Diagnostic) -> int | None:
    """The last added line with text in the 50 lines up to the error, else the first added line."""
    for line in range(one.line, max(0, one.line - 50), -1):
        if file.touches(line) and file.head_lines[line - 1].strip():
            return line
    return next((n for n, text in sorted(file.added.items()) if text.strip()), None)
