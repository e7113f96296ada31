"""The sentences of texts, each with its place and what stands around it. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from leadhand_teams.research.words import stems_in
from leadhand_teams.shared.reading import Text

_BREAK: Final = re.compile(
    r"\n[ \t]*\n+|(?<=[.!?])[ \t]*\n|(?<=[.!?])\s+(?=[\"“(]?[A-ZÄÖÜÉ\d])|"
    r"\n(?=\s*(?:[-*•#|]|\d+[.)]\s))|\n(?=[^\n:]{1,40}: )|$(?!\n)"
)
_HEADING: Final = re.compile(r"#.*|\d+(?:\.\d+)*[.)]?\s+\w[\w ]{0,40}\.?|[^a-zäöü]{4,80}")
"""Marked, numbered: `3. Deposit.`, or in capitals."""
_TITLE: Final = re.compile(
    r"(?:#.*|(?![^\n]*\s\d+ ?[a-z€£$%])[A-ZÄÖÜ][^\n.!?,;:|]{2,50})(?=\n\s*(?:[\"“(]?[A-ZÄÖÜÉ\d]|#))"
)
"""A line above a paragraph: marked, or short, without a full stop and a figure: `40 euros`."""
_SHORT_FORM: Final = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nr|Art|Sec|approx|e\.g|i\.e|etc|vs|Inc|Ltd|Co|[A-Z]|\d{1,2}))\.$"
)
_ITEM: Final = re.compile(r"^(?:[-*•| ]+|\d{1,2}[.)]\s+)")
_MARKS: Final = re.compile(r"\*\*|__|`")
_TO_READER: Final = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the )*(?:previous|prior|above|other|earlier)\b|"
    r"\bsystem prompt\b|\byou are (?:now|an? (?:ai|assistant|language model))\b",
    re.IGNORECASE,
)
"""Instructions to the reader, which are no facts."""


@dataclass(frozen=True)
class TextSentence:
    """A sentence and where it is."""

    source: Text
    text: str
    """On one line."""
    ref: str
    heading: str
    near: str
    """Its heading, its neighbours, and the file's name and title."""

    @cached_property
    def stems(self) -> tuple[str, ...]:
        return stems_in(self.text)

    @cached_property
    def around(self) -> frozenset[str]:
        """The stems of what is near."""
        return frozenset(stems_in(self.near))


def sentences(source: Text) -> Iterator[TextSentence]:
    """Those of a text; rows of tables and instructions to the reader are none."""
    heading = ""
    parts = [(at, text) for at, text in _parts(source.text) if text.count(" | ") < 2]
    plain = ["" if text.startswith("#") else text for _, text in parts]
    for n, (at, text) in enumerate(parts):
        if _TO_READER.search(text):
            continue
        if _HEADING.fullmatch(text):
            heading = text.lstrip("# ")
            continue
        title = f"{PurePosixPath(source.name).stem} {source.title}"
        near = " ".join([heading, *plain[max(0, n - 1) : n], *plain[n + 1 : n + 2], title])
        yield TextSentence(source, _ITEM.sub("", text, count=1), source.ref(at), heading, near)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Where each begins, and its words; a title begins with `#`."""
    start = 0
    for found in _BREAK.finditer(text):
        part = text[start : found.start()]
        begin = len(part) - len(part.lstrip())
        if title := _TITLE.match(part, begin):
            yield start + begin, f"# {' '.join(title[0].lstrip('# ').split())}"
            start, part = start + title.end(), part[title.end() :]
        is_open = "\n\n" not in found[0] and not ("\n" in found[0] and part[-2:-1].isdigit())
        if found[0] and is_open and _SHORT_FORM.search(part[-12:]):
            continue
        words = " ".join(_MARKS.sub("", part.replace("\t", " | ")).split())
        if words.strip("#-*•|: "):
            yield start + len(part) - len(part.lstrip()), words
        start = found.end()
