"""Secrets with a known format, in the added lines of any text file.

It only knows formats that issuers document, and does not guess from how random a text looks. A fact
was checked as far as the format allows: a checksum, the structure of a key. No finding quotes a
whole secret.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Iterator

from leadhand.extension.findings import Finding
from leadhand.tools.tokens import FORMATS, MARKS
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import pattern_of

TOKEN = rule("security/secret-token")
PRIVATE_KEY = rule("security/private-key")
URL = rule("security/url-credentials")

_MAX_LINE = 20_000
_MAYBE = re.compile("|".join(map(re.escape, (*MARKS, "PRIVATE KEY", "://"))))
"""What is in every line with a secret."""
_TOKENS = tuple((form.kind, re.compile(form.documented)) for form in FORMATS)
_URL = pattern_of("secrets.url")
_KEY_BEGIN = re.compile(r"-----BEGIN (?:(?!ENCRYPTED)[A-Z]+ ){0,2}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = "-----END "
_KEY_LINES = 120
"""A key of 8,192 bits has 100 lines."""
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/]{4,}={0,2}")
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECKSUMMED = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_")
_PUBLIC = re.compile(r"firebase|authDomain|maps\.google", re.IGNORECASE)
"""What stands in files whose Google API keys are meant for browsers."""
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_DOCUMENTS = frozenset(("markdown", "restructuredtext", "html"))
_EXAMPLE = re.compile(r"(?:^|/|_)(?:docs?|documentation|examples?|samples?|demos?)(?:/|[._])", re.I)
_ASSIGNED = pattern_of("secrets.assigned")
_FAKE = pattern_of("secrets.fake")
_LOCAL_HOST = pattern_of("secrets.local_host")


def find(file: ChangedFile, *, is_test: bool, before: str) -> Iterator[Finding]:
    """Secrets in the lines that the change adds to `file`, and not in `before`; in tests only
    tokens.

    A token in a test or a document may be made up, unless its checksum is right.
    """
    made_up = is_test or file.language in _DOCUMENTS or bool(_EXAMPLE.search(file.path))
    for number, line in file.added.items():
        text = line[:_MAX_LINE]
        if not _MAYBE.search(text):
            continue
        for what, start, end in _tokens(text):
            token = text[start:end]
            if token in before or _is_harmless(token, file, number):
                continue
            issued = _issued(token)
            if issued is False or (made_up and not issued) or what in _UNSURE:
                continue
            yield TOKEN.finding(
                file, number, message=f"The text `{line[start : start + 4]}...` is {what}.",
                evidence=safe_quote(line[: start + 4]),
            )  # fmt: skip
        if is_test:
            continue
        key = _KEY_BEGIN.search(text)
        if key and not made_up and _is_key(file, number, text[key.end() :]):
            message = f"`{file.path}` contains a private key."
            yield PRIVATE_KEY.finding(file, number, message=message, evidence=key[0])
        for match in _URL.finditer(text):
            named = match[2].isalpha() and match[2].islower()
            if named or _FAKE.search(match[2]) or _LOCAL_HOST.search(match[3]):
                continue
            message = f"The URL for `{match[3]}` contains the password of `{match[1]}`."
            shown = line[match.start() : match.start(2)]
            yield URL.finding(file, number, message=message, evidence=shown)


def safe_quote(line: str) -> str:
    """The longest part of `line` without a secret, verbatim and at most 300 characters."""
    text = line[:_MAX_LINE]
    best, start = "", 0
    for first, end in (*sorted(secret_spans(text)), (len(text), len(text))):
        part = text[start:first].strip()
        best = part if len(part) > len(best) else best
        start = max(start, end)
    return best[:300].strip()


def mask_secrets(text: str) -> str:
    """`text` with `***` for every secret."""
    for first, end in sorted(secret_spans(text), reverse=True):
        text = f"{text[:first]}***{text[end:]}"
    return text


def secret_spans(line: str) -> tuple[tuple[int, int], ...]:
    """The positions of secrets in `line`, and of values assigned to names for secrets."""
    text = line[:_MAX_LINE]
    found = (
        [(start + 4, end) for _, start, end in _tokens(text)]
        if any(map(text.__contains__, MARKS))
        else []
    )
    found.extend((match.start(2), match.end(2)) for match in _URL.finditer(text))
    found.extend((match.start(2), match.end(2)) for match in _ASSIGNED.finditer(text))
    return tuple(found)


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    for what, pattern in _TOKENS:
        for match in pattern.finditer(text):
            if not _FAKE_TOKEN.search(match[0]) and len(set(match[0])) >= 10:
                yield what, match.start(), match.end()


_FAKE_TOKEN = pattern_of("secrets.fake_token")
_UNSURE = ("a signed JWT",)
"""Kinds of tokens that often are public or have expired."""


def _issued(token: str) -> bool | None:
    """Whether a token can be used: `True` if its checksum is right, `None` if it has none.

    The last six characters of GitHub's and npm's tokens are the CRC-32 of the random part in base
    62.
    """
    if token.startswith(_CHECKSUMMED):
        if len(token) != 40:
            return None
        number_62 = 0
        for char in token[-6:]:
            number_62 = number_62 * 62 + _BASE62.index(char)
        return zlib.crc32(token[4:-6].encode("ascii")) == number_62
    return None


def _is_harmless(token: str, file: ChangedFile, number: int) -> bool:
    """Whether `token` gives no access: an AWS key without its secret next to it, or a Google API
    key for browsers."""
    if token.startswith(("AKIA", "ASIA")):
        around = file.head_lines[max(0, number - 4) : number + 3]
        return not any(_AWS_SECRET.search(line[:1000]) for line in around)
    return token.startswith("AIza") and bool(_PUBLIC.search(file.head))


def _is_key(file: ChangedFile, number: int, rest: str) -> bool:
    """Whether a whole, unencrypted private key begins in line `number`, before `rest`."""
    following = (line[:400] for line in file.head_lines[number : number + _KEY_LINES])
    text = "\n".join([rest, *following]).replace("\\n", "\n").replace("\\r", "")
    body, end, _ = text.partition(_KEY_END)
    if not end or "ENCRYPTED" in body:
        return False
    found = "".join(_KEY_TEXT.findall(body))
    try:
        data = base64.b64decode(found[: len(found) // 4 * 4])
    except binascii.Error:
        return False
    if data.startswith(b"openssh-key-v1\0"):
        return b"none" in data[:40]
    if data[:1] == b"0":  # A DER sequence says how long it is.
        width = data[1] & 0x7F if len(data) > 1 and data[1] & 0x80 else 0
        length = int.from_bytes(data[2 : 2 + width], "big") if width else data[1]
        return len(data) == 2 + width + length
    return "PGP" in file.head_lines[number - 1] and len(data) > 200
