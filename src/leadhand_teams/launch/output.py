"""The typed answer of the team."""

import datetime as dt

from pydantic import BaseModel, Field

from leadhand_teams.shared.statements import Statement


class Elasticity(BaseModel):
    """How many percent sales change if the price rises by one percent, other things equal."""

    product: str | None = None
    """The product or type that it is for; null: all rows together."""
    value: float
    low: float
    high: float
    """The 95 % interval, robust to unequal variances."""
    controls: list[str] = []
    """The columns whose differences were taken out."""
    rows: int
    ref: str


class SurveyPrices(BaseModel):
    """Prices from a survey by van Westendorp, with the extension by Newton, Miller and Smith."""

    valid: int
    """Respondents whose four prices are in order; the others are left out."""
    invalid: int = 0
    idp: float
    """As many find it cheap as expensive."""
    opp: float
    """As many find it too cheap as too expensive."""
    pmc: float
    pme: float
    """The ends of the range of acceptable prices."""
    price_max_adoption: float | None = None
    price_max_revenue: float | None = None
    """Null without answers on the likelihood of buying."""
    curves: list[tuple[float, float, float, float, float]] = []
    """Prices, each with the shares that find it too cheap, cheap, expensive and too expensive."""
    ref: str


class Economics(BaseModel):
    """What one unit earns, and how many pay for the fixed costs."""

    price: float | None = None
    cost: float | None = None
    margin: float | None = None
    """Price less cost."""
    margin_percent: float | None = None
    fixed_costs: float | None = None
    break_even_units: int | None = None
    currency: str | None = None
    """Of all amounts; null if no source names one."""
    refs: list[str] = []


class ScheduledTask(BaseModel):
    """A task of the launch, placed as late as the date allows."""

    task: str
    start: dt.date
    end: dt.date
    """First and last day."""
    days: int
    owner: str | None = None
    slack: int
    """Working days by which it may begin earlier without moving a task before it."""
    critical: bool
    depends_on: list[str] = []
    ref: str


class ChannelText(BaseModel):
    """A text for a channel, with the facts that it claims."""

    channel: str
    text: str
    max_chars: int
    claims: list[Statement] = []
    by_model: bool = False


class Rung(BaseModel):
    """A competitor's price."""

    competitor: str
    item: str | None = None
    price: float
    unit: str | None = None
    ref: str


class MarketSegment(BaseModel):
    """A figure of a part of the market."""

    segment: str
    measure: str
    value: float
    share: float | None = None
    """Of the sum over all segments, in percent; null for rates."""
    ref: str


class Launch(BaseModel):
    """Market, price, schedule and copy of a product launch."""

    elasticities: list[Elasticity] = []
    survey: SurveyPrices | None = None
    economics: Economics = Field(default_factory=Economics)
    ladder: list[Rung] = []
    market: list[MarketSegment] = []
    schedule: list[ScheduledTask] = []
    launch_date: dt.date | None = None
    copies: list[ChannelText] = Field(default=[], alias="copy")
    statements: list[Statement] = []
    removed_statements: int = 0
    warnings: list[str] = []
    unread: list[str] = []

    model_config = {"populate_by_name": True, "serialize_by_alias": True}
