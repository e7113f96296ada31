"""Figures over the trials of a team: means with 95 % intervals, and what changed beyond noise.

Intervals are percentile bootstraps (Efron 1979) over cases, and over the repeats of each. Pure.
"""

import random
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

from leadhand.contracts.data import Record

RESAMPLES = 1_000
LEAST = 5
"""Trials below which the noise of a model can't be estimated."""
_SAME = 1e-9
Samples = Mapping[str, Sequence[float]]
"""The values of one figure: those of all repeats by case."""
Verdict = Literal["better", "worse", "same", "unknown"]


class Figure(Record):
    mean: float
    low: float | None = None
    """The 95 % interval; None if there are too few trials."""
    high: float | None = None
    trials: int


class FigureChange(Record):
    name: str
    before: float
    now: float
    low: float | None = None
    """The 95 % interval of the difference; None if there are too few trials, or no noise."""
    high: float | None = None
    verdict: Verdict
    """`unknown`: a model was used, and there are too few trials to tell."""


def figure(samples: Samples) -> Figure:
    """The mean of the cases' means, and its interval."""
    trials = sum(map(len, samples.values()))
    low, high = _interval([*samples], samples, {}) if trials >= LEAST else (None, None)
    mean = fmean(fmean(values) for values in samples.values())
    return Figure(mean=mean, low=low, high=high, trials=trials)


def change(
    name: str, now: Samples, before: Samples, *, noisy: bool, lower_is_better: bool
) -> FigureChange | None:
    """How a figure changed; None if no case has it now and before.

    If it is not `noisy`, every difference counts.
    """
    both = [case for case in now if case in before]
    if not both:
        return None
    mine = fmean(fmean(now[case]) for case in both)
    other = fmean(fmean(before[case]) for case in both)
    low = high = None
    verdict: Verdict = "same"
    trials = min(sum(len(one[case]) for case in both) for one in (now, before))
    if not noisy:
        moved = mine - other
        verdict = "same" if abs(moved) < _SAME else "better" if moved > 0 else "worse"
    elif trials < LEAST:
        verdict = "same" if abs(mine - other) < _SAME else "unknown"
    else:
        low, high = _interval(both, now, before)
        verdict = "better" if low > _SAME else "worse" if high < -_SAME else "same"
    if lower_is_better and verdict in ("better", "worse"):
        verdict = "worse" if verdict == "better" else "better"
    return FigureChange(name=name, before=other, now=mine, low=low, high=high, verdict=verdict)


def _interval(cases: Sequence[str], now: Samples, before: Samples) -> tuple[float, float]:
    """The 95 % interval of the mean, less that of `before` where it has a case."""
    chance = random.Random(0)  # the same figures for the same trials

    def drawn(values: Sequence[float]) -> float:
        return fmean(chance.choices(values, k=len(values)))

    means = sorted(
        fmean(
            drawn(now[case]) - (drawn(before[case]) if case in before else 0.0)
            for case in chance.choices(cases, k=len(cases))
        )
        for _ in range(RESAMPLES)
    )
    cut = RESAMPLES // 40
    return means[cut], means[-1 - cut]
