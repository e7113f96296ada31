"""Fixes that a change undoes: the reverse patch of an earlier commit, as `git revert` makes it.

The fix must have added lines; `reintroduced` finds what a fix only removed. Each file counts by
itself, since a change that breaks a fix keeps its tests more often than not.
Two git processes for any number of files: which fixes touched them, and the patches of the latest.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from leadhand.extension.findings import Finding
from leadhand.tools.git import Commit, FilePatch, log, log_patches
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lenses.history.reintroduced import (
    described,
    in_string,
    is_distinctive,
    is_fix,
    says_undo,
)
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import is_code

REVERTED = rule("history/reverted-fix")

MAX_COMMITS = 2_000
"""Commits that change one of the files, of which fixes are chosen."""
MAX_FIXES = 100
_MAX_FILES = 200
_TIMEOUT_S = 5.0
_MAX_BYTES = 16 << 20
_UNDONE = 0.9
"""The least share of a fix's lines in a file that the change undoes."""


def reverted(change: Change, files: Sequence[ChangedFile], found: set[str]) -> Iterator[Finding]:
    """One finding for each fix that `files` undo; adds their ids to `found`.

    Raises `GitTimeout`.
    """
    wanted = {
        file.path: file
        for file in files
        if is_code(file.path) and file.hunks and file.status in ("modified", "renamed")
    }
    if change.git_dir is None or change.history is None or not 0 < len(wanted) <= _MAX_FILES:
        return
    commits = log(
        change.git_dir,
        change.history,
        max_count=MAX_COMMITS,
        paths=sorted(wanted),
        timeout_s=_TIMEOUT_S,
    )
    fixes = [one.id for one in commits if is_fix(one)][:MAX_FIXES]
    if not fixes:
        return
    undone: dict[str, tuple[int, Commit, ChangedFile, int]] = {}
    for patch in log_patches(
        change.git_dir,
        *fixes,
        max_count=len(fixes),
        paths=sorted(wanted),
        timeout_s=_TIMEOUT_S,
        max_bytes=_MAX_BYTES,
        walk=False,
    ):
        file, commit = wanted.get(patch.path), patch.commit
        if file is not None and (place := _undone(patch, file)):
            count, line = place
            if commit.id not in undone or undone[commit.id][0] < count:
                undone[commit.id] = count, commit, file, line
    for _, commit, file, line in undone.values():
        found.add(commit.id)
        yield _finding(change, commit, file, line)


def _undone(patch: FilePatch, file: ChangedFile) -> tuple[int, int] | None:
    """How many lines of the fix `file` undoes, and the old line to quote; `None` if it keeps it."""
    removed, added = _net(file.removed.values(), file.added.values())
    their_removed, their_added = _net(
        (text for hunk in patch.hunks for text in hunk.removed),
        (text for hunk in patch.hunks for text in hunk.added),
    )
    back = (their_added & removed) + (their_removed & added)
    if back.total() < _UNDONE * (their_added.total() + their_removed.total()):
        return None
    lines = [
        number
        for number, text in file.removed.items()
        if is_distinctive(text.strip()) and text.strip() in their_added
    ]
    if not lines or _rewrites(file, lines, their_removed):
        return None
    return back.total(), min(lines, key=lambda line: (in_string(file.base_tree, line), line))


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


def _finding(change: Change, commit: Commit, file: ChangedFile, line: int) -> Finding:
    message = f"Is the fix {described(commit)} still needed? This change undoes it."
    undo = says_undo(change.title)
    if undo:
        message = f"{message} The title says {undo!r}, so this may be on purpose."
    hunk = file.hunk_removing(line)
    return REVERTED.finding(
        file,
        hunk.new_line if hunk is not None else line,
        message=message,
        evidence=file.removed[line].strip(),
        severity="info" if undo else None,
    )
