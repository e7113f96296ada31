"""An answer's Markdown as HTML for a page: untrusted text, in which nothing runs or is fetched."""

import nh3
from markdown_it import MarkdownIt

from leadhand.tools.files.legible import cleaned

MAX_CHARS = 500_000
_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


def html_of(markdown: str) -> str:
    """HTML in it is shown as text, images as their text; links open without a referrer."""
    cut = markdown if len(markdown) <= MAX_CHARS else f"{markdown[:MAX_CHARS]}\n\n(cut here)"
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    html: str = parser.disable("image").render(cleaned(cut))
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
