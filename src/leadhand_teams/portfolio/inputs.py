"""Prices, holdings and the policy out of the files handed in, and what is wrong with them."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from leadhand import InputError
from leadhand.tools.text import counted, joined_names
from leadhand_teams.portfolio.market import Bounds, Floats, filled
from leadhand_teams.portfolio.policy import Policy, read_policy
from leadhand_teams.shared.reading import Reading, read_once
from leadhand_teams.shared.tables import DataTable

VOCABULARY: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("vocabulary.yaml").read_text(encoding="utf-8")
)
Shares = NDArray[np.int64]
SLACK = 1e-9
STALE = 10
"""Rows with the same price after which it is called stale."""


class Lot(NamedTuple):
    """Shares that were bought together."""

    shares: int
    cost: float | None
    bought: dt.date | None
    ref: str


class Outcome(NamedTuple):
    """The value and fee of each order, and each asset's part of the whole after them."""

    traded: Floats
    fees: Floats
    weights: Floats
    cash: float
    kept: NDArray[np.bool_]


@dataclass
class HandedIn:
    """All that was handed in."""

    assets: list[str] = field(default_factory=list[str])
    dates: list[dt.date] = field(default_factory=list[dt.date])
    levels: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """Prices, dates by assets, each gap filled by the one before; nan before the first."""
    places: dict[str, str] = field(default_factory=dict[str, str])
    """Of the last price of each asset."""
    lots: dict[str, list[Lot]] = field(default_factory=dict[str, list[Lot]])
    cash: float = 0.0
    prices: Floats = field(default_factory=lambda: np.empty(0))
    """The last price of each asset, and its shares before any order."""
    held: Shares = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    policy: Policy = field(default_factory=lambda: Policy(target="hrp"))
    policy_file: str = ""
    """Empty if there is none; then the defaults of `policy` count."""
    issues: list[str] = field(default_factory=list[str])
    """What is wrong or doubtful, with its place."""
    conflicts: list[str] = field(default_factory=list[str])
    """What two sources say differently, with both places."""
    unread: list[str] = field(default_factory=list[str])
    """What could not be read or used."""

    @property
    def value(self) -> float:
        """All shares and the cash, before any order."""
        return float(self.prices @ self.held) + self.cash

    @property
    def limits(self) -> Bounds:
        """The least and the largest weight of each asset."""
        low, high = np.array([self.policy.limits(asset) for asset in self.assets]).T
        return low, high

    def after(self, shares: Shares) -> Outcome:
        """What orders that lead to `shares` do, and which assets are within their limits then."""
        traded, invested = np.abs(shares - self.held) * self.prices, shares * self.prices
        fees = self.policy.fees.rate * traded + self.policy.fees.fixed * (traded > 0)
        whole, (low, high) = self.value - float(fees.sum()), self.limits
        weights = invested / whole
        kept = (weights >= low - SLACK) & (weights <= high + SLACK)
        return Outcome(traded, fees, weights, whole - float(invested.sum()), kept)


@read_once
def material(reading: Reading) -> HandedIn:
    """What the files have. Raises `InputError` without prices, or with mistakes in a policy."""
    given = HandedIn(unread=[f"{one.name}: {one.why}" for one in reading.unread])
    for text in reading.texts:
        if text.name.lower().endswith((".yaml", ".yml")):
            if given.policy_file:
                raise InputError(f"hand in one policy, not {given.policy_file}, {text.name}")
            given.policy, given.policy_file = read_policy(text.text, text.name), text.name
        elif not any(table.file == text.name for table in reading.tables):
            given.issues.append(f"{text.name}: not used, no table or policy")
    given.issues += [f"{table.name}: {note}" for table in reading.tables for note in table.notes]
    held = [table for table in reading.tables if table.column(*VOCABULARY["shares"])]
    _add_prices(given, [table for table in reading.tables if table not in held])
    cash = [*_holdings(given, held)]
    given.cash = sum(cash) if cash else given.policy.cash
    lots = [given.lots.get(asset, ()) for asset in given.assets]
    given.held = np.array([sum(lot.shares for lot in one) for one in lots], dtype=np.int64)
    return given


def _add_prices(given: HandedIn, tables: Sequence[DataTable]) -> None:
    """All prices by date and asset; the first is kept where two differ."""
    found: dict[tuple[dt.date, str], tuple[float, str]] = {}
    for asset, date, value, ref in (one for table in tables for one in _quoted(given, table)):
        first, place = found.setdefault((date, asset), (value, ref))
        if first != value:
            both = f"{first:g} at {place}, {value:g} at {ref}"
            given.conflicts.append(f"{asset} on {date}: {both}: the first is used")
    if not found:
        why = f" ({'; '.join(given.unread[:3])})" if given.unread else ""
        advice = "hand in a CSV with a column of dates and a column an asset"
        raise InputError(f"no prices were found{why}: {advice}")
    given.dates = sorted({date for date, _ in found})
    given.assets = list(dict.fromkeys(asset for _, asset in found))
    given.places = {asset: place for (_, asset), (_, place) in sorted(found.items())}
    gap = (np.nan, "")
    rows = [[found.get((date, one), gap)[0] for one in given.assets] for date in given.dates]
    levels = np.array(rows)
    given.levels = filled(levels)
    given.prices = given.levels[-1]
    for asset, prices in zip(given.assets, levels.T, strict=True):
        given.issues += [f"{asset}: {doubt}" for doubt in _doubts(prices, given.dates)]


def _quoted(given: HandedIn, table: DataTable) -> Iterator[tuple[str, dt.date, float, str]]:
    """Asset, date, price and place, from a column an asset, or from columns for asset and price."""
    when = next((one for one in table.columns if one.kind in ("date", "period")), None)
    if when is None:
        given.unread.append(f"{table.name}: no column has dates: add one called date")
        return
    dates, roles = when.dates, ("asset", "price")
    names, price = (table.column(*VOCABULARY[role]) for role in roles)
    is_long = names is not None and names.kind == "text" and price is not None
    for column in table.columns:
        if column is when or (is_long and column is not price):
            continue
        if column.kind != "number":
            given.issues.append(f"{table.name}: {column.name} has no numbers: left out")
        numbers = [(n, one) for n, one in enumerate(column.numbers) if one is not None]
        wrong = [table.ref(n) for n, one in numbers if one <= 0]
        if wrong:
            what = f"left out are zero or negative prices at {joined_names(wrong, 3)}"
            given.issues.append(f"{column.name}: {what}")
        for row, value in numbers:
            if (date := dates[row]) and value > 0:
                asset = names.texts[row].strip() if names and is_long else column.name
                yield asset, date, value, table.ref(row)


def _doubts(prices: Floats, dates: Sequence[dt.date]) -> Iterator[str]:
    """The gaps and stale prices of an asset."""
    rows = np.flatnonzero(~np.isnan(prices))
    if gaps := int(rows[-1] - rows[0] + 1 - len(rows)):
        yield f"{counted(gaps, 'date')} without a price: the last one before was used"
    if late := len(dates) - 1 - int(rows[-1]):
        last = f"{prices[rows[-1]]:g} of {dates[rows[-1]]} is used"
        yield f"stale, no price on the last {counted(late, 'date')}: {last}"
    longest = max(len(list(same)) for _, same in groupby(prices[rows].tolist()))
    if longest >= STALE:
        yield f"stale, the same price {longest} times in a row"


def _holdings(given: HandedIn, tables: Sequence[DataTable]) -> Iterator[float]:
    """The cash; keeps the lots of each asset. The first file counts where two have an asset."""
    owner: dict[str, str] = {}
    for table in tables:
        roles = ("asset", "shares", "cost", "bought")
        names, shares, cost, bought = (table.column(*VOCABULARY[role]) for role in roles)
        if names is None or shares is None:
            given.unread.append(f"{table.name}: no column has the assets: add one called asset")
            continue
        for row, (asset, count) in enumerate(zip(names.texts, shares.numbers, strict=True)):
            ref = table.ref(row)
            if count is None:
                given.unread.append(f"{ref}: no number of shares")
            elif owner.setdefault(asset, table.name) != table.name:
                again = f"held in {owner[asset]} and again at {ref}"
                given.conflicts.append(f"{asset}: {again}: the first is used")
            elif asset.casefold() in VOCABULARY["cash"]:
                yield count
            elif asset not in given.assets:
                given.unread.append(f"{asset}: held at {ref}, without a price: it is not counted")
            else:
                if count != int(count):
                    given.issues.append(f"{ref}: {count:g} shares: the fraction is left out")
                price = cost.numbers[row] if cost else None
                date = bought.dates[row] if bought else None
                given.lots.setdefault(asset, []).append(Lot(int(count), price, date, ref))
