"""Prices, holdings and policies out of the files handed in, and what is wrong with them."""

import datetime as dt
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from leadhand.tools.text import counted, joined_names
from leadhand_teams.portfolio.measures import Floats, filled
from leadhand_teams.portfolio.policy import Policy, read_policy
from leadhand_teams.shared.reading import read, stamps
from leadhand_teams.shared.tables import DataTable

ASSET = ("asset", "ticker", "symbol", "isin", "wertpapier", "titel", "titre", "valor", "name")
SHARES = ("shares", "quantity", "units", "stück", "anzahl", "quantité", "acciones", "cantidad")
PRICE = ("close", "price", "kurs", "schlusskurs", "cours", "precio")
COST = ("cost", "cost per share", "purchase price", "kaufkurs", "einstand", "costo")
BOUGHT = ("acquired", "bought", "purchase date", "date", "kaufdatum", "datum", "fecha")
CASH = frozenset(("cash", "bargeld", "guthaben", "liquidität", "liquidités", "efectivo"))
STALE = 10
"""Rows without a change, or without a price at the end, after which a price is called stale."""

_READING = threading.Lock()


class Lot(NamedTuple):
    """Shares that were bought together."""

    shares: int
    cost: float | None
    bought: dt.date | None
    ref: str


class HandedIn(NamedTuple):
    """All that was handed in."""

    assets: list[str]
    dates: list[dt.date]
    levels: Floats
    """Prices, dates by assets; nan where there is none or an impossible one."""
    lots: dict[str, list[Lot]]
    cash: float | None
    policies: dict[str, Policy | None]
    """By file; None: it has mistakes."""
    issues: list[str]
    """What is wrong, missing or doubtful, with its place."""
    conflicts: list[str]
    """What two sources say differently, with both places."""
    unread: list[str]
    """Files that could not be read or used, and mistakes of policies."""


def material(paths: Sequence[str]) -> HandedIn:
    """What the files have; they are read again only if they have changed."""
    there = tuple(path for path in paths if Path(path).exists())
    with _READING:  # tasks that start together read once
        return _material(there, stamps(there))


@lru_cache(maxsize=4)
def _material(paths: tuple[str, ...], states: tuple[tuple[str, int, int], ...]) -> HandedIn:
    reading = read(paths)
    issues: list[str] = []
    conflicts: list[str] = []
    unread = [f"{one.name}: {one.why}" for one in reading.unread]
    policies: dict[str, Policy | None] = {}
    for text in reading.texts:
        if text.name.lower().endswith((".yaml", ".yml")):
            policies[text.name], problems = read_policy(text.text, text.name)
            unread += problems
        elif not any(table.file == text.name for table in reading.tables):
            issues.append(f"{text.name}: not used, no table or policy")
    held = [table for table in reading.tables if table.column(*SHARES) is not None]
    priced = [table for table in reading.tables if table not in held]
    dates, assets, levels = _prices(priced, issues, conflicts, unread)
    _doubts(dates, assets, levels, issues)
    lots, cash = _holdings(held, issues, conflicts)
    known = {asset: n for n, asset in enumerate(assets)}
    _against(held, known, filled(levels), conflicts)
    for asset, own in lots.items():
        if asset not in known:
            place = f"{asset}: held at {own[0].ref}, no price in any file"
            conflicts.append(f"{place}: it is not counted and stays as it is")
    notes = [f"{table.name}: {note}" for table in reading.tables for note in table.notes]
    return HandedIn(assets, dates, levels, lots, cash, policies, issues + notes, conflicts, unread)


def _prices(
    tables: Sequence[DataTable], issues: list[str], conflicts: list[str], unread: list[str]
) -> tuple[list[dt.date], list[str], Floats]:
    """All prices by date and asset; the first is kept where two differ."""
    found: dict[tuple[dt.date, str], tuple[float, str]] = {}
    wrong: dict[str, list[str]] = {}
    for table in tables:
        when = next((one for one in table.columns if one.kind in ("date", "period")), None)
        names, price = table.column(*ASSET), table.column(*PRICE)
        if when is None:
            unread.append(f"{table.name}: no column has dates: add one called date")
            continue
        is_long = names is not None and names.kind == "text" and price is not None
        columns = (
            [price] if is_long and price else [one for one in table.columns if one is not when]
        )
        if not is_long:
            texts = [one.name for one in columns if one.kind != "number" and any(one.cells)]
            columns = [one for one in columns if one.name not in texts]
            issues += [f"{table.name}: {one} has no numbers: left out" for one in texts]
        for column in columns:
            for row, (date, value) in enumerate(zip(when.dates, column.numbers, strict=True)):
                asset = names.texts[row].strip() if is_long and names else column.name
                if date is None or value is None:
                    continue
                if value <= 0:
                    wrong.setdefault(asset, []).append(table.ref(row))
                    continue
                before, place = found.setdefault((date, asset), (value, table.ref(row)))
                if before != value:
                    text = (
                        f"{asset} on {date}: {before:g} at {place}, {value:g} at {table.ref(row)}"
                    )
                    conflicts.append(f"{text}: the first is used")
    for asset, places in wrong.items():
        issues.append(f"{asset}: zero or negative price at {joined_names(places, 3)}: left out")
    dates = sorted({date for date, _ in found})
    assets = list(dict.fromkeys(asset for _, asset in found))
    rows, columns_of = ({one: n for n, one in enumerate(many)} for many in (dates, assets))
    levels = np.full((len(dates), len(assets)), np.nan)
    for (date, asset), (value, _) in found.items():
        levels[rows[date], columns_of[asset]] = value  # pyright: ignore[reportArgumentType]
    return dates, assets, levels


def _doubts(
    dates: Sequence[dt.date], assets: Sequence[str], levels: Floats, issues: list[str]
) -> None:
    """Name gaps, stale prices and jumps that look like a split."""
    for n, asset in enumerate(assets):
        rows = np.flatnonzero(~np.isnan(levels[:, n]))
        column = levels[rows, n]
        if gaps := int(rows[-1] - rows[0] + 1 - len(rows)):
            issues.append(
                f"{asset}: {counted(gaps, 'date')} without a price: the last one before was used"
            )
        if (late := len(dates) - 1 - int(rows[-1])) > 0:
            last = f"{column[-1]:g} of {dates[rows[-1]]} is used"
            dates_late = "date" if late == 1 else f"{late} dates"
            issues.append(f"{asset}: stale, no price on the last {dates_late}: {last}")
        changed = np.flatnonzero(np.diff(column) != 0)
        edges = np.concatenate([[-1], changed, [len(column) - 1]])
        longest = int(np.argmax(np.diff(edges)))
        if (run := int(np.diff(edges)[longest])) >= STALE:
            last = int(edges[longest + 1])
            start, end = dates[int(rows[last - run + 1])], dates[int(rows[last])]
            issues.append(f"{asset}: stale, the same price {run} times ({start} to {end})")
        for row in changed:
            ratio = column[row + 1] / column[row]
            times = max(ratio, 1 / ratio)
            if min(abs(times / one - 1) for one in (2, 3, 4, 5, 10, 20)) < 0.02:
                jump = f"{column[row]:g} to {column[row + 1]:g} on {dates[rows[row + 1]]}"
                issues.append(
                    f"{asset}: {jump} looks like a split that the prices don't adjust for"
                )


def _holdings(
    tables: Sequence[DataTable], issues: list[str], conflicts: list[str]
) -> tuple[dict[str, list[Lot]], float | None]:
    """The lots of each asset, and the cash; the first file counts where two differ."""
    lots: dict[str, list[Lot]] = {}
    cash: float | None = None
    owner: dict[str, str] = {}
    for table in tables:
        names, shares = table.column(*ASSET), table.column(*SHARES)
        cost, bought = table.column(*COST), table.column(*BOUGHT)
        if names is None or shares is None:
            issues.append(f"{table.name}: no column has the assets: add one called asset")
            continue
        for row, (asset, count) in enumerate(zip(names.texts, shares.numbers, strict=True)):
            if count is None:
                issues.append(f"{table.ref(row)}: no number of shares: left out")
            elif asset.casefold() in CASH:
                cash = (cash or 0.0) + count
            elif owner.setdefault(asset, table.name) != table.name:
                conflicts.append(f"{asset}: held in {owner[asset]} and again at {table.ref(row)}")
            else:
                if count != int(count):
                    issues.append(f"{table.ref(row)}: {count:g} shares: the fraction is left out")
                price = cost.numbers[row] if cost else None
                date = bought.dates[row] if bought else None
                lots.setdefault(asset, []).append(Lot(int(count), price, date, table.ref(row)))
    return lots, cash


def _against(
    tables: Sequence[DataTable], known: dict[str, int], levels: Floats, conflicts: list[str]
) -> None:
    """Name prices in holdings that are far from the last ones."""
    for table in tables:
        names = table.column(*ASSET)
        price = table.column("price", "market price", "last price", "kurs")
        if names is None or price is None or price is table.column(*COST):
            continue
        for row, (asset, value) in enumerate(zip(names.texts, price.numbers, strict=True)):
            last = levels[-1, known[asset]] if asset in known else None
            if value and last and abs(value / last - 1) > 0.05:
                place = f"{value:g} at {table.ref(row)}, {last:g} as the last price"
                conflicts.append(f"{asset}: {place}: the last price is used")
