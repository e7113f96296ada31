"""Extracts the visible text of an HTML page; runs in `child`.

The standard library's parser may take hours for a few crafted kilobytes (repeated `<a `), so this
must not run in the main process.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement, PreformattedString

from leadhand.tools.errors import TruncatedDocument
from leadhand.tools.files.legible import decoded
from leadhand.tools.text import size_text

MAX_BYTES: Final = 8 << 20

_UNSEEN_TAGS: Final = (
    "script style template noscript head iframe object embed svg math canvas audio video"
)
_UNSEEN: Final = frozenset(_UNSEEN_TAGS.split())
_BLOCK_TAGS: Final = """
address article aside blockquote body caption dd details div dl dt fieldset figcaption figure
footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot
thead tr ul
"""
_BLOCKS: Final = frozenset(_BLOCK_TAGS.split())
_TIGHT: Final = frozenset(["li", "dt", "dd", "tr", "tbody", "thead", "tfoot"])
"""Blocks without a blank line between them."""
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_SPACE: Final = re.compile(r"\s+")
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET: Final = re.compile(rb"<meta[^<>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.I)


def pages(stream: BinaryIO) -> Iterator[str]:
    """One page, with Markdown headings and blank lines between paragraphs."""
    data = stream.read(MAX_BYTES + 1)
    soup = BeautifulSoup(_text(data[:MAX_BYTES]), "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    body = _visible(soup)
    first = body.lstrip("# \n").partition("\n")[0]
    yield f"# {title}\n\n{body}" if title and title != first else body
    if len(data) > MAX_BYTES:
        raise TruncatedDocument(f"its first {size_text(MAX_BYTES)} were read")


def _text(data: bytes) -> str:
    """`data` decoded by the character set that the page declares, else as `decoded` does."""
    declared = _CHARSET.search(data[:4096])
    if declared and not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        try:
            return data.decode(declared[1].decode("ascii"), errors="replace")
        except (LookupError, UnicodeDecodeError):
            pass
    return decoded(data)


def _visible(soup: BeautifulSoup) -> str:
    """The visible text of `soup`, without recursion, because pages may be nested to any depth."""
    text = _Text()
    open_tags: list[tuple[Tag, Iterator[PageElement]]] = [(soup, iter(soup.contents))]
    while open_tags:
        tag, children = open_tags[-1]
        child = next(children, None)
        if child is None:
            open_tags.pop()
            text.end(tag.name)
        elif isinstance(child, Tag):
            if not _unseen(child):
                text.begin(child.name)
                open_tags.append((child, iter(child.contents)))
        elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
            text.add(child)
    return text.whole()


def _unseen(tag: Tag) -> bool:
    if tag.name in _UNSEEN or tag.has_attr("hidden"):
        return True
    if str(tag.get("aria-hidden", "")).lower() == "true":
        return True
    return _HIDDEN_STYLE.search(str(tag.get("style", ""))) is not None


class _Text:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._newlines = 2
        """The number of line ends at the end of the text so far."""
        self._preformatted = 0
        self._prefix = ""
        """The mark of a heading or list item, to be put before the next text."""

    def whole(self) -> str:
        return "".join(self._parts).strip("\n") + "\n"

    def add(self, text: str) -> None:
        if not self._preformatted:
            text = _SPACE.sub(" ", text)
            text = text.lstrip(" ") if self._newlines else text
        if text:
            self._parts += (self._prefix, text)
            self._prefix = ""
            self._newlines = len(text) - len(text.rstrip("\n"))

    def begin(self, name: str) -> None:
        self._preformatted += name == "pre"
        if name in _BLOCKS:
            self._break(1 if name in _TIGHT else 2)
        if name in _HEADINGS:
            self._prefix = "#" * int(name[1]) + " "
        elif name == "li":
            self._prefix = "- "
        elif name == "br":
            self._break(1)
        elif name in ("td", "th") and not self._newlines:
            self.add(" | ")

    def end(self, name: str) -> None:
        self._preformatted -= name == "pre"
        if name in _BLOCKS:
            self._break(1 if name in _TIGHT else 2)

    def _break(self, count: int) -> None:
        """End the line; a `count` of 2 adds a blank one."""
        if (missing := count - self._newlines) > 0 and not self._prefix:
            self._parts.append("\n" * missing)
            self._newlines = count
