"""Figures of assets and portfolios, scenarios, and the note: what drafts are made of."""

from collections.abc import Sequence

import numpy as np

from leadhand.tools.text import counted
from leadhand_teams.portfolio import measures
from leadhand_teams.portfolio.inputs import HandedIn
from leadhand_teams.portfolio.measures import Floats, falls, measured, path
from leadhand_teams.portfolio.output import (
    AssetFacts,
    Compared,
    Falls,
    Measures,
    Rebalanced,
    Scenario,
    Weight,
)
from leadhand_teams.portfolio.policy import Policy
from leadhand_teams.portfolio.rebalancing import Setting, setting

POINTS = 400
"""Points of a figure's line, at most."""


def asset_facts(given: HandedIn) -> list[AssetFacts]:
    """What the prices say about each asset, 252 rows a year."""
    of = measures.market(given.levels, days=252)
    found: list[AssetFacts] = []
    for n, asset in enumerate(given.assets):
        rows = [row for row in range(len(given.dates)) if not np.isnan(given.levels[row, n])]
        own = measured(np.eye(len(given.assets))[n], of, risk_free=0.0)
        found.append(
            AssetFacts(
                asset=asset,
                first=str(given.dates[rows[0]]),
                last=str(given.dates[rows[-1]]),
                price=float(given.levels[rows[-1], n]),
                expected=own.expected,
                volatility=own.volatility,
                max_drawdown=own.max_drawdown,
            )
        )
    return found


def risk_facts(
    given: HandedIn, policy: Policy | None, weights: Sequence[Weight] | None
) -> Rebalanced:
    """Measures and scenarios of what is held and, if there are weights, of what would be."""
    policy = policy or Policy(target="hrp")
    of = setting(given, policy)
    held = of.held * of.prices / of.value if of.value > 0 else None
    portfolios: dict[str, Floats] = {} if held is None else {"before": held}
    for name in ("target", "after") if weights else ():
        found = {one.asset: getattr(one, name) or 0.0 for one in weights or ()}
        portfolios[name] = np.array([found.get(asset, 0.0) for asset in of.assets])
    compared = {
        name: measured(one, of.market, risk_free=policy.risk_free)
        for name, one in portfolios.items()
    }
    shown = {name: one for name, one in portfolios.items() if name != "target" and one.any()}
    paths = {name: path(one, of.market.returns) for name, one in shown.items()}
    dates = [str(date) for date in given.dates[-len(of.market.returns) - 1 :]]
    known = [n for n in range(len(dates)) if all(not np.isnan(one[n]) for one in paths.values())]
    step = max(1, len(known) // POINTS)
    return Rebalanced(
        measures=Compared(
            **{name: compared.get(name, Measures()) for name in ("before", "target", "after")}
        ),
        scenarios=_scenarios(of, policy, portfolios, paths, dates),
        falls=Falls(
            dates=[dates[n] for n in known[::step]],
            **{name: [float(falls(one)[n]) for n in known[::step]] for name, one in paths.items()},
        ),
    )


def _scenarios(
    of: Setting,
    policy: Policy,
    portfolios: dict[str, Floats],
    paths: dict[str, Floats],
    dates: list[str],
) -> list[Scenario]:
    """The policy's shocks, falls of everything, and the worst stretches that the prices have."""
    before, after = portfolios.get("before"), portfolios.get("after")
    shocks = dict(policy.shocks)
    shocks |= {f"all assets fall {fall} %": {"*": -fall / 100} for fall in (10, 30)}
    found: list[Scenario] = []
    for name, changes in shocks.items():
        vector = np.array([changes.get(asset, changes.get("*", 0.0)) for asset in of.assets])
        unknown = [one for one in changes if one != "*" and one not in of.assets]
        label = f"{name} (no prices for {', '.join(unknown)})" if unknown else name
        ends = [None if one is None else float(one @ vector) for one in (before, after)]
        found.append(Scenario(name=label, before=ends[0], after=ends[1]))
    first = next(iter(paths.values()), None)
    for rows in (1, 21, 63):
        if first is None or np.isnan(first).all() or len(first) <= rows:
            continue
        changes = first[rows:] / first[:-rows] - 1
        if np.isnan(changes).all():
            continue
        worst = int(np.nanargmin(changes))
        stretch = "change" if rows == 1 else f"{rows} changes in a row"
        label = f"worst {stretch} of the prices: {dates[worst]} to {dates[worst + rows]}"
        ends = {name: float(one[worst + rows] / one[worst] - 1) for name, one in paths.items()}
        ends = {name: end for name, end in ends.items() if not np.isnan(end)}
        found.append(Scenario(name=label, before=ends.get("before"), after=ends.get("after")))
    return found


def note(part: Rebalanced, measures: Compared) -> str:
    """The note of the writer: what is traded, what that costs and changes, what is not kept."""
    sums = dict.fromkeys(("buy", "sell"), 0.0)
    for one in part.orders:
        sums[one.side] += one.shares * one.price
    fees = sum(one.fee for one in part.orders)
    lines = [f"{part.policy} asks for no order: the holdings are within its rules."]
    if part.orders:
        money = f"{sums['sell']:,.2f} is sold, {sums['buy']:,.2f} bought, {fees:,.2f} paid in fees"
        lines = [f"{counted(len(part.orders), 'order')} follow from {part.policy}: {money}."]
    before, after = measures.before.volatility, measures.after.volatility
    if before and after:
        lines.append(f"Volatility in the prices handed in: {before:.1%} before, {after:.1%} after.")
    lines += [f"Not kept: {one.name}: {one.why}." for one in part.constraints if not one.met]
    return "\n".join(lines)
