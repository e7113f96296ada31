"""Whether an NDA entails, contradicts or does not mention a statement, by trained weights.

Three recognisers score each passage: it bears on the statement, it supports it, it denies it. A
linear model over the best passages gives the verdict. `benchmarks/teams/contract_statements.py`
trains them.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from pydantic import BaseModel, JsonValue, TypeAdapter

from leadhand_teams.contracts.output import Verdict
from leadhand_teams.contracts.passages import ContractPassage
from leadhand_teams.contracts.recognition import Recogniser, cues_of, log_odds, matched
from leadhand_teams.contracts.wording import packaged

VERDICTS: tuple[Verdict, ...] = ("entailed", "contradicted", "not_mentioned")
EVIDENCE = 3
"""How many of the best passages are quoted and weighed."""
UNKNOWN = -7.0
"""The odds where no recogniser could be trained."""


class StatementWeights(BaseModel):
    """The weights of one statement."""

    bears: Recogniser
    supports: Recogniser | None
    denies: Recogniser | None
    verdicts: Mapping[Verdict, tuple[float, ...]]
    """For each verdict, the weights of `signals` and a constant."""


def judged(
    passages: Sequence[ContractPassage], statement: str
) -> tuple[Verdict, tuple[ContractPassage, ...]]:
    """The verdict of an NDA on a statement, with the passages that bear on it, best first."""
    weights, cues = statements()[statement], cues_of("statements.yaml")[statement]
    bearing = [log_odds(one, weights.bears, cues) for one in passages]
    order = sorted(range(len(passages)), key=lambda index: -bearing[index])
    best, likely = order[:EVIDENCE], order[: 3 * EVIDENCE]

    def highest(recogniser: Recogniser | None) -> float:
        scores = [log_odds(passages[i], recogniser, cues) for i in likely] if recogniser else []
        return max(scores, default=UNKNOWN)

    found = signals(
        [bearing[index] for index in best],
        highest(weights.supports),
        highest(weights.denies),
        [matched(passages[index], cues) for index in best],
        groups(statement),
    )
    scores = {
        verdict: sum(a * b for a, b in zip(weights.verdicts[verdict], (*found, 1.0), strict=True))
        for verdict in VERDICTS
    }
    return max(VERDICTS, key=lambda one: scores[one]), tuple(passages[i] for i in best)


def signals(
    bearing: Sequence[float],
    supports: float,
    denies: float,
    cues: Sequence[Sequence[int]],
    group: Sequence[str],
) -> tuple[float, ...]:
    """What the verdict is weighed on.

    `bearing` are the odds of the best passages, best first, `cues` the cues that each matches, and
    `group` says of each cue whether it says, denies or is about the statement.
    """

    def share(name: str) -> float:
        most = max((sum(group[index] == name for index in found) for found in cues), default=0)
        return most / max(1, group.count(name))

    first, second = (*bearing, UNKNOWN, UNKNOWN)[:2]
    denied = sum(any(group[index] == "denies" for index in found) for found in cues)
    odds = (first / 3, second / 3, supports / 3, denies / 3)
    return (*odds, share("says"), share("denies"), denied / EVIDENCE)


@cache
def groups(statement: str) -> tuple[str, ...]:
    """Of each cue of a statement, in order: `says`, `denies` or `about`."""
    kind = TypeAdapter(dict[str, dict[str, list[str]]])
    loaded = kind.validate_python(packaged("statements.yaml"))
    return tuple(name for name, listed in loaded[statement].items() for _ in listed)


@cache
def statements() -> Mapping[str, StatementWeights]:
    """The weights of all statements by their ids."""
    loaded = TypeAdapter(dict[str, JsonValue]).validate_python(packaged("weights/statements.json"))
    return TypeAdapter(dict[str, StatementWeights]).validate_python(loaded["statements"])
