"""Finds the best passages for a question, without a model."""

from collections import Counter
from typing import Final

from leadhand.tools.files.index import SearchIndex
from leadhand.tools.files.passage import Passage
from leadhand.tools.files.queries import vocabulary

MAX_PER_FILE: Final = 3
SAME_WORDS: Final = 0.8
"""Two passages that share this part of their words count as the same."""
_CANDIDATES: Final = 50
"""Candidates for each passage wanted, because one long file may have most of the best."""


def best_passages(index: SearchIndex, question: str, limit: int) -> list[Passage]:
    """The best passages, best first; repeats and more than `MAX_PER_FILE` a file are left out."""
    chosen: list[Passage] = []
    wordings: list[frozenset[str]] = []
    taken: Counter[str] = Counter()
    for passage in index.search(question, limit * _CANDIDATES):
        if len(chosen) == limit:
            break
        if taken[passage.name] == MAX_PER_FILE:
            continue
        wording = vocabulary(passage.text)
        if not any(_same(wording, one) for one in wordings):
            chosen.append(passage)
            wordings.append(wording)
            taken[passage.name] += 1
    return chosen


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two vocabularies overlap by `SAME_WORDS` (Jaccard index)."""
    return len(one & other) >= SAME_WORDS * len(one | other)
