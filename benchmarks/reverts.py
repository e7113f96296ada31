"""How long the history lens takes to find a plain revert in a repository of 10,000 commits.

    python -m benchmarks.reverts

The reverted fix is the second commit; the others change 200 files in turn. Wall time of the search
for reverted fixes alone, without the snapshot; the target is one second.
"""

import subprocess
import tempfile
import time
from pathlib import Path

from leadhand_teams.review.lenses.history import reverted
from leadhand_teams.review.snapshot import write_snapshot

COMMITS = 10_000
_OLD = "def f(x):\n    return x\n"
_FIXED = "def f(x):\n    if x is None: raise Refused(x)\n    return x\n"


def _commit(number: int, subject: str, path: str, text: str) -> bytes:
    return (
        f"commit refs/heads/main\ncommitter b <b@example.invalid> {number} +0000\n"
        f"data {len(subject)}\n{subject}\n"
        f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"
    ).encode()


def main() -> None:
    """Measure and print."""
    others = (
        _commit(n, f"Change {n}", f"src/m{n % 200}.py", f"V = {n}\n") for n in range(2, COMMITS - 1)
    )
    stream = b"".join(
        (
            _commit(0, "Add f", "app/a.py", _OLD),
            _commit(1, "Fix a crash", "app/a.py", _FIXED),
            *others,
            _commit(COMMITS, "Change f", "app/a.py", _OLD),
        )
    )
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch) / "repo"
        subprocess.run(["git", "init", "--quiet", "--bare", str(repo)], check=True)
        subprocess.run(["git", "-C", str(repo), "fast-import", "--quiet"], input=stream, check=True)
        change = write_snapshot(Path(scratch) / "change", repo=repo, revision="main")
        started_s = time.perf_counter()
        assert change.git_dir is not None
        assert change.history is not None
        found = list(reverted(change, change.git_dir, change.history, change.files))
        took_s = time.perf_counter() - started_s
    print(f"{len(found)} reverted fix found among {COMMITS:,} commits in {took_s:.2f} s")


if __name__ == "__main__":
    main()
