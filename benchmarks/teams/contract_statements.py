# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false
"""Measures and trains the verdicts on NDAs of the team `contracts`.

    python -m benchmarks.teams.contract_statements measure   # cross-validated, beside the majority
    python -m benchmarks.teams.contract_statements train     # writes weights/statements.json

Needs scikit-learn, and the shared data at $LEADHAND_WORKLOADS (default ../shared/workloads).
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.teams.contract_corpora import Corpus, Fitted, Span, corpus, fit, folds, hits
from leadhand_teams.contracts.output import Verdict
from leadhand_teams.contracts.recognition import (
    EVIDENCE,
    UNKNOWN,
    VERDICTS,
    StatementCues,
    StatementWeights,
    signals,
)
from leadhand_teams.contracts.wording import table

WEIGHTS = Path("src/leadhand_teams/contracts/weights/statements.json")
NAMES: dict[str, Verdict] = {
    "Entailment": "entailed",
    "Contradiction": "contradicted",
    "NotMentioned": "not_mentioned",
}
STRENGTH = 3.0
VERDICT_STRENGTH = 0.3
WEIGHT_OF_CONTRADICTION = 1.6
OWN = 0.7
"""How freely the weights of a statement may differ from those that all share."""
ORDER = ("bears", "supports", "denies")

Scores = Mapping[str, np.ndarray]
"""By statement: a row of odds for each of `ORDER`."""


class Statements:
    """The statements' cues and gold passages in a corpus."""

    def __init__(self, data: Corpus) -> None:
        self.data = data
        self.rows = table(StatementCues, "statements.yaml")
        self.names = sorted(self.rows)
        self.cues = {name: data.cues(self.rows[name].every) for name in self.names}
        self.gold: dict[str, np.ndarray] = {}
        for name in self.names:
            bears = data.gold([self.evidence(d, name) for d in data.all])
            denied = np.array([self.verdict(d, name) == "contradicted" for d in data.document])
            self.gold[name] = np.array([bears, bears & ~denied, bears & denied])

    def verdict(self, document: int, name: str) -> Verdict:
        return NAMES[self.data.rows[document]["labels"][name][0]]

    def evidence(self, document: int, name: str) -> list[Span]:
        row = self.data.rows[document]
        return [row["spans"][index] for index in row["labels"][name][1]]

    def fitted(self, documents: Iterable[int], name: str) -> list[Fitted]:
        own = self.data.within(documents)
        return [
            fit(self.data.matrix[own], self.cues[name][own], gold[own], strength=STRENGTH)
            for gold in self.gold[name]
        ]

    def scores(self, training: Sequence[int] | np.ndarray, documents: Iterable[int]) -> Scores:
        own = self.data.within(documents)
        found: dict[str, np.ndarray] = {}
        for name in self.names:
            found[name] = np.full((3, len(own)), UNKNOWN)
            for row, fitted in enumerate(self.fitted(training, name)):
                found[name][row, own] = fitted.log_odds(self.data.matrix[own], self.cues[name][own])
        return found

    def crossed(self, documents: Sequence[int] | np.ndarray, seed: int) -> Scores:
        """Scores of each document by recognisers that have not seen it."""
        total = {name: np.full((3, len(self.data.document)), UNKNOWN) for name in self.names}
        for fold in folds(documents, 5, seed):
            own = self.data.within(fold)
            scores = self.scores(np.setdiff1d(documents, fold), fold)
            for name in self.names:
                total[name][:, own] = scores[name][:, own]
        return total

    def best(self, scores: Scores, name: str, document: int) -> np.ndarray:
        own = np.where(self.data.document == document)[0]
        return own[np.argsort(-scores[name][0, own], kind="stable")]

    def signals(self, scores: Scores, name: str, document: int) -> list[float]:
        order = self.best(scores, name, document)
        best, likely = order[:EVIDENCE], order[: 3 * EVIDENCE]
        odds, others = scores[name], len(self.rows[name].cues)
        return signals(
            (*odds[0, best[:2]], odds[1, likely].max(), odds[2, likely].max()),
            [int(self.cues[name][index, :others].sum()) for index in best],
            [int(self.cues[name][index, others:].sum()) for index in best],
        )

    def inputs(self, scores: Scores, name: str, document: int) -> np.ndarray:
        """The signals as all statements weigh them, which one it is, and as it weighs them."""
        found = np.array(self.signals(scores, name, document))
        one = np.zeros(len(self.names))
        one[self.names.index(name)] = 1
        return np.concatenate([found, one * 1.5, np.outer(one, found).ravel() * OWN])

    def verdicts(self, scores: Scores, documents: Iterable[int]) -> Any:
        rows = [(d, name) for d in documents for name in self.names]
        weight = {VERDICTS.index("contradicted"): WEIGHT_OF_CONTRADICTION}
        model = LogisticRegression(C=VERDICT_STRENGTH, max_iter=5000, class_weight=weight)
        return model.fit(
            np.array([self.inputs(scores, name, d) for d, name in rows]),
            [VERDICTS.index(self.verdict(d, name)) for d, name in rows],
        )


def measure() -> None:
    data = corpus("contract_nli")
    task = Statements(data)
    confusion: Counter[tuple[str, str]] = Counter()
    majority: Counter[tuple[str, str]] = Counter()
    first = among_three = asked = 0
    right = Counter[str]()
    for fold in folds(data.all, 5, 0):
        training = np.setdiff1d(data.all, fold)
        model = task.verdicts(task.crossed(training, 1), training)
        scores = task.scores(training, fold)
        for name in task.names:
            usual = Counter(task.verdict(d, name) for d in training).most_common(1)[0][0]
            for document in fold:
                gold = task.verdict(document, name)
                found = VERDICTS[int(model.predict(task.inputs(scores, name, document)[None])[0])]
                confusion[gold, found] += 1
                majority[gold, usual] += 1
                right[name] += gold == found
                if gold == "not_mentioned":
                    continue
                quotes = [
                    any(hits((p.start, p.end), (a, b)) for a, b in task.evidence(document, name))
                    for p in (data.seen[i] for i in task.best(scores, name, document)[:EVIDENCE])
                ]
                asked, first, among_three = asked + 1, first + quotes[0], among_three + any(quotes)
    print("| | accuracy | F1 of contradicted |\n|---|---|---|")
    for label, counts in (("the team", confusion), ("majority of each statement", majority)):
        print(f"| {label} | {_accuracy(counts):.3f} | {_f1(counts, 'contradicted'):.3f} |")
    print(f"evidence first {first / asked:.3f}, among the first three {among_three / asked:.3f}")
    print({name: round(right[name] / len(data.rows), 2) for name in task.names})
    print({f"{gold} as {found}": count for (gold, found), count in confusion.items()})


def _accuracy(counts: Counter[tuple[str, str]]) -> float:
    return sum(count for (gold, found), count in counts.items() if gold == found) / counts.total()


def _f1(counts: Counter[tuple[str, str]], verdict: Verdict) -> float:
    hit = counts[verdict, verdict]
    golds = sum(count for (gold, _), count in counts.items() if gold == verdict)
    found = sum(count for (_, one), count in counts.items() if one == verdict)
    return 2 * hit / max(1, golds + found)


def train() -> None:
    data = corpus("contract_nli")
    task = Statements(data)
    model = task.verdicts(task.crossed(data.all, 1), data.all)
    made: dict[str, object] = {}
    for number, name in enumerate(task.names):
        fitted = dict(zip(ORDER, task.fitted(data.all, name), strict=True))
        weights: dict[str, object] = {
            part: one.recogniser(data.vocabulary, 0.0, 0.0) if one.model is not None else None
            for part, one in fitted.items()
        }
        weights["verdicts"] = _verdict_weights(model, number, len(task.names))
        made[name] = StatementWeights.model_validate(weights).model_dump(exclude_defaults=True)
        print(name, flush=True)
    WEIGHTS.parent.mkdir(exist_ok=True)
    WEIGHTS.write_text(json.dumps(made, separators=(",", ":")))
    print(WEIGHTS, WEIGHTS.stat().st_size, "bytes")


def _verdict_weights(model: Any, number: int, count: int) -> dict[Verdict, tuple[float, ...]]:
    """The weights of one statement: those of all and its own, added."""
    size = (model.coef_.shape[1] - count) // (count + 1)
    weights: dict[Verdict, tuple[float, ...]] = {}
    for row, verdict in enumerate(VERDICTS):
        shared, own = model.coef_[row, :size], model.coef_[row, size + count :].reshape(count, size)
        constant = model.intercept_[row] + model.coef_[row, size + number] * 1.5
        weights[verdict] = tuple(
            round(float(w), 3) for w in (*(shared + own[number] * OWN), constant)
        )
    return weights


if __name__ == "__main__":
    {"measure": measure, "train": train}[sys.argv[1]]()
