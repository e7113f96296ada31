"""What starting costs: `import leadhand` beside `import pydantic`, `--help` beside a tiny one.

    python -m benchmarks.startup

Whole processes, in turn, wall time, medians of pairs in one run.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

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


if __name__ == "__main__":
    main()
