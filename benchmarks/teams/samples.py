"""How long each ready-made team's sample takes without a model, and how soon its first line comes.

python -m benchmarks.teams.samples
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5
_ROOT = Path(__file__).parents[2] / "src" / "leadhand_teams"
_COMMAND = (sys.executable, "-m", "leadhand", "teams", "try")


def samples() -> list[tuple[str, str | None]]:
    """Each team's default sample (None), then its others."""
    found: list[tuple[str, str | None]] = []
    for request in sorted(_ROOT.glob("*/samples/request.txt")):
        team = request.parents[1].name
        others = sorted(path.parent.name for path in request.parent.glob("*/request.txt"))
        found += [(team, None), *((team, name) for name in others)]
    return found


def timed(team: str, sample: str | None, home: str) -> tuple[float, float]:
    """Seconds until the first line, and until the end."""
    named = ("--sample", sample) if sample else ()
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OPENAI_", "ANTHROPIC_", "LEADHAND_"))
    }
    began = time.perf_counter()
    with subprocess.Popen(
        [*_COMMAND, team, "--no-model", "--home", home, *named],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first_s = time.perf_counter() - began
        process.stdout.read()
    return first_s, time.perf_counter() - began


def main() -> None:
    sys.stdout.write("| sample | first line | whole, slowest |\n|---|---|---|\n")
    with tempfile.TemporaryDirectory() as home:
        for team, sample in samples():
            pairs = [timed(team, sample, home) for _ in range(RUNS)]
            first_s = statistics.median(first for first, _ in pairs)
            whole_s = statistics.median(whole for _, whole in pairs)
            slowest_s = max(whole for _, whole in pairs)
            name = f"{team}, {sample}" if sample else team
            sys.stdout.write(f"| {name} | {first_s:.2f} s | {whole_s:.2f} s, {slowest_s:.2f} s |\n")


if __name__ == "__main__":
    main()
