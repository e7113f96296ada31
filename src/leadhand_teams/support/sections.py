"""Sections of documents: by headings, else by paragraphs. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from leadhand.tools.files import Document, split_into_passages

_HEADING: Final = re.compile(
    r"^(#{1,6})[ \t]+(.+?)[ \t#]*$|^(?P<under>[^\s#>*\-+|].{0,98})\n(?P<line>=+|-{3,})[ \t]*$", re.M
)
FENCE: Final = re.compile(
    r"^[ ]{0,3}(```+|~~~+)(?P<language>\w*).*?\n(?P<code>.*?)^[ ]{0,3}\1[ \t]*$", re.M | re.S
)
"""A code example."""
_INDENTED: Final = re.compile(
    r"(?:^(?: {4}|\t)\S.*\n?)+(?:(?:[ \t]*\n)*(?:^(?: {4}|\t)\S.*\n?)+)*", re.M
)
_LINK: Final = re.compile(
    r"\[([^\]\n]{1,200})\]\((https?://[^\s)]+)[^)\n]*\)|<?(https?://[^\s<>\"'`)\]]+)"
)


@dataclass(frozen=True, slots=True)
class DocSection:
    ref: str
    """`file#section`, `file:line`, `file!page`, or the id of a row."""
    title: str
    path: tuple[str, ...]
    """The titles above it, the highest first."""
    text: str
    """As the document has it."""

    @property
    def code(self) -> tuple[str, ...]:
        """Its code examples, without their fences."""
        fenced = tuple(match["code"].rstrip("\n") for match in FENCE.finditer(self.text))
        return fenced or tuple(match[0].rstrip("\n") for match in _INDENTED.finditer(self.text))

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """What its addresses are called, and the addresses, each once."""
        found = {
            address: match[1] or address
            for match in _LINK.finditer(self.text)
            if (address := (match[2] or match[3]).rstrip(".,;:!?"))
        }
        return tuple((label, address) for address, label in found.items())


def sections_of(document: Document, name: str) -> list[DocSection]:
    """The sections of a document; one without headings is cut into pieces at paragraphs."""
    text = document.text
    fences = [match.span() for match in FENCE.finditer(text)]
    heads = [
        one
        for one in _HEADING.finditer(text)
        if not any(start <= one.start() < end for start, end in fences)
    ]
    if not heads or document.page_starts:
        return [*_pieces(document, name)]
    found: list[DocSection] = []
    if (before := text[: heads[0].start()].strip()) != "":
        found.append(DocSection(f"{name}:1", before.partition("\n")[0][:80], (), before))
    above: list[tuple[int, str]] = []
    slugs: dict[str, int] = {}
    for one, end in zip(heads, [*(two.start() for two in heads[1:]), len(text)], strict=True):
        title = (one[2] or one["under"]).strip()
        level = len(one[1]) if one[1] else 1 if one["line"].startswith("=") else 2
        above = [pair for pair in above if pair[0] < level]
        slug = _slug(title)
        slugs[slug] = count = slugs.get(slug, -1) + 1
        ref = f"{name}#{slug}" + (f"-{count}" if count else "")
        body = text[one.end() : end].strip("\n")
        found.append(DocSection(ref, title, tuple(title for _, title in above), body))
        above.append((level, title))
    return found


def _pieces(document: Document, name: str) -> Iterator[DocSection]:
    """A text without headings, in pieces that end with a paragraph where they can."""
    for one in split_into_passages(document):
        place = f"{name}!{one.page}" if one.page else f"{name}:{one.line}"
        yield DocSection(place, one.text.partition("\n")[0][:80], (), one.text)


def _slug(title: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.casefold()).strip().replace(" ", "-") or "section"
