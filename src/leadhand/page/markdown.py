"""Markdown of models, tools and files as HTML that does nothing but lay out text (F16, F32)."""

import nh3
from markdown_it import MarkdownIt

from leadhand.tools.files.legible import cleaned

MAX_CHARS = 200_000
"""Of a text; what is beyond is cut, and a line says so."""
_FIRST_HEADING = 2
"""The page has the first level of headings itself."""
_RIGHT = "num"
"""The class of cells that are aligned to the right."""
_TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "strong", "em", "s", "a"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
    *("h2", "h3", "h4", "h5", "h6"),
}
_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    attributes={"a": {"href"}, "ol": {"start"}},
    allowed_classes={"th": {_RIGHT}, "td": {_RIGHT}},
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}},
    strip_comments=True,
)


def render(text: str) -> str:
    """HTML of a few harmless elements. HTML in the text is shown as text, images as their names.

    Links lead to http, https and mail addresses only, in a tab that can't reach this one.
    """
    cut = text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}\n\n(cut here)"
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("image")
    tokens = parser.parse(cleaned(cut))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag.removeprefix("h")) + _FIRST_HEADING - 1
            token.tag = f"h{min(level, 6)}"
        if token.attrGet("style") == "text-align:right":
            token.attrSet("class", _RIGHT)
    # Entities such as `&#x202e;` become characters only in parsing.
    return _CLEANER.clean(cleaned(parser.renderer.render(tokens, parser.options, {})))
