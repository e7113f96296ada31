"""Text of strangers in Markdown that we write: it says what they wrote, and does nothing. Pure.

One line at a time, which its caller has made of it. Controls and invisible characters are the
business of whoever shows the Markdown, and so is what a report looks like.
"""

import re

_ACTING = re.compile(r"[\\`*\[\]<>~]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
"""What opens markup, HTML, a link, a picture or an entity. Within a word `_` opens nothing."""
_SPAN = re.compile(r"(`[^`]+`)")
_BACKTICKS = re.compile(r"`+")
_OPENING = re.compile(r"^(\d*)([#+=.)-])")
"""What begins a heading, a list or an underline where it stands first."""
LINKS = re.compile(r"://|\bwww\.|\b(?:mailto|xmpp):|\w@\w", re.IGNORECASE)
"""What renderers make a link of even where it is escaped, since they look at the finished text."""


def escaped(line: str) -> str:
    """`line` where it stands in other text: nothing in it is markup."""
    return _ACTING.sub(r"\\\g<0>", line)


def code(line: str) -> str:
    """`line` as code, whatever backticks it holds; nothing where it is blank."""
    line = line.strip()
    if not line:
        return ""
    mark = "`" * (longest_run(line) + 1)
    gap = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{mark}{gap}{line}{gap}{mark}"


def prose(line: str, *, alive: re.Pattern[str] = LINKS) -> str:
    """`line` as a paragraph: code between backticks stays code, all else loses its powers.

    A word with anything `alive` in it becomes code too.
    """
    shown = ""
    after_code = False
    for piece in _SPAN.split(line):
        span = _SPAN.fullmatch(piece) is not None
        for word in re.split(r"( )", piece) if not span and alive.search(piece) else [piece]:
            is_code = span or alive.search(word) is not None
            # Two spans that touch would be read as one.
            shown += " " if is_code and after_code else ""
            if is_code:
                shown += code(word[1:-1] if span else word)
            else:
                shown += escaped(word).replace("|", "\\|")
            after_code = is_code if word else after_code
    return _OPENING.sub(r"\1\\\2", shown)


def longest_run(text: str) -> int:
    """How many backticks stand in a row in `text`, where it has the most of them."""
    return max(map(len, _BACKTICKS.findall(text)), default=0)
