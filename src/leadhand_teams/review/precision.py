"""The confidence of each rule: the expected share of true hits, from labelled ones.

`precision.json` has for each rule how many hits were labelled blind (`n`) and how many of them were
true (`k`), with the sources and who labelled, and for each family the share of true hits to expect
of a rule about which nothing else is known.
"""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field, model_validator

from leadhand.extension.findings import Rating
from leadhand_teams.review import DEFAULT_THRESHOLD
from leadhand_teams.review.rules import LensRule

ENOUGH = 10
"""A rule of which, and of whose family, fewer hits are labelled has no critical finding and stays
below the default threshold."""


class Hits(BaseModel):
    """Labelled hits of one rule."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    family: str
    """The rule's family when its hits were labelled."""
    k: int = Field(ge=0)
    """Hits that were true problems."""
    n: int = Field(ge=0)
    """Hits that were labelled."""
    ordinary_k: int = Field(default=0, ge=0)
    """The true ones among `ordinary_n`."""
    ordinary_n: int = Field(default=0, ge=0)
    """The labelled hits on ordinary commits, of a rule whose others are on fixes undone."""

    @model_validator(mode="after")
    def _at_most_all(self) -> "Hits":
        if self.k > self.n:
            raise ValueError(f"k = {self.k} true hits out of n = {self.n}: k can't exceed n")
        return self


class Prior(BaseModel):
    """How precise rules are before any of their hits is labelled; strengths count hits."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    mean: float = Field(gt=0, lt=1)
    """The share of true hits to expect of a rule of an unknown family."""
    family_strength: float = Field(gt=0)
    """How many labelled hits the mean is worth beside those of a family."""
    rule_strength: float = Field(gt=0)
    """How many labelled hits the family's share is worth beside those of a rule."""


class PrecisionTable(BaseModel):
    """The measured precision of rules, and the sources of the figures."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    method: str
    """How hits were drawn and labelled."""
    sources: tuple[str, ...]
    """The packages, with versions, and data sets that the hits are from."""
    labelled_by: str
    """Who or what labelled them."""
    prior: Prior
    """Under which the labels are most likely; `benchmarks/precision/shrinkage.py` fits it."""
    families: dict[str, float]
    """The expected share of true hits of each family with labels, 0 to 1."""
    rules: dict[str, Hits]


def load_table() -> PrecisionTable:
    """The table that ships with the review team."""
    file = resources.files("leadhand_teams.review") / "precision.json"
    return PrecisionTable.model_validate_json(file.read_bytes())


class Confidence:
    """Computes the confidence of a rule, 0 to 100; the synthesizer's `rating`."""

    def __init__(
        self,
        table: PrecisionTable,
        rules: Iterable[LensRule],
        *,
        meant: AbstractSet[str] = frozenset(),
    ) -> None:
        """For the rules of `meant`, which ask about what the change shows to be on purpose, only
        labels on ordinary commits count."""
        self._table = table
        self._rules = {rule.id: rule for rule in rules}
        self._meant = meant
        self._labelled: defaultdict[str, list[Hits]] = defaultdict(list)
        for hits in table.rules.values():
            self._labelled[hits.family].append(hits)

    @classmethod
    def of(
        cls, rules: Iterable[LensRule], *, meant: AbstractSet[str] = frozenset()
    ) -> "Confidence":
        """The confidence of `rules` by the table of the review team."""
        return cls(load_table(), rules, meant=meant)

    def __call__(self, rule: str) -> Rating:
        """100 for a fact, else 100 x the expected share of true hits, rounded down, and why.

        The share is shrunk from the rule's own labelled hits towards that of its family, and an
        unknown family's towards the mean of all. See Gelman et al., "Bayesian Data Analysis", 3rd
        edition, section 5.1, on the beta-binomial model. A rule without labels has what is expected
        of its family, and never more than the share of true ones among the hits that `why` counts.
        """
        rating = self._measured(rule)
        if not rating.unproven:
            return rating
        why = f"{rating.why}; fewer than {ENOUGH} prove little"
        return rating._replace(confidence=min(rating.confidence, DEFAULT_THRESHOLD - 1), why=why)

    def _measured(self, rule: str) -> Rating:
        known = self._rules.get(rule)
        if known is not None and known.fact:
            return Rating(100, "fact")
        if rule in self._meant:
            every = self._table.rules.values()
            k, n = sum(one.ordinary_k for one in every), sum(one.ordinary_n for one in every)
            why = f"the change shows that it is meant so; in ordinary commits {_right(k, n)}"
            return Rating(100 * k // max(n, 1), why=why)
        own = self._table.rules.get(rule)
        family = own.family if own else known.family if known else ""
        prior = self._table.prior
        expected = self._table.families.get(family, prior.mean)
        related = self._labelled.get(family)
        labelled = [*self._table.rules.values()] if related is None else related
        k, n = sum(hits.k for hits in labelled), sum(hits.n for hits in labelled)
        unproven = related is None or n < ENOUGH
        if own and own.n:
            share = (own.k + prior.rule_strength * expected) / (own.n + prior.rule_strength)
            why = _right(own.k, own.n) + _of_which_ordinary([own])
            why += f"; with related rules in {k} of {n}" if own.n < ENOUGH <= n else ""
            return Rating(int(100 * share), why=why, unproven=unproven)
        share = min(expected, k / n) if n else expected
        of_whom = "related rules" if related else "all rules together"
        why = f"no labelled hits of its own; {of_whom} were {_right(k, n)}"
        why += _of_which_ordinary(related) if related else ""
        return Rating(int(100 * share), why=why, unproven=unproven)


def _right(k: int, n: int) -> str:
    return f"right in {k} of {n} labelled hit{'' if n == 1 else 's'}"


def _of_which_ordinary(hits: Iterable[Hits]) -> str:
    """What the labels say of ordinary commits, where most are on fixes that were undone."""
    counted = [one for one in hits if one.ordinary_n]
    k, n = sum(one.ordinary_k for one in counted), sum(one.ordinary_n for one in counted)
    return f", on ordinary commits in {k} of {n}" if n else ""
