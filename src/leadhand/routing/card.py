"""The model card of a trained router: what it learnt, how good it is, whom it confuses. Pure."""

from collections import Counter
from collections.abc import Sequence

from leadhand.contracts.routes import Guess
from leadhand.routing.examples import Example
from leadhand.routing.figures import Figures
from leadhand.routing.training import Training
from leadhand.untrusted.markdown import escaped

MOST_COLUMNS = 12
"""Workers up to which the confusion matrix is a table."""
NO_WORKER = "no worker"
TITLE = "# Trained router of "
"""How every card begins."""


def card(training: Training, examples: Sequence[Example], team: str) -> str:
    """The card as Markdown. Its figures are those of examples while they were held back."""
    found, weights = training.figures, training.router.weights
    learnt = "no worker is one of the labels" if None in weights.labels else "only workers"
    return f"""{TITLE}{escaped(team)}

Chooses the worker for a request by its words and pieces of words, or abstains. Trained by
`leadhand router train` on {found.examples:,} examples of {len(training.router.workers):,} workers
and {found.out_of_scope:,} that are for no worker ({learnt}).

The figures are of examples that a router had not seen: each was held back once.

| figure | value |
|---|---|
{figures_table(found)}
| confidence from which a worker is accepted | {weights.threshold:.1%} |
| n-grams | {len(weights.ngrams):,} |

Requests unlike the examples are less often routed right than these. Train it again when workers or
their jobs change, and with what `leadhand router examples` collects from stored runs.

## Confusion matrix

{_confusions(examples, training.guesses)}
"""


def figures_table(found: Figures) -> str:
    """The figures, a row of a Markdown table each."""
    return "\n".join(f"| {what} | {share(value)} |" for what, value in named(found))


def named(found: Figures) -> list[tuple[str, float | None]]:
    """Each figure with what it is, in words."""
    return [
        ("right worker, without abstention", found.accuracy),
        ("requests accepted", found.accepted),
        ("accepted requests with the right worker", found.right),
        ("requests for no worker accepted", found.out_of_scope_accepted),
        ("calibration error of the confidence", found.calibration_error),
    ]


def share(value: float | None) -> str:
    """A share in percent."""
    return "not measured" if value is None else f"{value:.1%}"


def _confusions(examples: Sequence[Example], guesses: Sequence[Guess]) -> str:
    counts = Counter(
        (example.worker, guess.worker if guess.accepted else None)
        for example, guess in zip(examples, guesses, strict=True)
    )
    rows = sorted({wanted for wanted, _ in counts}, key=lambda name: (name is None, name or ""))
    taken = [name for name in rows if name is not None]
    if len(taken) > MOST_COLUMNS:
        wrong = [(n, *pair) for pair, n in counts.items() if pair[1] not in (None, pair[0])]
        wrong.sort(key=lambda one: (-one[0], one[1] or "", one[2] or ""))
        lines = [f"| {_name(wanted)} | {_name(got)} | {n} |" for n, wanted, got in wrong]
        head = ["| for | accepted for | examples |", "|---|---|---|"]
        return "\n".join(["Every pair that was confused:", "", *head, *lines])
    head = f"| for | {' | '.join(map(_name, taken))} | abstained |"
    lines = [
        f"| {_name(wanted)} | {' | '.join(str(counts[wanted, got]) for got in (*taken, None))} |"
        for wanted in rows
    ]
    return "\n".join([head, f"|---|{'---:|' * (len(taken) + 1)}", *lines])


def _name(worker: str | None) -> str:
    return NO_WORKER if worker is None else escaped(worker)
