# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false
"""The contracts and NDAs with gold answers, cut into passages for training and scoring."""

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression

from leadhand_teams.contracts.documents import MAX_QUOTE, ContractPassage, passages
from leadhand_teams.contracts.recognition import CUE_SCALE, Cues, Recogniser, matched
from leadhand_teams.shared.reading import Text

WORKLOADS = Path(os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")) / "teams"
LEAST_DOCUMENTS = 4
"""In how many passages a word must be to be a feature."""
FEATURES = 500
"""How many words and pairs of words a recogniser weighs."""

Span = tuple[int, int]


def hits(quote: Span, gold: Span) -> bool:
    """Whether a quote of at most `MAX_QUOTE` overlaps over half of the shorter of the two."""
    overlap = min(quote[1], gold[1]) - max(quote[0], gold[0])
    shorter = min(quote[1] - quote[0], gold[1] - gold[0])
    return overlap > shorter / 2 and quote[1] - quote[0] <= MAX_QUOTE


@dataclass(frozen=True)
class Corpus:
    """Documents as passages, with a matrix of their words."""

    rows: Sequence[dict]
    seen: Sequence[ContractPassage]
    document: np.ndarray
    """Which document each passage is of."""
    vocabulary: Sequence[str]
    matrix: Any

    @property
    def all(self) -> np.ndarray:
        return np.arange(len(self.rows))

    def within(self, documents: Iterable[int]) -> np.ndarray:
        """Which passages are of these documents."""
        return np.isin(self.document, list(documents))

    def cues(self, cues: Cues) -> np.ndarray:
        found = np.zeros((len(self.seen), len(cues)))
        for index, seen in enumerate(self.seen):
            found[index, matched(seen, cues)] = 1
        return found

    def gold(self, spans: Sequence[Sequence[Span]]) -> np.ndarray:
        """Which passages hit one of their document's spans."""
        return np.array(
            [
                any(hits((s.start, s.end), (a, b)) for a, b in spans[d])
                for s, d in zip(self.seen, self.document, strict=True)
            ]
        )


def corpus(folder: str) -> Corpus:
    """One of the folders of the shared data."""
    with gzip.open(WORKLOADS / folder / "data.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    seen, document = [], []
    for number, row in enumerate(rows):
        for passage in passages(Text("", row["text"])):
            seen.append(passage)
            document.append(number)
    counts = Counter(gram for one in seen for gram in one.grams)
    vocabulary = sorted(gram for gram, count in counts.items() if count >= LEAST_DOCUMENTS)
    index = {gram: number for number, gram in enumerate(vocabulary)}
    at_row, at_column, values = [], [], []
    for number, one in enumerate(seen):
        known = [index[gram] for gram in one.grams if gram in index]
        at_row += [number] * len(known)
        at_column += known
        values += [1 / np.sqrt(max(1, len(one.grams)))] * len(known)
    matrix = sp.csr_matrix((values, (at_row, at_column)), shape=(len(seen), len(vocabulary)))
    return Corpus(rows, seen, np.array(document), vocabulary, matrix)


def folds(documents: Sequence[int] | np.ndarray, count: int, seed: int) -> list[np.ndarray]:
    shuffled = np.array(documents).copy()
    np.random.RandomState(seed).shuffle(shuffled)
    return np.array_split(shuffled, count)


@dataclass(frozen=True)
class Fitted:
    columns: np.ndarray
    model: Any

    def log_odds(self, matrix: Any, cues: np.ndarray) -> np.ndarray:
        if self.model is None:
            return np.full(matrix.shape[0], -7.0)
        return self.model.decision_function(_joined(matrix[:, self.columns], cues))

    def recogniser(self, vocabulary: Sequence[str], present: float, quote: float) -> Recogniser:
        assert self.model is not None
        weights = self.model.coef_[0]
        count = len(self.columns)
        grams = {
            str(vocabulary[c]): round(float(w), 2)
            for c, w in zip(self.columns, weights[:count], strict=True)
        }
        return Recogniser(
            bias=round(float(self.model.intercept_[0]), 3),
            grams={gram: weight for gram, weight in grams.items() if abs(weight) >= 0.05},
            cues=tuple(round(float(weight), 3) for weight in weights[count:]),
            present=round(present, 3),
            quote=round(quote, 3),
        )


def _joined(matrix: Any, cues: np.ndarray) -> Any:
    return sp.hstack([matrix, sp.csr_matrix(cues * CUE_SCALE)]).tocsr()


def fit(matrix: Any, cues: np.ndarray, gold: np.ndarray, *, strength: float = 3.0) -> Fitted:
    """A logistic regression over the words that separate best, and all cues."""
    if gold.sum() < 2:
        return Fitted(np.array([], dtype=int), None)
    scores = np.nan_to_num(chi2(matrix, gold)[0])
    columns = np.sort(np.argsort(-scores)[:FEATURES])
    model = LogisticRegression(C=strength, class_weight={0: 1, 1: 3}, solver="liblinear")
    return Fitted(columns, model.fit(_joined(matrix[:, columns], cues), gold))
