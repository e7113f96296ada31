"""The report of an answer, and the files of `run --out`."""

import csv
import datetime as dt
import io
from collections.abc import Mapping, Sequence

from leadhand import Answer
from leadhand.extension.roles import Conflict
from leadhand.tools.text import counted
from leadhand_teams.portfolio.output import Falls, Measures, Rebalanced
from leadhand_teams.shared.figures import Drawing, Series, bars, line_chart
from leadhand_teams.shared.report import Block, Items, Report, Section, TableBlock

CHECK = (
    "These orders are the arithmetic of your own policy, not advice to buy or sell. A professional"
    " must check: whether the policy suits you, that prices and holdings are complete and of today,"
    " what the trades cost in taxes and at the market, and that past risk need not stay as it was."
)


def report_of(
    found: Rebalanced,
    *,
    title: str,
    conflicts: Sequence[Conflict] = (),
    missing: Sequence[str] = (),
    footer: Sequence[str] = (),
) -> Report:
    """The report: decision, orders, weights, risk, rules, and what is doubtful."""
    sections = [
        Section("Orders", _orders(found)),
        Section("Weights", _weights(found)),
        Section("Risk", _risk(found)),
        Section("Rules of the policy", _rules(found)),
        Section("Note", [found.note] if found.note else []),
        Section(
            "Added by a model, citations checked",
            [Items(found.statements)] if found.statements else [],
        ),
        Section("Prices", _prices(found)),
    ]
    disagreements = [
        f"Sources disagree: {one.about}: {one.resolution or one.why}." for one in conflicts
    ]
    return Report(
        title,
        _lead(found),
        [section for section in sections if section.blocks],
        missing=[*missing, *disagreements, *found.issues],
        missing_first=bool(missing or disagreements),
        footer=[CHECK, *footer],
    )


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """Report, orders and figures as files."""
    found = Rebalanced.model_validate(answer.output or {})
    metrics = answer.metrics
    saved = f"Work of {metrics.sequential_s:.1f} s was done in {metrics.makespan_s:.1f} s."
    gaps = [gap.why for gap in answer.gaps]
    report = report_of(
        found, title=answer.request, conflicts=answer.conflicts, missing=gaps, footer=[saved]
    )
    made: dict[str, str | bytes] = {"report.html": report.html(), "report.md": report.markdown()}
    lines = io.StringIO()
    rows = csv.writer(lines)
    rows.writerow(["asset", "side", "shares", "price", "value", "fee", "tax", "lots"])
    for one in found.orders:
        value = round(one.shares * one.price, 2)
        tax = "" if one.tax is None else round(one.tax, 2)
        fee, lots = round(one.fee, 2), "; ".join(one.lots)
        # A name that a spreadsheet would run as a formula is shown as text.
        asset = f"'{one.asset}" if one.asset[:1] in "=+-@" else one.asset
        rows.writerow([asset, one.side, one.shares, one.price, value, fee, tax, lots])
    made["orders.csv"] = lines.getvalue()
    for name, drawing in (("weights", _bars(found)), ("drawdown", _falls(found.falls))):
        if drawing is not None:
            made[f"{name}.svg"] = drawing.file
    return made


def _lead(found: Rebalanced) -> list[str]:
    """The decision, then what it changes."""
    broken = ", ".join(one.name for one in found.constraints if not one.met)
    before, after = found.measures.before, found.measures.after
    if not found.constraints:
        lead = "Orders need one policy that counts." if found.policy else "What the prices show."
        shown = f"{_percent(before.volatility)}, deepest fall {_percent(before.max_drawdown)}"
        return [
            lead,
            *([f"Yearly volatility of what is held: {shown}."] if before.volatility else []),
        ]
    if found.orders:
        shown = ", ".join(f"{one.side} {one.shares:,} {one.asset}" for one in found.orders[:5])
        more = f" and {len(found.orders) - 5} more" if len(found.orders) > 5 else ""
        lead = f"{counted(len(found.orders), 'order')} by {found.policy}: {shown}{more}."
    elif broken:
        lead = "No orders: the policy cannot be met with these prices and holdings."
    else:
        lead = f"No order is needed: the holdings keep every rule of {found.policy}."
    change = [f"not kept: {broken}" if broken else "every rule is kept"]
    if found.cash is not None:
        change.insert(0, f"{found.cash:,.2f} stays in cash")
    if before.volatility and after.volatility:
        ends = f"{_percent(before.volatility)} to {_percent(after.volatility)}"
        change.insert(0, f"Volatility goes from {ends}")
    text = "; ".join(change)
    return [lead, f"{text[:1].upper()}{text[1:]}."]


def _orders(found: Rebalanced) -> list[Block]:
    if not found.orders:
        return []
    taxed = any(one.tax is not None for one in found.orders)
    tax_name = ["tax"] if taxed else []
    columns = ["asset", "side", "shares", "price", "value", "fee", *tax_name, "why"]
    rows = [
        [
            one.asset, one.side, f"{one.shares:,}",
            *map(_figure, (one.price, one.shares * one.price, one.fee)),
            *([_figure(one.tax)] if taxed else []), one.why,
        ]
        for one in found.orders
    ]  # fmt: skip
    sums = {
        side: sum(one.shares * one.price for one in found.orders if one.side == side)
        for side in ("sell", "buy")
    }
    fees = sum(one.fee for one in found.orders)
    moved = f"sold {sums['sell']:,.2f}, bought {sums['buy']:,.2f}, fees {fees:,.2f}"
    total = f"Of {found.value or 0:,.2f}: {moved}."
    if taxed:
        tax = sum(one.tax or 0.0 for one in found.orders)
        total += f" Estimated tax {tax:,.2f}, not taken from the cash."
    lots = [f"{one.asset}: {', '.join(one.lots)}" for one in found.orders if one.lots]
    return [TableBlock(columns, rows), total, *(["Lots to sell:", Items(lots)] if lots else [])]


def _weights(found: Rebalanced) -> list[Block]:
    rows = [
        [one.asset, _percent(one.before), _percent(one.after), _percent(one.target)]
        for one in found.weights
    ]
    if not rows:
        return []
    if found.value and found.cash is not None:
        after = found.cash / (found.value - sum(one.fee for one in found.orders))
        parts = [
            1 - sum(getattr(one, when) or 0.0 for one in found.weights)
            for when in ("before", "target")
        ]
        rows.append(["cash", _percent(parts[0]), _percent(after), _percent(parts[1])])
    drawing = _bars(found)
    return [
        *([drawing] if drawing else []),
        TableBlock(["asset", "before", "after", "target"], rows),
    ]


def _bars(found: Rebalanced) -> Drawing | None:
    largest = sorted(found.weights, key=lambda one: -max(one.before or 0, one.after or 0))[:15]
    rows = [
        (label, 100 * (weight or 0.0))
        for one in largest
        for label, weight in ((one.asset, one.before), ("after the orders", one.after))
    ]
    if not rows:
        return None
    alternative = ", ".join(
        f"{one.asset} {_percent(one.before)} to {_percent(one.after)}" for one in largest
    )
    return bars("Weights, before and after", rows, alternative=alternative, unit="%")


def _falls(falls: Falls) -> Drawing | None:
    dates = [dt.date.fromisoformat(date) for date in falls.dates]
    series = [
        Series(name, [(date, -100 * fall) for date, fall in zip(dates, values, strict=True)])
        for name, values in (("before", falls.before), ("after", falls.after))
        if values
    ]
    if not series or len(dates) < 2:
        return None
    deepest = [f"{one.label} {-min(y for _, y in one.points):.1f} %" for one in series]
    return line_chart(
        "Below the highest value so far",
        series,
        alternative=f"Deepest fall: {', '.join(deepest)}",
        y_label="%",
    )


def _risk(found: Rebalanced) -> list[Block]:
    rows: list[list[str]] = []
    for name in ("before", "target", "after"):
        one: Measures = getattr(found.measures, name)
        sharpe, fall = _figure(one.sharpe), _percent(one.max_drawdown)
        if one.volatility is not None:
            rows.append([name, _percent(one.expected), _percent(one.volatility), sharpe, fall])
    columns = ["portfolio", "return", "volatility", "Sharpe ratio", "deepest fall"]
    caption = "A year, over the prices handed in: what was, not what will be."
    drawing = _falls(found.falls)
    changes = [[one.name, _percent(one.before), _percent(one.after)] for one in found.scenarios]
    return [
        *_table(columns, rows, caption=caption),
        *([drawing] if drawing else []),
        *_table(["scenario", "before", "after"], changes),
    ]


def _rules(found: Rebalanced) -> list[Block]:
    rows = [[one.name, "kept" if one.met else "not kept", one.why] for one in found.constraints]
    return _table(["rule", "", "why"], sorted(rows, key=lambda row: row[1] == "kept"))


def _prices(found: Rebalanced) -> list[Block]:
    rows = [
        [
            one.asset, f"{one.first} to {one.last}", f"{one.price:,.2f}",
            *map(_percent, (one.expected, one.volatility, one.max_drawdown)),
        ]
        for one in found.assets
    ]  # fmt: skip
    return _table(["asset", "prices", "last", "return", "volatility", "deepest fall"], rows)


def _table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = ""
) -> list[Block]:
    return [TableBlock(columns, rows, caption=caption)] if rows else []


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
