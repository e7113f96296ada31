"""Reads the old and the new path of a file from its header in a patch."""

from leadhand.tools.git.history import unquoted
from leadhand.tools.patch.pieces import COMBINED
from leadhand.tools.text import path_text

_PREFIXES = {("a", "b"), ("i", "w"), ("c", "i"), ("c", "w"), ("o", "w"), ("1", "2")}


def names(header: list[bytes]) -> tuple[str | None, str | None]:
    """The old and the new path; None if the file does not exist on that side."""
    facts: dict[bytes, bytes] = {}
    for line in header:
        text = line.rstrip(b"\r\n")
        for key in (b"--- ", b"+++ ", b"rename from ", b"rename to ", b"copy from ", b"copy to "):
            if text.startswith(key):
                facts[key.strip()] = unquoted(text[len(key) :].split(b"\t", 1)[0])
    old, new = facts.get(b"---"), facts.get(b"+++")
    if old is None or new is None:
        old, new = _git_names(header[0])
    kinds = [line.split(b" ", 2)[:2] for line in header]
    if [b"new", b"file"] in kinds:
        old = b"/dev/null"
    if [b"deleted", b"file"] in kinds:
        new = b"/dev/null"
    before, after = _without_prefixes(_side(old), _side(new))
    source, target = facts.get(b"rename from"), facts.get(b"rename to")
    source, target = source or facts.get(b"copy from"), target or facts.get(b"copy to")
    return (
        path_text(source) if source else before,
        path_text(target) if target else after,
    )


def _git_names(line: bytes) -> tuple[bytes, bytes]:
    """Both names of a `diff --git` line, which differ only in their prefix."""
    names = line.rstrip(b"\r\n").removeprefix(b"diff --git ")
    if names.startswith(COMBINED):
        name = unquoted(names.split(b" ", 2)[2])
        return name, name
    half = len(names) // 2
    return unquoted(names[:half]), unquoted(names[half + 1 :])


def _side(name: bytes) -> str | None:
    return None if name == b"/dev/null" else path_text(name)


def _without_prefixes(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    pair = (old or "a/")[:2], (new or "b/")[:2]
    letters = (pair[0][0], pair[1][0])
    one_sided = old is None or new is None
    if all(part.endswith("/") for part in pair) and (
        letters in _PREFIXES or (one_sided and (letters[0] == "a" or letters[1] == "b"))
    ):
        return old and old[2:], new and new[2:]
    return old, new
