"""Untrusted Markdown as harmless HTML.

HTML in it is shown as text, links and images as their text and target: the page never fetches
anything (F16, F32).
"""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from leadhand.tools.files.legible import cleaned
from leadhand.trace.page.markup import Html

_FIRST_HEADING = 3
"""The page itself uses the first two levels of headings."""
MAX_CHARS = 200_000
"""Of an answer on the page; `trace --format json` has all of it."""


def render_markdown(text: str) -> Html:
    """The Markdown `text` as HTML with a few harmless elements and attributes."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("image")
    cut = text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}\n\n(cut here)"
    tokens = _dead(parser.parse(cleaned(cut)))
    return Html(parser.renderer.render(tokens, parser.options, {}))


def _dead(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with links and attributes turned into text."""
    made: list[Token] = []
    targets: list[str] = []
    for token in tokens:
        token.content = cleaned(token.content)
        token.info = ""
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag.removeprefix("h")) + _FIRST_HEADING - 1
            token.tag = f"h{min(level, 6)}"
        if token.type == "link_open":
            targets.append(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            made.append(Token("text", "", 0, content=f" ({cleaned(targets.pop())})"))
        else:
            token.attrs = {
                name: value
                for name, value in token.attrs.items()
                if name == "start" and isinstance(value, int)
            }
            token.children = None if token.children is None else _dead(token.children)
            made.append(token)
    return made
