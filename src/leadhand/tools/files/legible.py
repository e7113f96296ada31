"""Decodes and cleans untrusted bytes into text that is safe to show and cite; pure (F07)."""

import codecs
import re
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 before UTF-16, whose byte order mark is a prefix of it."""

_UNFIT: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_DROPPED: Final = (0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0xFEFF)
_TABLE: Final[dict[int, str | None]] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x0B: " ",
    0x0C: " ",
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    0x85: " ",
    0x2028: " ",
    0x2029: " ",
    **dict.fromkeys((*_DROPPED, *range(0x202A, 0x202F), *range(0x2060, 0x206A)), None),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    **dict.fromkeys((*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)), None),
}


def decoded(data: bytes) -> str:
    """`data` as text by its byte order mark, else UTF-8 (a cut end is dropped), else Latin-1."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return data.decode("latin-1")


def cleaned(text: str) -> str:
    """`text` with `
    ` line ends and only visible characters.

    Control characters become pictures (`␀`, `␛`), invisible and bidirectional marks are removed,
    invalid characters become U+FFFD.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_TABLE) if _UNFIT.search(text) else text
