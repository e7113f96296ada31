"""The targets of the comparison with peers, and whether the figures meet them. Pure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.peer_results import Measure, Results, Sample, Spread, compared, spread

FLOOR = "openai_sem64"
SAME_TRANSPORT = "openai_aiohttp_sem64"
"""The floor over aiohttp, which is how leadhand calls."""
LANGGRAPH = "send_graph"
PLAIN = "leadhand_plain"
TYPED = "leadhand_typed"
SERIAL = "leadhand_serial"
GRAPH = "leadhand_dag"
GRAPH_TASKS = 50
SERIAL_TASKS, SERIAL_MS = 20, 100
"""Where the sequential time that a parallel run states is checked by a run that is sequential."""
LARGEST = 1_000


@dataclass(frozen=True, slots=True)
class Target:
    """A figure beside what it should be."""

    what: str
    tasks: int
    latency_ms: int
    got: Spread
    at_most: float
    at_least: float = float("-inf")

    @property
    def met(self) -> bool:
        """Whether the median of the rounds is within."""
        return self.at_least <= self.got.median <= self.at_most


def _ratio(one: float, other: float) -> float:
    return one / other


def _difference(one: float, other: float) -> float:
    return one - other


@dataclass(frozen=True, slots=True)
class _Rule:
    """A figure of `leadhand_plain` beside the same of another variant."""

    what: str
    other: str
    measure: Measure
    at_most: float
    by: Callable[[float, float], float] = _ratio
    least_tasks: int = 0


_RULES = (
    _Rule("prompt tokens / floor", FLOOR, lambda sample: sample.prompt_tokens, 1.1),
    _Rule("CPU a task / LangGraph", LANGGRAPH, lambda sample: sample.cpu_ms_a_task, 0.75),
    _Rule("CPU a task / floor", SAME_TRANSPORT, lambda sample: sample.cpu_ms_a_task, 1.5),
    _Rule(
        "CPU a task / floor, many",
        SAME_TRANSPORT,
        lambda sample: sample.cpu_ms_a_task,
        1.35,
        least_tasks=LARGEST,
    ),
    _Rule("wall / floor", SAME_TRANSPORT, lambda sample: sample.wall_s, 1.25, least_tasks=LARGEST),
    _Rule(
        "peak memory - floor, MB",
        SAME_TRANSPORT,
        lambda sample: sample.peak_mb,
        100.0,
        by=_difference,
        least_tasks=LARGEST,
    ),
)


def targets(results: Results) -> list[Target]:
    """Every target that the measured cells say something about."""
    found = list(_requests(results))
    for rule in _RULES:
        found += _compared(results, rule)
    return [*found, *_graph(results), *_sequential(results)]


def _requests(results: Results) -> Iterator[Target]:
    for row in results.rows:
        cell = row.cell
        if cell.variant in (PLAIN, TYPED):
            extra = [sample.requests - cell.tasks for sample in row.samples]
            # Not the median: one request too many in one round is one too many.
            worst = max(extra, key=lambda count: abs(count - 2))
            got = Spread(median=worst, least=min(extra), most=max(extra))
            what = f"requests - N, {cell.variant}"
            yield Target(what, cell.tasks, cell.latency_ms, got, at_most=2, at_least=2)


def _compared(results: Results, rule: _Rule) -> Iterator[Target]:
    for row in results.rows:
        tasks, latency_ms = row.cell.tasks, row.cell.latency_ms
        other = results.row(rule.other, tasks, latency_ms)
        if row.cell.variant == PLAIN and other is not None and tasks >= rule.least_tasks:
            got = compared(row, other, rule.measure, by=rule.by)
            yield Target(rule.what, tasks, latency_ms, got, rule.at_most)


def _graph(results: Results) -> Iterator[Target]:
    """The run's own makespan, and the wall time as the peers' is taken."""
    if row := results.row(GRAPH, GRAPH_TASKS, 0):
        for name, measure in (("makespan", _makespan), ("wall", _wall)):
            got = spread(row, lambda sample, of=measure: of(sample) / (sample.critical_path_s or 1))
            yield Target(f"5 x 10 graph: {name} / critical path", GRAPH_TASKS, 0, got, 1.08)


def _sequential(results: Results) -> Iterator[Target]:
    parallel = results.row(PLAIN, SERIAL_TASKS, SERIAL_MS)
    serial = results.row(SERIAL, SERIAL_TASKS, SERIAL_MS)
    if parallel and serial:
        pairs = zip(parallel.samples, serial.samples, strict=True)
        got = Spread.of([(one.sequential_s or 0) / two.wall_s for one, two in pairs])
        what = "sequential_s / wall of a sequential run"
        yield Target(what, SERIAL_TASKS, SERIAL_MS, got, at_most=1.1, at_least=0.9)


def _makespan(sample: Sample) -> float:
    return sample.makespan_s or 0.0


def _wall(sample: Sample) -> float:
    return sample.wall_s
