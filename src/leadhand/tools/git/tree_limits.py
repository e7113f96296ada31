"""Limits trees that have far more paths than objects, or are nested too deep (F42).

Ten levels of trees with ten equal entries take a few hundred bytes and have 10^10 paths; a chain of
20,000 trees overflows git's stack. So distinct objects are measured before git walks a tree, and a
copy leaves out what exceeds the limits.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from leadhand.errors import InputError, ToolError
from leadhand.tools.git.files import object_id, write_object
from leadhand.tools.git.process import conversation
from leadhand.tools.git.trees import read_answer
from leadhand.tools.text import path_text

MAX_DEPTH = 400
"""The maximum nesting of folders; git and this module walk them by recursion."""
CUT_DEPTH = 50
"""The depth at which a longer chain of folders is cut off, to keep what is beside it."""
MAX_PATHS = 200_000
REPEATS = 10
"""A tree repeats itself if it has more than `MAX_PATHS` paths, and so many times more paths than
entries in its distinct trees."""
KEPT_PATHS = 1000
"""Paths kept of a tree that repeats itself."""
MAX_TREES = 20_000
"""Distinct trees that are read. For larger ones only the limits of git's processes apply."""
_MAX_TREE_BYTES = 32 << 20
_AT_ONCE = 100
"""Requests that are written before reading their answers; they fit into a pipe."""
_FOLDER = b"40000"
_MODE = re.compile(rb"[0-7]{5,6}\Z")


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: bytes
    name: bytes
    id: str


Trees = Mapping[str, tuple[_Entry, ...]]


def limited_tree(git_dir: Path, tree: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The id of `tree`, or of a copy that git can walk, and (path, why) of what the copy lacks."""
    root, trees = _read(git_dir, tree)
    refused = {id for id, entries in trees.items() if any(map(_is_malformed, entries))}
    paths, heights = _measured(root, trees, refused)
    entries = sum(len(found) for found in trees.values())
    repeats = paths[root] > MAX_PATHS and paths[root] > REPEATS * entries
    if root in refused or (not repeats and heights[root] <= MAX_DEPTH):
        return tree, ()
    cut = _Cut(
        git_dir, trees, paths, heights, refused, max_paths=KEPT_PATHS if repeats else paths[root]
    )
    return cut.copy(root, b"", 1), tuple(cut.left_out)


def _read(git_dir: Path, tree: str) -> tuple[str, Trees]:
    """The root's id, and the distinct trees below it."""
    trees: dict[str, tuple[_Entry, ...]] = {}
    with conversation(git_dir, "cat-file", "--batch") as (requests, answers):
        level = dict(_contents(requests, answers, [f"{tree}^{{tree}}"]))
        root = next(iter(level), tree)
        while level and len(trees) < MAX_TREES:
            trees |= {id: tuple(_entries(found, len(id))) for id, found in level.items()}
            below = {
                entry.id for id in level for entry in trees[id] if entry.mode == _FOLDER
            } - trees.keys()
            level = dict(_contents(requests, answers, sorted(below)))
    return root, trees


def _contents(
    requests: IO[bytes], answers: IO[bytes], names: list[str]
) -> Iterator[tuple[str, bytes]]:
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        requests.write("".join(f"{name}\n" for name in some).encode())
        requests.flush()
        for name in some:
            with contextlib.suppress(InputError):  # git reports missing objects when it needs them
                found = read_answer(answers, max_bytes=_MAX_TREE_BYTES)
                if found is None:
                    raise ToolError(f"git cat-file ended before it gave the tree {name}")
                yield found[0], found[2]


def _entries(content: bytes, id_digits: int) -> Iterator[_Entry]:
    """The entries of a tree object, up to the first malformed one."""
    place, id_bytes = 0, id_digits // 2
    while (end := content.find(b"\0", place)) > 0:
        mode, _, name = content[place:end].partition(b" ")
        place = end + 1 + id_bytes
        yield _Entry(mode, name, content[end + 1 : place].hex())


def _is_malformed(entry: _Entry) -> bool:
    return not (_MODE.match(entry.mode) and entry.name and len(entry.id) in (40, 64))


def _measured(root: str, trees: Trees, refused: Set[str]) -> tuple[dict[str, int], dict[str, int]]:
    """By tree id: its number of paths, and its depth. Trees that git refuses count as too deep."""
    paths: dict[str, int] = {}
    heights: dict[str, int] = {}
    open_trees = [root]
    while open_trees:
        id = open_trees[-1]
        below = [entry.id for entry in trees.get(id, ()) if entry.mode == _FOLDER]
        if unmeasured := [other for other in below if other not in paths]:
            open_trees += unmeasured
            continue
        open_trees.pop()
        files = len(trees.get(id, ())) - len(below)
        paths[id] = files + sum(paths[other] for other in below)
        heights[id] = 1 + max((heights[other] for other in below), default=0)
        if id in refused:
            heights[id] += MAX_DEPTH
    return paths, heights


class _Cut:
    def __init__(
        self,
        git_dir: Path,
        trees: Trees,
        paths: Mapping[str, int],
        heights: Mapping[str, int],
        refused: Set[str],
        *,
        max_paths: int,
    ) -> None:
        self._git_dir = git_dir
        self._trees = trees
        self._paths = paths
        self._heights = heights
        self._refused = refused
        self._room = max_paths
        self.left_out: list[tuple[str, str]] = []

    def copy(self, id: str, path: bytes, depth: int) -> str:
        """A copy of the tree at `path`, with as many paths as there is room for."""
        if self._heights[id] + depth <= MAX_DEPTH and self._paths[id] <= self._room:
            self._room -= self._paths[id]
            return id
        kept: list[_Entry] = []
        # Files and small folders first, so that a bomb among them does not take their room.
        order = sorted(self._trees[id], key=lambda entry: self._paths.get(entry.id, 0))
        for entry in order:
            name = path + entry.name
            if entry.mode != _FOLDER:
                kept.append(entry)
                self._room -= 1
            elif entry.id in self._refused:
                why = "a folder that git refuses to read: it is malformed"
                self.left_out.append((path_text(name + b"/"), why))
            elif self._heights[entry.id] + depth > MAX_DEPTH and depth >= CUT_DEPTH:
                why = f"nested more than {MAX_DEPTH:,} folders deep"
                self.left_out.append((path_text(name + b"/"), why))
            elif self._room <= 0:
                why = f"a tree that repeats itself: more than {KEPT_PATHS:,} paths of it"
                self.left_out.append((path_text(name + b"/"), why))
            else:
                copied = self.copy(entry.id, name + b"/", depth + 1)
                kept.append(_Entry(entry.mode, entry.name, copied))
        kept.sort(key=lambda entry: entry.name + (b"/" if entry.mode == _FOLDER else b""))
        return self._write(kept, sha256=len(id) == 64)

    def _write(self, entries: list[_Entry], *, sha256: bool) -> str:
        content = b"".join(
            entry.mode + b" " + entry.name + b"\0" + bytes.fromhex(entry.id) for entry in entries
        )
        whole = b"tree %d\0" % len(content) + content
        id = object_id(whole, sha256=sha256)
        write_object(self._git_dir, id, whole)
        return id
