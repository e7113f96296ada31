"""Makes text that others wrote fit to stand in Markdown that GitHub and its like will render:
nothing in it becomes markup, HTML, a picture, a link, a mention or a formula, and none of it is
hidden."""

import re

from leadhand.cli.views.terminal import safe, safe_block, sentence
from leadhand.untrusted import markdown

_LINKED = re.compile(
    # What GitHub brings to life besides links: mentions, formulas, issue numbers, emoji, commits.
    rf"{markdown.AUTOLINKS.pattern}|[@$]|#\d|\bGH-\d|(?<!\d):[\w+-]+:|\b[0-9a-f]{{7,40}}\b",
    re.IGNORECASE,
)


def clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def code(text: str) -> str:
    """`text` in one line as code, whatever backticks it holds; nothing where it is blank."""
    return markdown.code(safe(text))


def prose(text: str) -> str:
    """One paragraph: code between backticks stays code, as a word does that a renderer would
    link; all else loses its powers."""
    return markdown.prose(sentence(text), linked=_LINKED)


def fenced(text: str, language: str = "") -> str:
    """`text` as a block of code that nothing in it can end; `language` is the caller's own word."""
    block = safe_block(text)
    mark = "`" * max(3, markdown.longest_run(block) + 1)
    return f"{mark}{language}\n{block}\n{mark}"
