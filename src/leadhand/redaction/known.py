"""Known secrets: environment variables whose names say that they are secret, and where they
occur. Words, numbers, paths and switches never count: other text would become unreadable."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import commonprefix
from urllib.parse import unquote

from leadhand.redaction.encodings import JSON_STRING, EncodedWords, Span
from leadhand.redaction.formats import VARIABLES

MIN_CHARS = 8
"""Shorter values are not treated as secrets, nor are shorter parts of one."""

_NAME_OF_SECRET, _NAME_OF_SETTING, _PLAIN = (
    re.compile(VARIABLES[key], re.VERBOSE | re.DOTALL) for key in ("secret", "setting", "plain")
)
_URL_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s@]+)@")
_PAIR_OF_JSON = re.compile(r'"([^"\\]+)"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WORD = re.compile(r"[A-Za-z]?[a-z]*|[A-Z]+")


def secrets_of(environ: Mapping[str, str]) -> frozenset[str]:
    """The values in `environ` that are secrets, and the passwords in its URLs."""
    return frozenset(value for name in environ for value in _secrets(name, environ[name].strip()))


def _secrets(name: str, value: str) -> Iterator[str]:
    for match in _URL_PASSWORD.finditer(value):
        yield from filter(_may_be_secret, {match[1], unquote(match[1])})
    label = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).upper()
    if value.startswith("{"):  # such as the key file of a cloud account
        for key, inner in _PAIR_OF_JSON.findall(value):
            yield from _secrets(key, JSON_STRING.undo(inner).strip())
    elif _NAME_OF_SECRET.search(label) and not _NAME_OF_SETTING.search(label):
        yield from filter(_may_be_secret, [value])


def _may_be_secret(value: str) -> bool:
    return len(value) >= MIN_CHARS and not _PLAIN.fullmatch(value)


_CUT = re.compile(r"[\"'…]|\.\.\.|\s?\[cut|\s…|\Z")
"""What follows text that was cut off: the end of the text or of a string, or an ellipsis."""
_CUT_BEFORE = re.compile(r"[\"'…]|\Z")
"""What precedes it, in reversed text."""


@dataclass(frozen=True, slots=True)
class Needle:
    """One spelling of one known secret, and its shortest beginning and end that are redacted."""

    text: str
    head: str
    tail: str

    @classmethod
    def of(cls, text: str) -> "Needle":
        """Its parts have 8 characters, or half of a short `text`."""
        length = min(MIN_CHARS, (len(text) + 1) // 2)
        return cls(text, text[:length], text[-length:])

    def spans(self, text: str) -> Iterator[Span]:
        """Where it occurs in `text`, whole or cut off at either end of a string."""
        if self.head in text:
            yield from _begun(self.text, self.head, text, _CUT)
        if self.tail in text:
            whole, tail, back = self.text[::-1], self.tail[::-1], text[::-1]
            for start, end in _begun(whole, tail, back, _CUT_BEFORE):
                yield len(text) - end, len(text) - start


def _begun(whole: str, head: str, text: str, cut: re.Pattern[str]) -> Iterator[Span]:
    """Where `text` has all of `whole`, or a beginning of it before a `cut`."""
    start = text.find(head)
    while start != -1:
        length = len(commonprefix((whole, text[start : start + len(whole)])))
        while len(head) <= length < len(whole) and not (
            cut.match(text, start + length) and _is_telling(whole[:length])
        ):
            length -= 1
        if length >= len(head):
            yield start, start + length
        start = text.find(head, start + (length if length >= len(head) else 1))


def _is_telling(part: str) -> bool:
    """Whether a part of a secret must be redacted: an ordinary word need not be."""
    return len(part) >= 12 or not (_WORD.fullmatch(part) or _WORD.fullmatch(part[::-1]))


@dataclass(frozen=True, slots=True)
class Needles:
    """All spellings of all known secrets. The redactor itself decodes JSON and URLs."""

    plain: tuple[Needle, ...]
    hexadecimal: tuple[Needle, ...]
    base64: tuple[Needle, ...]

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Needles":
        """Plain, as HTML forms write them, in hexadecimal and base64."""
        plain: set[str] = set()
        digits: set[str] = set()
        coded: set[str] = set()
        for secret in secrets:
            data = secret.encode("utf-8", "surrogatepass")
            plain |= {secret, secret.replace(" ", "+")}
            if len(unescaped := JSON_STRING.undo(secret)) >= MIN_CHARS:
                plain.add(unescaped)
            digits |= {data.hex(), data.hex().upper()}
            coded |= {_in_base64(data, before) for before in range(3)}
        return cls(*(tuple(map(Needle.of, sorted(texts))) for texts in (plain, digits, coded)))

    def spans(self, text: str, words: EncodedWords) -> Iterator[Span]:
        coded = _standard(words.mixed)
        for needles, likely, searched in (
            (self.plain, text, text),
            (self.hexadecimal, words.long, text),
            (self.base64, coded, _standard(text) if coded else ""),
        ):
            for needle in needles:
                if needle.head in likely or needle.tail in likely:
                    yield from needle.spans(searched)


def _standard(text: str) -> str:
    """The text with URL-safe base64 as standard base64."""
    return text.replace("-", "+").replace("_", "/")


def _in_base64(data: bytes, before: int) -> str:
    """The base64 of `data` after any bytes, whose number modulo 3 is `before`."""
    coded = base64.b64encode(b"\0" * before + data).decode()
    return coded[(8 * before + 5) // 6 : 8 * (before + len(data)) // 6]
