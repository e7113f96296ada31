"""Lines that an earlier fix removed from a function and that this change adds again.

Streams the patches of the changed files, newest first; the last change to a line decides. Only
distinctive lines count, and only where they return to the same function.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from leadhand.extension.findings import Finding
from leadhand.tools.git import Commit, GitTimeout, log_patches, read_blob
from leadhand.tools.text import cut_code
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lenses.history.scopes import enclosing, enclosing_in
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax.paths import is_code

REINTRODUCED = rule("history/reintroduced")

MAX_COMMITS = 2_000
_TIMEOUT_S = 10.0
_MAX_BYTES = 64 << 20
_MAX_CANDIDATES = 5_000
_MIN_CHARS, _MAX_CHARS = 20, 400

_FIX = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bug(?:s|fix(?:es)?)?|hotfix|secure|regress\w*|reverts?|reverted|"
    r"crash(?:es|ed|ing)?|leak(?:s|ed|ing)?|deadlocks?|race|overflow|corrupt\w*|"
    r"incorrect(?:ly)?|wrong(?:ly)?|broken|infinite|hangs?)\b",
    re.IGNORECASE,
)
_HOLE = re.compile(
    r"\b(?:security|cve|ghsa|vulnerab\w*|injection|xss|csrf|ssrf)\b|^merge commit from fork$",
    re.IGNORECASE,
)
"""Fixes of security holes, whatever else the subject says; the last is GitHub's for an advisory."""
_NO_FIX = re.compile(
    r"\b(?:typos?|lint\w*|flake8?|mypy|pyright|typing|types?|hints?|annotations?|docs?|"
    r"documentation|docstrings?|comments?|format\w*|style|whitespace|isort|black|ruff|pylint|pep8|"
    r"pep-8|warnings?|spelling|grammar|changelog|readme|ci|workflows?|tests?|indent\w*|imports?|"
    r"merge|conflicts?|lints?|naming|rename[sd]?|refactor\w*|clean\w*|dead|unused|"
    r"deprecat\w*)\b",
    re.IGNORECASE,
)
_UNDO = re.compile(
    r"\b(?:revert(?:s|ed)?|re-?appl(?:y|ies)|re-?lands?|restores?|roll(?:s|ed)? ?back|undo)\b",
    re.IGNORECASE,
)
_COMMON = re.compile(
    r"(?:import|from|include|using|package|use|require|export)\s|(?:#|//|/?\*|--|<!--|;|\"\"\"|'''|@|:)"
    r"|(?:(?:async\s+)?def|class)\s|__all__\b|raise NotImplementedError|except \w+(?: as \w+)?:$"
)
_WORD = re.compile(r"[A-Za-z_]\w+")


@dataclass(frozen=True, slots=True)
class Deletion:
    """The commit that removed a line, and where the line had been."""

    commit: Commit
    path: str
    line: int
    """A line of the file as the commit left it."""


def reintroduced(
    change: Change, files: Sequence[ChangedFile], *, known: AbstractSet[str]
) -> Iterator[Finding]:
    """Findings for lines that `files` get back, except from the commits in `known`.

    May raise `GitTimeout` after the last one.
    """
    if change.git_dir is None or change.history is None:
        return
    candidates = {file.path: _candidates(change, file) for file in files}
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for file in files:
        for path in {file.path, file.old_path or file.path}:
            if candidates[file.path]:
                wanted[path] |= candidates[file.path].keys()
    if not wanted:
        return
    deletions: dict[tuple[str, str], Deletion] = {}
    late: GitTimeout | None = None
    try:
        for path, text, deletion in _deletions(change, wanted):
            deletions.setdefault((path, text), deletion)
    except GitTimeout as timeout:
        late = timeout
    for file in files:
        yield from _judge(change, file, candidates[file.path], deletions, known)
    if late is not None:
        raise late


def _candidates(change: Change, file: ChangedFile) -> dict[str, int]:
    """Stripped line -> number: distinctive lines that `file` gains and that are nowhere before."""
    if file.status not in ("modified", "renamed") or not is_code(file.path):
        return {}
    found = {
        text.strip(): line for line, text in file.added.items() if is_distinctive(text.strip())
    }
    if not found or len(found) > _MAX_CANDIDATES:
        return {}
    for line in file.base_lines:
        found.pop(line.strip(), None)
    for other in change.files if found else ():
        for line in other.removed.values():
            found.pop(line.strip(), None)
    return found


def is_distinctive(text: str) -> bool:
    """Whether a line tells one commit from others: long enough, three words, no import."""
    if not _MIN_CHARS <= len(text) <= _MAX_CHARS or _COMMON.match(text):
        return False
    words = set(_WORD.findall(text))
    return len(words) >= 3 and any(len(word) >= 5 for word in words)


def is_fix(commit: Commit) -> bool:
    """Whether the subject of `commit` says that it fixes behaviour."""
    subject = commit.subject
    return bool(_HOLE.search(subject) or (_FIX.search(subject) and not _NO_FIX.search(subject)))


def _deletions(change: Change, wanted: dict[str, set[str]]) -> Iterator[tuple[str, str, Deletion]]:
    """(path, line, deletion) of wanted lines whose last change is a deletion by a fix.

    Removes the lines that it has decided from `wanted`.
    """
    assert change.git_dir is not None
    assert change.history is not None
    patches = log_patches(
        change.git_dir,
        change.history,
        max_count=MAX_COMMITS,
        paths=sorted(wanted),
        timeout_s=_TIMEOUT_S,
        max_bytes=_MAX_BYTES,
    )
    for patch in patches:
        open_lines = wanted.get(patch.path)
        if not open_lines:
            continue
        added = {line.strip() for hunk in patch.hunks for line in hunk.added} & open_lines
        removed = {
            text: hunk.new_start
            for hunk in patch.hunks
            for text in open_lines.intersection(line.strip() for line in hunk.removed)
        }
        open_lines -= added ^ removed.keys()
        if removed and is_fix(patch.commit):
            for text, line in removed.items():
                if text not in added:
                    yield patch.path, text, Deletion(patch.commit, patch.path, line)
        if not any(wanted.values()):
            return


def _judge(
    change: Change,
    file: ChangedFile,
    candidates: dict[str, int],
    deletions: dict[tuple[str, str], Deletion],
    known: AbstractSet[str],
) -> Iterator[Finding]:
    reported: set[tuple[str, str]] = set()
    for text, line in candidates.items():
        deletion = deletions.get((file.path, text)) or deletions.get((file.old_path or "", text))
        if deletion is None or deletion.commit.id in known:
            continue
        function = (
            enclosing_in(file.head_tree, line)
            if file.head_tree is not None
            else enclosing(file.path, file.head_lines, line)
        )
        if (
            function is None
            or (deletion.commit.id, function) in reported
            or in_string(file.head_tree, line)
        ):
            continue
        if _was_in(change, deletion, function):
            reported.add((deletion.commit.id, function))
            yield _finding(change, file, line, function, deletion)


def in_string(tree: ast.Module | None, line: int) -> bool:
    """Whether `line` is inside a string of several lines, such as a docstring."""
    return tree is not None and any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.lineno <= line <= (node.end_lineno or 0) != node.lineno
        for node in ast.walk(tree)
    )


def _was_in(change: Change, deletion: Deletion, function: str) -> bool:
    """Whether the fix removed the line from `function`, judged by the file as the fix left it."""
    assert change.git_dir is not None
    text = read_blob(change.git_dir, deletion.commit.id, deletion.path)
    if text is None:
        return False
    lines = text.split("\n")
    # A hunk that only removes starts at the line before it; the function may begin on the next one.
    return function in {
        enclosing(deletion.path, lines, line) for line in (deletion.line, deletion.line + 1)
    }


def _finding(
    change: Change, file: ChangedFile, line: int, function: str, deletion: Deletion
) -> Finding:
    commit = deletion.commit
    quote = file.head_lines[line - 1].strip()
    message = (
        f"`{cut_code(quote, 120)}` in `{function}` is back after {described(commit)} removed it."
    )
    undo = says_undo(change.title)
    if undo:
        message = f"{message} The title says {undo!r}, so this may be on purpose."
    return REINTRODUCED.finding(
        file,
        line,
        message=message,
        evidence=quote,
        severity="info" if undo or _UNDO.search(commit.subject) else None,
    )


def says_undo(title: str) -> str:
    """The word by which a title says that something is undone; empty if it does not."""
    found = _UNDO.search(title)
    return found[0] if found else ""


def described(commit: Commit) -> str:
    """A commit by id, day and subject, on one line that a terminal can show."""
    return f'{commit.id[:9]} ({commit.date[:10]}, "{_plain(commit.subject)}")'


def _plain(subject: str) -> str:
    return "".join(char if char.isprintable() else " " for char in subject)[:100]
