"""What the workers' models may compute; each function is useful alone."""


def growth(prices: list[float], periods_a_year: float) -> float:
    """The compounded growth a year of prices in order, as a fraction of 1."""
    if len(prices) < 2 or min(prices) <= 0:
        raise ValueError("needs two prices or more, all above 0")
    return (prices[-1] / prices[0]) ** (periods_a_year / (len(prices) - 1)) - 1


def whole_shares(
    weights: dict[str, float], prices: dict[str, float], value: float
) -> dict[str, int]:
    """Whole shares for weights (fractions of 1) of a value, allocated greedily."""
    if missing := [asset for asset in weights if prices.get(asset, 0) <= 0]:
        raise ValueError(f"no price above 0 for {', '.join(missing)}")
    import numpy as np

    from leadhand_teams.portfolio.allocating import greedy_shares

    parts = np.array(list(weights.values()), dtype=np.float64)
    levels = np.array([prices[asset] for asset in weights], dtype=np.float64)
    return dict(zip(weights, map(int, greedy_shares(parts, levels, value)), strict=True))


def stressed(weights: dict[str, float], shocks: dict[str, float]) -> float:
    """The change of a portfolio if assets change by `shocks`, all as fractions of 1."""
    return sum(weight * shocks.get(asset, 0.0) for asset, weight in weights.items())
