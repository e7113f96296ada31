"""Finds the best passages for a question, without a model."""

from collections import Counter
from typing import Final

from leadhand.tools.files.documents import Documents
from leadhand.tools.files.index import SearchIndex
from leadhand.tools.files.inputs import Inputs
from leadhand.tools.files.passage import Passage
from leadhand.tools.files.queries import vocabulary

MAX_PER_FILE: Final = 3
SAME_WORDS: Final = 0.8
"""Two passages that share this part of their words count as the same."""
_CANDIDATES: Final = 50
"""Candidates for each passage wanted, because one long file may have most of the best."""


def find_passages(inputs: Inputs, question: str, limit: int) -> list[Passage]:
    """The `limit` best passages of `inputs` for `question`, best first.

    The result is deterministic. Passages that repeat a better one are left out, and each file gives
    at most `MAX_PER_FILE`.
    """
    return best_passages(SearchIndex(Documents(inputs)), question, limit)


def best_passages(index: SearchIndex, question: str, limit: int) -> list[Passage]:
    """Like `find_passages`, with an existing index."""
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
