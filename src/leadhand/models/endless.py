"""Notices an answer that never ends, such as blank lines or repeated words, as it is written.
Pure."""

import re
from dataclasses import dataclass, field

MAX_IDLE_CHARS = 2_000
"""Characters of white space, or of one repeated phrase, after which an answer is cut off."""
MAX_BLANK_PIECES = 300
"""So many pieces of white space in a row are as good: often a piece is one line break, and 2,000
take a small model minutes."""
_REPEATS = 3
"""A phrase is repeated if these characters have it at least so often."""
_COMPARED = 64
_JSON = "{[`<"
_MARK = re.compile(r'\\.|["\n]', re.DOTALL)


@dataclass(slots=True)
class _Stretch:
    """The end of one part of a response, since the last JSON string in it."""

    text: str = ""
    is_json: bool | None = None
    """Whether quotes in it mark strings; None before its first visible character."""
    quoted: bool = False
    blanks: int = 0
    held: str = ""
    """A backslash at the end of a piece, which belongs to the next character."""

    def idles(self, piece: str) -> bool:
        if self.is_json is None and (visible := piece.lstrip()):
            self.is_json = visible[0] in _JSON
        self.blanks = self.blanks + 1 if piece.isspace() and not self.quoted else 0
        self._add(self.held + piece)
        if self.blanks == MAX_BLANK_PIECES:
            return True
        tail = self.text = self.text[-MAX_IDLE_CHARS:]
        return len(tail) == MAX_IDLE_CHARS and (tail.isspace() or _repeats(tail))

    def _add(self, piece: str) -> None:
        self.held, start = "", 0
        if not self.is_json:
            self.text += piece
            return
        if (len(piece) - len(piece.rstrip("\\"))) % 2:
            piece, self.held = piece[:-1], "\\"
        for mark in _MARK.finditer(piece):
            # A line break ends a string: JSON has none in strings, and prose has odd quotes.
            if mark[0] == '"' or (mark[0] == "\n" and self.quoted):
                self.quoted, self.text = not self.quoted, ""
                start = mark.end()
        if not self.quoted:
            self.text += piece[start:]


def _repeats(tail: str) -> bool:
    end = tail[-_COMPARED:]
    before = tail.rfind(end, 0, -1)
    period = len(tail) - _COMPARED - before
    return before >= 0 and period <= len(tail) // _REPEATS and tail[period:] == tail[:-period]


@dataclass(slots=True)
class Endless:
    """Watches one response, part by part."""

    _parts: dict[int, _Stretch] = field(default_factory=dict[int, _Stretch])
    _calls: bool = False
    cut: bool = False
    chars: int = 0

    def seen(self, part: int, piece: str, *, in_call: bool = False) -> bool:
        """Whether the response is to be cut off after `piece`. Words do not count once a tool
        call has begun: it may still be coming."""
        self.chars += len(piece)
        self._calls = self._calls or in_call
        if self._calls and not in_call:
            return False
        self.cut = self.cut or self._parts.setdefault(part, _Stretch()).idles(piece)
        return self.cut


def is_endless(text: str) -> bool:
    """Whether a text that came to its limit had no end."""
    blanks = len(text) - len(text.rstrip())
    return blanks >= MAX_BLANK_PIECES or Endless().seen(0, text)
