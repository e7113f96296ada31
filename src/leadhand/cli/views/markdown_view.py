"""Renders untrusted Markdown on a terminal. HTML is shown as text, links and pictures with their
targets, control and invisible characters as escapes."""

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
    elements: ClassVar = {**Markdown.elements, "heading_open": _PlainHeading}

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False, code_theme="ansi_dark")
        # A picture becomes `!` and a link, to show its target.
        parser = MarkdownIt("commonmark", {"html": False}).disable("image")
        self.markup = text
        self.parsed = _safe(parser.enable(["strikethrough", "table"]).parse(text))


def _safe(tokens: Iterable[Token]) -> list[Token]:
    """The tokens, made safe after parsing, when entities have become characters."""
    made = list(tokens)
    for token in made:
        token.content = safe_block(token.content)
        token.attrs = {
            name: safe(value) if isinstance(value, str) else value
            for name, value in token.attrs.items()
        }
        token.children = None if token.children is None else _safe(token.children)
    return made
