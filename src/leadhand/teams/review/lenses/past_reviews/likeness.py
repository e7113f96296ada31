"""Which lines of past comments a new line is nearly the same as, found by their rarest words.

Pure and bounded: a line is compared with a few dozen others at most, however many there are.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

NEAR = 90.0
"""Similarity in per cent from which two lines count as nearly the same."""
LONG = 40
"""A line of so many characters says enough by itself."""
_MIN_CHARS, _MAX_CHARS = 12, 400
_RAREST = 3
_MOST_PER_WORD = 60
_COMMON_FROM = 8
"""A line that so many different places have is nobody's in particular."""

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\w\s]")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_SETTLED = re.compile(
    r"(?:True|False|None|null|nil|true|false|not|in|is|and|or|\d[\w.]*|[!=<>+*/%&|^~-])\Z"
)
_COMMON = re.compile(
    r"(?:import|from|include|using|package|use|export)\s|(?:\#|//|/?\*|<!--|\"\"\"|'''|@)"
    r"|(?:return|break|continue|pass|else|try|end|fi|done)\b\W*$"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line ready for comparison."""

    text: str
    """Tokens with one space between them."""
    settled: tuple[str, ...]
    """Numbers, truth values and operators, in order: two lines that differ in these do different
    things, however alike they look."""
    words: frozenset[str]

    @property
    def is_long(self) -> bool:
        """Whether it says enough by itself."""
        return len(self.text) >= LONG and len(self.words) >= 4


def prepared(text: str) -> Line | None:
    """`text` as a line to compare, or none where it says too little to be recognised."""
    bare = text.strip()
    if not _MIN_CHARS <= len(bare) <= _MAX_CHARS or _COMMON.match(bare):
        return None
    tokens = _TOKEN.findall(bare)
    words = frozenset(_WORD.findall(bare))
    if len(words) < 2:
        return None
    settled = tuple(token for token in tokens if _SETTLED.match(token))
    return Line(" ".join(tokens), settled, words)


@dataclass(frozen=True, slots=True)
class PastLine:
    """Where a line of the past is from."""

    comment: int
    """The number of its comment."""
    meant: bool
    """Whether the comment was put on this very line, rather than below it."""


class LikenessIndex:
    """Lines of the past, found by likeness."""

    def __init__(self, lines: Iterable[tuple[PastLine, Line]]) -> None:
        self._places: defaultdict[Line, list[PastLine]] = defaultdict(list)
        for place, line in lines:
            self._places[line].append(place)
        self._by_word: defaultdict[str, list[Line]] = defaultdict(list)
        for line in self._places:
            for word in line.words:
                self._by_word[word].append(line)

    def like(self, line: Line) -> list[tuple[PastLine, float]]:
        """(place, similarity) of every past line that is nearly the same as `line`."""
        found: dict[PastLine, float] = {}
        for other in self._candidates(line):
            if other.settled != line.settled or len(self._places[other]) >= _COMMON_FROM:
                continue
            likeness = fuzz.ratio(line.text, other.text, score_cutoff=NEAR)
            if likeness:
                for place in self._places[other]:
                    found[place] = max(likeness, found.get(place, 0.0))
        return list(found.items())

    def _candidates(self, line: Line) -> Sequence[Line]:
        """Lines that share one of the words of `line` that are rarest here."""
        if line in self._places:
            return [line]
        known = sorted(
            (word for word in line.words if word in self._by_word),
            key=lambda word: (len(self._by_word[word]), word),
        )
        shared = Counter(
            other for word in known[:_RAREST] for other in self._by_word[word][:_MOST_PER_WORD]
        )
        return list(shared)
