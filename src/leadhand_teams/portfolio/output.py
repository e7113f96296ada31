"""The typed answer of the team."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Measures(BaseModel):
    """Figures of one portfolio, as fractions of 1 a year; None: unknown."""

    model_config = ConfigDict(serialize_by_alias=True)

    name: str = ""
    yearly_return: float | None = Field(default=None, alias="return")
    """The compounded return that the prices had: what was, not what will be."""
    volatility: float | None = None
    sharpe: float | None = None
    max_drawdown: float | None = None
    """The deepest fall from a highest value, from 0 to 1."""


class Compared(BaseModel):
    """Measures of what is held, of the target's weights, and of whole shares after the orders."""

    before: Measures = Measures()
    target: Measures = Measures()
    after: Measures = Measures()


class Weight(BaseModel):
    """An asset's part of the portfolio's value."""

    asset: str
    before: float
    after: float
    target: float


class Order(BaseModel):
    """One order that the policy's arithmetic gives."""

    asset: str
    side: Literal["buy", "sell"]
    shares: int
    price: float
    value: float
    fee: float
    ref: str
    """The place of the price."""
    tax: float | None = None
    """Estimated, of the lots sold; None: no lots or no rates were given."""
    lots: list[str] = []
    """Which lots to sell, those with the least tax first."""


class Constraint(BaseModel):
    """A rule of the policy, whether the orders keep it, and why (not)."""

    name: str
    met: bool
    why: str


class Scenario(BaseModel):
    """The change of the whole portfolio in a scenario, as a fraction of 1."""

    name: str
    before: float | None = None
    after: float | None = None


class AssetFacts(Measures):
    """What the prices say about one asset."""

    asset: str
    first: str
    last: str
    price: float
    ref: str
    """The place of the last price."""
    closest: str | None
    """The asset with the highest correlation to it."""
    correlation: float | None


class Falls(BaseModel):
    """How far a portfolio was below its highest value at each date, from 0 to 1."""

    dates: list[str] = []
    before: list[float] = []
    after: list[float] = []


class Rebalanced(BaseModel):
    """What to trade so that the holdings meet the policy, and what that changes: the answer, or the
    part of it that a worker found."""

    measures: Compared = Compared()
    weights: list[Weight] = []
    orders: list[Order] = []
    cash: float | None = None
    """After all orders and fees."""
    constraints: list[Constraint] = []
    scenarios: list[Scenario] = []
    policy: str = ""
    """The file of the policy."""
    value: float = 0.0
    """Of shares and cash before any order."""
    assets: list[AssetFacts] = []
    issues: list[str] = []
    """What is wrong with the prices and holdings that were handed in."""
    conflicts: list[str] = []
    """What two sources say differently, with both places."""
    falls: Falls = Falls()
    note: list[str] = []
    """What the writer drafted, if that was asked for."""
    statements: list[str] = []
    """What a model added and whose citation holds."""

    @property
    def broken(self) -> list[Constraint]:
        """The rules that are not kept."""
        return [rule for rule in self.constraints if not rule.met]
