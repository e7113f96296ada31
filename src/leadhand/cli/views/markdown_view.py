"""Renders Markdown that nobody vouches for on a terminal: it is laid out, and it does nothing.

HTML is shown as text, pictures and links with where they lead, and what would steer the terminal
or hide from the reader as an escape, whether it was written plainly or as an entity.
"""

from collections.abc import Iterable
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.markdown import Heading, Markdown

from leadhand.cli.views.terminal import safe, safe_block


class _PlainHeading(Heading):
    """A heading at the left edge, as in a report; rich centres the first level."""

    LEVEL_ALIGN: ClassVar = {}


class SafeMarkdown(Markdown):
    """Markdown whose text is all shown and none of it obeyed."""

    elements: ClassVar = {**Markdown.elements, "heading_open": _PlainHeading}

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False, code_theme="ansi_dark")
        # A picture becomes `!` and a link, which shows its target.
        parser = MarkdownIt("commonmark", {"html": False}).disable("image")
        self.markup = text
        self.parsed = _safe(parser.enable(["strikethrough", "table"]).parse(text))


def _safe(tokens: Iterable[Token]) -> list[Token]:
    """The tokens, made safe after parsing, when entities have become the characters they name."""
    made = list(tokens)
    for token in made:
        token.content = safe_block(token.content)
        token.attrs = {
            name: safe(value) if isinstance(value, str) else value
            for name, value in token.attrs.items()
        }
        token.children = None if token.children is None else _safe(token.children)
    return made
