"""What starting and ending cost: imports beside `import pydantic`, `--help` beside a tiny one, and
the time from the last byte of an answer to the end of the program.

    python -m benchmarks.startup

Whole processes, in turn, wall time, medians of pairs in one run.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

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


def seconds(command: Sequence[str]) -> float:
    """Wall time of one process."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def pairs(a: Sequence[str], b: Sequence[str], count: int = 21) -> list[tuple[float, float]]:
    """`count` runs of each, in turn, after one of each that is not counted."""
    for command in (a, b):
        seconds(command)
    return [(seconds(a), seconds(b)) for _ in range(count)]


def ending_s(arguments: Sequence[str], folder: Path, env: dict[str, str]) -> float:
    """Seconds from the last byte on stdout to the end of `leadhand ARGUMENTS`."""
    command = [sys.executable, "-m", "leadhand", *arguments]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **env, "LEADHAND_HOME": str(folder / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    last_s = time.perf_counter()
    while os.read(process.stdout.fileno(), 65_536):
        last_s = time.perf_counter()
    process.wait()
    process.stdout.close()
    return time.perf_counter() - last_s


def endings() -> None:
    """Measure and print how long programs take to end after their answers."""
    run = ("run", "I was charged twice", "--team", "desk", "--quiet")
    with tempfile.TemporaryDirectory() as name, ScriptedServer() as server:
        folder = Path(name)
        create(folder / "desk")
        model = {**server.env(), "LEADHAND_MODEL": "openai-chat:scripted"}
        for shown, env in (("by code", {"LEADHAND_MODEL": "none"}), ("with a model", model)):
            taken = [ending_s(run, folder, env) for _ in range(11)]
            median, slowest = statistics.median(taken), max(taken)
            print(f"{'answer to end, ' + shown:42} {median:.3f} s, at most {slowest:.3f} s")


def main() -> None:
    """Measure and print."""
    python = sys.executable
    imports = pairs([python, "-c", "import leadhand"], [python, "-c", "import pydantic"])
    every = "import leadhand; [getattr(leadhand, name) for name in leadhand.__all__]"
    whole = pairs([python, "-c", every], [python, "-c", "import pydantic; pydantic.BaseModel"])
    helps = pairs(
        [python, "-m", "leadhand", "--help"],
        [python, "-c", TINY, "--help"],
    )
    for name, rows in (
        ("import leadhand - import pydantic", imports),
        ("every public name - pydantic.BaseModel", whole),
    ):
        print(f"{name:42} {statistics.median(a - b for a, b in rows):+.3f} s")
    ratio = statistics.median(a / b for a, b in helps)
    print(f"{'leadhand --help / two-command typer --help':42} {ratio:.2f} times")
    endings()


if __name__ == "__main__":
    main()
