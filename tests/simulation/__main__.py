"""`make simulate`: as many seeds as asked for, on every processor; or some, event by event."""

import argparse
import logging
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

from leadhand.contracts.events import dump
from leadhand.contracts.planner_kinds import PlannerKind
from tests.simulation.drive import simulate
from tests.simulation.planners import KINDS
from tests.simulation.promises import broken

IN_TESTS = 80
"""The first seeds are those of `make test`, of each kind of planner and of none."""
MOST_OF_A_KIND = 2_000
_AT_ONCE = 50


def main() -> int:
    """0 where every promise was kept, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many (default: 10,000)")
    parser.add_argument("--start", type=int, default=IN_TESTS, help="the first of them")
    parser.add_argument("--seed", type=int, nargs="+", help="only these, with events on stdout")
    parser.add_argument("--kind", choices=KINDS, help="of this kind of planner only")
    options = parser.parse_args()
    _quieten()
    kind: PlannerKind | None = options.kind
    if options.seed is not None:
        return max(_one(seed, kind) for seed in options.seed)
    seeds = range(options.start, options.start + options.seeds)
    if kind is not None:
        return _many(seeds, kind)
    return max(_many(seeds, None), *(_many(seeds[:MOST_OF_A_KIND], kind) for kind in KINDS))


def failures(seeds: range, kind: PlannerKind | None = None) -> list[str]:
    return [told(seed, lines, kind) for seed in seeds if (lines := broken(simulate(seed, kind)))]


def told(seed: int, lines: list[str], kind: PlannerKind | None = None) -> str:
    """A failing seed, and how to see it again."""
    listed = "".join(f"\n    {line}" for line in lines)
    again = f"SEED={seed} KIND={kind}" if kind is not None else f"SEED={seed}"
    return f"seed {seed}: run it again with: make simulate {again}{listed}"


def _one(seed: int, kind: PlannerKind | None) -> int:
    recording = simulate(seed, kind)
    for event in recording.events:
        print(dump(event))
    lines = broken(recording)
    end = told(seed, lines, kind) if lines else f"seed {seed}: every promise was kept"
    print(end, file=sys.stderr)
    return 1 if lines else 0


def _many(seeds: range, kind: PlannerKind | None) -> int:
    started_s, failed = time.monotonic(), 0
    parts = [seeds[at : at + _AT_ONCE] for at in range(0, len(seeds), _AT_ONCE)]
    with ProcessPoolExecutor(os.cpu_count(), initializer=_quieten) as pool:
        for found in pool.map(failures, parts, repeat(kind)):
            failed += len(found)
            for text in found:
                print(text, flush=True)
    a_minute = 60 * len(seeds) / (time.monotonic() - started_s)
    what = f"{len(seeds):,} seeds" + (f" of {kind}" if kind is not None else "")
    print(f"{what} from {seeds.start:,}, {failed:,} failed; {a_minute:,.0f} a minute")
    return 1 if failed else 0


def _quieten() -> None:
    # Scripted workers break in every way there is; leadhand logs each.
    logging.getLogger("leadhand").setLevel(logging.CRITICAL + 1)


if __name__ == "__main__":
    sys.exit(main())
