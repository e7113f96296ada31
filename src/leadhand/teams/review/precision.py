"""The confidence of each rule, measured on labelled hits instead of chosen.

`precision.json` has for each rule how many hits were labelled blind (`n`) and how many of them were
true (`k`), with the sources and who labelled. A rule that is not in it has not been measured. No
rule reaches the default threshold without figures.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field, model_validator

from leadhand.synthesis.findings import Rating
from leadhand.teams.review import DEFAULT_THRESHOLD
from leadhand.teams.review.lens import LensRule

MIN_LABELLED = 20
"""A rule with fewer labelled hits takes the figures of its family."""
MAX_UNMEASURED = DEFAULT_THRESHOLD - 1
"""The most confidence without figures: findings are then suppressed by default."""
_Z = 1.959963984540054
"""The standard normal's 97.5 % quantile: 95 % between the two bounds."""


class Hits(BaseModel):
    """Labelled hits of one rule."""

    model_config = ConfigDict(frozen=True)

    family: str
    """The rule's family when its hits were labelled."""
    k: int = Field(ge=0)
    """Hits that were true problems."""
    n: int = Field(ge=0)
    """Hits that were labelled."""

    @model_validator(mode="after")
    def _at_most_all(self) -> "Hits":
        if self.k > self.n:
            raise ValueError(f"k = {self.k} true hits out of n = {self.n}: k can't exceed n")
        return self


class PrecisionTable(BaseModel):
    """The measured precision of rules, and the sources of the figures."""

    model_config = ConfigDict(frozen=True)

    method: str
    """How hits were drawn and labelled."""
    sources: tuple[str, ...]
    """The packages, with versions, and data sets that the hits are from."""
    labelled_by: str
    """Who or what labelled them."""
    rules: dict[str, Hits]


def load_table() -> PrecisionTable:
    """The table that ships with the review team."""
    file = resources.files("leadhand.teams.review") / "precision.json"
    return PrecisionTable.model_validate_json(file.read_bytes())


def wilson_lower(k: int, n: int) -> float:
    """The lower end of the 95 % score interval for a proportion, of which `k` of `n` were observed.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22 (1927), 209-212. 0 without observations.
    """
    if n == 0:
        return 0.0
    share, zz = k / n, _Z * _Z
    middle = share + zz / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + zz / (4 * n * n))
    return max(0.0, (middle - spread) / (1 + zz / n))


class Confidence:
    """Computes the confidence of a rule, 0 to 100; the synthesizer's `rating`."""

    def __init__(
        self,
        table: PrecisionTable,
        families: Mapping[str, str],
        *,
        facts: AbstractSet[str] = frozenset(),
    ) -> None:
        """`families` maps rules to families, for rules that are not in the table; `facts` are the
        rules whose hits need no judgement."""
        self._table = table
        self._facts = facts
        self._families = families
        pooled: defaultdict[str, list[Hits]] = defaultdict(list)
        for hits in table.rules.values():
            pooled[hits.family].append(hits)
        self._pooled = {
            family: (sum(hits.k for hits in all_hits), sum(hits.n for hits in all_hits))
            for family, all_hits in pooled.items()
        }

    @classmethod
    def of(cls, rules: Iterable[LensRule]) -> "Confidence":
        """The confidence of `rules` by the table of the review team."""
        known = tuple(rules)
        facts = frozenset(rule.id for rule in known if rule.fact)
        return cls(load_table(), {rule.id: rule.family for rule in known}, facts=facts)

    def __call__(self, rule: str) -> Rating:
        """The confidence of a rule: 100 for a fact."""
        if rule in self._facts:
            return Rating(100, "fact")
        return Rating(self._measured(rule))

    def _measured(self, rule: str) -> int:
        """100 x the Wilson lower bound of the rule's precision, rounded down.

        A rule with fewer than `MIN_LABELLED` labelled hits takes the pooled figures of its family,
        including its own. If these are too few as well, it is Laplace's rule of succession,
        (k + 1) / (n + 2), which starts at one half and moves with the hits, at most
        `MAX_UNMEASURED`.
        """
        own = self._table.rules.get(rule)
        k, n = (own.k, own.n) if own else (0, 0)
        if n < MIN_LABELLED:
            family = own.family if own else self._families.get(rule, "")
            k, n = self._pooled.get(family, (k, n))
        if n < MIN_LABELLED:
            return min(MAX_UNMEASURED, 100 * (k + 1) // (n + 2))
        return math.floor(100 * wilson_lower(k, n))
