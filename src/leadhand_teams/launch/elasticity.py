"""How sales react to price: least squares on logarithms, with fixed effects taken out. Pure.

log(quantity) = value * log(price) + an effect for each value of each control. The effects are
removed by demeaning in turns (Frisch-Waugh-Lovell; Guimarães and Portugal 2010); the interval is
robust to unequal variances (HC1, MacKinnon and White 1985).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_TURNS: Final = 500
_SETTLED: Final = 1e-9
_Z: Final = 1.959964
"""For a 95 % interval."""
MIN_ROWS: Final = 20


class ElasticityFit(NamedTuple):
    """An elasticity and its 95 % interval."""

    value: float
    low: float
    high: float
    rows: int


def fit(
    quantity: Sequence[float], price: Sequence[float], controls: Sequence[Sequence[object]] = ()
) -> ElasticityFit | None:
    """The elasticity of positive quantities; None if the price does not vary enough to tell it."""
    data = np.column_stack([np.log(quantity), np.log(price)])
    data = data - data.mean(axis=0)
    groups = [
        np.unique(np.array([str(one) for one in column]), return_inverse=True)[1]
        for column in controls
    ]
    y, x = _demeaned(data, groups).T
    effects = sum(int(group.max()) for group in groups)
    spread, free = float(x @ x), len(y) - 2 - effects
    if free < 1 or spread < 1e-9 * max(1.0, float(data[:, 1] @ data[:, 1])):
        return None
    value = float(x @ y) / spread
    errors = y - value * x
    deviation = float(np.sqrt((x**2 @ errors**2) * len(y) / free)) / spread
    return ElasticityFit(value, value - _Z * deviation, value + _Z * deviation, len(y))


def _demeaned(data: NDArray[np.float64], groups: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """`data` without the means of the groups, of all groupings at once."""
    for _ in range(_TURNS if groups else 0):
        before = data
        for group in groups:
            counts = np.bincount(group)
            means = np.column_stack([np.bincount(group, column) / counts for column in data.T])
            data = data - means[group]
        if len(groups) == 1 or float(np.abs(data - before).max()) < _SETTLED:
            break
    return data


def control_sets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every set of up to four controls, from none to all; of more, none, each alone, and all."""
    sizes = range(len(names) + 1) if len(names) <= 4 else (0, 1, len(names))
    for size in sizes:
        yield from combinations(names, size)


def confounder(fits: Mapping[tuple[str, ...], ElasticityFit]) -> tuple[str, float, float] | None:
    """The control that changes the elasticity most when it is added alone to none: its name, the
    value without and with it; None if the interval without it covers the value with it."""
    bare = fits.get(())
    alone = {controls[0]: found for controls, found in fits.items() if len(controls) == 1}
    if bare is None or not alone:
        return None
    name, found = max(alone.items(), key=lambda entry: abs(entry[1].value - bare.value))
    if bare.low <= found.value <= bare.high:
        return None
    return name, bare.value, found.value
