"""Reads a tree by object id, through our own bare repository and within limits of size and time."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from leadhand.errors import ToolError
from leadhand.tools.git.process import checked_id, missing_objects_error, run_git, stream_git
from leadhand.tools.text import is_binary, is_safe_path, path_text, plain_text
from leadhand.untrusted.cutting import cut

_LINE_CHARS = 1000
_WORDS_A_PATTERN = 200
_FEW_WORDS = 4
_SPECIAL = re.compile(r"[][\\^$.|?*+(){}]")
_REGULAR = (b"100644", b"100755", b"100664")
_FEW_PATHS = 100
_FILE_BYTES = 1 << 20


def grep(
    git_dir: Path,
    tree: str,
    words: Sequence[str],
    *,
    pathspecs: Sequence[str] = ("*.py",),
    max_hits: int = 10_000,
    timeout_s: float = 30.0,
) -> list[tuple[str, int, str]]:
    """(path, line, text) of each line with one of `words` as a whole word, by path and line.

    Words are fixed strings; `pathspecs` are git's (`*` also matches `/`). Text is cut at 1,000
    characters. One process.
    """
    wanted = [word for word in dict.fromkeys(words) if word and "\n" not in word]
    if not wanted:
        return []
    # Git matches one pattern with many branches ten times faster than as many fixed strings.
    kind, patterns = ("-F", wanted) if len(wanted) <= _FEW_WORDS else ("-E", _branches(wanted))
    args = ("grep", "-z", "-n", "-I", kind, "-w", "--no-textconv", "--no-color", "--full-name")
    stdin = "\n".join(patterns).encode("utf-8", "replace") + b"\n"
    hits: list[tuple[str, int, str]] = []
    with stream_git(
        git_dir, *args, "-f", "-", checked_id(tree), "--", *pathspecs,
        stdin=stdin, timeout_s=timeout_s, ok=(0, 1),
    ) as found:  # fmt: skip
        for path, line, text in _hits(found, len(tree) + 1):
            hits.append((path_text(path), line, cut(plain_text(text), _LINE_CHARS)))
            if len(hits) >= max_hits:
                break
    return hits


def list_tree(git_dir: Path, tree: str, *, max_paths: int = 200_000) -> list[str]:
    """The paths of the regular files, in git's order."""
    return [path for path, _, _ in _entries(git_dir, tree, ())][:max_paths]


def read_blob(git_dir: Path, tree: str, path: str, max_bytes: int = 1 << 20) -> str | None:
    """The text of the file at `path`; `None` if it is no regular text file or above `max_bytes`."""
    return read_blobs(git_dir, tree, (path,), max_bytes).get(path)


def read_blobs(
    git_dir: Path,
    tree: str,
    paths: Iterable[str],
    max_bytes: int = 1 << 20,
    *,
    total_bytes: int = 1 << 28,
) -> dict[str, str]:
    """Path -> text of those that are regular text files of at most `max_bytes`; two processes."""
    wanted = {path for path in paths if is_safe_path(path)}
    few = sorted(wanted) if len(wanted) <= _FEW_PATHS else ()
    if not wanted:
        return {}
    ids: dict[str, str] = {}
    room = total_bytes
    for path, oid, size in _entries(git_dir, tree, few):
        if path in wanted and size <= min(max_bytes, room):
            ids[path] = oid
            room -= size
    texts = {oid: data for oid, data in objects(git_dir, set(ids.values())) if not is_binary(data)}
    return {path: plain_text(texts[oid]) for path, oid in ids.items() if oid in texts}


def objects(git_dir: Path, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """(id, content) in order, from one process. Callers check existence and sizes."""
    wanted = [checked_id(oid) for oid in ids]
    if not wanted:
        return
    stdin = "\n".join(wanted).encode() + b"\n"
    with stream_git(
        git_dir, "cat-file", "--batch", "--buffer", stdin=stdin, timeout_s=120.0
    ) as answers:
        for oid in wanted:
            content = read_answer(answers)
            if content is None:
                break
            yield oid, content[2]
        else:
            return
    raise ToolError("git cat-file ended before it had given every object")


def files_at(git_dir: Path, places: Iterable[tuple[str, str]]) -> list[bytes | None]:
    """The contents at `places` (tree, path), from one process; `None` if missing or too large."""
    names = [f"{checked_id(tree)}:{path}" for tree, path in places]
    stdin = "".join(f"{name}\n" for name in names).encode()
    found: list[bytes | None] = []
    with stream_git(git_dir, "cat-file", "--batch", stdin=stdin) as answers:
        for _ in names:
            _, kind, size = (*answers.readline().rsplit(b" ", 2), b"", b"")[:3]
            if not size.strip().isdigit():  # it is missing
                found.append(None)
                continue
            left = int(size) + 1
            content = b""
            while left > 0 and (part := answers.read(min(left, _FILE_BYTES + 1))):
                content = content or part
                left -= len(part)
            fits = kind == b"blob" and int(size) <= _FILE_BYTES
            found.append(content[: int(size)] if fits else None)
    return found


def sizes(git_dir: Path, ids: Iterable[str]) -> dict[str, int]:
    """Object id -> size in bytes, from one process. Raises `InputError` if one is missing."""
    wanted = [checked_id(oid) for oid in ids]
    if not wanted:
        return {}
    stdin = "\n".join(wanted).encode() + b"\n"
    answers = run_git(git_dir, "cat-file", "--batch-check", "--buffer", stdin=stdin)
    found: dict[str, int] = {}
    for answer in answers.decode("ascii", errors="replace").splitlines():
        oid, _, rest = answer.partition(" ")
        if rest == "missing":
            raise missing_objects_error(f"object {oid} is")
        found[oid] = int(rest.rpartition(" ")[2])
    return found


def read_answer(answers: IO[bytes], max_bytes: int = 1 << 30) -> tuple[str, str, bytes] | None:
    """The next (id, type, content), `None` at the end. Raises `ToolError` above `max_bytes`."""
    header = answers.readline()
    if not header.endswith(b"\n"):
        return None
    name, _, rest = header.decode("utf-8", errors="replace").rstrip("\n").rpartition(" ")
    if rest in ("missing", "ambiguous"):
        raise missing_objects_error(f"object {name[:80]} is")
    oid, _, kind = name.partition(" ")
    if int(rest) > max_bytes:
        raise ToolError(f"the {kind} {oid} has {int(rest):,} bytes; is the repository damaged?")
    content = answers.read(int(rest))
    answers.read(1)
    return oid, kind, content


def _entries(git_dir: Path, tree: str, paths: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    args = ("ls-tree", "-r", "-z", "-l", "--full-tree", checked_id(tree), "--", *paths)
    listing = run_git(git_dir, *args, extra={"GIT_LITERAL_PATHSPECS": "1"})
    for entry in listing.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        parts = facts.split()
        if len(parts) == 4 and parts[0] in _REGULAR and parts[3].isdigit():
            yield path_text(path), parts[2].decode("ascii"), int(parts[3])


def _branches(words: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(words), _WORDS_A_PATTERN):
        some = words[start : start + _WORDS_A_PATTERN]
        yield "(" + "|".join(_SPECIAL.sub(r"\\\g<0>", word) for word in some) + ")"


def _hits(found: IO[bytes], prefix: int) -> Iterator[tuple[bytes, int, bytes]]:
    """Parse `<tree>:<path> NUL <line> NUL <text> LF` records; a path may have line ends."""
    pending = b""
    for line in found:
        pending += line
        if pending.count(b"\0") >= 2:
            path, number, text = pending.split(b"\0", 2)
            yield path[prefix:], int(number), text.rstrip(b"\n")
            pending = b""
