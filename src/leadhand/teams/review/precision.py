"""How sure a review may be of each rule: measured on labelled hits, never chosen.

`precision.json` beside this module holds, for each rule, how many hits were labelled blind (`n`)
and how many of them were true (`k`), with the sources and who labelled. A rule that is not in it
has not been measured. Nothing here may lift a rule to the default threshold without figures.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field, model_validator

from leadhand.teams.review import DEFAULT_THRESHOLD
from leadhand.teams.review.lens import LensRule

ENOUGH = 20
"""Labelled hits from which a figure stands by itself."""
UNMEASURED_AT_MOST = DEFAULT_THRESHOLD - 1
"""Just under the default threshold: what has no figure of its own is not shown unasked."""
_Z = 1.959963984540054
"""The standard normal's 97.5 % quantile: 95 % between the two bounds."""


class Hits(BaseModel):
    """Labelled hits of one rule."""

    model_config = ConfigDict(frozen=True)

    family: str
    """The family that the rule belonged to when its hits were labelled."""
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
    """The measured precision of rules, and where the figures come from."""

    model_config = ConfigDict(frozen=True)

    method: str
    """How hits were drawn and labelled."""
    sources: tuple[str, ...]
    """Packages with their versions, and data sets, that the hits are from."""
    labelled_by: str
    """Who or what labelled them."""
    rules: dict[str, Hits]


def load_table() -> PrecisionTable:
    """The table that ships with the review team."""
    file = resources.files("leadhand.teams.review") / "precision.json"
    return PrecisionTable.model_validate_json(file.read_bytes())


def wilson_lower(k: int, n: int) -> float:
    """The lower end of the 95 % score interval for a proportion of which `k` of `n` were seen.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22 (1927), 209-212. 0 where nothing was seen.
    """
    if n == 0:
        return 0.0
    share, zz = k / n, _Z * _Z
    middle = share + zz / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + zz / (4 * n * n))
    return max(0.0, (middle - spread) / (1 + zz / n))


class Confidence:
    """Gives each rule its confidence, 0 to 100; the synthesizer's `confidence`."""

    def __init__(self, table: PrecisionTable, families: Mapping[str, str]) -> None:
        """`families` maps rules to families, for those that the table does not name."""
        self._table = table
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
        """The confidence of `rules` by the table that ships with the review team."""
        return cls(load_table(), {rule.id: rule.family for rule in rules})

    def __call__(self, rule: str) -> int:
        """100 x the Wilson lower bound of the rule's precision, rounded down.

        A rule with fewer than `ENOUGH` labelled hits takes the pooled figures of its family, its
        own among them. Where these are too few as well, there is no figure to speak of: then it is
        Laplace's rule of succession, (k + 1) / (n + 2), which starts at one half and leans only as
        far from it as the few hits allow, and at most `UNMEASURED_AT_MOST`.
        """
        own = self._table.rules.get(rule)
        k, n = (own.k, own.n) if own else (0, 0)
        if n < ENOUGH:
            family = own.family if own else self._families.get(rule, "")
            k, n = self._pooled.get(family, (k, n))
        if n < ENOUGH:
            return min(UNMEASURED_AT_MOST, 100 * (k + 1) // (n + 2))
        return math.floor(100 * wilson_lower(k, n))
