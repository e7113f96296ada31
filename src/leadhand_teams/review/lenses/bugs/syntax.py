"""Changed files that Python refuses, and conflict markers in any file.

These are facts. Files that are broken on purpose (data for tests, templates) and files that were
broken before the change are reported as not assessed. The code is compiled, never run.
"""

import re
from collections.abc import Iterator, Sequence

from leadhand.extension.findings import Finding, NotAssessed
from leadhand.tools.ruff import UNREADABLE, Diagnostic
from leadhand_teams.review.change import ChangedFile, may_exhaust_memory, without_warnings
from leadhand_teams.review.lens import Seen
from leadhand_teams.review.ruff_rules import BROKEN, NOT_COMPILED
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import pattern_of
from leadhand_teams.review.syntax.word_tables import is_test

SYNTAX_ERROR = rule("bugs/syntax-error")
CONFLICT = rule("bugs/conflict-marker")
ENCODING = rule("bugs/declared-encoding")

_OLD = pattern_of("syntax.old")
_PYTHON_2 = re.compile(r"#!.*\bpython2")
_TEMPLATE = re.compile(r"\{\{[ \w]|\{%[- \w]|<%|\$\{\w|@@\w+@@|^[ \t]*[%!]\w")
_DATA = pattern_of("syntax.data")
_RUN_BY_PYTEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_TEMPLATES = pattern_of("syntax.templates")
_MARKER = re.compile(r"^(?:<{7} |>{7} |={7}$)")
_MARKERS = ("<<<<<<< ", "=======", ">>>>>>> ")
_PROSE = (".md", ".rst", ".txt", ".adoc", ".html", ".po")
_DEEP = re.compile(r"^[ \t]{100}|[^\n]{400}", re.MULTILINE)
"""Only code with such a line may be nested too deeply for Python and not for ruff."""
_TOO_DEEP = "it is nested too deeply"
_MAX_QUOTE_CHARS = 300


def conflicts(file: ChangedFile) -> Iterator[Finding]:
    """The first conflict that the change adds to a file that is neither Python nor prose.

    Prose and data for tests show how conflicts look.
    """
    if file.path.lower().endswith(_PROSE) or is_test(file.path) or "<<<<<<< " not in file.head:
        return
    wanted = iter(_MARKERS)
    marker, first = next(wanted), 0
    for number, text in sorted(file.added.items()):
        if text.startswith(marker):
            first = first or number
            marker = next(wanted, "")
            if not marker:
                yield _conflict(file, first)
                return


def is_suspect(file: ChangedFile, found: Sequence[Diagnostic]) -> bool:
    """Whether Python may refuse a file with these diagnostics."""
    if file.status == "deleted":
        return False
    doubtful = (*BROKEN, *NOT_COMPILED)
    return (
        file.undecodable is not None
        or file.encoding is not None
        or any(one.code in doubtful for one in found)
        or bool(_DEEP.search(file.head))
    )


def find(file: ChangedFile, found: Sequence[Diagnostic]) -> Iterator[Seen]:
    """One finding if Python refuses a suspect file because of the change."""
    if file.encoding is not None:
        yield from _encoded(file, file.encoding)
        if file.undecodable is not None:
            yield _skipped(file, f"it can't be decoded as {file.encoding}, which it declares")
            return
    refused = file.undecodable or _refused(file.head)
    broken = [one for one in found if one.code in BROKEN]
    if refused is None:
        # Python compiles it: ruff gave up, or means another version of Python.
        if broken:
            yield _skipped(file, f"the linter does not accept it: {_words(broken[0].message)}")
        return
    number, why = refused
    if file.undecodable is None and why != _TOO_DEEP:
        known = [one for one in found if one.code in (*BROKEN, *NOT_COMPILED)]
        if not known:
            return  # Syntax that is newer than leadhand's Python.
        if known[0].code != UNREADABLE:
            number, why = known[0].line, known[0].message
    excuse = _excuse(file, number)
    if excuse is not None:
        yield _skipped(file, f"Python does not accept it ({excuse})")
        return
    marker = next((n for n, text in file.added.items() if _MARKER.match(text)), None)
    if marker is not None and any(text.startswith(_MARKERS[0]) for text in file.added.values()):
        yield _conflict(file, marker)
        return
    before = " It parsed before this change." if file.status != "added" else ""
    message = f"This does not parse: {_words(why)}.{before}"
    quoted = _quotable(file, number)
    if quoted is not None:
        line, evidence = quoted
        yield SYNTAX_ERROR.finding(file, line, message=message, evidence=evidence)


def _refused(text: str) -> tuple[int, str] | None:
    """The line and the reason if this version of Python can't compile `text`."""
    try:
        with without_warnings():
            compile(text, "file", "exec", dont_inherit=True)
    except SyntaxError as error:
        why = error.msg
        return error.lineno or 1, _TOO_DEEP if why.startswith("too many") else why
    except MemoryError:
        if may_exhaust_memory(text):
            raise
        return 1, _TOO_DEEP
    except RecursionError:
        return 1, _TOO_DEEP
    except ValueError as error:
        return 1, str(error)
    return None


def _encoded(file: ChangedFile, encoding: str) -> Iterator[Finding]:
    """That the file declares an odd encoding, at the declaration if the change adds it."""
    number = next((n for n, line in enumerate(file.head_lines[:2], 1) if "coding" in line), 1)
    quoted = _quotable(file, number)
    if quoted is not None:
        line, evidence = quoted
        message = f"Line {number} of the file declares the encoding `{encoding}`."
        yield ENCODING.finding(file, line, message=message, evidence=evidence)


def _conflict(file: ChangedFile, line: int) -> Finding:
    message = "The file contains a conflict marker of git."
    return CONFLICT.finding(file, line, message=message, evidence=file.head_lines[line - 1])


def _words(text: str) -> str:
    words = text.splitlines()[0][:160] if text else ""
    return words[:1].lower() + words[1:]


def _skipped(file: ChangedFile, why: str) -> NotAssessed:
    return NotAssessed(lens="bugs", path=file.path, why=why)


def _excuse(file: ChangedFile, number: int) -> str | None:
    """Why the file need not be valid Python 3, or `None`; `number` is the line of the error."""
    if file.status != "added":
        return "it did not before the change either" if _refused(file.base) else None
    near = file.head_lines[max(0, number - 2) : number]
    # Braces in a string of broken code are no template.
    unquoted = [line for line in near if '"' not in line and "'" not in line]
    if _TEMPLATES.search(file.path) or any(_TEMPLATE.search(line) for line in unquoted):
        return "it looks like a template or a notebook"
    if _DATA.search(file.path) and not _RUN_BY_PYTEST.search(file.path):
        return "it looks like data for tests"
    if _PYTHON_2.match(file.head) and any(_OLD.search(line) for line in file.head_lines):
        return "it is written for Python 2"
    return None


def _quotable(file: ChangedFile, number: int) -> tuple[int, str] | None:
    """The last added line with text in the 50 lines up to the error, else the first one added, else
    the first one removed; with what is quoted of it."""
    near = range(number, max(0, number - 50), -1)
    for line in (*near, *sorted(file.added)):
        text = file.added.get(line, "").strip()
        if text:
            return line, text[:_MAX_QUOTE_CHARS].strip()
    nearest = sorted(file.hunks, key=lambda hunk: abs(hunk.new_line - number))
    for hunk in nearest:
        for text in file.removed_in(hunk):
            if text.strip():
                return hunk.new_line, text.strip()[:_MAX_QUOTE_CHARS].strip()
    return None
