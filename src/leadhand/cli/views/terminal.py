"""What the command line writes: in ASCII where a stream lacks characters, without commands."""

import json
import sys
from typing import TextIO

from leadhand.untrusted.terminal import InertText
from leadhand.untrusted.terminal import inert as inert
from leadhand.untrusted.terminal import inert_html as inert_html
from leadhand.untrusted.terminal import safe as safe
from leadhand.untrusted.terminal import safe_block as safe_block
from leadhand.untrusted.terminal import sentence as sentence

MARKS: dict[str, tuple[str, str]] = {
    "pending": ("·", "dim"),
    "running": ("●", "cyan"),
    "completed": ("✓", "green"),
    "escalated": ("▲", "yellow"),
    "failed": ("✗", "red"),
    "timed_out": ("✗", "red"),
    "cancelled": ("✗", "yellow"),
    "skipped": ("-", "yellow"),
}
ASCII = {"✓": "+", "✗": "x", "▲": "!", "●": "*", "·": "-", "•": "*", "→": ">", "┄": "~"}
"""The marks for terminals that can't show them."""


def encodable(text: str, encoding: str) -> str:
    """`text` with characters that `encoding` lacks as escapes, so that printing can't fail."""
    return text.encode(encoding, "backslashreplace").decode(encoding)


def inert_json(data: object, *, indent: int | None = None) -> str:
    """`data` as JSON in ASCII, in which no runner reads a command."""
    return json.dumps(data, indent=indent).replace("##[", "##\\u005b")


def print_json(data: object) -> None:
    """Print JSON in ASCII, without workflow commands."""
    sys.stdout.write(f"{inert_json(data, indent=2)}\n")


class InertStream:
    """A stream that writes `inert` text, in ASCII if its encoding lacks marks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        marks = "".join(ASCII)
        lacks = encodable(marks, stream.encoding or "utf-8") != marks
        self._drawn = str.maketrans(ASCII if lacks else {})
        self._inert = InertText()

    def write(self, text: str) -> int:
        self._stream.write(self._inert.next(text).translate(self._drawn))
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
