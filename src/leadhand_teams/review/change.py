"""The change under review as the lenses see it: files, hunks and text, read from a snapshot folder.

`snapshot.py` writes the snapshot once per run; lens processes read it, and keep there what ruff
says. This module does not run git or touch the repository under review. Text files are stored under
numbers instead of their names in the repository, so a hostile path can't reach the file system.
"""

import ast
import contextlib
import functools
import json
import resource
import sys
import threading
import warnings
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from leadhand_teams.review.settings import ChangeSettings
from leadhand_teams.review.syntax import ImportedNames, Tree

Status = Literal["added", "modified", "deleted", "renamed"]


@dataclass(frozen=True, slots=True)
class Hunk:
    """One block of removed and added lines without context. Line numbers count from 1.

    If a side is empty (`old_count` or `new_count` 0), its start is the line *before* the block, as
    in a `-U0` diff.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int

    @property
    def new_line(self) -> int:
        """The first new line of this hunk; if it only removes lines, the line before it."""
        return max(1, self.new_start)

    @property
    def new_end(self) -> int:
        """The last new line of this hunk; if it only removes lines, the line before it."""
        return self.new_start + max(self.new_count, 1) - 1


@dataclass(frozen=True, eq=False)
class ChangedFile:
    """One changed text file: `base` is its text before, `head` after, with `\\n` line ends."""

    folder: Path
    index: int
    path: str
    old_path: str | None
    """The path before, if it differs (a rename)."""
    status: Status
    language: str
    """`python`, `javascript`, ... by ending, else `text`."""
    hunks: tuple[Hunk, ...]
    complete: bool
    """False for a file of a patch: lines outside the hunks are then blank."""
    undecodable: tuple[int, str] | None = None
    """Line and reason if Python can't decode the new text, and could decode the old one."""
    encoding: str | None = None
    """An odd encoding that the new text declares, by which Python may read other code."""

    @property
    def head_file(self) -> Path:
        """The file with the new text, for analysers that take a file; may not exist."""
        return self.folder / "head" / f"{self.index:06d}{suffix(self.path)}"

    @property
    def base_file(self) -> Path:
        """The file with the old text; may not exist."""
        return self.folder / "base" / f"{self.index:06d}{suffix(self.path)}"

    @functools.cached_property
    def head(self) -> str:
        """The whole new text; empty for a deleted file."""
        return _read(self.head_file)

    @functools.cached_property
    def base(self) -> str:
        """The whole old text; empty for an added file."""
        return _read(self.base_file)

    @functools.cached_property
    def head_lines(self) -> list[str]:
        """The new text by line, without line ends; line n is at `[n - 1]`."""
        return self.head.split("\n")

    @functools.cached_property
    def base_lines(self) -> list[str]:
        """The old text by line, without line ends; line n is at `[n - 1]`."""
        return self.base.split("\n")

    @functools.cached_property
    def added(self) -> dict[int, str]:
        """Line number in the new file -> text, for every line that the change adds."""
        return _numbered(self.head_lines, [(one.new_start, one.new_count) for one in self.hunks])

    @functools.cached_property
    def removed(self) -> dict[int, str]:
        """Line number in the old file -> text, for every line that the change removes."""
        return _numbered(self.base_lines, [(one.old_start, one.old_count) for one in self.hunks])

    def touches(self, line: int, end_line: int | None = None) -> bool:
        """Whether the change adds a line in `line..end_line` of the new file."""
        last = end_line if end_line is not None else line
        if last == line:
            return line in self.added
        return any(
            hunk.new_count and hunk.new_start <= last and line < hunk.new_start + hunk.new_count
            for hunk in self.hunks
        )

    def hunk_removing(self, line: int) -> Hunk | None:
        """The hunk that removes `line` of the old file, or `None`."""
        return next((h for h in self.hunks if 0 <= line - h.old_start < h.old_count), None)

    def removed_in(self, hunk: Hunk) -> list[str]:
        """The lines that `hunk` removes, in order."""
        return self.base_lines[hunk.old_start - 1 : hunk.old_start - 1 + hunk.old_count]

    def added_in(self, hunk: Hunk) -> list[str]:
        """The lines that `hunk` adds, in order."""
        return self.head_lines[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_count]

    @property
    def head_tree(self) -> ast.Module | None:
        """The new text parsed as Python; `None` if it is not Python or does not parse."""
        return self._parsed(self.head).module

    @property
    def head_syntax(self) -> Tree:
        """`head_tree` with parents; an empty module if that is `None`."""
        return self._parsed(self.head).tree

    @property
    def head_names(self) -> ImportedNames:
        """What the names in `head_tree` stand for."""
        return self._parsed(self.head).names

    @property
    def base_tree(self) -> ast.Module | None:
        """The old text parsed as Python; `None` if it is not Python or does not parse."""
        return self._parsed(self.base).module

    def _parsed(self, text: str) -> "_Parsed":
        return _CACHE.of(text) if self.language == "python" and self.complete else _Parsed(None)


def unparsed(file: ChangedFile) -> str:
    """Why the new text of a Python file has no tree: only a patch, or this Python refuses it."""
    if not file.complete:
        return "only a patch is available"
    version = ".".join(map(str, sys.version_info[:2]))
    return f"it does not parse as Python {version}, which leadhand runs on"


@dataclass(frozen=True, eq=False)
class Change:
    """A whole change: its title, its two ends, and its files."""

    folder: Path
    title: str
    """The commit's subject, or the requested range, for example `HEAD~1..HEAD`."""
    base: str | None
    """Tree or commit id before; `None` for a patch."""
    head: str | None
    """Tree or commit id after; `None` for a patch."""
    history: str | None
    """The commit id before the change; `None` for a patch or a first commit."""
    git_dir: Path | None
    """leadhand's empty bare repository, which reads the objects of the reviewed one, or `None`."""
    files: tuple[ChangedFile, ...]
    skipped: tuple[tuple[str, str], ...]
    """(path, why) of files without text to review: binary, submodule, too large, mode only."""
    by_path: dict[str, ChangedFile] = field(repr=False)
    cut: str | None = None
    """Why the end of the change was not read; `None` if all of it was."""
    settings: ChangeSettings = field(default_factory=ChangeSettings)

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def load(folder: str) -> "Change":
        """The change in a snapshot folder, cached so that lenses share parsed files."""
        root = Path(folder)
        raw = json.loads((root / "change.json").read_text(encoding="utf-8"))
        files = tuple(
            ChangedFile(
                folder=root, index=n, hunks=tuple(Hunk(*hunk) for hunk in row.pop("hunks")), **row
            )
            for n, row in enumerate(raw["files"])
        )
        return Change(
            folder=root,
            files=files,
            by_path={file.path: file for file in files},
            git_dir=Path(raw["git_dir"]) if raw["git_dir"] else None,
            skipped=tuple((path, why) for path, why in raw["skipped"]),
            settings=ChangeSettings.model_validate(raw.get("settings") or {}),
            **{name: raw.get(name) for name in ("title", "base", "head", "history", "cut")},
        )


def _numbered(lines: list[str], blocks: list[tuple[int, int]]) -> dict[int, str]:
    """Line number -> text, for the blocks (first line, number of lines) of `lines`."""
    numbers = (n for start, count in blocks for n in range(start, start + count))
    return {n: lines[n - 1] for n in numbers if n <= len(lines)}


@contextlib.contextmanager
def without_warnings() -> Generator[None]:
    """A block that shows no warnings about the code that it parses, in one thread at a time."""
    # Filters are of the process: two threads would restore each other's.
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_FILTERS = threading.Lock()


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree of `text`, or `None` if Python can't parse it (syntax, depth).

    Raises `MemoryError` if it may need more memory than this process may take.
    """
    try:
        with without_warnings():
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    except MemoryError:
        if may_exhaust_memory(text):
            raise
        return None


def may_exhaust_memory(text: str) -> bool:
    """Whether parsing `text` may take more memory than this process may.

    Python also raises `MemoryError` for a text that is nested too deeply, whatever its size.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return most != resource.RLIM_INFINITY and len(text) * _MAX_BYTES_PER_CHAR > most


_MAX_BYTES_PER_CHAR = 500
"""The most memory that a tree and what is computed from it take."""


@dataclass(frozen=True)
class _Parsed:
    """A parsed text, and what lenses ask about all of it."""

    module: ast.Module | None

    @functools.cached_property
    def tree(self) -> Tree:
        return Tree(self.module or ast.Module([], []))

    @functools.cached_property
    def names(self) -> ImportedNames:
        return ImportedNames(self.module or ast.Module([], []))


class _Cache:
    """The texts parsed last, with limited memory. Lenses share them."""

    def __init__(self, max_chars: int) -> None:
        """`max_chars` of source are cached; a tree takes some 50 times as much memory."""
        self._max_chars = max_chars
        self._chars = 0
        self._lock = threading.Lock()
        self._parsed: dict[str, _Parsed] = {}

    def of(self, text: str) -> _Parsed:
        """`text` parsed, from the cache if it is there."""
        with self._lock:  # the lenses of a small change are threads of one process
            if text in self._parsed:
                self._parsed[text] = parsed = self._parsed.pop(text)
                return parsed
            self._parsed[text] = parsed = _Parsed(parse_python(text))
            self._chars += len(text)
            while self._chars > self._max_chars and len(self._parsed) > 1:
                oldest = next(iter(self._parsed))
                del self._parsed[oldest]
                self._chars -= len(oldest)
            return parsed


_CACHE = _Cache(max_chars=6 << 20)


def suffix(path: str) -> str:
    """The ending of the stored file for `path`: `.py` and `.pyi` are kept, others become `.txt`."""
    for ending in (".py", ".pyi"):
        if path.endswith(ending):
            return ending
    return ".txt"


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
