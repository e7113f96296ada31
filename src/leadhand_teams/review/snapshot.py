"""Writes the snapshot of a change that the lenses read; `change.py` describes its content.

Only this module reads the repository or the patch under review. Files without text and files beyond
a limit are listed with the reason; nothing is left out silently.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from leadhand.errors import ToolError
from leadhand.tools import git
from leadhand.tools.patch import read_patch
from leadhand.tools.text import (
    ChangedText,
    HunkNumbers,
    SourceText,
    UnreadFile,
    is_binary,
    plain_text,
    python_source,
)
from leadhand_teams.review.change import Change, Status
from leadhand_teams.review.folder import SnapshotFolder, SnapshotLimits
from leadhand_teams.review.languages import language
from leadhand_teams.review.settings import read_settings

DEFAULT_LIMITS = SnapshotLimits()


def write_snapshot(
    folder: Path,
    *,
    repo: Path | None = None,
    revision: str | None = None,
    staged: bool = False,
    worktree: bool = False,
    patch: IO[bytes] | None = None,
    patch_name: str = "a patch",
    limits: SnapshotLimits = DEFAULT_LIMITS,
) -> Change:
    """Write the requested change into `folder`, which is created and must be new.

    The change is in the repository around `repo` or the current folder: `revision` is `A..B`,
    `A...B` or a commit, by default HEAD; `staged` and `worktree` are compared with HEAD. Or it is a
    `patch`. Raises `InputError` if there is nothing to review, and `ToolError` if git is missing or
    fails or the folder can't be written; each message is one line.
    """
    folder = Path(os.path.abspath(folder))
    try:
        target = SnapshotFolder(folder, limits)
        if patch is not None:
            _write_patch(target, patch)
            return target.finish(patch_name)
        repository = git.open_repository(repo or Path(), folder / "git")
        if staged:
            ends = git.staged_range(repository)
        elif worktree:
            ends = git.worktree_range(repository)
        else:
            ends = git.resolve_range(repository, revision)
        ends = _bounded(repository, ends)
        target.settings = read_settings(repository.git_dir, ends.base, ends.head)
        for path, why in ends.skipped:
            target.skip(path, why)
        for text in _texts(repository, ends, target):
            target.add(text)
        return target.finish(ends.title, ends, repository.git_dir)
    except OSError as error:
        raise ToolError(
            f"can't take a snapshot in {folder}: {(error.strerror or str(error)).lower()}; "
            "make room there, or name another folder with TMPDIR"
        ) from error


def _bounded(repository: git.Repository, ends: git.RevisionRange) -> git.RevisionRange:
    """`ends` with trees that git can read; what had to be left out of them is skipped."""
    base, not_before = git.limited_tree(repository.git_dir, ends.base)
    head, not_after = git.limited_tree(repository.git_dir, ends.head)
    skipped = dict((*ends.skipped, *not_before, *not_after))
    return replace(ends, base=base, head=head, skipped=tuple(skipped.items()))


_SHEBANG_BYTES = 200
_LONE_RETURN = re.compile(rb"\r(?!\n)")


def _write_patch(target: SnapshotFolder, patch: IO[bytes]) -> None:
    for item in _in_time(target, read_patch(patch, max_piece_bytes=target.limits.file_bytes)):
        if isinstance(item, UnreadFile):
            target.skip(*item)
            continue
        sides = [side for side in (item.base, item.head) if side is not None]
        # Characters instead of bytes: close enough for a limit, without encoding twice.
        why = target.refusal(item.path, *(len(side) for side in sides))
        if why is None:
            target.add(_decoded(item))
        else:
            target.skip(item.path, why)


def _decoded(item: ChangedText) -> ChangedText:
    """A new Python file of a patch as Python reads it."""
    if item.status != "added" or not item.head or language(item.path, item.head) != "python":
        return item
    read = python_source(item.head.encode("utf-8", "surrogatepass"))
    if read.encoding is None:
        return item
    return replace(
        item,
        head=read.text,
        hunks=(_whole("", read.text),),
        encoding=read.encoding,
        undecodable=read.undecodable,
    )


def _in_time(
    target: SnapshotFolder, items: Iterator[ChangedText | UnreadFile]
) -> Iterator[ChangedText | UnreadFile]:
    """Yield `items` until time is up, and then record why the rest is missing.

    Raises `OutOfTime` if none was read.
    """
    is_first = True
    try:
        for item in items:
            yield item
            is_first = False
    except git.OutOfTime as error:
        if is_first:
            raise
        target.cut = str(error)


def _texts(
    repository: git.Repository, ends: git.RevisionRange, target: SnapshotFolder
) -> Iterator[ChangedText]:
    """The texts that differ between the ends, from three git processes for any number of files."""
    limits = git.DiffLimits(files=target.limits.files, hunks=target.limits.hunks)
    differences, more = git.compare(repository.git_dir, ends.base, ends.head, limits=limits)
    target.skip_unnamed(more)
    links = {git.SYMLINK, git.SUBMODULE}
    regular = [one for one in differences if links.isdisjoint((one.old_mode, one.new_mode))]
    size = git.sizes(repository.git_dir, {oid for item in regular for oid in item.ids})
    wanted: list[git.Difference] = []
    for item in differences:
        why = _why_no_text(item, size, target)
        if why is None:
            wanted.append(item)
        else:
            target.skip(item.path, why)
    contents = git.objects(repository.git_dir, [oid for item in wanted for oid in item.ids])
    for item in wanted:
        old = next(contents)[1] if item.old_mode != git.NO_FILE else None
        new = next(contents)[1] if item.new_mode != git.NO_FILE else None
        python = _is_python(item)
        if not python and (is_binary(old or b"") or is_binary(new or b"")):
            target.skip(item.path, "binary")
        elif python and new is not None and _LONE_RETURN.search(new):
            # Lines for Python and not for git: what is on them could hide in a comment.
            target.skip(item.path, "has lines that end in a carriage return alone")
        else:
            yield _changed(item, old, new)


def _changed(item: git.Difference, old: bytes | None, new: bytes | None) -> ChangedText:
    """The two texts of `item` as Python reads them, if it is Python."""
    first = plain_text((new or old or b"")[:_SHEBANG_BYTES])
    read = python_source if language(item.path, first) == "python" else _as_text
    base, head = read(old or b""), read(new or b"")
    hunks = item.hunks
    shown = ((old or b"", base), (new or b"", head))
    if not hunks or any(_lines(plain_text(data)) != _lines(one.text) for data, one in shown):
        # Git does not compare it, or compares other lines than those that Python sees.
        hunks = [_whole(base.text, head.text)]
    declared = head.encoding if head.hides or head.encoding != base.encoding else None
    return ChangedText(
        path=item.path,
        old_path=item.old_path,
        status=_status(item),
        base=None if old is None else base.text,
        head=None if new is None else head.text,
        hunks=tuple(hunks),
        complete=True,
        undecodable=None if base.undecodable else head.undecodable,
        encoding=declared,
    )


def _as_text(data: bytes) -> SourceText:
    return SourceText(plain_text(data))


def _is_python(item: git.Difference) -> bool:
    """Whether Python would read the file: then bytes that make it binary are an error."""
    return item.path.endswith((".py", ".pyi", ".pyw")) and item.new_mode != git.NO_FILE


def _whole(old: str, new: str) -> HunkNumbers:
    """One hunk of all lines."""
    before, after = _lines(old), _lines(new)
    return min(before, 1), before, min(after, 1), after


def _lines(text: str) -> int:
    return text.removesuffix("\n").count("\n") + 1 if text else 0


def _status(item: git.Difference) -> Status:
    if item.old_mode == git.NO_FILE:
        return "added"
    if item.new_mode == git.NO_FILE:
        return "deleted"
    return "renamed" if item.old_path else "modified"


def _why_no_text(item: git.Difference, size: dict[str, int], target: SnapshotFolder) -> str | None:
    """Why `item` has no text to review; if `None`, it counts towards the limits of `target`."""
    if git.SUBMODULE in (item.old_mode, item.new_mode):
        return "submodule"
    if git.SYMLINK in (item.old_mode, item.new_mode):
        return "symbolic link"
    both = [size[oid] for oid in item.ids]
    if item.binary and max(both) <= target.limits.file_bytes and not _is_python(item):
        return "binary"
    if item.too_many_hunks:
        return "changed in too many places"
    if not item.hunks and not item.binary:
        if item.old_id == item.new_id:
            return "renamed without a change" if item.old_path else "only its mode changed"
        return "only its line ends changed" if any(both) else "an empty file"
    settings = target.settings
    # A change can't exclude a file by moving it to another folder.
    if all(settings.used.excludes(path) for path in (item.path, item.old_path or item.path)):
        return f"excluded by {settings.base.file}"
    return target.refusal(item.path, *both)
