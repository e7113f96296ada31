"""The typed answer of the team; workers give parts of it."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from leadhand_teams.shared.statements import Statement

Has = Literal["yes", "no", "partly", "unknown"]
Kind = Literal["added", "removed", "renamed", "changed"]


class CompetitorFact(BaseModel):
    """What a source states of a competitor, or of one of its plans, models or products."""

    competitor: str
    item: str | None = None
    attribute: str
    value: str
    unit: str | None = None
    ref: str
    date: str | None = None
    """ISO 8601, of the snapshot or page."""
    name: str = ""
    """The competitor as its sources spell it."""

    @property
    def file(self) -> str:
        """Where it is from."""
        return self.ref.rpartition(":")[0]


Facts = Sequence[CompetitorFact]


class ComparedPrice(CompetitorFact):
    """A price, and what it is per seat and month, or per a number of units."""

    amount: float
    currency: str
    per: str
    comparable: float
    comparable_per: str

    @property
    def compared(self) -> str:
        """Made comparable, in words."""
        unit = " per ".join(filter(None, (self.currency, self.comparable_per)))
        has_cents = self.comparable % 1 and self.comparable == round(self.comparable, 2)
        return f"{self.comparable:,{'.2f' if has_cents else '.6g'}} {unit}"


class Feature(BaseModel):
    """A cell of the feature matrix; `ref` is null where no source says anything."""

    attribute: str
    competitor: str
    has: Has
    value: str = ""
    """A limit, or the plans that have it."""
    ref: str | None = None


class MarketChange(BaseModel):
    """A difference between two snapshots that follow each other."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    kind: Kind
    competitor: str
    item: str | None = None
    attribute: str | None = None
    before: str | None = None
    after: str | None = None
    since: str | None = Field(default=None, alias="from")
    to: str | None = None
    ref_before: str | None = None
    ref_after: str | None = None


class Competition(BaseModel):
    """Facts, features, prices and changes of all competitors."""

    facts: list[CompetitorFact] = []
    matrix: list[Feature] = []
    prices: list[ComparedPrice] = []
    changes: list[MarketChange] = []
    draft: list[str] = []
    """What the writer drafted, if that was asked for."""
    statements: list[Statement] = []
    """What models added and whose citation holds."""
    removed_statements: int = 0
    """Statements of models whose citation did not hold."""
    unread: list[str] = []

    @property
    def spelled(self) -> Self:
        """The same with each competitor as its sources spell it."""
        names, copy = {one.competitor: one.name for one in self.facts}, self.model_copy(deep=True)
        for row in (*copy.facts, *copy.matrix, *copy.prices, *copy.changes):
            row.competitor = names.get(row.competitor) or row.competitor
        return copy
