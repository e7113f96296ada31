"""How exactly the portfolio team computes, and how its least variance would have done.

    python -m benchmarks.teams.portfolio [--workloads DIR]

Figures, allocations: `expected.json`, which PyPortfolioOpt's tests assert, beside ours, and whole
shares for 200 random amounts. Walk-forward: every 63 days the weights of the least variance of the
756 days before, at 10 basis points of what is traded, beside equal weights; also with a band of two
points in which nothing is traded. It says nothing about returns to come.
"""

import argparse
import csv
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from leadhand_teams.portfolio.inputs import HandedIn
from leadhand_teams.portfolio.market import Floats, filled, market, nearest, weights_of
from leadhand_teams.portfolio.orders import allocated, deviation, greedy_shares
from leadhand_teams.portfolio.policy import Policy

DAYS = 252.0
LOOKBACK, EVERY, COST = 756, 63, 0.001


def prices(file: Path) -> tuple[list[str], list[str], Floats]:
    """Dates, assets and prices of a file of daily prices."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines)
    values = [[float(cell) if cell else np.nan for cell in row[1:]] for row in rows]
    return [row[0] for row in rows], head[1:], np.array(values)


def figures(folder: Path) -> None:
    """Expected figures beside ours, and the allocation of the largest Sharpe ratio."""
    gold = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    _, assets, levels = prices(folder / "pypfopt_stock_prices.csv.gz")
    of = market(levels, days=DAYS)
    low, high = np.zeros(len(assets)), np.ones(len(assets))
    policies = {
        "min_volatility": Policy(target="min_volatility"),
        "max_sharpe": Policy(target="max_sharpe"),
        "efficient_return_0.25": Policy(target="efficient_return", target_return=0.25),
    }
    weights = {name: weights_of(policy, of, (low, high)) for name, policy in policies.items()}
    print("target                  volatility off by   Sharpe ratio off by")
    for name, (_, volatility, sharpe) in gold["expected"].items():
        got, _ = of.measured(name, weights[name], 0.02)
        assert got.volatility is not None
        assert got.sharpe is not None
        print(
            f"{name:22} {abs(got.volatility - volatility):18.1e} {abs(got.sharpe - sharpe):21.1e}"
        )
    last, best = filled(levels)[-1], weights["max_sharpe"]
    shares = greedy_shares(best, last, 10_000)
    found = {asset: int(count) for asset, count in zip(assets, shares, strict=True) if count}
    exact = found == gold["discrete_max_sharpe_greedy_10000"]
    error = deviation(best, shares, last) - gold["greedy_rmse"]
    print(f"greedy allocation of 10,000: {'exact' if exact else found}, error off by {error:.0e}")
    allocations(best, last)


def allocations(weights: Floats, last: Floats) -> None:
    """Errors of the optimal allocation beside the greedy one's, for random amounts."""
    chance = np.random.default_rng(0)
    worse, better, spent = 0, 0, True
    assets, nothing = [str(n) for n in range(len(last))], np.zeros(len(last), dtype=np.int64)
    policy = Policy(target="max_sharpe")
    for amount in chance.uniform(3_000, 100_000, 200):
        desk = HandedIn(assets=assets, prices=last, held=nothing, cash=float(amount), policy=policy)
        one, other = greedy_shares(weights, last, float(amount)), allocated(desk, weights)
        assert other is not None
        errors = [deviation(weights, shares, last) for shares in (one, other)]
        worse += errors[1] > errors[0] + 1e-12
        better += errors[1] < errors[0] - 1e-12
        spent = spent and min(desk.after(one).cash, desk.after(other).cash) >= 0
    print(f"optimal beside greedy, 200 amounts: {better} better, {worse} worse; cash kept: {spent}")


def walk(levels: Floats, weights: Callable[[Floats], Floats], *, band: float = 0.0) -> str:
    """Volatility, deepest fall and turnover a year of one way to choose weights."""
    returns = levels[1:] / levels[:-1] - 1
    held, value, values, turnover = np.zeros(levels.shape[1]), 1.0, [1.0], 0.0
    for start in range(LOOKBACK, len(returns), EVERY):
        target = weights(levels[start - LOOKBACK : start + 1])
        if held.any() and band:
            low, high = np.maximum(target - band, 0), np.minimum(target + band, 1)
            target = nearest(np.clip(held, low, high), (low, high))
        traded = float(np.abs(target - held).sum())
        turnover += traded / 2 if held.any() else 0.0
        value *= 1 - COST * traded
        held = target
        for row in returns[start : start + EVERY]:
            grown = held * (1 + row)
            value *= float(grown.sum())
            held = grown / grown.sum()
            values.append(value)
    path = np.array(values)
    changes = path[1:] / path[:-1] - 1
    years = len(changes) / DAYS
    spread = float(changes.std(ddof=1)) * DAYS**0.5
    deepest = float((1 - path / np.maximum.accumulate(path)).max())
    return f"{spread:10.4f} {deepest:12.3f} {turnover / years:12.3f}"


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=default)
    folder = Path(parser.parse_args().workloads) / "teams" / "portfolio"
    figures(folder)
    dates, assets, levels = prices(folder / "skfolio_sp500_prices.csv.gz")
    low, high = np.zeros(len(assets)), np.ones(len(assets))

    policy = Policy(target="min_volatility")

    def calmest(history: Floats) -> Floats:
        return weights_of(policy, market(history, days=DAYS), (low, high))

    print(f"\n{dates[LOOKBACK]} to {dates[-1]}     volatility deepest fall  turnover a year")
    print("equal weights           ", walk(levels, lambda _: high / len(high)))
    print("least variance          ", walk(levels, calmest))
    print("least variance, band .02", walk(levels, calmest, band=0.02))


if __name__ == "__main__":
    main()
