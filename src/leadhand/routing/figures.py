"""How good a trained router is on examples: the figures that are printed and kept. Pure."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from leadhand.contracts.routes import Guess
from leadhand.routing.examples import Example

BINS = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares are from 0 to 1, and `None` if there is nothing to take a share of."""

    examples: int
    """Examples that are for a worker."""
    out_of_scope: int
    """Examples that are for none."""
    accuracy: float | None
    """Share of `examples` whose likeliest worker is right, accepted or not."""
    accepted: float | None
    """Share of `examples` that are accepted."""
    right: float | None
    """Share of the accepted ones of `examples` whose worker is right."""
    out_of_scope_accepted: float | None
    """Share of `out_of_scope` that are accepted, which is always wrong."""
    calibration_error: float | None
    """How far the confidence is from the share that is right, on average, over ten groups of
    `examples` with similar confidence."""
    confused: tuple[tuple[str | None, str, int], ...]
    """The worker that an example is for, the other one that was taken, and how often."""

    def shares(self) -> dict[str, float]:
        """The figures to keep with a router."""
        named = {
            "accuracy": self.accuracy,
            "accepted": self.accepted,
            "right": self.right,
            "out_of_scope_accepted": self.out_of_scope_accepted,
            "calibration_error": self.calibration_error,
        }
        return {name: round(share, 4) for name, share in named.items() if share is not None}


def figures(examples: Sequence[Example], guesses: Sequence[Guess]) -> Figures:
    """The figures of guesses about examples."""
    pairs = list(zip(examples, guesses, strict=True))
    inside = [(example, guess) for example, guess in pairs if example.worker is not None]
    outside = [guess for example, guess in pairs if example.worker is None]
    taken = [(example, guess) for example, guess in inside if guess.accepted]
    confused = Counter(
        (example.worker, guess.worker)
        for example, guess in pairs
        if guess.accepted and guess.worker is not None and guess.worker != example.worker
    )
    return Figures(
        examples=len(inside),
        out_of_scope=len(outside),
        accuracy=_share([guess.worker == example.worker for example, guess in inside]),
        accepted=_share([guess.accepted for _, guess in inside]),
        right=_share([guess.worker == example.worker for example, guess in taken]),
        out_of_scope_accepted=_share([guess.accepted for guess in outside]),
        calibration_error=_calibration_error(
            [(guess.confidence, guess.worker == example.worker) for example, guess in inside]
        ),
        confused=tuple((*pair, count) for pair, count in confused.most_common()),
    )


def _share(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def _calibration_error(guesses: Sequence[tuple[float, bool]]) -> float | None:
    """The expected calibration error over groups of the same size (Nixon et al. 2019)."""
    # Guesses of the same confidence have no order: each counts as their share that is right.
    alike: defaultdict[float, list[bool]] = defaultdict(list)
    for confidence, hit in guesses:
        alike[confidence].append(hit)
    ranked = sorted((one, sum(alike[one]) / len(alike[one])) for one, _ in guesses)
    bounds = [len(ranked) * n // BINS for n in range(BINS + 1)]
    groups = [ranked[start:end] for start, end in pairwise(bounds)]
    gaps = [abs(sum(one for one, _ in group) - sum(hit for _, hit in group)) for group in groups]
    return sum(gaps) / len(ranked) if ranked else None
