# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false
"""Measures and trains the recognisers of clauses of the team `contracts`.

    python -m benchmarks.teams.contract_clauses measure   # cross-validated, beside a baseline
    python -m benchmarks.teams.contract_clauses train     # writes weights/clauses.json of the team

Needs scikit-learn, and the shared data at $LEADHAND_WORKLOADS (default ../shared/workloads).
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.teams.contract_corpora import Corpus, Fitted, Span, corpus, fit, folds, hits
from leadhand_teams.contracts.clauses import categories, jurisdictions

CATEGORIES = (
    "Governing Law",
    "Anti-Assignment",
    "Cap On Liability",
    "Audit Rights",
    "Insurance",
    "Termination For Convenience",
    "License Grant",
    "Renewal Term",
    "Expiration Date",
    "Non-Compete",
    "Exclusivity",
)
BASELINE = {
    "Governing Law": r"governed by|laws of the state",
    "Anti-Assignment": r"\bassign(ed|able|ment)?\b.{0,120}consent|not assign",
    "Cap On Liability": r"liab\w+.{0,120}(exceed|limited)|(consequential|incidental).{0,60}damages",
    "Audit Rights": r"\baudit|inspect.{0,60}(books|records)",
    "Insurance": r"insurance",
    "Termination For Convenience": (
        r"terminat\w+.{0,100}(without cause|for convenience|any reason|at any time)"
    ),
    "License Grant": r"grants?\b.{0,100}licen[sc]e",
    "Renewal Term": r"\brenew(s|ed|al)?\b",
    "Expiration Date": r"\bterm of this agreement\b|initial term|shall (continue|expire)",
    "Non-Compete": r"\bcompet(e|itive|itor)",
    "Exclusivity": r"(?<!non-)\bexclusiv(e|ely)\b",
}
"""One plain regex a category, matched with sentences."""
GRID = np.arange(-3.0, 2.01, 0.25)
WEIGHTS = Path("src/leadhand_teams/contracts/weights/clauses.json")
STRENGTH = 10.0

Quotes = Mapping[int, Sequence[int]]
"""The passages quoted, by document."""


def quoted(
    scores: np.ndarray, data: Corpus, documents: Iterable[int], present: float, quote: float
) -> Quotes:
    """What the team quotes: nothing, or each passage above `quote`, at least the best."""
    chosen: dict[int, Sequence[int]] = {}
    for document in documents:
        own = np.where(data.document == document)[0]
        best = own[scores[own].argmax()]
        above = [int(index) for index in own if scores[index] >= quote]
        chosen[document] = (above or [int(best)]) if scores[best] >= present else []
    return chosen


def figures(quotes: Quotes, data: Corpus, category: str) -> tuple[float, float]:
    """F1 of "present", and F1 of spans."""
    tp = wrong = right_quotes = all_quotes = found = golds = 0
    for document, chosen in quotes.items():
        gold: list[Span] = data.rows[document]["spans"].get(category, [])
        places = [(data.seen[i].start, data.seen[i].end) for i in chosen]
        tp += bool(chosen and gold)
        wrong += bool(chosen) != bool(gold)
        right_quotes += sum(any(hits(place, (a, b)) for a, b in gold) for place in places)
        all_quotes += len(places)
        found += sum(any(hits(place, (a, b)) for place in places) for a, b in gold)
        golds += len(gold)
    precision, recall = right_quotes / max(1, all_quotes), found / max(1, golds)
    spans = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return 2 * tp / max(1, 2 * tp + wrong), spans


def thresholds(
    scores: np.ndarray, data: Corpus, documents: Sequence[int], category: str
) -> tuple[float, float]:
    """The least odds that serve both figures best, averaged with their neighbours in the grid."""
    table = np.full((len(GRID), len(GRID)), np.nan)
    for row, present in enumerate(GRID):
        for column, quote in enumerate(GRID[: row + 1]):
            table[row, column] = sum(
                figures(quoted(scores, data, documents, present, quote), data, category)
            )
    smooth = np.full_like(table, -1.0)
    for row in range(len(GRID)):
        for column in range(row + 1):
            near = table[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
            smooth[row, column] = np.nanmean(near)
    row, column = np.unravel_index(smooth.argmax(), smooth.shape)
    return float(GRID[row]), float(GRID[column])


class Category:
    """A category's cues and gold passages in a corpus."""

    def __init__(self, data: Corpus, name: str) -> None:
        self.data, self.name = data, name
        self.cues = data.cues(categories()[name].cues)
        self.gold = data.gold([row["spans"].get(name, []) for row in data.rows])

    def fitted(self, documents: Iterable[int]) -> Fitted:
        own = self.data.within(documents)
        return fit(self.data.matrix[own], self.cues[own], self.gold[own], strength=STRENGTH)

    def crossed(self, documents: Sequence[int] | np.ndarray, seed: int) -> np.ndarray:
        """Scores of each document by recognisers that have not seen it."""
        scores = np.full(len(self.gold), -9.0)
        for fold in folds(documents, 5, seed):
            own = self.data.within(fold)
            fitted = self.fitted(np.setdiff1d(documents, fold))
            scores[own] = fitted.log_odds(self.data.matrix[own], self.cues[own])
        return scores


def measure() -> None:
    data = corpus("contracts")
    rows: list[tuple[float, ...]] = []
    print("| category | present F1 | span F1 | one regex: present | span |\n|---|---|---|---|---|")
    for name in CATEGORIES:
        category = Category(data, name)
        quotes: dict[int, Sequence[int]] = {}
        for fold in folds(data.all, 5, 0):
            training = np.setdiff1d(data.all, fold)
            present, quote = thresholds(category.crossed(training, 1), data, list(training), name)
            own = data.within(fold)
            scores = np.full(len(category.gold), -9.0)
            scores[own] = category.fitted(training).log_odds(data.matrix[own], category.cues[own])
            quotes |= quoted(scores, data, fold, present, quote)
        pattern = re.compile(BASELINE[name])
        baseline = {
            int(d): [
                int(i)
                for i in np.where(data.document == d)[0]
                if pattern.search(data.seen[i].plain)
            ]
            for d in data.all
        }
        row = (*figures(quotes, data, name), *figures(baseline, data, name))
        rows.append(row)
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |", flush=True)
        if name == "Governing Law":
            law = _law(data, quotes)
    print("| macro | " + " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)) + " |")
    print(f"governing-law answer: {law:.3f} of the contracts that have one")


def _law(data: Corpus, quotes: Quotes) -> float:
    right = asked = 0
    for document, chosen in quotes.items():
        gold = data.rows[document]["answers"].get("Governing Law")
        if gold is None:
            continue
        asked += 1
        found = [jurisdictions(data.seen[i].text) for i in chosen]
        answer = "; ".join(dict.fromkeys(name for names in found for name in names))
        right += answer.lower() == gold.lower()
    return right / asked


def train() -> None:
    data = corpus("contracts")
    recognisers: dict[str, object] = {}
    for name in (name for name, one in categories().items() if not one.in_front):
        category = Category(data, name)
        documents = len(set(data.document[category.gold]))
        if documents < 8:
            continue
        present, quote = thresholds(category.crossed(data.all, 1), data, list(data.all), name)
        made = category.fitted(data.all).recogniser(data.vocabulary, present, quote)
        recognisers[name] = made.model_dump()
        print(name, documents, present, quote, len(made.grams), flush=True)
    WEIGHTS.parent.mkdir(exist_ok=True)
    WEIGHTS.write_text(json.dumps(recognisers, separators=(",", ":")))
    print(WEIGHTS, WEIGHTS.stat().st_size, "bytes")


if __name__ == "__main__":
    {"measure": measure, "train": train}[sys.argv[1]]()
