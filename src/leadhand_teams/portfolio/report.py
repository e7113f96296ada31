"""The report of an answer, and the files of `run --out`."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from leadhand import Answer
from leadhand.tools.text import counted, joined_names
from leadhand_teams.portfolio.output import Rebalanced
from leadhand_teams.shared.figures import Drawing, Series, bars, line_chart
from leadhand_teams.shared.report import (
    Items,
    Report,
    Section,
    TableBlock,
    csv_text,
    saved,
    table_of,
)

CHECK = (
    "These orders are the arithmetic of your own policy, not advice to buy or sell. A professional"
    " must check: whether the policy suits you, that prices and holdings are complete and of today,"
    " what the trades cost in taxes and at the market, and that past risk need not stay as it was."
)
REST = "What is left of 100 % is cash."
PAST = "A year, over the prices handed in: what was, not what will be."


def part_of(outputs: Iterable[JsonValue]) -> Rebalanced:
    """What workers found, without what their models added: each fills fields of its own."""
    fields = [output for output in outputs if isinstance(output, dict)]
    return Rebalanced.model_validate({name: one[name] for one in fields for name in one})


def report_of(
    found: Rebalanced, *, title: str, missing: Sequence[str] = (), footer: Sequence[str] = ()
) -> Report:
    """The report: decision, orders, weights, risk, rules, and what is doubtful."""
    disagreements = [f"Sources disagree: {line}" for line in found.conflicts]
    rules = sorted(found.constraints, key=lambda one: one.met)
    lots = [f"lots of {one.asset}: {', '.join(one.lots)}" for one in found.orders if one.lots]
    parts = ("before", "after", "target")
    figures = ("yearly_return", "volatility", "max_drawdown")
    portfolios = [one for _, one in found.measures if one.volatility is not None]
    prices = ("asset", *figures, "closest", "correlation", "ref")
    return Report(
        title,
        lead(found),
        [
            Section("Orders", [_orders(found), Items(lots)]),
            Section(
                "Weights",
                [
                    *_bars(found),
                    table_of(found.weights, "asset", *parts, percent=parts, caption=REST),
                ],
            ),
            Section(
                "Risk",
                [
                    table_of(portfolios, "name", *figures, "sharpe", percent=figures, caption=PAST),
                    *_falls(found),
                    table_of(found.scenarios, "name", "before", "after", percent=parts),
                ],
            ),
            Section("Rules of the policy", [table_of(rules, "name", "met", "why")]),
            Section("Note", [Items(found.note)]),
            Section("Added by a model, citations checked", [Items(found.statements)]),
            Section("Prices", [table_of(found.assets, *prices, percent=figures, caption=PAST)]),
        ],
        missing=[*missing, *disagreements, *found.issues],
        missing_first=bool(missing or disagreements),
        footer=[CHECK, *footer],
    )


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """Report, orders and figures as files."""
    found = Rebalanced.model_validate(answer.output or {})
    gaps = [gap.why for gap in answer.gaps]
    report = report_of(found, title=answer.request, missing=gaps, footer=[saved(answer)])
    columns = ["asset", "side", "shares", "price", "value", "fee", "tax", "lots"]
    rows = [
        [*(getattr(one, name) for name in columns[:-1]), "; ".join(one.lots)]
        for one in found.orders
    ]
    drawings = {"weights.svg": _bars(found), "drawdown.svg": _falls(found)}
    figures = {name: one.file for name, drawn in drawings.items() for one in drawn}
    return {**report.files, "orders.csv": csv_text(columns, rows), **figures}


def lead(found: Rebalanced) -> list[str]:
    """The decision, then what it changes."""
    before, after = found.measures.before.volatility, found.measures.after.volatility
    if not found.policy:
        shown = f" Yearly volatility of what is held: {before:.1%}." if before else ""
        return [f"What the prices show.{shown}"]
    broken = ", ".join(rule.name for rule in found.broken)
    orders = [f"{one.side} {one.shares:,} {one.asset}" for one in found.orders]
    if orders:
        shown = joined_names(orders, 5)
        first = f"{counted(len(orders), 'order')} by {found.policy}: {shown}."
    elif broken:
        first = "No orders: the policy cannot be met with these prices and holdings."
    else:
        first = f"No order is needed: the holdings keep every rule of {found.policy}."
    change = [f"Volatility goes from {before:.1%} to {after:.1%}."] if before and after else []
    change += [f"{found.cash:,.2f} stays in cash."] if found.cash is not None else []
    change.append(f"Not kept: {broken}." if broken else "Every rule is kept.")
    return [first, " ".join(change)]


def _orders(found: Rebalanced) -> TableBlock:
    sold, bought = (
        sum(one.value for one in found.orders if one.side == side) for side in ("sell", "buy")
    )
    fees, tax = (sum(getattr(one, name) or 0.0 for one in found.orders) for name in ("fee", "tax"))
    told = f"Of {found.value:,.2f}: {sold:,.2f} sold, {bought:,.2f} bought, fees {fees:,.2f}."
    told += f" Estimated tax {tax:,.2f}, not taken from the cash." if tax else ""
    taxed = ("tax",) if any(one.tax is not None for one in found.orders) else ()
    columns = ("asset", "side", "shares", "price", "value", "fee", *taxed, "ref")
    return table_of(found.orders, *columns, caption=told)


def _bars(found: Rebalanced) -> list[Drawing]:
    largest = sorted(found.weights, key=lambda one: -max(one.before, one.after))[:15]
    rows = [
        (label, 100 * weight)
        for one in largest
        for label, weight in ((one.asset, one.before), ("after the orders", one.after))
    ]
    told = ", ".join(f"{one.asset} {one.before:.1%} to {one.after:.1%}" for one in largest)
    return [bars("Weights, before and after", rows, alternative=told, unit="%")] if rows else []


def _falls(found: Rebalanced) -> list[Drawing]:
    dates = [dt.date.fromisoformat(date) for date in found.falls.dates]
    lines = {"before": found.falls.before, "after": found.falls.after}
    series = [
        Series(name, [(date, -100 * fall) for date, fall in zip(dates, falls, strict=True)])
        for name, falls in lines.items()
        if len(falls) > 1
    ]
    told = ", ".join(f"{name} {max(falls):.1%}" for name, falls in lines.items() if falls)
    title = "Below the highest value so far"
    return [line_chart(title, series, alternative=told, y_label="%")] if series else []
