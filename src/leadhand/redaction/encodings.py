"""Decodes text that JSON, URLs or base64 encode, and maps positions back. Knows no secrets."""

import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]

_PLACEHOLDER = "\ufdd0"
"""A noncharacter: Unicode reserves it for internal use, so text does not contain it."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding that writes some characters as longer tokens and leaves the others unchanged."""

    mark: str
    """Part of every token: text without it needs no decoding."""
    token: re.Pattern[str]
    decoded: Callable[[re.Match[str]], str]
    """The character that a token encodes, or an empty string."""
    short: tuple[tuple[str, str], ...] = ()
    """The tokens of two characters, which begin with `mark`, and what each encodes."""

    def undo(self, text: str) -> str:
        """`text` itself if nothing in it is encoded."""
        if self.mark not in text:
            return text
        if not self.short or _PLACEHOLDER in text:
            return self.token.sub(self.decoded, text)
        # The same, several times faster: without doubled marks each mark left begins a token.
        text = text.replace(self.mark * 2, _PLACEHOLDER)
        for token, decoded in self.short:
            text = text.replace(token, decoded)
        if self.mark in text:
            text = self.token.sub(self.decoded, text)
        return text.replace(_PLACEHOLDER, self.mark)

    def outside(self, text: str, spans: Iterable[Span]) -> Iterator[Span]:
        """The spans of `text` that correspond to `spans` of `undo(text)`, in whole tokens."""
        inside, outside = [0], [0]
        for match in self.token.finditer(text):
            inside.append(inside[-1] + match.start() - outside[-1] + len(self.decoded(match)))
            outside.append(match.end())
        for span in spans:
            before = [bisect_right(inside, place) - 1 for place in span]
            start, end = (
                outside[token] + place - inside[token]
                for token, place in zip(before, span, strict=True)
            )
            yield start, end


JSON_STRING = Encoding(
    mark="\\",
    token=re.compile(
        r'\\(?:["\\/bfnrt]'
        r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4})"
    ),
    decoded=lambda match: str(json.loads(f'"{match[0]}"')),
    short=tuple(("\\" + letter, str(json.loads(f'"\\{letter}"'))) for letter in 'bfnrt"/'),
)
PERCENT = Encoding(
    mark="%",
    token=re.compile(
        r"%(?:[0-7][0-9a-f]|[cd][0-9a-f]%[89ab][0-9a-f]"
        r"|e[0-9a-f](?:%[89ab][0-9a-f]){2}|f[0-7](?:%[89ab][0-9a-f]){3})",
        re.IGNORECASE,
    ),
    # Of bytes that are no character, any single one will do.
    decoded=lambda match: bytes.fromhex(match[0].replace("%", "")).decode(errors="replace")[0],
)
LINES = Encoding(
    # Base64 comes in lines of 64 or 76 characters.
    mark="\n",
    token=re.compile(
        r"\n(?<=[A-Za-z0-9+/]{60}\n)(?=[A-Za-z0-9+/])"
        r"|\r\n(?<=[A-Za-z0-9+/]{60}\r\n)(?=[A-Za-z0-9+/])"
    ),
    decoded=lambda match: "",
)
ENCODINGS = (JSON_STRING, PERCENT, LINES)

_WORD_CHARACTERS = bytes(
    code if chr(code).isalnum() or chr(code) in "+/_-" else 0x20 for code in range(0x80)
).ljust(0x100, b" ")
_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_STANDARD = str.maketrans("-_", "+/", "=")


@dataclass(frozen=True, slots=True)
class EncodedWords:
    """The words in a text that could be keys, hashes or base64. Few texts have any, so searching
    these first is many times faster."""

    long: str
    """The words of at least 16 characters, joined by spaces."""
    mixed: str
    """The words of at least 8 characters, without those in lower case: hashes and most names."""

    @classmethod
    def of(cls, text: str) -> "EncodedWords":
        plain = text.encode("ascii", "replace").translate(_WORD_CHARACTERS).decode("ascii")
        words = [word for word in plain.split() if len(word) >= 8]
        return cls(
            " ".join([word for word in words if len(word) >= 16]),
            " ".join([word for word in words if not word.islower()]),
        )


def base64_runs(text: str, words: EncodedWords) -> Iterator[tuple[Span, str]]:
    """Each run of base64, with four decodings, as a path or a name may precede it."""
    for run in _RUN.finditer(text) if _RUN.search(words.mixed) else ():
        coded = run[0].translate(_STANDARD)
        if coded.islower() or coded.isupper():
            continue
        for skipped in range(4):
            part = coded[skipped:]
            data = binascii.a2b_base64(part + "A" * (-len(part) % 4))
            # Without zero bytes UTF-16 reads like Latin-1.
            yield run.span(), data.replace(b"\0", b"").decode("latin-1")
