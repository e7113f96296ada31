"""The tools for input files: list, search and read.

Models see the docstrings of the tools. Results are untrusted text with references to cite.
"""

import re
from collections.abc import Sequence
from typing import Final

from leadhand.tools.errors import ToolCallError
from leadhand.tools.files.documents import Document, Documents, citation
from leadhand.tools.files.index import SearchIndex
from leadhand.tools.files.inputs import Inputs, UnreadableInput
from leadhand.tools.files.kinds import NOT_READ
from leadhand.tools.files.listing import HIDDEN
from leadhand.tools.files.passage import Passage
from leadhand.tools.files.queries import content_words
from leadhand.untrusted.cutting import cut

PAGE_CHARS: Final = 12_000
MAX_HITS: Final = 15
SNIPPET_CHARS: Final = 500
_LINES_BETWEEN_MARKS: Final = 10
_HEADER_CHARS: Final = 600
_GAPS_SHOWN: Final = 5
_BREAKS: Final = re.compile(r"\s*\n\s*")


class FileTools:
    """The tools for `inputs`; thread-safe."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._documents = Documents(inputs)
        self.index = SearchIndex(self._documents)
        """Built by the first search; other code may search it too."""
        self._used = False
        self._failed: dict[str, str] = {}

    def list_files(self) -> str:
        """List the files that were handed in, with their kinds and sizes."""
        self._used = True
        lines = [f"{self._inputs.summary()}; {len(self._inputs.skipped)} skipped"]
        room = PAGE_CHARS - 200
        for number, file in enumerate(self._inputs.files):
            line = f"{file.name} ({file.kind}, {file.size_bytes:,} bytes)"
            room -= len(line) + 1
            if room < 0:
                more = len(self._inputs.files) - number
                lines.append(f"... and {more:,} more; search_files covers them too")
                break
            lines.append(line)
        return "\n".join(lines)

    def search_files(self, query: str, limit: int = 8) -> str:
        """Find the passages of the files that match a query best, with references to cite.

        Passages with more and rarer words of the query come first. Search for words that the
        answer would use, and search again with others if you find little.

        Args:
            query: Words to search for; a phrase in "double quotes" must occur as it stands.
            limit: How many passages to return, at most 15.
        """
        if not query.strip():
            raise ToolCallError("the query is empty; give words to search for")
        self._used = True
        hits = self.index.search(query, max(1, min(limit, MAX_HITS)))
        parts = [_hit(hit, query) for hit in hits] or [self._nothing(query)]
        if gaps := self.index.gaps():
            shown = "; ".join(f"{gap.name}: {gap.why}" for gap in gaps[:_GAPS_SHOWN])
            more = f"; and {len(gaps) - _GAPS_SHOWN} more" if len(gaps) > _GAPS_SHOWN else ""
            parts.append(f"Not searched, or not in full: {shown}{more}")
        return "\n\n".join(parts)

    def read_file(self, name: str, offset: int = 0) -> str:
        """Read up to 12,000 characters of a file's text from an offset, with references to cite.

        Numbers such as `12|` at the start of a line are line numbers for citing, not text.

        Args:
            name: The file, as list_files and search_files name it.
            offset: The character to start at: 0, or the offset that an earlier call gave.
        """
        self._used = True
        try:
            document = self._documents.read(name)
        except UnreadableInput as unreadable:
            self._failed[unreadable.name] = unreadable.why
            raise
        if document.cut:
            self._failed[document.name] = document.cut
        length = len(document.text)
        if offset < 0 or offset >= max(length, 1):
            raise ToolCallError(
                f"offset {offset} is outside {document.name}; use 0 to {max(length - 1, 0)}"
            )
        body, end = _marked(document, offset, PAGE_CHARS - _HEADER_CHARS)
        head = f"{document.name}, characters {offset:,} to {end:,} of {length:,}"
        if end < length:
            head += f"; continue with offset={end}"
        elif document.cut:
            head += f"; there is more that is not shown: {document.cut}"
        return f"{head}\n{body}"

    def unread(self) -> list[tuple[str, str]]:
        """(name, reason) of files known to be unreadable or incomplete; reads none."""
        if not self._used:
            return []
        found = dict(one for one in self._inputs.skipped if one.why != HIDDEN)
        found |= {one.name: NOT_READ for one in self._inputs.of_kind("other")}
        found |= dict(self.index.known_gaps)
        return list((found | self._failed).items())

    def _nothing(self, query: str) -> str:
        near = self.index.near(query)
        hint = f"similar words in the files: {', '.join(near)}" if near else "try other words"
        return f"No passage has {cut(query, 200)!r}; {hint}."


def _hit(hit: Passage, query: str) -> str:
    start, end = snippet_window(hit.text, content_words(query), SNIPPET_CHARS)
    line = hit.line + hit.text.count("\n", 0, start)
    text = _BREAKS.sub("\n", hit.text[start:end].strip())
    before, after = "…" if start else "", "…" if end < len(hit.text) else ""
    heading = f" {cut(hit.heading, 100)}" if hit.heading and hit.heading not in text else ""
    place = citation(hit.name, line=line, page=hit.page)
    return f"{place}{heading} (offset={hit.offset})\n{before}{text}{after}"


def snippet_window(text: str, words: Sequence[str], max_chars: int) -> tuple[int, int]:
    """The span with the most of `words`, matched by their beginnings, as other forms count too."""
    if len(text) <= max_chars:
        return 0, len(text)
    lower = text.lower()
    stems = (word[: max(4, len(word) - 3)] for word in words)
    found = sorted(at for stem in stems if (at := lower.find(stem)) >= 0)
    lead = max_chars // 4
    first = max(
        found, key=lambda at: sum(at <= one < at + max_chars - lead for one in found), default=0
    )
    start = min(max(0, first - lead), len(text) - max_chars)
    if start and (space := text.find(" ", start, start + 40)) > 0:
        start = space + 1
    return start, start + max_chars


def _marked(document: Document, offset: int, max_chars: int) -> tuple[str, int]:
    """The text from `offset` on with marks for citing, and the offset of its end.

    Pages start with their citation. Without pages, the first line of a paragraph and every tenth
    line in it start with their number.
    """
    out: list[str] = []
    at, room = offset, max_chars
    number, unmarked = document.line(offset), _LINES_BETWEEN_MARKS
    starts = set(document.page_starts)
    while at < len(document.text):
        newline = document.text.find("\n", at)
        end = len(document.text) if newline < 0 else newline + 1
        line = document.text[at:end]
        mark = ""
        if document.page_starts:
            if at in starts or at == offset:
                page = document.page(at)
                mark = citation(document.name, line=number, page=page) + "\n"
        elif unmarked >= _LINES_BETWEEN_MARKS and not line.isspace():
            mark, unmarked = f"{number}| ", 0
        if len(mark) + len(line) > room:
            if not out:  # A line that is longer than a page.
                shown = cut(line, room - len(mark)) or line[: room - len(mark)]
                out.append(mark + shown)
                at += len(shown)
            break
        out.append(mark + line)
        at, room = end, room - len(mark) - len(line)
        number += 1
        unmarked = _LINES_BETWEEN_MARKS if line.isspace() else unmarked + 1
    return "".join(out).rstrip("\n"), at
