"""How good a router is on examples: the figures that are printed. Pure."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from leadhand.contracts.routes import Guess
from leadhand.routing.examples import Example

_GROUPS = 10
_GROUP_SIZE = 50
"""Examples that a group has at least: in fewer, shares differ by chance alone."""


@dataclass(frozen=True)
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
    confused: tuple[tuple[str | None, str, int], ...]
    """The worker that an example is for, the one that it was given to, and how often."""

    @property
    def named(self) -> dict[str, float | None]:
        """Each share by what it is, in words."""
        return {
            "right worker, accepted or not": self.accuracy,
            "requests accepted": self.accepted,
            "accepted requests with the right worker": self.right,
            "requests for no worker accepted": self.out_of_scope_accepted,
        }


def figures(examples: Sequence[Example], guesses: Sequence[Guess]) -> Figures:
    """The figures of guesses about examples."""
    pairs = list(zip(examples, guesses, strict=True))
    inside = [(example, guess) for example, guess in pairs if example.worker is not None]
    outside = [guess.accepted for example, guess in pairs if example.worker is None]
    confused = Counter(
        (example.worker, guess.worker)
        for example, guess in pairs
        if guess.accepted and guess.worker is not None and guess.worker != example.worker
    )
    return Figures(
        examples=len(inside),
        out_of_scope=len(outside),
        accuracy=mean([guess.worker == example.worker for example, guess in inside]),
        accepted=mean([guess.accepted for _, guess in inside]),
        right=mean([guess.worker == one.worker for one, guess in inside if guess.accepted]),
        out_of_scope_accepted=mean(outside),
        confused=tuple((*pair, count) for pair, count in confused.most_common()),
    )


def calibration_error(examples: Sequence[Example], guesses: Sequence[Guess]) -> float | None:
    """How far the confidence is from the share that is right, on average, in examples of workers.

    The expected calibration error over up to ten groups of the same size (Nixon et al. 2019).
    """
    # Guesses of the same confidence have no order: each counts as their share that is right.
    alike: defaultdict[float, list[bool]] = defaultdict(list)
    for example, guess in zip(examples, guesses, strict=True):
        if example.worker is not None:
            alike[guess.confidence].append(guess.worker == example.worker)
    gaps = [one - (mean(alike[one]) or 0) for one in sorted(alike) for _ in alike[one]]
    groups = max(1, min(_GROUPS, len(gaps) // _GROUP_SIZE))
    bounds = pairwise(len(gaps) * n // groups for n in range(groups + 1))
    return sum(abs(sum(gaps[start:end])) for start, end in bounds) / len(gaps) if gaps else None


def mean(hits: Sequence[bool]) -> float | None:
    """The share of hits."""
    return sum(hits) / len(hits) if hits else None
