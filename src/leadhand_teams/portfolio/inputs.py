"""Prices, holdings and the policy out of the files handed in, and what is wrong with them."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np

from leadhand import InputError
from leadhand.tools.text import counted, joined_names
from leadhand_teams.portfolio.measures import Floats
from leadhand_teams.portfolio.policy import Policy, read_policy
from leadhand_teams.shared.reading import Reading, read_once
from leadhand_teams.shared.tables import DataTable

ASSET = ("asset", "ticker", "symbol", "isin", "wertpapier", "titel", "titre", "valor", "name")
SHARES = ("shares", "quantity", "units", "stück", "anzahl", "quantité", "acciones", "cantidad")
PRICE = ("close", "price", "kurs", "schlusskurs", "cours", "precio")
COST = ("cost", "cost per share", "purchase price", "kaufkurs", "einstand", "costo")
BOUGHT = ("acquired", "bought", "purchase date", "date", "kaufdatum", "datum", "fecha")
CASH = frozenset(("cash", "bargeld", "guthaben", "liquidität", "liquidités", "efectivo"))
STALE = 10
"""Rows with the same price after which it is called stale."""


class Quoted(NamedTuple):
    """A price of an asset."""

    asset: str
    date: dt.date
    value: float
    ref: str


class Lot(NamedTuple):
    """Shares that were bought together."""

    shares: int
    cost: float | None
    bought: dt.date | None
    ref: str


@dataclass
class HandedIn:
    """All that was handed in."""

    assets: list[str] = field(default_factory=list[str])
    dates: list[dt.date] = field(default_factory=list[dt.date])
    levels: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """Prices, dates by assets; nan where there is none or an impossible one."""
    places: dict[str, str] = field(default_factory=dict[str, str])
    """Of the last price of each asset."""
    lots: dict[str, list[Lot]] = field(default_factory=dict[str, list[Lot]])
    cash: float | None = None
    policy: Policy | None = None
    policy_file: str = ""
    issues: list[str] = field(default_factory=list[str])
    """What is wrong or doubtful, with its place."""
    conflicts: list[str] = field(default_factory=list[str])
    """What two sources say differently, with both places."""
    unread: list[str] = field(default_factory=list[str])
    """What could not be read or used."""


@read_once
def material(reading: Reading) -> HandedIn:
    """What the files have. Raises `InputError` without prices, or with mistakes in a policy."""
    given = HandedIn(unread=[f"{one.name}: {one.why}" for one in reading.unread])
    for text in reading.texts:
        if text.name.lower().endswith((".yaml", ".yml")):
            if given.policy:
                raise InputError(f"hand in one policy, not {given.policy_file}, {text.name}")
            given.policy, given.policy_file = read_policy(text.text, text.name), text.name
        elif not any(table.file == text.name for table in reading.tables):
            given.issues.append(f"{text.name}: not used, no table or policy")
    held = [table for table in reading.tables if table.column(*SHARES) is not None]
    _add_prices(given, [table for table in reading.tables if table not in held])
    if not given.assets:
        why = f" ({'; '.join(given.unread[:3])})" if given.unread else ""
        advice = "hand in a CSV with a column of dates and a column an asset"
        raise InputError(f"no prices were found{why}: {advice}")
    for n in range(len(given.assets)):
        _name_doubts(given, n)
    _add_holdings(given, held)
    given.issues += [f"{table.name}: {note}" for table in reading.tables for note in table.notes]
    return given


def _add_prices(given: HandedIn, tables: Sequence[DataTable]) -> None:
    """All prices by date and asset; the first is kept where two differ."""
    found: dict[tuple[dt.date, str], Quoted] = {}
    wrong: dict[str, list[str]] = {}
    for one in (quoted for table in tables for quoted in _quoted(given, table)):
        if one.value <= 0:
            wrong.setdefault(one.asset, []).append(one.ref)
            continue
        first = found.setdefault((one.date, one.asset), one)
        if first.value != one.value:
            both = f"{first.value:g} at {first.ref}, {one.value:g} at {one.ref}"
            given.conflicts.append(f"{one.asset} on {one.date}: {both}: the first is used")
    given.issues += [
        f"{asset}: left out are zero or negative prices at {joined_names(places, 3)}"
        for asset, places in wrong.items()
    ]
    given.dates = sorted({date for date, _ in found})
    given.assets = list(dict.fromkeys(asset for _, asset in found))
    given.levels = np.full((len(given.dates), len(given.assets)), np.nan)
    rows, columns = ({one: n for n, one in enumerate(all)} for all in (given.dates, given.assets))
    for (date, asset), one in sorted(found.items()):
        given.levels[rows[date], columns[asset]] = one.value  # pyright: ignore[reportArgumentType]
        given.places[asset] = one.ref


def _quoted(given: HandedIn, table: DataTable) -> Iterator[Quoted]:
    """The prices of a table with a column an asset, or with columns for asset and price."""
    when = next((one for one in table.columns if one.kind in ("date", "period")), None)
    if when is None:
        given.unread.append(f"{table.name}: no column has dates: add one called date")
        return
    names, price = table.column(*ASSET), table.column(*PRICE)
    columns = [one for one in table.columns if one is not when]
    if names is not None and names.kind == "text" and price is not None:
        columns = [price]
    else:
        names = None
    for column in columns:
        if column.kind != "number":
            given.issues.append(f"{table.name}: {column.name} has no numbers: left out")
            continue
        for row, (date, value) in enumerate(zip(when.dates, column.numbers, strict=True)):
            if date is not None and value is not None:
                asset = names.texts[row].strip() if names else column.name
                yield Quoted(asset, date, value, table.ref(row))


def _name_doubts(given: HandedIn, n: int) -> None:
    """Name the gaps and stale prices of an asset."""
    column, dates, asset = given.levels[:, n], given.dates, given.assets[n]
    rows = np.flatnonzero(~np.isnan(column))
    if gaps := int(rows[-1] - rows[0] + 1 - len(rows)):
        missing = counted(gaps, "date")
        given.issues.append(f"{asset}: {missing} without a price: the last one before was used")
    if late := len(dates) - 1 - int(rows[-1]):
        last = f"{column[rows[-1]]:g} of {dates[rows[-1]]} is used"
        given.issues.append(f"{asset}: stale, no price on the last {counted(late, 'date')}: {last}")
    longest = max(len(list(same)) for _, same in groupby(column[rows].tolist()))
    if longest >= STALE:
        given.issues.append(f"{asset}: stale, the same price {longest} times in a row")


def _add_holdings(given: HandedIn, tables: Sequence[DataTable]) -> None:
    """The lots of each asset, and the cash; the first file counts where two have an asset."""
    owner: dict[str, str] = {}
    for table in tables:
        names, shares = table.column(*ASSET), table.column(*SHARES)
        cost, bought = table.column(*COST), table.column(*BOUGHT)
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
            elif asset.casefold() in CASH:
                given.cash = (given.cash or 0.0) + count
            elif asset not in given.assets:
                given.unread.append(f"{asset}: held at {ref}, without a price: it is not counted")
            else:
                if count != int(count):
                    given.issues.append(f"{ref}: {count:g} shares: the fraction is left out")
                price = cost.numbers[row] if cost else None
                date = bought.dates[row] if bought else None
                given.lots.setdefault(asset, []).append(Lot(int(count), price, date, ref))
