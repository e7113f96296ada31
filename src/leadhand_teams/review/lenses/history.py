"""The history lens: fixes that a change undoes, by the commits before it.

A fix is undone if most of what it added to a file goes and most of what it removed comes back, as
`git revert` does it; each file counts by itself, since a change that breaks a fix keeps its tests
more often than not. Only distinctive lines count, and what a fix removed only in the function from
which it did. Two git processes for any number of files: which fixes touched them, and the patches
of the latest.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from leadhand import LeadhandError
from leadhand.extension.findings import Finding, NotAssessed
from leadhand.tools.git import Commit, FilePatch, log, log_patches, read_blob
from leadhand_teams.review.change import Change, ChangedFile, parse_python
from leadhand_teams.review.comparison.code import definitions
from leadhand_teams.review.lens import ONLY_A_PATCH, Seen, lens
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import is_code, pattern_of

MAX_COMMITS = 2_000
"""Commits that change one of the files, of which fixes are chosen."""
MAX_FIXES = 100
_MAX_FILES = 200
_TIMEOUT_S = 5.0
_MAX_BYTES = 16 << 20
_UNDONE = 0.9
"""The least share of a fix's lines in a file that the change undoes."""
_MIN_CHARS, _MAX_CHARS = 20, 400
_MAX_LINES = 3
"""Of lines that come back so many are looked up in the file as the fix left it."""

_FIX, _NO_FIX, _UNDO = map(pattern_of, ("history.fix", "history.no_fix", "history.undo"))
_HOLE = pattern_of("history.hole")
"""Fixes of security holes, whatever else the subject says; the last is GitHub's for an advisory."""
_OTHER_WORK = re.compile(r"(?:feat|refactor|perf|chore|docs|style|build|ci|tests?)(?:\(.*?\))?!?:")
"""How conventional commits that are no fix begin."""
_COMMON = pattern_of("history.common")
_WORD = re.compile(r"[A-Za-z_]\w+")


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Fixes that are undone."""
    if change.head is None or change.git_dir is None:
        yield NotAssessed(lens="history", why=ONLY_A_PATCH)
        return
    if change.history is None:
        yield NotAssessed(lens="history", why="this is the first commit", idle=True)
        return
    if (change.git_dir / "shallow").exists():
        why = "the clone is shallow: older commits are missing"
        yield NotAssessed(lens="history", why=why)
    try:
        yield from reverted(change, change.git_dir, change.history, files)
    except LeadhandError as error:
        yield NotAssessed(lens="history", why=f"not all earlier fixes were checked: {error}")


def reverted(
    change: Change, git_dir: Path, history: str, files: Sequence[ChangedFile]
) -> Iterator[Finding]:
    """One finding for each fix that `files` undo. Raises `GitTimeout`."""
    wanted = {
        path: file
        for file in files
        if is_code(file.path) and file.hunks and file.status in ("modified", "renamed")
        for path in (file.path, file.old_path or file.path)
    }
    if not 0 < len(wanted) <= _MAX_FILES:
        return
    paths = sorted(wanted)
    commits = log(git_dir, history, max_count=MAX_COMMITS, paths=paths, timeout_s=_TIMEOUT_S)
    fixes = [one.id for one in commits if _is_fix(one)][:MAX_FIXES]
    if not fixes:
        return
    undone: dict[str, tuple[int, Finding]] = {}
    for patch in log_patches(
        git_dir, *fixes, max_count=len(fixes), paths=paths, timeout_s=_TIMEOUT_S,
        max_bytes=_MAX_BYTES, walk=False,
    ):  # fmt: skip
        file, id = wanted.get(patch.path), patch.commit.id
        found = _undone(change, git_dir, patch, file) if file is not None else None
        if found is not None and (id not in undone or undone[id][0] < found[0]):
            undone[id] = found
    yield from (finding for _, finding in undone.values())


def _undone(
    change: Change, git_dir: Path, patch: FilePatch, file: ChangedFile
) -> tuple[int, Finding] | None:
    """How many lines of the fix `file` undoes, and the finding; `None` if it keeps it."""
    # What moves to another file is still there.
    written = (text for one in change.files for text in one.added.values())
    removed, added = _net(file.removed.values(), written)
    their_removed, their_added = _net(
        (text for hunk in patch.hunks for text in hunk.removed),
        (text for hunk in patch.hunks for text in hunk.added),
    )
    back = (their_added & removed) + (their_removed & added)
    if back.total() < _UNDONE * (their_added.total() + their_removed.total()):
        return None
    gone = _lines(file.removed, their_added)
    if gone and not _rewrites(file, gone, their_removed):
        line = min(gone, key=lambda line: (_in_string(file.base_tree, line), line))
        hunk = file.hunk_removing(line)
        place = hunk.new_line if hunk is not None else line
        return back.total(), _finding(change, patch.commit, file, place, file.removed[line])
    if their_added:
        return None
    for line in _lines(file.added, their_removed)[:_MAX_LINES]:
        new = file.added[line].strip() not in map(str.strip, file.base_lines)
        if new and not _in_string(file.head_tree, line) and _was_in(git_dir, patch, file, line):
            return back.total(), _finding(change, patch.commit, file, line, file.added[line])
    return None


def _lines(texts: dict[int, str], wanted: Counter[str]) -> list[int]:
    """The numbers of the distinctive lines among `texts` that are `wanted`."""
    stripped = ((line, text.strip()) for line, text in texts.items())
    return [line for line, text in stripped if text in wanted and _is_distinctive(text)]


def _was_in(git_dir: Path, patch: FilePatch, file: ChangedFile, line: int) -> bool:
    """Whether the fix removed a line from the function to which it returns, as far as that can be
    told: by the file as the fix left it."""
    if file.head_tree is None:
        return True
    text = file.head_lines[line - 1].strip()
    at = [hunk.new_start for hunk in patch.hunks if text in map(str.strip, hunk.removed)]
    tree = parse_python(read_blob(git_dir, patch.commit.id, patch.path) or "")
    now = _function(file.head_tree, line)
    # A hunk that only removes starts at the line before it: the function may begin on the next.
    places = (n for start in at for n in (start, start + 1))
    return tree is not None and now != "" and any(_function(tree, n) == now for n in places)


def _function(tree: ast.Module, line: int) -> str:
    """The qualified name of the innermost definition around a line; empty for the module."""
    around = (
        (node.lineno, name)
        for name, node in definitions(tree).items()
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    )
    return max(around, default=(0, ""))[1]


def _rewrites(file: ChangedFile, lines: Sequence[int], restored: Counter[str]) -> bool:
    """Whether the change writes other code where it removes the lines of a fix."""
    hunks = {hunk for hunk in map(file.hunk_removing, lines) if hunk is not None}
    written = (text.strip() for hunk in hunks for text in file.added_in(hunk))
    gone = Counter(text.strip() for text in file.removed.values())
    return any(text and text not in restored and text not in gone for text in written)


def _net(removed: Iterable[str], added: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """What is removed and added, without the lines that only move or change their indentation."""
    gone, come = (Counter(text.strip() for text in lines) for lines in (removed, added))
    del gone[""], come[""]
    return gone - come, come - gone


def _is_distinctive(text: str) -> bool:
    """Whether a line tells one commit from others: long enough, three words, no import."""
    if not _MIN_CHARS <= len(text) <= _MAX_CHARS or _COMMON.match(text):
        return False
    words = set(_WORD.findall(text))
    return len(words) >= 3 and any(len(word) >= 5 for word in words)


def _is_fix(commit: Commit) -> bool:
    """Whether the subject of `commit` says that it fixes behaviour."""
    subject = commit.subject
    if _HOLE.search(subject):
        return True
    other = _NO_FIX.search(subject) or _OTHER_WORK.match(subject)
    return bool(_FIX.search(subject)) and not other


def _in_string(tree: ast.Module | None, line: int) -> bool:
    """Whether `line` is inside a string of several lines, such as a docstring."""
    return tree is not None and any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.lineno <= line <= (node.end_lineno or 0) != node.lineno
        for node in ast.walk(tree)
    )


def _finding(change: Change, commit: Commit, file: ChangedFile, line: int, quote: str) -> Finding:
    message = f"Is the fix {_described(commit)} still needed? This change undoes it."
    undo = _UNDO.search(change.title)
    if undo:
        message = f"{message} The title says {undo[0]!r}, so this may be on purpose."
    return rule("history/reverted-fix").finding(
        file,
        line,
        message=message,
        evidence=quote.strip(),
        severity="info" if undo or _UNDO.search(commit.subject) else None,
    )


def _described(commit: Commit) -> str:
    """A commit by id, day and subject, on one line that a terminal can show."""
    return f'{commit.id[:9]} ({commit.date[:10]}, "{_plain(commit.subject)}")'


def _plain(subject: str) -> str:
    return "".join(char if char.isprintable() else " " for char in subject)[:100]
