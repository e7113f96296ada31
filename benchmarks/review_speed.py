"""How long reviews take: of ten files, and of 1,000 beside their own ruff runs and git reads.

    python -m benchmarks.review_speed [--files 1000] [--rounds 3] [--small]

The files are the standard library's. Two changes are reviewed: `edited`, in which every file gets a
new function and a changed one, and `added`, in which every file is new. The floor is what the
review can't do without: the same ruff runs on the same files, and git writing out the same diff,
blobs, history and search. Wall time of whole processes, in turn, medians, and the CPU time of all
processes, which another load disturbs less; a 50 MB diff at the end. `--small` measures a commit of
ten edited files alone, or of `--files`. Python keeps compiled modules, as in any installation, even
if the environment says otherwise; the first run, which compiles them, is not counted.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EDIT = '''

def added_by_the_benchmark(values, *, limit=10):
    """The first `limit` values as text."""
    out = []
    for number, value in enumerate(values):
        if number >= limit:
            break
        out.append(f"{number}: {value}")
    return out
'''


@dataclass(frozen=True, slots=True)
class Sample:
    """One change in a repository of its own."""

    name: str
    repo: Path
    base: str
    head: str


def standard_library(count: int) -> list[Path]:
    """`count` of its Python files, tests among them, none of them huge."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(
        file
        for file in root.rglob("*.py")
        if "site-packages" not in file.parts
        and "lib2to3" not in file.parts
        and 200 < file.stat().st_size < 200_000
    )
    if len(files) < count:
        raise SystemExit(f"the standard library has only {len(files)} such files")
    step = len(files) / count
    return [files[int(number * step)] for number in range(count)]


def prepared(folder: Path, count: int) -> list[Sample]:
    """Both changes."""
    texts = [file.read_bytes() for file in standard_library(count)]
    edited = folder / "edited"
    for number, text in enumerate(texts):
        _write(edited, number, text)
    first = _commit(edited)
    for number, text in enumerate(texts):
        lines = text.split(b"\n")
        middle = next((n for n, x in enumerate(lines) if x.startswith(b"def ")), None)
        if middle is not None:
            lines.insert(middle, b"# The benchmark was here.")
        _write(edited, number, b"\n".join(lines) + EDIT.encode())
    second = _commit(edited)
    added = folder / "added"
    (added / "README").parent.mkdir(parents=True)
    (added / "README").write_text("before\n")
    third = _commit(added)
    for number, text in enumerate(texts):
        _write(added, number, text)
    return [Sample("edited", edited, first, second), Sample("added", added, third, _commit(added))]


def _write(repo: Path, number: int, text: bytes) -> None:
    file = repo / f"package_{number % 40:02d}" / f"module_{number:04d}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text)


def _commit(repo: Path) -> str:
    git = ["git", "-C", str(repo), "-c", "user.name=b", "-c", "user.email=b@example.invalid"]
    if not (repo / ".git").exists():
        subprocess.run(["git", "init", "--quiet", str(repo)], check=True)
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "a step"], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def review_s(sample: Sample, log: Path) -> tuple[float, float]:
    """Wall and CPU time of `leadhand review`, which must come to its end."""
    command = [sys.executable, "-m", "leadhand", "review", f"{sample.base}..{sample.head}"]
    command += ["--repo", str(sample.repo), "--json", "--quiet", "--fail-on", "never"]
    before, started = _cpu_s(), time.perf_counter()
    with log.open("wb") as out:
        subprocess.run(command, check=True, stdout=out, env=_compiled(log.parent))
    return time.perf_counter() - started, _cpu_s() - before


def _compiled(folder: Path) -> dict[str, str]:
    """The environment, with compiled modules in `folder`."""
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return environ


def _cpu_s() -> float:
    """CPU time of all processes that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def floor_s(sample: Sample, scratch: Path) -> float:
    """Wall time of the review's ruff runs and git reads, one after the other."""
    from leadhand_teams.review.ruff_rules import CODES, NOT_COMPILED
    from leadhand_teams.review.ruff_rules.hits import TARGET

    git = ["git", "-C", str(sample.repo)]
    names = _output([*git, "diff", "--name-only", sample.base, sample.head]).split()
    sides = (sample.base, sample.head)
    wanted = b"".join(f"{side}:{name.decode()}\n".encode() for name in names for side in sides)
    files = [str(sample.repo / name.decode()) for name in names if name.endswith(b".py")]
    codes = ",".join((*CODES, *NOT_COMPILED))
    started = time.perf_counter()
    _output([*git, "diff-tree", "-r", "-p", "-U0", "-M", "--raw", sample.base, sample.head])
    _output([*git, "cat-file", "--batch"], wanted)
    _output([*git, "log", "--name-only", "--max-count=2000", sample.base])
    ruff = [
        str(Path(sys.executable).with_name("ruff")),
        "check",
        "--isolated",
        "--no-cache",
        "--preview",
    ]
    ruff += ["--ignore-noqa", "--output-format", "json-lines", "--exit-zero", "--select", codes]
    ruff += ["--target-version", TARGET, "--config", "lint.explicit-preview-rules = true"]
    _output([*ruff, *files])
    return time.perf_counter() - started


def _output(command: Sequence[str], given: bytes = b"") -> bytes:
    done = subprocess.run(command, input=given, capture_output=True, env=dict(os.environ))
    if done.returncode != 0:
        raise SystemExit(f"{command[:4]} failed: {done.stderr[-500:]!r}")
    return done.stdout


def huge_patch(folder: Path) -> None:
    """A 50 MB patch: what comes of it, how long it takes, how much memory the process has."""
    patch = folder / "huge.patch"
    with patch.open("w", encoding="utf-8") as file:
        for number in range(100):
            file.write(f"diff --git a/f{number}.py b/f{number}.py\nnew file mode 100644\n")
            file.write(f"--- /dev/null\n+++ b/f{number}.py\n@@ -0,0 +1,10000 @@\n")
            file.writelines(
                f"+value_{line} = compute({line}, 'some text to fill')\n" for line in range(10_000)
            )
    command = [sys.executable, "-m", "leadhand", "review", "--diff", str(patch)]
    command += ["--json", "--quiet", "--fail-on", "never"]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    took_s = time.perf_counter() - started
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    ended = json.loads(done.stdout)["status"] if done.stdout else done.stderr.strip()
    print(
        f"{patch.stat().st_size / 1e6:.0f} MB patch: {ended}, {took_s:.1f} s, "
        f"at most {peak_mb:.0f} MB in any process"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    options.files = options.files or (10 if options.small else 1_000)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        log = folder / "answer.json"
        samples = prepared(folder, options.files)
        compiling = prepared(folder / "compiling", 10)[0]
        review_s(compiling, log)
        for sample in samples[:1] if options.small else samples:
            pairs: list[tuple[float, float]] = []
            cpus: list[float] = []
            for _ in range(options.rounds):
                floor = floor_s(sample, folder)
                took, cpu = review_s(sample, log)
                pairs.append((took, floor))
                cpus.append(cpu)
            answer = json.loads(log.read_text(encoding="utf-8"))
            metrics = answer["metrics"]
            print(
                f"{sample.name}: {options.files} files, review "
                f"{statistics.median(a for a, _ in pairs):.2f} s (CPU "
                f"{statistics.median(cpus):.2f} s), floor "
                f"{statistics.median(b for _, b in pairs):.2f} s, ratio "
                f"{statistics.median(a / b for a, b in pairs):.2f} ({answer['status']}; "
                f"sequential {metrics['sequential_s']:.1f} s, speed-up "
                f"{metrics['speedup'] or metrics['speedup_high'] or 0.0:.1f})",
                flush=True,
            )
        if not options.small:
            huge_patch(folder)


if __name__ == "__main__":
    main()
