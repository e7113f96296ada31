"""Trained recognisers of passages, and the verdicts on the statements of NDAs that they give.

Linear models over words and cues. `benchmarks/teams/contract_clauses.py` and
`contract_statements.py` make their weights.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from leadhand_teams.contracts.documents import ContractPassage
from leadhand_teams.contracts.output import Verdict
from leadhand_teams.contracts.wording import table

CUE_SCALE = 0.5
"""What a matched cue counts beside the words, whose squares add up to 1."""
VERDICTS: tuple[Verdict, ...] = ("entailed", "contradicted", "not_mentioned")
EVIDENCE = 3
"""How many of the best passages are quoted and weighed."""
UNKNOWN = -7.0
"""The odds where no recogniser could be trained."""
Cues = Sequence[re.Pattern[str]]


class Recogniser(BaseModel):
    """Weights of one category: the sum over a passage is the logarithm of its odds."""

    model_config = ConfigDict(frozen=True)

    bias: float
    grams: Mapping[str, float]
    cues: tuple[float, ...]
    present: float = 0.0
    """The least odds of the best passage for the category to count as present."""
    quote: float = 0.0
    """The least odds of a passage that is quoted."""


def matched(passage: ContractPassage, cues: Cues) -> list[int]:
    """Which of these cues a passage matches, by their positions."""
    return [index for index, cue in enumerate(cues) if cue.search(passage.plain)]


def log_odds(passage: ContractPassage, recogniser: Recogniser, cues: Cues) -> float:
    """The score of a passage."""
    weights = recogniser.grams
    words = sum(weights[gram] for gram in passage.grams & weights.keys())
    matches = sum(recogniser.cues[index] for index in matched(passage, cues))
    return recogniser.bias + words / math.sqrt(max(1, len(passage.grams))) + CUE_SCALE * matches


class StatementWeights(BaseModel):
    """The weights of a statement: whether a passage bears on it, supports it or denies it."""

    bears: Recogniser
    supports: Recogniser | None = None
    denies: Recogniser | None = None
    verdicts: Mapping[Verdict, tuple[float, ...]]
    """For each verdict, the weights of `signals` and a constant."""


class StatementCues(BaseModel):
    """A row of `statements.yaml`."""

    cues: tuple[re.Pattern[str], ...]
    denies: tuple[re.Pattern[str], ...] = ()

    @property
    def every(self) -> Cues:
        """All cues, in the order of the weights."""
        return (*self.cues, *self.denies)


def judged(
    passages: Sequence[ContractPassage], statement: str
) -> tuple[Verdict, Sequence[ContractPassage]]:
    """The verdict of an NDA on a statement, with the passages that bear on it, best first."""
    weights = table(StatementWeights, "weights/statements.json")[statement]
    cues = table(StatementCues, "statements.yaml")[statement]
    bearing = [log_odds(one, weights.bears, cues.every) for one in passages]
    order = sorted(range(len(passages)), key=lambda index: -bearing[index])
    likely = [passages[index] for index in order[: 3 * EVIDENCE]]
    best = likely[:EVIDENCE]
    others = (
        max((log_odds(one, weight, cues.every) for one in likely if weight), default=UNKNOWN)
        for weight in (weights.supports, weights.denies)
    )
    found = signals(
        (*sorted((*bearing, UNKNOWN, UNKNOWN), reverse=True)[:2], *others),
        [len(matched(one, cues.cues)) for one in best],
        [len(matched(one, cues.denies)) for one in best],
    )

    def score(verdict: Verdict) -> float:
        return sum(a * b for a, b in zip(weights.verdicts[verdict], (*found, 1.0), strict=True))

    return max(VERDICTS, key=score), best


def signals(odds: Iterable[float], said: Sequence[int], denied: Sequence[int]) -> list[float]:
    """What the verdict is weighed on: the odds of the two best passages, the highest that one
    supports or denies it, and how many cues for and against it each of the best matches."""
    share = sum(map(bool, denied)) / EVIDENCE
    most = (max(denied, default=0) / 2, max(said, default=0) / 3)
    return [*(one / 3 for one in odds), share, *most]
