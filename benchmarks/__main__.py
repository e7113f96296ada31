"""`make bench`: every benchmark that needs nothing from outside, the others where they can run."""

import subprocess
import sys
from pathlib import Path

ALONE = (
    "engine",
    "reach",
    "startup",
    "review_speed",
    "reverts",
    "endpoint",
    "journal",
    "postgres",
    "speedup",
    "prompts",
    "service",
    "served",
    "peers",
    "stepwise",
    "early_start",
)
WITH_WORKLOADS = ("workflows", "insecure", "undone", "overlap", "gold_plans", "first_errors")


def main() -> None:
    """Run them one after the other, each in a process of its own."""
    names: list[str] = list(ALONE)
    if Path("../shared/workloads").is_dir():
        names += WITH_WORKLOADS
    else:
        these = ", ".join(WITH_WORKLOADS)
        print(f"no ../shared/workloads here: give {these} their --workloads DIR")
    for name in names:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
