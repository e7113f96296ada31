"""Makes untrusted text safe to print on a terminal, in a log line or in a report. Pure.

Escape sequences recolour or retitle the terminal, write the clipboard or forge links; characters
are invisible or reverse the reading order. All are shown as escapes: in a review they matter.
"""

import re
import unicodedata

_INVISIBLE = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE0E))
    | set(range(0xE0100, 0xE01F0))
)
"""Characters that Unicode counts as printable and a screen does not show: fillers and variation
selectors, except the two that choose between text and emoji."""

_COMMAND = re.compile(r"((?:^|[\r\n])[^\S\r\n]*:)(?=:)|(##)(?=\[)")
"""What a runner of GitHub Actions reads as a command: `::` at the start of a line, or `##[`."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def safe(text: str) -> str:
    """`text` as one line in which control, format and invisible characters are escapes.

    Covers ANSI and OSC sequences, C1 controls, bidirectional marks, zero-width characters, line and
    paragraph separators, lone surrogates, private and unassigned code points.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def safe_block(text: str) -> str:
    """`safe` for code and paragraphs: line ends stay, and a tab becomes four spaces."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(safe(line.replace("\t", "    ")) for line in lines)


def sentence(text: str) -> str:
    """`safe` for a sentence: white space of any length becomes one space."""
    return safe(" ".join(text.split()))


def inert(text: str) -> str:
    """`text` with a space in what a runner of GitHub Actions would read as a command."""
    return _COMMAND.sub(r"\g<0> ", text)


def inert_html(page: str) -> str:
    """A page, or a piece of one, in which no runner reads a command; it means the same."""
    return _COMMAND.sub(lambda match: f"{match[0][:-1]}&#{ord(match[0][-1])};", page)


class InertText:
    def __init__(self) -> None:
        self._line = ""
        """The line so far, or a part of it that tells as much about a command."""

    def next(self, piece: str) -> str:
        whole = inert(self._line + piece)
        added = whole[len(self._line) :]
        line = re.split(r"[\r\n]", whole)[-1]
        self._line = line if line.strip() in ("", ":") else f".{line[-2:]}"
        return added


def _shown(character: str) -> str:
    code = ord(character)
    if code not in _INVISIBLE and (
        character.isprintable() or unicodedata.category(character) == "Zs"
    ):
        return character
    if character in _SHORT:
        return _SHORT[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
