"""Finds the lines that a rule could match, cheaply and before any parsing."""

import re
from collections.abc import Iterator, Mapping

_APART = bytes(
    code if chr(code).isalnum() or code > 127 or code == ord("_") else 32 for code in range(256)
)
"""Replaces the bytes that can't be part of an identifier with spaces."""
_CREDENTIAL = re.compile(r"passw|passphrase|pwd|secret|token|key", re.IGNORECASE)
_ASSIGNED = re.compile(r"\w*(?:['\"]\])?(?:: str)? ?[!=]?= ?b?['\"]")
_ALWAYS = (":@", "(event, context")
"""Empty passwords in URLs, and handlers of AWS Lambda."""


def hinted_lines(text: str, hints: Mapping[str, str]) -> list[int]:
    """The lines of `text`, in order, with one of `hints` or an assigned credential.

    A hint is an identifier and what must follow it directly, if anything (`open(`); `hints` maps
    it to the identifier alone.
    """
    raw = text.encode("utf-8", "replace").translate(_APART)
    known = {word.decode("utf-8", "replace") for word in set(raw.split())}
    wanted = [hint for hint, identifier in hints.items() if identifier in known]
    places = {at for word in (*wanted, *_ALWAYS) for at in offsets(text, word)}
    for word in filter(_CREDENTIAL.search, known):
        places.update(at for at in offsets(text, word) if _ASSIGNED.match(text, at + len(word)))
    return lines_at(text, places)


def offsets(text: str, word: str) -> Iterator[int]:
    """Where `word` starts in `text`."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def lines_at(text: str, places: set[int]) -> list[int]:
    """The lines of `text` that contain the offsets `places`, in order."""
    found: list[int] = []
    line, end = 1, 0
    for place in sorted(places):
        line += text.count("\n", end, place)
        end = place
        if not found or found[-1] != line:
            found.append(line)
    return found
