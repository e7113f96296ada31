"""The typed answer of the team. Figures are fractions of 1; None: unknown."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Measures(BaseModel):
    """Figures of a portfolio or an asset a year, over the prices handed in."""

    model_config = ConfigDict(serialize_by_alias=True)

    name: str = ""
    yearly_return: float | None = Field(default=None, alias="return")
    """The compounded return that the prices had: what was, not what will be."""
    volatility: float | None = None
    sharpe: float | None = None
    max_drawdown: float | None = None
    """The deepest fall from a highest value, from 0 to 1."""
    ref: str | None = None
    """The place of an asset's last price."""
    closest: str | None = None
    """The asset with the highest correlation to it."""
    correlation: float | None = None


class Position(BaseModel):
    """An asset: its part of the portfolio's value, and the order that the policy's arithmetic
    gives."""

    asset: str
    before: float
    after: float
    target: float
    side: Literal["buy", "sell"]
    shares: int
    """Of the order; 0: there is none."""
    price: float
    value: float
    fee: float
    ref: str
    """The place of the price."""
    tax: float | None = None
    """Estimated, of the lots sold; None: no lots or no rates were given."""
    lots: str = ""
    """Which lots to sell, those with the least tax first."""


class Constraint(BaseModel):
    """A rule of the policy, whether the orders keep it, and why (not)."""

    name: str
    met: bool
    why: str


class BeforeAfter(BaseModel):
    """A figure of what is held, and of what would be after the orders."""

    name: str
    before: float | None = None
    after: float | None = None


class Rebalanced(BaseModel):
    """What to trade so that the holdings meet the policy, and what that changes: the answer, or the
    part of it that a worker found."""

    measures: dict[str, Measures] = {one: Measures() for one in ("before", "target", "after")}
    """Of what is held, of the target's weights, and of whole shares after the orders."""
    weights: list[Position] = []
    orders: list[Position] = []
    """Of the weights those with an order; sales first, as their money pays for what is bought."""
    cash: float | None = None
    """After all orders and fees."""
    constraints: list[Constraint] = []
    scenarios: list[BeforeAfter] = []
    """The change of the whole portfolio in each."""
    falls: list[BeforeAfter] = []
    """How far the portfolio was below its highest value, by date."""
    policy: str = ""
    """The file of the policy."""
    value: float = 0.0
    """Of shares and cash before any order."""
    assets: list[Measures] = []
    issues: list[str] = []
    """What is wrong with the prices and holdings that were handed in."""
    conflicts: list[str] = []
    """What two sources say differently, with both places."""
    note: list[str] = []
    """What the writer drafted, if that was asked for."""
    statements: list[str] = []
    """What a model added and whose citation holds."""

    @property
    def parts(self) -> list[Position]:
        """The weights, and as the last the cash that they leave."""
        cash: dict[str, object] = {"asset": "cash"}
        for end in ("before", "after", "target"):
            cash[end] = round(1 - sum(getattr(one, end) for one in self.weights), 9) + 0.0
        return self.weights + [one.model_copy(update=cash) for one in self.weights[:1]]

    @property
    def portfolios(self) -> list[Measures]:
        """The measures that are known."""
        return [one for one in self.measures.values() if one.volatility is not None]

    @property
    def broken(self) -> list[Constraint]:
        """The rules that are not kept."""
        return [rule for rule in self.constraints if not rule.met]
