"""Finds secrets by their shape: few with certainty rather than many, because code is full of
names for secrets without the secrets."""

import functools
import itertools
import re
from collections.abc import Iterator

from leadhand.redaction.encodings import EncodedWords, Span
from leadhand.redaction.tokens import FORMATS, MARKS, TokenFormat

_SIMILAR = (
    r"(?P<word>(?<![A-Za-z0-9_-])|(?<=[0-9;\[]m))?(?P<mark>{})"
    r"(?P<body>{}(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*+)"
)
_MARK_OF_WORDS = "sk-"
"""What an OpenAI key of the oldest kind begins with, or the end of `task-` or `disk-` is."""
_BEGIN_KEY = "PRIVATE KEY"
_BETWEEN = r"(?:[^A-Za-z0-9/=-]|\\[nrt]){0,40}+"
"""What separates the lines of a key, also within a quotation, a comment, a diff or code."""
_PRIVATE_KEY = re.compile(
    rf"-----BEGIN (?:[A-Z0-9]{{1,20}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----{_BETWEEN}"
    rf"(?:[A-Za-z-]{{1,40}}: [^\n]{{0,200}}\n{_BETWEEN})*+"
    rf"(?:[A-Za-z0-9+/=]{{16,}}+{_BETWEEN})++"
    rf"(?:[A-Za-z0-9+/=]*+{_BETWEEN}-----END [A-Z0-9 ]{{1,60}}-----)?"
)
_URL = re.compile(r"(?<=://)([^\s/:@\"'<>\\]{0,200})(?::([^\s/\"'<>\\]{1,200}))?@")
_PLACEHOLDER = re.compile(
    r"[$#][{(].*|\$[A-Z_][A-Z0-9_]*|\$\w*(?:pass|pw|secret|token)\w*|%[sdr]|[*.•…]+|[xX]+"
    r"|[{<\[(%]+(?:[A-Z_.-]+|[A-Z]?[a-z_.\[\]()\"' -]+)[)}>\]%]*[sd]?"
)
"""What stands for a password in a text about code."""
_PORT = re.compile(r"\d{1,5}(?:[?#]|$)")
_HEADER = re.compile(
    r"authorization[\"']?\s{0,4}[:=,]\s{0,4}b?[\"']?(?:bearer|basic|token|digest|apikey)\s+"
    r"([A-Za-z0-9._~+/=:-]{8,})"
    r"|(?<![a-z0-9])bearer\s+([A-Za-z0-9._~+/=-]{16,})",
    re.IGNORECASE | re.ASCII,
)
_PASSWORDS = ("password", "passwd", "passphrase", "pwd")
_NAMES = (*_PASSWORDS, "secret", "credential", "key", "token")
_BEFORE_KEY = (
    *("api", "access", "private", "signing", "encryption", "master", "secret", "auth"),
    *("account", "shared"),
)
_BEFORE_OTHER_TOKENS = ("page", "next", "sync", "ation")
_VALUE = re.compile(
    r"s?(?:[\"']\]?\s{0,4},\s{0,4}(?=b?[\"'])|[\"']?\]?\s{0,4}(?:=>|[:=\s])\s{0,4})"
    r"(?:b?([\"'])(?=[^\"'\\\s]{8,200}\1))?(?:b?[\"'])?"
    r"((?(1)[^\"'\\\s]|[^\s\"'\\<>{}()\[\]$&;,`|*]){8,}+)"
)
_OF_CODE = ("(", "[", "{", "<", "$", "*")
"""What follows a name or an expression but not a value."""
_PAIR = re.compile(r"\s?=\s?(\{[^}\n]{1,100}\}|'[^'\n]{1,100}'|[^\s;&\"'<>,()]{4,100}+)(?![,()])")
"""A password in a connection string, where any value is one."""
_OTHER_PAIR = re.compile(
    r"jdbc:|(?:^|[;&?\s\"'])(?:server|host|hostaddr|data source|uid|user|user id|username|dbname"
    r"|database|databasename|initial catalog|driver|port|sslmode)\s?=\s?[^\s=]"
)
_PIECE = re.compile(r"[A-Za-z0-9]+")


@functools.cache  # compiled at the first use, because few texts have any
def _patterns(form: TokenFormat) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    marks = "|".join(map(re.escape, sorted(form.marks, key=len, reverse=True)))
    similar = re.compile(_SIMILAR.format(marks, form.similar)) if form.similar else None
    return re.compile(form.documented), similar


_MARKS_OF_WORDS = re.compile(
    "|".join(
        mark if form.similar else rf"(?:\b|(?<=m)){mark}"
        for form in FORMATS
        for mark in form.marks
        if mark.replace("_", "").replace("-", "").isalnum()
    )
)
_OTHER_MARKS = tuple(mark for mark in MARKS if not _MARKS_OF_WORDS.match(mark))


def spans(text: str, words: EncodedWords) -> Iterator[Span]:
    """The secrets in `text`; `words` are its encoded words."""
    if _MARKS_OF_WORDS.search(words.long) or any(mark in text for mark in _OTHER_MARKS):
        yield from _tokens(text)
    if _BEGIN_KEY in text:
        yield from (match.span() for match in _PRIVATE_KEY.finditer(text))
    if "://" in text and "@" in text:
        yield from _in_urls(text)
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


def _tokens(text: str) -> Iterator[Span]:
    for form in FORMATS:
        if not any(mark in text for mark in form.marks):
            continue
        whole, similar = _patterns(form)
        yield from (match.span() for match in whole.finditer(text))
        for match in similar.finditer(text) if similar is not None else ():
            begins = match["word"] is not None or match["mark"] != _MARK_OF_WORDS
            if begins and looks_random(match["body"]):
                yield match.span()


def _in_urls(text: str) -> Iterator[Span]:
    """The passwords in URLs, and the tokens that stand in the place of a user's name."""
    for match in _URL.finditer(text):
        if len(match[1]) >= 16 and looks_random(match[1]):
            yield match.span(1)
        password = match[2]
        if password and not _PLACEHOLDER.fullmatch(password) and not _PORT.match(password):
            yield match.span(2)


def _assigned(name: str, text: str, lower: str) -> Iterator[Span]:
    """The values after `name` that look random enough to be secrets."""
    start = lower.find(name)
    while start != -1:
        before = lower[max(0, start - 12) : start].rstrip("_-")
        is_other = (name == "key" and not before.endswith(_BEFORE_KEY)) or (
            name == "token" and before.endswith(_BEFORE_OTHER_TOKENS)
        )
        start += len(name)
        if name in _PASSWORDS and (pair := _in_connection_string(text, lower, start)):
            yield pair
        if not is_other and (match := _VALUE.match(text, start)):
            of_code = text.startswith(_OF_CODE, match.start(2) if match[1] else match.end())
            is_long = len(match[2]) >= 12 or name in _PASSWORDS
            if is_long and not of_code and looks_random(match[2]):
                yield match.span(2)
            # A name inside the value has a part of it as its own value, which can't look more
            # random. Only a name at its end, or before a `://`, has another value.
            scheme = match[2].rfind("://")
            end = match.end() if scheme == -1 else match.start(2) + scheme
            start = max(match.start(2), end - len(name) - 2)
        start = lower.find(name, start)


def _in_connection_string(text: str, lower: str, start: int) -> Span | None:
    """The password at `start`, right behind its name, if the names of others stand beside it."""
    match = _PAIR.match(text, start)
    if match is None or _PLACEHOLDER.fullmatch(match[1]):
        return None
    before, after = lower[max(0, start - 200) : start], lower[match.end() : match.end() + 200]
    line = (before.rpartition("\n")[2], after.partition("\n")[0])
    return match.span(1) if any(map(_OTHER_PAIR.search, line)) else None


def looks_random(value: str) -> bool:
    """Whether letters and digits alternate more than in names, numbers, dates and paths."""
    if "://" in value or sum(map(str.isdigit, value)) < 2 or not any(map(str.isalpha, value)):
        return False
    return sum(_changes_of_kind(piece) for piece in _PIECE.findall(value)) >= 3


def _changes_of_kind(piece: str) -> int:
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in piece]
    return sum(left != right for left, right in itertools.pairwise(kinds))
