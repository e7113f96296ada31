"""Finds secrets by their shape, without knowing their values.

It finds few with certainty rather than many: the text is often about code, and code is full of
names for secrets without the secrets.
"""

import itertools
import re
from collections.abc import Iterator

from leadhand.untrusted.redaction.encodings import EncodedWords, Span
from leadhand.untrusted.tokens import FORMATS, MARKS

_SIMILAR = "|".join(form.similar for form in FORMATS if form.similar)
# With a limit: a word of many `eyJ` would be searched for a full stop from each of them.
_INSIDE = _SIMILAR.replace("{15,}", "{15,600}")
_TOKEN = re.compile(
    # A colour code ends in a letter, which does not belong to the word that it colours.
    rf"(?:(?<![A-Za-z0-9_-])|\x1b\[[0-9;]{{0,20}}m)(?P<token>{_SIMILAR})|(?P<inside>{_INSIDE})"
)
_WORD_WITH_SK = re.compile(r"sk-(?!(?:proj|ant|svcacct|admin)-)")
"""An OpenAI key of the oldest kind, or the end of `task-` or `disk-` with an id behind it."""
_MARK_IN_WORD = re.compile("|".join(re.escape(mark) for mark in MARKS if "." not in mark))
_MARKS_OF_WORDS = tuple(mark for mark in MARKS if "." in mark)
_BEGIN_KEY = "PRIVATE KEY"
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----\s*+"
    r"(?:[A-Za-z-]{1,40}: [^\n]{0,200}\n\s*+)*+"
    r"(?:[A-Za-z0-9+/=]{16,}+\s*+)++"
    r"(?:[A-Za-z0-9+/=]*+\s*+-----END [A-Z0-9 ]{1,60}-----)?"
)
_URL_PASSWORD = re.compile(
    r"(?<=://)[^\s/:@\"'<>\\]{0,100}:([^\s/@\"'<>\\${}\[\]%*][^\s/@\"'<>\\\[\]]{0,200})@"
)
_HEADER = re.compile(
    r"authorization[\"']?\s{0,4}[:=,]\s{0,4}[\"']?(?:bearer|basic|token|digest|apikey)\s+"
    r"([A-Za-z0-9._~+/=:-]{8,})"
    r"|(?<![a-z0-9])bearer\s+([A-Za-z0-9._~+/=-]{16,})",
    re.IGNORECASE | re.ASCII,
)
_NAMES = ("password", "passwd", "passphrase", "pwd", "secret", "credential", "key", "token")
_BEFORE_KEY = ("api", "access", "private", "signing", "encryption", "master", "secret", "auth")
_BEFORE_OTHER_TOKENS = ("page", "next", "sync", "ation")
_VALUE = re.compile(
    r"s?[\"']?\]?\s{0,4}[:=\s]\s{0,4}[\"']?"
    r"([^\s\"'\\<>{}()\[\]$&;,`|*]{12,}+)"
)
_OF_CODE = ("(", "[", "{", "<", "$", "*")
"""What follows a name or an expression but not a value."""
_PIECE = re.compile(r"[A-Za-z0-9]+")


def spans(text: str, words: EncodedWords) -> Iterator[Span]:
    """The secrets in `text`; `words` are its encoded words."""
    if _MARK_IN_WORD.search(words.long) or any(mark in text for mark in _MARKS_OF_WORDS):
        for match in _TOKEN.finditer(text):
            if match["token"]:
                yield match.span("token")
            elif looks_random(match[0]) and not _WORD_WITH_SK.match(match[0]):
                yield match.span()  # within a longer word
    if _BEGIN_KEY in text:
        yield from (match.span() for match in _PRIVATE_KEY.finditer(text))
    if "://" in text and "@" in text:
        yield from (match.span(1) for match in _URL_PASSWORD.finditer(text))
    lower = text.lower()
    if len(lower) != len(text):
        lower = text  # a Turkish letter becomes two
    if "bearer" in lower or "authorization" in lower:
        for match in _HEADER.finditer(text):
            if match[1] and not (match[1].isalpha() and match[1][1:].islower()):
                yield match.span(1)
            elif match[2] and not match[2].isalpha():
                yield match.span(2)
    for name in _NAMES:
        if name in lower:
            yield from _assigned(name, text, lower)


def _assigned(name: str, text: str, lower: str) -> Iterator[Span]:
    """The values after `name` that look random enough to be secrets."""
    start = lower.find(name)
    while start != -1:
        before = lower[max(0, start - 12) : start].rstrip("_-")
        is_other = (name == "key" and not before.endswith(_BEFORE_KEY)) or (
            name == "token" and before.endswith(_BEFORE_OTHER_TOKENS)
        )
        start += len(name)
        if not is_other and (match := _VALUE.match(text, start)):
            if not text.startswith(_OF_CODE, match.end()) and looks_random(match[1]):
                yield match.span(1)
            # A name inside the value has a part of it as its own value, which can't look more
            # random. Only a name at its end, or before a `://`, has another value.
            scheme = match[1].rfind("://")
            end = match.end() if scheme == -1 else match.start(1) + scheme
            start = max(match.start(1), end - len(name) - 2)
        start = lower.find(name, start)


def looks_random(value: str) -> bool:
    """Whether letters and digits alternate as in generated passwords and keys.

    They do so less in names, numbers, dates and paths.
    """
    if "://" in value or sum(map(str.isdigit, value)) < 2 or not any(map(str.isalpha, value)):
        return False
    return sum(_changes_of_kind(piece) for piece in _PIECE.findall(value)) >= 3


def _changes_of_kind(piece: str) -> int:
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in piece]
    return sum(left != right for left, right in itertools.pairwise(kinds))
