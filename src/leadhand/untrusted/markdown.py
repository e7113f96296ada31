"""Escapes untrusted lines for Markdown: they show as written, and nothing in them is markup.
Pure. The caller removes control and invisible characters."""

import re

_MARKUP = re.compile(r"[\\`*\[\]<>~]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
"""What opens markup, HTML, a link, a picture or an entity. `_` within a word is not markup."""
_SPAN = re.compile(r"(`[^`]+`)")
_BACKTICKS = re.compile(r"`+")
_BLOCK_START = re.compile(
    r"^(\d{0,9})((?<=\d)[.)](?=\s|$)|#(?=#{0,5}(?:\s|$))|[+-](?=\s|$)|[=-](?=[=\s-]*$))"
)
"""What opens a heading, a list or an underline at the start of a line, which `2026-01` does not."""
AUTOLINKS = re.compile(r"://|\bwww\.|\b(?:mailto|xmpp):|\w@\w", re.IGNORECASE)
"""What renderers turn into a link even if it is escaped, because they search the finished text."""


def escaped(line: str) -> str:
    """`line` with its markup escaped, for use within a line of other text."""
    return _MARKUP.sub(r"\\\g<0>", line)


def code(line: str) -> str:
    """Even if it has backticks in it; empty if it is blank."""
    line = line.strip()
    if not line:
        return ""
    mark = "`" * (longest_run(line) + 1)
    gap = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{mark}{gap}{line}{gap}{mark}"


def prose(line: str, *, linked: re.Pattern[str] = AUTOLINKS) -> str:
    """`line` as a paragraph: code between backticks, and words in which `linked` finds
    something, are code; other markup is escaped."""
    shown = ""
    after_code = False
    for piece in _SPAN.split(line):
        span = _SPAN.fullmatch(piece) is not None
        for word in re.split(r"( )", piece) if not span and linked.search(piece) else [piece]:
            is_code = span or linked.search(word) is not None
            # Two adjacent spans would be read as one.
            shown += " " if is_code and after_code else ""
            if is_code:
                shown += code(word[1:-1] if span else word)
            else:
                shown += escaped(word).replace("|", "\\|")
            after_code = is_code if word else after_code
    return _BLOCK_START.sub(r"\1\\\2", shown)


def longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, _BACKTICKS.findall(text)), default=0)
