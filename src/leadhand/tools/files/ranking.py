"""The passages that answer a question best, found without a model."""

from collections import Counter
from typing import Final

from leadhand.tools.files.documents import Documents
from leadhand.tools.files.index import SearchIndex
from leadhand.tools.files.inputs import Inputs
from leadhand.tools.files.passage import Passage
from leadhand.tools.files.queries import vocabulary

MAX_PER_FILE: Final = 3
SAME_WORDS: Final = 0.8
"""Two passages that share this much of their words say the same."""
_CANDIDATES: Final = 50
"""Looked at for each passage wanted, since one long file may have most of the best."""


def find_passages(inputs: Inputs, question: str, limit: int) -> list[Passage]:
    """The `limit` passages of `inputs` that answer `question` best, best first.

    The same files and question give the same passages. One that repeats a better one is left out,
    and no file gives more than `MAX_PER_FILE`.
    """
    return best_passages(SearchIndex(Documents(inputs)), question, limit)


def best_passages(index: SearchIndex, question: str, limit: int) -> list[Passage]:
    """As `find_passages`, over an index that is there already."""
    chosen: list[Passage] = []
    said: list[frozenset[str]] = []
    taken: Counter[str] = Counter()
    for passage in index.search(question, limit * _CANDIDATES):
        if len(chosen) == limit:
            break
        if taken[passage.name] == MAX_PER_FILE:
            continue
        wording = vocabulary(passage.text)
        if not any(_same(wording, one) for one in said):
            chosen.append(passage)
            said.append(wording)
            taken[passage.name] += 1
    return chosen


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two vocabularies overlap (Jaccard) so much that their texts say the same."""
    return len(one & other) >= SAME_WORDS * len(one | other)
