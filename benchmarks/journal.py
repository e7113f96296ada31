"""What it costs to keep runs, beside LangGraph's SQLite checkpointer and DBOS on SQLite.

    LEADHAND_JOURNAL_PEERS=VENV python -m benchmarks.journal [--rounds 5] [--tasks 1000]

`LEADHAND_JOURNAL_PEERS` is a virtual environment with `dbos`, `langgraph` and
`langgraph-checkpoint-sqlite`; without it leadhand is measured alone. Tasks do nothing. Each cell is
a process of its own; a round goes through all of them, and what keeping adds is taken within a
round. Synchronisations are the kernel's own calls, counted by strace where there is one.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.journal import MemoryJournal, open_store

DRIVERS = Path(__file__).parent / "journal_peers"
CHAIN = 100
MOST_ADDED_MS = 0.1
MOST_SYNCS = 2.0
MOST_BYTES = 2_048
OWN_TEXT_BYTES = len("count to 100") + len("x 12")
"""What a task is told and gives, which nobody can do without."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that keeps what tasks gave."""

    name: str
    driver: str
    setting: str
    """How it keeps it."""
    can_forget: bool = True
    """Whether the same can be done with nothing kept."""


OURS = Tool("leadhand", "leadhand_runs", "WAL, synchronous=FULL, committed before use")
PEERS = (
    Tool("LangGraph", "langgraph_sqlite", "WAL, synchronous=FULL, durability=sync"),
    Tool("DBOS", "dbos_sqlite", "journal_mode=DELETE, synchronous=FULL", can_forget=False),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """What one process said."""

    wall_s: float
    cpu_s: float
    open_bytes: int
    closed_bytes: int


@dataclass(frozen=True, slots=True)
class Row:
    """One tool at one shape: medians."""

    tool: str
    shape: str
    tasks: int
    wall_ms: float
    """A task, kept."""
    added_wall_ms: float | None
    """A task, over the same with nothing kept; none where that can't be done."""
    added_cpu_ms: float | None
    syncs: float | None
    """A task; none where they aren't counted."""
    open_bytes: float
    """A task, with the write-ahead log."""
    closed_bytes: float
    """A task, once all is closed."""


def run(
    python: Path, tool: Tool, shape: str, tasks: int, *, kept: bool, before: Sequence[str] = ()
) -> Sample:
    """A process that does the work; `before` goes before its command."""
    with tempfile.TemporaryDirectory() as home:
        script = DRIVERS / f"{tool.driver}.py"
        arguments = [str(script), shape, str(tasks), home if kept else "-"]
        done = subprocess.run([*before, str(python), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{tool.name}: {done.stderr[-2_000:]}")
    return Sample(**json.loads(done.stdout.splitlines()[-1]))


def syncs(python: Path, tool: Tool, shape: str, tasks: int) -> float | None:
    """How often a task of a chain makes the disk write: what twice as many tasks add."""
    strace = shutil.which("strace")
    if strace is None or shape != "chain":
        return None
    counts: list[int] = []
    for n in (tasks, 2 * tasks):
        with tempfile.NamedTemporaryFile("r") as calls:
            flags = ["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", calls.name]
            run(python, tool, shape, n, kept=True, before=[strace, *flags])
            counts.append(sum("sync(" in line for line in calls))
    return (counts[1] - counts[0]) / tasks


def measure(pythons: Mapping[Tool, Path], shape: str, tasks: int, rounds: int) -> list[Row]:
    """All tools at one shape, in turn, round by round."""
    kept: dict[Tool, list[Sample]] = {tool: [] for tool in pythons}
    forgot: dict[Tool, list[Sample]] = {tool: [] for tool in pythons}
    for _ in range(rounds):
        for tool, python in pythons.items():
            if tool.can_forget:
                forgot[tool].append(run(python, tool, shape, tasks, kept=False))
            kept[tool].append(run(python, tool, shape, tasks, kept=True))
    return [
        _row(tool, shape, tasks, kept[tool], forgot[tool], syncs(python, tool, shape, tasks))
        for tool, python in pythons.items()
    ]


def _row(
    tool: Tool,
    shape: str,
    tasks: int,
    kept: Sequence[Sample],
    forgot: Sequence[Sample],
    syncs: float | None,
) -> Row:
    pairs = [*zip(kept, forgot, strict=True)] if forgot else []
    added_wall = [1e3 * (a.wall_s - b.wall_s) / tasks for a, b in pairs]
    added_cpu = [1e3 * (a.cpu_s - b.cpu_s) / tasks for a, b in pairs]
    return Row(
        tool.name,
        shape,
        tasks,
        wall_ms=statistics.median(1e3 * one.wall_s / tasks for one in kept),
        added_wall_ms=statistics.median(added_wall) if pairs else None,
        added_cpu_ms=statistics.median(added_cpu) if pairs else None,
        syncs=syncs,
        open_bytes=statistics.median(one.open_bytes / tasks for one in kept),
        closed_bytes=statistics.median(one.closed_bytes / tasks for one in kept),
    )


async def store(home: Path, runs: int) -> None:
    """Keep so many runs of three tasks in a folder; their ids are `run-1` and so on."""
    memory = MemoryJournal()

    async def noop(given: Handoff) -> str:
        return f"x {len(given.intent)}"

    team = Team("bench", workers=(Worker("noop", "does nothing", run=noop),))
    tasks = tuple(Task(id=f"t{i}", worker="noop", intent=f"count to {i}") for i in range(3))
    await Supervisor(team, journal=memory).run(plan=Plan(goal="measure", tasks=tasks), run_id="r")
    events = memory.store.events("r")
    journal = open_store(home)
    for number in range(1, runs + 1):
        for event in events:
            journal.append(replace(event, run_id=f"run-{number}"))
        if number % 500 == 0:
            await journal.commit()
    await journal.commit()
    journal.close()


def shown(rows: Sequence[Row]) -> str:
    """The rows as a table."""
    head = f"{'':10} {'shape':12} {'tasks':>6} {'ms/task':>8} {'added':>8} {'of CPU':>8}"
    lines = [f"{head} {'syncs':>6} {'B open':>8} {'B closed':>9}"]
    for row in rows:
        added = _number(row.added_wall_ms, "8.3f")
        cpu, synced = _number(row.added_cpu_ms, "8.3f"), _number(row.syncs, "6.2f")
        lines.append(
            f"{row.tool:10} {row.shape:12} {row.tasks:6,} {row.wall_ms:8.3f} {added} {cpu} "
            f"{synced} {row.open_bytes:8,.0f} {row.closed_bytes:9,.0f}"
        )
    return "\n".join(lines)


def _number(value: float | None, form: str) -> str:
    return f"{'-':>{form.partition('.')[0]}}" if value is None else f"{value:{form}}"


def missed(rows: Sequence[Row]) -> list[str]:
    """The targets that leadhand's own figures miss, each in a line."""
    found: list[tuple[str, float | None, float]] = []
    for row in rows:
        if row.tool != OURS.name:
            continue
        if row.shape == "independent":
            found.append(("ms added a task", row.added_wall_ms, MOST_ADDED_MS))
        else:
            found.append(("syncs a task", row.syncs, MOST_SYNCS))
        found.append((f"bytes a task, {row.shape}", row.closed_bytes - OWN_TEXT_BYTES, MOST_BYTES))
    return [
        f"MISSED: {what}: {got:.3f}, at most {most:g} asked"
        for what, got, most in found
        if got is not None and got > most
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=1_000, help="independent ones, all in flight")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pythons = {OURS: Path(sys.executable)}
    venv = os.environ.get("LEADHAND_JOURNAL_PEERS")
    if venv:
        pythons |= dict.fromkeys(PEERS, Path(venv).absolute() / "bin" / "python")
    else:
        print("no peers: set LEADHAND_JOURNAL_PEERS to a venv with them; leadhand alone:")
    for tool in pythons:
        print(f"{tool.name}: {tool.setting}")
    rows = measure(pythons, "independent", options.tasks, options.rounds)
    rows += measure(pythons, "chain", CHAIN, options.rounds)
    print(shown(rows), flush=True)
    print("\n".join(missed(rows)) or "all targets met")
    if options.json:
        figures = {"rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
