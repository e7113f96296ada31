"""Known secrets: the values that an environment's own names call secret, and where they stand.

What people would see redacted everywhere is none: words, numbers, paths, switches.
"""

import base64
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import unquote

from leadhand.untrusted.redaction.encodings import JSON_STRING, EncodedWords, Span

LEAST_CHARS = 8
"""A shorter value is no secret worth the name, and a shorter part of one gives nothing away."""

_SECRET_NAME = re.compile(
    r"PASSW(?:OR)?D|PASSPHRASE|PASSCODE|SECRET|CREDENTIAL|TOKEN|COOKIE|WEBHOOK"
    r"|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|MASTER|ACCOUNT|LICENSE|SERVICE|AUTH|SHARED|SSH)_?KEY"
    r"|(?:^|_)(?:AUTH|KEY|PASS|PAT|PWD|DSN|CONNECTION_STRING)$"
)
_SETTING_NAME = re.compile(
    r"(?:^|_)(?:ALGORITHM|AUDIENCE|BACKEND|BUDGET|COUNT|DIR|DIRECTORY|ENABLED|ENDPOINT|EXPIRY|FILE|FORMAT"
    r"|HEADER|HELPER|HOST|ID|ISSUER|LENGTH|LIMIT|MANAGER|MAX|MIN|MODE|NAME|PATH|PORT|PREFIX|PROVIDER"
    r"|REGION|SIZE|SOCK|STORE|TIMEOUT|TTL|TYPE|URI|URL|USER|USERNAME|VERSION)$|(?:^|_)TOKENS|^(?:OLD)?PWD$"
)
_WORDS = re.compile(r"[A-Za-z]?[a-z]*|[A-Z]+")
_COMPOUND = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)+")
_PATH = re.compile(r"(?:~|\.{0,2})/|[A-Za-z]:[\\/]")
_OPAQUE = re.compile(r"(?=[^/]*[a-z])(?=[^/]*[A-Z])(?=[^/]*[0-9])[A-Za-z0-9+=_-]{16,}(?=/|$)")
_URL_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s@]+)@")


def secrets_of(environ: Mapping[str, str]) -> frozenset[str]:
    """The values in `environ` that are secrets, and the passwords in its URLs."""
    return frozenset(value for name in environ for value in _secrets(name, environ[name].strip()))


def _secrets(name: str, value: str) -> Iterator[str]:
    for match in _URL_PASSWORD.finditer(value):
        for password in {match[1], unquote(match[1])}:
            if len(password) >= LEAST_CHARS and not _is_plain(password):
                yield password
    label = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).upper()
    if value.startswith("{"):
        yield from _inside(value)
    elif _names_a_secret(label) and len(value) >= LEAST_CHARS and not _is_plain(value):
        yield value


def _names_a_secret(label: str) -> bool:
    return bool(_SECRET_NAME.search(label)) and not _SETTING_NAME.search(label)


def _inside(document: str) -> Iterator[str]:
    """The secrets within a JSON object, such as the key file of a cloud account."""
    try:
        content = cast("object", json.loads(document))
    except (ValueError, RecursionError):
        return
    for key, value in cast("dict[str, object]", content).items():
        if isinstance(value, str):
            yield from _secrets(key, value.strip())


def _is_plain(value: str) -> bool:
    """Whether `value` is an ordinary word, number or path, at home in any text."""
    if _WORDS.fullmatch(value):
        return len(value) < 15
    if _COMPOUND.fullmatch(value):
        return len(value) < 16
    if _PATH.match(value):
        return not any(map(_OPAQUE.fullmatch, value.split("/")))
    return not any(map(str.isalnum, value)) or _is_number(value)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


_CUT = re.compile(r"[\"'…]|\.\.\.|\s?\[cut|\s…|\Z")
"""What stands where text was cut off: nothing more, the end of a string, or a mark that says so."""
_BEGINS = "\"'…"


@dataclass(frozen=True, slots=True)
class Needle:
    """One way to write one known secret, and the shortest parts of it that count."""

    text: str
    head: str
    tail: str

    @classmethod
    def of(cls, text: str) -> "Needle":
        """A needle for `text`, of which 8 characters count as a part, or half where it is short."""
        least = min(LEAST_CHARS, (len(text) + 1) // 2)
        return cls(text, text[:least], text[-least:])

    def may_be_in(self, text: str) -> bool:
        """Whether `spans` could find any: quickly told, since almost always there is none."""
        return self.head in text or self.tail in text

    def spans(self, text: str) -> Iterator[Span]:
        """Where it stands in `text`, whole or cut by the end or the beginning of a string."""
        if self.head in text:
            yield from self._from_head(text)
        if self.tail in text:
            yield from self._to_tail(text)

    def _from_head(self, text: str) -> Iterator[Span]:
        start = text.find(self.head)
        while start != -1:
            if text.startswith(self.text, start):
                end = start + len(self.text)
                yield start, end
            else:
                end = start + 1
                for length in range(self._common(text, start), len(self.head) - 1, -1):
                    if _CUT.match(text, start + length) and _tells(self.text[:length]):
                        end = start + length
                        yield start, end
                        break
            start = text.find(self.head, end)

    def _to_tail(self, text: str) -> Iterator[Span]:
        backwards = Needle.of(self.text[::-1])
        start = text.find(self.tail)
        while start != -1:
            end = start + len(self.tail)
            ahead = text[max(0, end - len(self.text)) : end][::-1]
            for length in range(backwards._common(ahead, 0), len(self.tail) - 1, -1):
                begins = length == end or text[end - length - 1] in _BEGINS
                if begins and _tells(self.text[-length:]):
                    yield end - length, end
                    break
            start = text.find(self.tail, start + 1)

    def _common(self, text: str, start: int) -> int:
        """How many characters of it stand at `start`."""
        lengths = range(1, len(self.text) + 1)
        return bisect_left(
            lengths, True, key=lambda length: not text.startswith(self.text[:length], start)
        )


def _tells(part: str) -> bool:
    """Whether part of a secret gives it away: an ordinary word doesn't."""
    return len(part) >= 12 or not _WORDS.fullmatch(part)


@dataclass(frozen=True, slots=True)
class Needles:
    """All ways to write all known secrets; what JSON and URLs do to them is undone elsewhere."""

    plain: tuple[Needle, ...]
    hexadecimal: tuple[Needle, ...]
    base64: tuple[Needle, ...]

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Needles":
        """The needles of `secrets`: as they are, as a form has them, in hexadecimal and base64."""
        plain: set[str] = set()
        digits: set[str] = set()
        coded: set[str] = set()
        for secret in secrets:
            data = secret.encode("utf-8", "surrogatepass")
            plain |= {secret, secret.replace(" ", "+")}
            if len(unescaped := JSON_STRING.undo(secret)) >= LEAST_CHARS:
                plain.add(unescaped)
            digits |= {data.hex(), data.hex().upper()}
            coded |= {_within(data, before) for before in range(3)}
        return cls(*(tuple(map(Needle.of, sorted(texts))) for texts in (plain, digits, coded)))

    def spans(self, text: str, words: EncodedWords) -> Iterator[Span]:
        """Where known secrets stand in `text`, the words of which are given."""
        for needle in self.plain:
            if needle.may_be_in(text):
                yield from needle.spans(text)
        for needle in self.hexadecimal:
            if needle.may_be_in(words.long):
                yield from needle.spans(text)
        if words.mixed:
            mixed = _standard(words.mixed)
            for needle in self.base64:
                if needle.may_be_in(mixed):
                    yield from needle.spans(_standard(text))


def _standard(text: str) -> str:
    """`text` with URL-safe base64 in it as standard base64."""
    return text.replace("-", "+").replace("_", "/")


def _within(data: bytes, before: int) -> str:
    """What base64 makes of `data` wherever `before` (modulo 3) bytes stand before it."""
    coded = base64.b64encode(b"\0" * before + data).decode()
    return coded[(8 * before + 5) // 6 : 8 * (before + len(data)) // 6]
