"""Full-text search over input files: an SQLite FTS5 table in memory, ranked by BM25."""

import re
import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Final

from leadhand.tools.files.documents import Document, Documents
from leadhand.tools.files.inputs import InputFile, UnreadableInput
from leadhand.tools.files.kinds import FileKind
from leadhand.tools.files.parsing import PARSED_KINDS
from leadhand.tools.files.passage import Passage, split_into_passages
from leadhand.tools.files.queries import content_words, fragments, fts_expression, vocabulary
from leadhand.tools.text import UnreadFile

MAX_PASSAGES: Final = 60_000
"""Passages in the index: some 60 million characters."""
MAX_PARSING_S: Final = 90.0
"""Time for formats other than plain text, which is always read."""

_TABLES: Final[tuple[FileKind, ...]] = ("csv", "json", "xlsx")
"""Indexed last, so that rows of numbers never displace prose."""
_NOT_TEXT: Final[tuple[FileKind, ...]] = ("parquet", "other")

_SCHEMA: Final = """
CREATE VIRTUAL TABLE passage USING fts5 (
    file, heading, body, line UNINDEXED, page UNINDEXED, start UNINDEXED,
    tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE word USING fts5vocab (passage, 'row');
"""
_INSERT: Final = "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?)"
_COLUMNS: Final = "file, body, heading, line, page, start"
# The weights: a word counts most in the heading, less in the body, least in the file's name.
_SEARCH: Final = f"""
SELECT {_COLUMNS}, -bm25(passage, 0.5, 2.0, 1.0) AS score
FROM passage WHERE passage MATCH ? ORDER BY score DESC, rowid LIMIT ?
"""
_CONTAIN: Final = f"""
SELECT {_COLUMNS}, {{score}} AS score FROM passage WHERE score > 0
ORDER BY score DESC, rowid LIMIT ?
"""
_STEMS: Final = "SELECT term FROM word WHERE length(term) > 2 ORDER BY cnt DESC LIMIT 50000"
# The index has stems; a snippet marks the whole word of a stem.
_IN_FULL: Final = (
    "SELECT snippet(passage, -1, char(2), char(3), '', 8) FROM passage"
    " WHERE passage MATCH ? LIMIT 1"
)
_MARKED: Final = re.compile("\x02([^\x03]+)\x03")
MAX_NEAR: Final = 5
MAX_PER_FILE: Final = 3
SAME_WORDS: Final = 0.8
"""Two passages that share this part of their words count as the same."""
_CANDIDATES: Final = 50
"""Candidates for each passage wanted, because one long file may have most of the best."""
_NEAR_SCORE: Final = 75.0

_Row = tuple[str, str, str, int, int | None, int, float]


class SearchIndex:
    """The passages of `documents`, searchable; thread-safe."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._gaps: list[UnreadFile] = []

    def search(self, query: str, limit: int) -> list[Passage]:
        """The best passages, best first, with any word of `query` and every quoted phrase."""
        match = fts_expression(query)
        if match is None:
            return []
        with self._lock:
            database = self._ready()
            rows = database.execute(_SEARCH, (match, limit)).fetchall()
            if not rows and (parts := fragments(query)):
                score = " + ".join(["(instr(lower(body), ?) > 0)"] * len(parts))
                rows = database.execute(_CONTAIN.format(score=score), (*parts, limit)).fetchall()
        return [Passage(*row) for row in rows]

    def near(self, query: str) -> list[str]:
        """Indexed words similar to those of `query`, best first, at most `MAX_NEAR`."""
        from rapidfuzz import process

        with self._lock:
            database = self._ready()
            stems = [str(row[0]) for row in database.execute(_STEMS)]
            found: dict[str, None] = {}
            for word in content_words(query)[:MAX_NEAR]:
                for stem, _, _ in process.extract(
                    word.lower(), stems, limit=2, score_cutoff=_NEAR_SCORE
                ):
                    row = database.execute(_IN_FULL, (f'"{stem}"',)).fetchone()
                    found |= dict.fromkeys(_MARKED.findall(str(row[0])) if row else [])
        return list(found)[:MAX_NEAR]

    @property
    def known_gaps(self) -> tuple[UnreadFile, ...]:
        """The gaps if the index has been built; empty before."""
        return tuple(self._gaps) if self._database is not None else ()

    def gaps(self) -> list[UnreadFile]:
        with self._lock:
            self._ready()
            return list(self._gaps)

    def _ready(self) -> sqlite3.Connection:
        if self._database is None:
            # The lock, not SQLite, keeps the threads apart.
            database = sqlite3.connect(":memory:", check_same_thread=False)
            weakref.finalize(self, database.close)
            database.executescript(_SCHEMA)
            self._gaps = []
            with database:
                database.executemany(_INSERT, self._rows())
            self._database = database
        return self._database

    def _rows(self) -> Iterator[tuple[str | int | None, ...]]:
        files = self._order()
        reading = closing(self._documents.read_each(files, timeout_s=MAX_PARSING_S))
        with reading as documents:
            yield from self._passages(files, documents)

    def _passages(
        self, files: Sequence[InputFile], documents: Iterable[Document | UnreadableInput]
    ) -> Iterator[tuple[str | int | None, ...]]:
        left = MAX_PASSAGES
        for number, document in enumerate(documents):
            if isinstance(document, UnreadableInput):
                self._gaps.append(UnreadFile(document.name, document.why))
                continue
            if document.cut is not None:
                self._gaps.append(UnreadFile(document.name, document.cut))
            for passage in split_into_passages(document):
                if left == 0:
                    why = f"not searched beyond the first {MAX_PASSAGES:,} passages of all files"
                    self._gaps += [UnreadFile(file.name, why) for file in files[number:]]
                    return
                left -= 1
                yield (
                    passage.name, passage.heading, passage.text,
                    passage.line, passage.page, passage.offset,
                )  # fmt: skip

    def _order(self) -> list[InputFile]:
        files = [file for file in self._documents.inputs.files if file.kind not in _NOT_TEXT]
        # Small documents first: a large one may take all the time.
        parsed = [file.size_bytes if file.kind in PARSED_KINDS else 0 for file in files]
        order = sorted(range(len(files)), key=lambda n: (files[n].kind in _TABLES, parsed[n]))
        return [files[n] for n in order]


def best_passages(index: SearchIndex, question: str, limit: int) -> list[Passage]:
    """Repeats and more than `MAX_PER_FILE` a file are left out."""
    chosen: list[Passage] = []
    wordings: list[frozenset[str]] = []
    taken: Counter[str] = Counter()
    for passage in index.search(question, limit * _CANDIDATES):
        if len(chosen) == limit:
            break
        if taken[passage.name] == MAX_PER_FILE:
            continue
        wording = vocabulary(passage.text)
        # Few new words (by the Jaccard index) make a repetition.
        if all(len(wording & one) < SAME_WORDS * len(wording | one) for one in wordings):
            chosen.append(passage)
            wordings.append(wording)
            taken[passage.name] += 1
    return chosen
