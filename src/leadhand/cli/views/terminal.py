"""Makes text that others wrote fit to print on a terminal, in a log line or in a report.

File names, code, messages and what workers return may hold anything: sequences that recolour or
retitle the terminal, write the clipboard or forge links, characters that turn the reading order
round or take no room. None of it is sent on; all of it stays visible, since in a review an
invisible character is news.
"""

import unicodedata

_INVISIBLE = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE0E))
    | set(range(0xE0100, 0xE01F0))
)
"""What Unicode counts as printable and a screen shows as nothing: fillers and most variation
selectors (the two that choose between text and emoji are left alone)."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def safe(text: str) -> str:
    """`text` as one line in which control, format and invisible characters are shown as escapes.

    Covers ANSI and OSC sequences (their escape character is shown, so they do nothing), C1
    controls, bidirectional marks, zero-width characters, line and paragraph separators, lone
    surrogates, private and unassigned code points.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def safe_block(text: str) -> str:
    """Like `safe`, but line ends stay and a tab becomes four spaces: for code and paragraphs."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(safe(line.replace("\t", "    ")) for line in lines)


def sentence(text: str) -> str:
    """Like `safe`, with every run of white space made one space: for prose in one paragraph."""
    return safe(" ".join(text.split()))


def encodable(text: str, encoding: str) -> str:
    """`text` with whatever `encoding` lacks shown as escapes, so that printing it can't fail."""
    return text.encode(encoding, "backslashreplace").decode(encoding)


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
