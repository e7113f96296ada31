"""Runs the `leadhand` program as a person would: a process of its own, in a folder."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ended:
    """What a finished program left behind."""

    status: int
    out: str
    err: str


def leadhand(
    *arguments: str, folder: Path, given: str | None = None, env: dict[str, str] | None = None
) -> Ended:
    """What `leadhand ARGUMENTS` does in `folder`, 80 columns wide and without colours."""
    done = subprocess.run(
        [sys.executable, "-m", "leadhand", *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", **(env or {})},
    )
    return Ended(done.returncode, done.stdout, done.stderr)
