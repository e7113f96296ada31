"""The comparison with peers as text: a table of what was measured, and the targets. Pure."""

from collections.abc import Iterator

from benchmarks.peer_results import Measure, Results, Row, spread
from benchmarks.peer_targets import Target, targets

_HEAD = (
    f"{'N':>5} {'ms':>4}  {'who':30} {'wall s':>20} {'CPU ms a task':>22}"
    f" {'peak MB':>8} {'growth':>7} {'requests':>9} {'tokens':>8} {'at once':>8}"
)


def printed(results: Results) -> str:
    """Medians, with the least and the most of the rounds behind those that vary."""
    versions = "; ".join(results.versions.values())
    lines = [f"{results.machine}; {versions}", f"medians of {results.rounds} rounds (least-most)"]
    lines += ["", _HEAD, *_rows(results), ""]
    lines += [f"{'target':42} {'N':>5} {'ms':>4} {'here':>24}  {'should be':>16}"]
    return "\n".join([*lines, *(_target(one) for one in targets(results))])


def _rows(results: Results) -> Iterator[str]:
    last = None
    for row in results.rows:
        size = (row.cell.tasks, row.cell.latency_ms)
        if last is not None and size != last:
            yield ""
        last = size
        yield _row(row)


def _row(row: Row) -> str:
    cell = row.cell
    failed = "" if all(sample.ok for sample in row.samples) else "  NOT OK"

    def median(measure: Measure) -> float:
        return spread(row, measure).median

    return (
        f"{cell.tasks:5} {cell.latency_ms:4}  {f'{cell.peer} {cell.variant}':30} "
        f"{_varied(row, lambda sample: sample.wall_s):>20} "
        f"{_varied(row, lambda sample: sample.cpu_ms_a_task):>22} "
        f"{median(lambda sample: sample.peak_mb):8.1f} "
        f"{median(lambda sample: sample.growth_mb):7.1f} "
        f"{median(lambda sample: sample.requests):9.0f} "
        f"{median(lambda sample: sample.prompt_tokens):8.0f} "
        f"{median(lambda sample: sample.max_concurrency):8.0f}{failed}"
    )


def _varied(row: Row, measure: Measure) -> str:
    got = spread(row, measure)
    return f"{got.median:.3f} ({got.least:.3f}-{got.most:.3f})"


def _target(target: Target) -> str:
    got = target.got
    here = f"{got.median:.3f} ({got.least:.3f}-{got.most:.3f})"
    if target.at_least == target.at_most:
        should = f"exactly {target.at_most:g}"
    elif target.at_least > float("-inf"):
        should = f"{target.at_least:g} to {target.at_most:g}"
    else:
        should = f"at most {target.at_most:g}"
    verdict = "met" if target.met else "MISSED"
    size = f"{target.tasks:5} {target.latency_ms:4}"
    return f"{target.what:42} {size} {here:>24}  {should:>16}  {verdict}"
