"""Figures of assets and portfolios, and scenarios."""

from collections.abc import Mapping, Sequence

import numpy as np

from leadhand_teams.portfolio.inputs import HandedIn
from leadhand_teams.portfolio.measures import Floats, falls, market, measured, path
from leadhand_teams.portfolio.output import (
    AssetFacts,
    Compared,
    Falls,
    Rebalanced,
    Scenario,
    Weight,
)
from leadhand_teams.portfolio.policy import Policy
from leadhand_teams.portfolio.rebalancing import book_of

POINTS = 60
"""Points of a figure's line, at most."""


def asset_facts(given: HandedIn, *, days: float) -> list[AssetFacts]:
    """What the prices say about each asset."""
    of = market(given.levels, days=days)
    every = np.eye(len(given.assets))
    others = np.nan_to_num(of.correlation, nan=-1) - 2 * every
    found: list[AssetFacts] = []
    for n, asset in enumerate(given.assets):
        rows = [row for row in range(len(given.dates)) if not np.isnan(given.levels[row, n])]
        closest = int(np.argmax(others[n]))
        is_known = others[n, closest] > -1
        facts = {
            "asset": asset,
            "first": str(given.dates[rows[0]]),
            "last": str(given.dates[rows[-1]]),
            "price": float(given.levels[rows[-1], n]),
            "ref": given.places[asset],
            "closest": given.assets[closest] if is_known else None,
            "correlation": float(others[n, closest]) if is_known else None,
        }
        own = measured(every[n], of, risk_free=0.0)
        found.append(AssetFacts.model_validate({**own.model_dump(), **facts}))
    return found


def risk_facts(given: HandedIn, policy: Policy, weights: Sequence[Weight]) -> Rebalanced:
    """Measures and scenarios of what is held and, if there are weights, of what would be."""
    of, book = market(given.levels, days=policy.days), book_of(given, policy)
    portfolios: dict[str, Floats] = {}
    if book.value > 0:
        portfolios["before"] = book.weights(book.held)
    for name in ("target", "after") if weights else ():
        found = {one.asset: getattr(one, name) for one in weights}
        portfolios[name] = np.array([found.get(asset, 0.0) for asset in given.assets])
    compared = {
        name: measured(one, of, risk_free=policy.risk_free).model_copy(update={"name": name})
        for name, one in portfolios.items()
    }
    portfolios.pop("target", None)
    shocks = {"all assets fall 20 %": {"*": -0.2}, **policy.shocks}
    return Rebalanced(
        measures=Compared.model_validate(compared),
        scenarios=[_shocked(name, one, given.assets, portfolios) for name, one in shocks.items()],
        falls=_falls(given, {name: path(one, of.returns) for name, one in portfolios.items()}),
    )


def _shocked(
    name: str, shock: Mapping[str, float], assets: Sequence[str], portfolios: Mapping[str, Floats]
) -> Scenario:
    changes = np.array([shock.get(asset, shock.get("*", 0.0)) for asset in assets])
    unknown = ", ".join(one for one in shock if one != "*" and one not in assets)
    ends = {when: float(one @ changes) for when, one in portfolios.items()}
    return Scenario(name=f"{name} (without {unknown})" if unknown else name, **ends)


def _falls(given: HandedIn, paths: Mapping[str, Floats]) -> Falls:
    """The deepest fall in each of some stretches of the same length, for a figure."""
    depths = {when: falls(one) for when, one in paths.items() if not np.isnan(one).all()}
    known = [
        n for n in range(len(given.dates)) if not any(np.isnan(one[n]) for one in depths.values())
    ]
    step = len(known) // POINTS + 1
    parts = [known[n : n + step] for n in range(0, len(known), step)] if depths else []
    lines = {
        when: [round(float(one[part].max()), 4) for part in parts] for when, one in depths.items()
    }
    return Falls(dates=[str(given.dates[part[-1]]) for part in parts], **lines)
