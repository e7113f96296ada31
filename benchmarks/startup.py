"""What starting and ending a program cost, beside what the same libraries cost alone.

    python -m benchmarks.startup [--rounds 11] [--runs 10000]

Whole processes in fresh interpreters, each in turn with its reference, so that both meet the same
load. Medians of the differences or ratios of pairs. CPU is user and system time of all threads.
"""

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.journal import store
from leadhand.teams.scaffold import create
from leadhand.testing import ScriptedServer

TINY = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str): print(name)
@app.command()
def bye(name: str): print(name)
app()
"""
PYTHON = (sys.executable, "-c")
LEADHAND = (sys.executable, "-m", "leadhand")
HELP = (*LEADHAND, "--help")
SDK = (*PYTHON, "import pydantic_ai.models.openai")
FIRST_LINE_S = 0.5


class Cost(NamedTuple):
    """What one process took."""

    wall_s: float
    cpu_s: float


def cost(command: Sequence[str]) -> Cost:
    """Run `command` to its end."""
    started_s = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(time.perf_counter() - started_s, used.ru_utime + used.ru_stime)


def pairs(a: Sequence[str], b: Sequence[str], rounds: int) -> list[tuple[Cost, Cost]]:
    """`rounds` runs of each, in turn, after one of each that is not counted."""
    for command in (a, b):
        cost(command)
    return [(cost(a), cost(b)) for _ in range(rounds)]


def shown(what: str, figure: str, target: str = "", *, missed: bool = False) -> None:
    """Print a row."""
    print(f"{what:58} {figure:>24}  {target}{' MISSED' if missed else ''}", flush=True)


def added(what: str, a: Sequence[str], b: Sequence[str], rounds: int, most_s: float) -> None:
    """How much more CPU `a` takes than `b`."""
    more_s = statistics.median(one.cpu_s - other.cpu_s for one, other in pairs(a, b, rounds))
    shown(what, f"{more_s:+.2f} s of CPU", f"at most {most_s:g}", missed=more_s > most_s)


def ratio(what: str, a: Sequence[str], b: Sequence[str], rounds: int, most: float) -> None:
    """How many times the CPU of `b` `a` takes."""
    times = statistics.median(one.cpu_s / other.cpu_s for one, other in pairs(a, b, rounds))
    shown(what, f"{times:.2f} times its CPU", f"at most {most:g}", missed=times > most)


def first_line_s(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds until `command` first writes anything."""
    started_s = time.perf_counter()
    with subprocess.Popen(
        command, env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        taken_s = time.perf_counter() - started_s
        process.kill()
    return taken_s


def first_lines(home: Path, rounds: int) -> None:
    """Measure and print when each command first says something."""
    kept = ("--home", str(home))
    commands = {
        "run": ("run", "What grows?", "--team", "research", *kept),
        "plan": ("plan", "What grows?", "--team", "research"),
        "review": ("review", "--repo", ".", *kept),
        "resume": ("resume", "last", *kept),
        "answer": ("answer", "last", *kept),
        "show": ("show", "last", *kept),
        "runs": ("runs", *kept),
        "teams list": ("teams", "list"),
        "doctor": ("doctor",),
    }
    for name, words in commands.items():
        taken = [
            first_line_s((*LEADHAND, *words), {"LEADHAND_MODEL": "none"}) for _ in range(rounds)
        ]
        median_s = statistics.median(taken)
        most = f"at most {FIRST_LINE_S:g}"
        figure = f"{median_s:.2f} s, best {min(taken):.2f}"
        shown(f"first line of {name}", figure, most, missed=median_s > FIRST_LINE_S)


def cpu_to_first_request_s() -> float:
    """CPU seconds of `leadhand plan` with a model until its first request arrives."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        env = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "k", "LEADHAND_MODEL": "openai-chat:m"}
        command = [*LEADHAND, "plan", "What grows?", "--team", "research"]
        silent = subprocess.DEVNULL
        with subprocess.Popen(
            command, env={**os.environ, **env}, stdout=silent, stderr=silent
        ) as process:
            connection, _ = server.accept()
            with connection:
                connection.recv(1)
                after_name = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2]
                user, system = after_name.split()[11:13]
                process.kill()
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def first_request(rounds: int) -> None:
    """Measure and print what `plan` costs before its first request."""
    cost(SDK)
    rows = [(cpu_to_first_request_s(), cost(SDK).cpu_s) for _ in range(rounds)]
    more_s = statistics.median(ours - sdk for ours, sdk in rows)
    sdk_s = statistics.median(sdk for _, sdk in rows)
    name = f"plan to its first request - the SDK's import ({sdk_s:.2f} s)"
    shown(name, f"{more_s:+.2f} s of CPU", "at most 0.5", missed=more_s > 0.5)


def ending_s(arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> float:
    """Seconds from the last byte on stdout to the end of `leadhand ARGUMENTS`."""
    with subprocess.Popen(
        [*LEADHAND, *arguments],
        cwd=folder,
        env={**os.environ, **env, "LEADHAND_HOME": str(folder / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        last_s = time.perf_counter()
        while os.read(process.stdout.fileno(), 65_536):
            last_s = time.perf_counter()
        process.wait()
        return time.perf_counter() - last_s


def endings(rounds: int) -> None:
    """Measure and print how long programs take to end after their answers."""
    run = ("run", "I was charged twice", "--team", "desk", "--quiet")
    with tempfile.TemporaryDirectory() as name, ScriptedServer() as server:
        folder = Path(name)
        create(folder / "desk")
        model = {**server.env(), "LEADHAND_MODEL": "openai-chat:scripted"}
        for how, env in (("by code", {"LEADHAND_MODEL": "none"}), ("with a model", model)):
            taken = [ending_s(run, folder, env) for _ in range(rounds)]
            figure = f"{statistics.median(taken):.2f} s, worst {max(taken):.2f}"
            shown(f"answer to end, {how}", figure, "at most 0.3", missed=max(taken) > 0.3)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--runs", type=int, default=10_000, help="stored runs for runs and show")
    options = parser.parse_args()
    rounds: int = options.rounds
    code: Callable[[str], tuple[str, ...]] = lambda text: (*PYTHON, text)  # noqa: E731
    base = code("from pydantic import BaseModel")
    added(
        "import leadhand - import pydantic",
        code("import leadhand"),
        code("import pydantic"),
        rounds,
        0.15,
    )
    added(
        "leadhand.Supervisor - pydantic.BaseModel",
        code("import leadhand; leadhand.Supervisor"),
        base,
        rounds,
        0.2,
    )
    ratio("--help / two-command typer program", HELP, (*PYTHON, TINY, "--help"), rounds, 1.3)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        asyncio.run(store(home, options.runs))
        kept = ("--home", name)
        middle = f"run-{options.runs // 2}"
        many = f"{options.runs:,} runs stored"
        ratio(f"runs / --help, {many}", (*LEADHAND, "runs", *kept), HELP, rounds, 1.5)
        ratio(f"show / --help, {many}", (*LEADHAND, "show", middle, *kept), HELP, rounds, 1.5)
        first_lines(home, rounds)
    first_request(rounds)
    endings(rounds)


if __name__ == "__main__":
    main()
