"""Markdown that nobody vouches for as HTML: laid out, and dead.

HTML in it is shown as text, a picture and a link as their text and where they lead: the page has
nothing to fetch and nowhere to go (F16, F32).
"""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from leadhand.tools.files.legible import cleaned
from leadhand.trace.page.markup import Html

_FIRST_HEADING = 3
"""The page has the first two levels of headings for itself."""
MAX_CHARS = 200_000
"""Of an answer that is laid out; more is for `trace --format json`."""


def prose(text: str) -> Html:
    """The Markdown `text` as HTML of a few harmless elements without attributes that act."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("image")
    cut = text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}\n\n(cut here)"
    tokens = _dead(parser.parse(cleaned(cut)))
    return Html(parser.renderer.render(tokens, parser.options, {}))


def _dead(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with what would act in them made text, after entities have become characters."""
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
