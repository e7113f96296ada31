"""Trained recognisers of passages: linear models over words and cues.

`benchmarks/teams/contract_clauses.py` and `contract_statements.py` make their weights.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain

from pydantic import BaseModel, ConfigDict, TypeAdapter

from leadhand_teams.contracts.passages import ContractPassage
from leadhand_teams.contracts.wording import packaged

CUE_SCALE = 0.5
"""What a matched cue counts beside the words, whose squares add up to 1."""

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


def log_odds(
    passage: ContractPassage, recogniser: Recogniser, cues: Cues, *, least: float = -math.inf
) -> float:
    """The score of a passage; below `least` it is only an upper bound, found without the cues."""
    weights = recogniser.grams
    total = sum(weights[gram] for gram in passage.grams & weights.keys())
    score = recogniser.bias + total / math.sqrt(max(1, len(passage.grams)))
    highest = score + CUE_SCALE * sum(weight for weight in recogniser.cues if weight > 0)
    if highest < least:
        return highest
    return score + CUE_SCALE * sum(recogniser.cues[index] for index in matched(passage, cues))


@cache
def cues_of(name: str) -> Mapping[str, Cues]:
    kind = TypeAdapter(dict[str, dict[str, list[str]]])
    listed = kind.validate_python(packaged(name))
    return {
        key: [re.compile(cue) for cue in chain.from_iterable(value.values())]
        for key, value in listed.items()
    }
