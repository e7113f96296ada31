"""What the comparison with peers measured: cells, their rounds, and ratios within a round.

Figures of one round are a minute apart and share the machine's mood, so two cells are compared
round by round, and the median of the ratios is what counts. Pure.
"""

import statistics
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

Workload = Literal["fan-out", "graph"]


class Cell(BaseModel):
    """One variant of one peer at one size."""

    model_config = ConfigDict(frozen=True)

    peer: str
    """The name of its virtual environment; `leadhand` for ourselves."""
    driver: str
    variant: str
    tasks: int
    latency_ms: int
    """How long the model takes for each answer; the graph's tasks say so themselves: 0."""
    workload: Workload = "fan-out"


class Sample(BaseModel):
    """What one process measured of a cell: medians of its repetitions, peaks of all of them."""

    model_config = ConfigDict(frozen=True)

    ok: bool
    """Every repetition had its final text, and exactly one request a task."""
    wall_s: float
    cpu_ms_a_task: float
    peak_mb: float
    growth_mb: float
    """How far the peak is above what the process held after its warm-up."""
    requests: int
    prompt_tokens: int
    """Characters of messages and tool schemas, by four."""
    max_concurrency: int
    critical_path_s: float | None = None
    """The graph's."""
    makespan_s: float | None = None
    """What leadhand said of itself; likewise:"""
    sequential_s: float | None = None


class Row(BaseModel):
    """A cell and its samples, one a round."""

    model_config = ConfigDict(frozen=True)

    cell: Cell
    samples: tuple[Sample, ...]


class Spread(BaseModel):
    """The median of the rounds, and the least and the most of them."""

    model_config = ConfigDict(frozen=True)

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of at least one value."""
        return cls(median=statistics.median(values), least=min(values), most=max(values))


Measure = Callable[[Sample], float]


class Results(BaseModel):
    """One comparison. JSON that the chart is drawn from."""

    model_config = ConfigDict(frozen=True)

    machine: str
    versions: dict[str, str]
    """Of every peer's own package and of the OpenAI SDK it calls with, by peer."""
    rounds: int
    rows: tuple[Row, ...]

    def row(self, variant: str, tasks: int, latency_ms: int) -> Row | None:
        """The row of a cell, where it was measured."""
        wanted = (variant, tasks, latency_ms)
        found = (
            row
            for row in self.rows
            if (row.cell.variant, row.cell.tasks, row.cell.latency_ms) == wanted
        )
        return next(found, None)


def spread(row: Row, measure: Measure) -> Spread:
    """A figure of a cell over its rounds."""
    return Spread.of([measure(sample) for sample in row.samples])


def compared(
    row: Row, other: Row, measure: Measure, *, by: Callable[[float, float], float]
) -> Spread:
    """`by`, a ratio say, of a figure of two cells, round by round."""
    pairs = zip(row.samples, other.samples, strict=True)
    return Spread.of([by(measure(one), measure(two)) for one, two in pairs])
