"""How much of the code a run with one task goes through: files, and moves between them.

    python -m benchmarks.reach [--files]

A deterministic run of one task, by `Supervisor.run_sync`, the second of its supervisor: what it
imports is there. A move is a function that starts or goes on in another file than the one before
it. `--files` lists the files, and how often each of them is moved to.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import leadhand
from leadhand import Handoff, Result, Supervisor, Team, Worker

MOST_FILES = 50
MOST_MOVES = 250
_SOURCE = Path(leadhand.__file__).parent


class Reach(NamedTuple):
    """What one run goes through."""

    moves_to: Counter[str]
    """How often each file is moved to, by its path below `src/leadhand`."""

    @property
    def files(self) -> int:
        """How many files are entered."""
        return len(self.moves_to)

    @property
    def moves(self) -> int:
        """The moves between files; the first file is not moved to."""
        return self.moves_to.total() - 1


async def _work(_: Handoff) -> Result:
    return Result(output="done")


def measure() -> Reach:
    """The reach of a run of one task that a function does."""
    supervisor = Supervisor(Team("one", workers=(Worker("worker", "Works", run=_work),)))
    supervisor.run_sync("Do it.")
    moves_to: Counter[str] = Counter()
    last = ""

    def enter(frame: FrameType, event: str, _: object) -> None:
        nonlocal last
        file = frame.f_code.co_filename
        if event == "call" and file != last and file.startswith(str(_SOURCE)):
            last = file
            moves_to[str(Path(file).relative_to(_SOURCE))] += 1

    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        supervisor.run_sync("Do it again.")
    finally:
        sys.setprofile(before)
    return Reach(moves_to)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="list the files")
    listed: bool = parser.parse_args().files
    reach = measure()
    for what, count, most in (
        ("files", reach.files, MOST_FILES),
        ("moves between them", reach.moves, MOST_MOVES),
    ):
        print(f"{what:20} {count:5}  at most {most}{' MISSED' if count > most else ''}")
    if listed:
        for file, moves in sorted(reach.moves_to.items()):
            print(f"{moves:5}  {file}")


if __name__ == "__main__":
    main()
