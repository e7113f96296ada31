"""leadhand beside its peers: the same job, prompts, model server and machine, round by round.

    LEADHAND_PEERS=DIR LEADHAND_PEER_VENVS=DIR python -m benchmarks.peers [--quick] [--rounds 3]

`LEADHAND_PEERS` is the folder of the peers' harness (`common.py`, `mock_server.py`, `drivers/`);
by default `../shared/bench/peers`, beside this repository, where it is. `LEADHAND_PEER_VENVS` has
their virtual environments, `venv-floor` and `venv-langgraph`. Without them leadhand is measured
alone. Every cell is a process of its own; a round goes through all peers before it grows, and
ratios are taken within a round. Prints a table and the targets, writes JSON, draws the chart.
"""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import peer_targets as known
from benchmarks.chart import drawn
from benchmarks.peer_report import printed
from benchmarks.peer_results import Cell, Results, Row, Sample

ROOT = Path(__file__).parent.parent
NEEDS = (
    "no comparison: set LEADHAND_PEERS to the peers' harness and LEADHAND_PEER_VENVS to a folder "
    "with venv-floor and venv-langgraph; leadhand alone:"
)
SIZES = (10, 100, known.LARGEST)
LATENCIES_MS = (0, 100)
FAN_OUT = (
    ("floor", "floor", known.FLOOR),
    ("floor", "floor", known.SAME_TRANSPORT),
    ("leadhand", "", known.PLAIN),
    ("leadhand", "", known.TYPED),
    ("langgraph", "langgraph_", known.LANGGRAPH),
)
GRAPHS = (
    ("floor", "floor", "dag_asyncio"),
    ("leadhand", "", known.GRAPH),
    ("langgraph", "langgraph_", "dag_edges"),
)
SEQUENTIAL = (("leadhand", "", known.PLAIN), ("leadhand", "", known.SERIAL))
PACKAGES = {"floor": "openai", "langgraph": "langgraph", "leadhand": "leadhand"}
_CELL_S = 600.0


@dataclass(frozen=True, slots=True)
class Peers:
    """Where the peers are."""

    harness: Path
    venvs: Path

    @classmethod
    def found(cls, environ: Mapping[str, str]) -> "Peers | None":
        """As the environment says; none where something is missing."""
        harness = environ.get("LEADHAND_PEERS") or ROOT.parent / "shared" / "bench" / "peers"
        peers = cls(Path(harness).absolute(), Path(environ.get("LEADHAND_PEER_VENVS", "")))
        needed = [peers.harness / "common.py", *map(peers.python, ("floor", "langgraph"))]
        return peers if all(path.exists() for path in needed) else None

    def python(self, peer: str) -> Path:
        """The interpreter of a peer."""
        if peer == "leadhand":
            return Path(sys.executable)
        return self.venvs.absolute() / f"venv-{peer}" / "bin" / "python"

    def command(self, cell: Cell, repetitions: int) -> list[str]:
        """What measures a cell."""
        driver = self.harness / "drivers" / f"{cell.driver}.py"
        ours = ["-m", "benchmarks.peer_driver"]
        arguments = {
            "--variant": cell.variant,
            "--n": cell.tasks,
            "--latency": cell.latency_ms,
            "--reps": repetitions,
        }
        spelt = [str(part) for pair in arguments.items() for part in pair]
        program = ours if cell.peer == "leadhand" else [str(driver)]
        return [str(self.python(cell.peer)), *program, *spelt]

    def version(self, peer: str) -> str:
        """Its package and the OpenAI SDK under it."""
        names = dict.fromkeys([PACKAGES[peer], "openai"])
        code = "import sys\nfrom importlib.metadata import version\n"
        code += "print(', '.join(f'{name} {version(name)}' for name in sys.argv[1:]))"
        return subprocess.check_output([self.python(peer), "-c", code, *names], text=True).strip()


def cells(sizes: Sequence[int]) -> list[Cell]:
    """What one round measures, in order: at each size everyone in turn."""

    def cell(who: tuple[str, str, str], tasks: int, latency_ms: int) -> Cell:
        peer, driver, variant = who
        return Cell(peer=peer, driver=driver, variant=variant, tasks=tasks, latency_ms=latency_ms)

    found = [cell(who, n, ms) for n in sizes for ms in LATENCIES_MS for who in FAN_OUT]
    found += [cell(who, known.GRAPH_TASKS, 0) for who in GRAPHS]
    return found + [cell(who, known.SERIAL_TASKS, known.SERIAL_MS) for who in SEQUENTIAL]


@contextmanager
def model_server(peers: Peers) -> Generator[int]:
    """The port of the peers' model server, for as long as the block lasts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    script = peers.harness / "mock_server.py"
    process = subprocess.Popen([peers.python("floor"), script, "--port", str(port)])
    try:
        _wait_for(f"http://127.0.0.1:{port}/_ctl/stats")
        yield port
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str, tries: int = 100) -> None:
    for left in range(tries - 1, -1, -1):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            if not left:
                raise
            time.sleep(0.1)


def measured(peers: Peers, cell: Cell, port: int) -> Sample:
    """One process, a warm-up and some repetitions."""
    base = f"http://127.0.0.1:{port}/v1"
    bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environ = bare | {
        "LEADHAND_LOOPBACK_ONLY": "1",
        "LEADHAND_PEERS": str(peers.harness),
        "MOCK_PORT": str(port),
        "OPENAI_API_BASE": base,
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": base,
    }
    command = peers.command(cell, repetitions=9 if cell.tasks < known.LARGEST // 10 else 3)
    done = subprocess.run(
        command, env=environ, cwd=ROOT, capture_output=True, text=True, timeout=_CELL_S
    )
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    if done.returncode or "RESULT" not in said:
        raise SystemExit(f"{cell.peer} {cell.variant}: {done.stderr[-2_000:]}")
    return _sample(json.loads(said["RESULT"]), json.loads(said.get("METRICS", "[]")))


def _sample(given: Mapping[str, float], metrics: Sequence[Mapping[str, float]]) -> Sample:
    own = {
        name: statistics.median(run[name] for run in metrics[1:])  # the first is the warm-up
        for name in ("makespan_s", "sequential_s")
        if metrics
    }
    path_ms = given.get("critical_path_ms")
    return Sample(
        ok=bool(given["ok"]),
        wall_s=given["wall_s"],
        cpu_ms_a_task=given["cpu_ms_per_task"],
        peak_mb=given["peak_rss_mb"],
        growth_mb=given["peak_rss_mb"] - given["rss_before_mb"],
        requests=int(given["requests"]),
        prompt_tokens=int(given["prompt_tokens"]),
        max_concurrency=int(given["max_concurrency"]),
        critical_path_s=None if path_ms is None else path_ms / 1_000,
        **own,
    )


def compare(peers: Peers, *, sizes: Sequence[int], rounds: int) -> Results:
    """Everything, measured."""
    todo = cells(sizes)
    samples: dict[Cell, list[Sample]] = {cell: [] for cell in todo}
    with model_server(peers) as port:
        for number in range(1, rounds + 1):
            for place, cell in enumerate(todo, start=1):
                if sys.stderr.isatty():
                    note = f"round {number} of {rounds}, {place} of {len(todo)}: {cell.variant}"
                    print(f"\r{note:70}", end="", file=sys.stderr, flush=True)
                samples[cell].append(measured(peers, cell, port))
    return Results(
        machine=f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        versions={peer: peers.version(peer) for peer in PACKAGES},
        rounds=rounds,
        rows=tuple(Row(cell=cell, samples=tuple(found)) for cell, found in samples.items()),
    )


def main() -> None:
    """Measure, print, and where it was a whole comparison write and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="N = 10 and 100, one round, no files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks/results/peers.json")
    parser.add_argument("--chart", type=Path, default=ROOT / "docs/benchmark.svg")
    options = parser.parse_args()
    peers = Peers.found(os.environ)
    if peers is None:
        print(NEEDS, flush=True)
        subprocess.run([sys.executable, "-m", "benchmarks.model_alone"], check=True, cwd=ROOT)
        return
    quick: bool = options.quick
    sizes = SIZES[:2] if quick else SIZES
    results = compare(peers, sizes=sizes, rounds=1 if quick else options.rounds)
    print("\r" + printed(results))
    if not quick:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")
        options.chart.write_text(drawn(results), encoding="utf-8")
        print(f"written: {options.json}, {options.chart}")


if __name__ == "__main__":
    main()
