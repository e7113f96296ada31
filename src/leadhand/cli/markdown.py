"""Makes text that others wrote fit to stand in Markdown that GitHub and its like will render.

Nothing in it may become markup, HTML, a picture, a link, a mention or a formula, and none of it is
hidden. Says nothing of what a report looks like.
"""

import re

from leadhand.cli.terminal import safe, safe_block, sentence

_SPAN = re.compile(r"(`[^`]+`)")
_BACKTICKS = re.compile(r"`+")
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&]")
_OPENING = re.compile(r"^(\d*)([#+=.)-])")
"""What begins a heading, a list or an underline where it stands first."""
_ALIVE = re.compile(
    # What a renderer brings to life even where it is escaped, since it looks at the finished text:
    # mentions and mail addresses, addresses, issue numbers, formulas, emoji, commit ids.
    r"[@$]|://|\bwww\.|\b(?:mailto|xmpp):|#\d|\bGH-\d|:[\w+-]+:|\b[0-9a-f]{7,40}\b",
    re.IGNORECASE,
)


def clip(text: str, limit: int) -> str:
    """`text`, or its first `limit` characters and an ellipsis."""
    return text if len(text) <= limit else text[:limit] + "…"


def code(text: str) -> str:
    """`text` in one line as code, whatever backticks it holds; nothing where it is blank."""
    line = safe(text).strip()
    if not line:
        return ""
    mark = "`" * (_longest_run(line) + 1)
    gap = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{mark}{gap}{line}{gap}{mark}"


def prose(text: str) -> str:
    """`text` as one paragraph: code between backticks stays code, all else loses its powers.

    A word that a renderer would make a link or a mention of becomes code too.
    """
    shown = ""
    after_code = False
    for piece in _SPAN.split(sentence(text)):
        words = [piece] if _SPAN.fullmatch(piece) else re.split(r"( )", piece)
        for word in filter(None, words):
            span = _SPAN.fullmatch(word) is not None
            is_code = span or _ALIVE.search(word) is not None
            # Two spans that touch would be read as one.
            shown += " " if is_code and after_code else ""
            if is_code:
                shown += code(word[1:-1] if span else word)
            else:
                shown += _MARKUP.sub(r"\\\g<0>", word)
            after_code = is_code
    return _OPENING.sub(r"\1\\\2", shown)


def fenced(text: str, language: str = "") -> str:
    """`text` as a block of code that nothing in it can end; `language` is the caller's own word."""
    block = safe_block(text)
    mark = "`" * max(3, _longest_run(block) + 1)
    return f"{mark}{language}\n{block}\n{mark}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
