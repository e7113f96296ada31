"""Runs the `leadhand` program as a person would: a process of its own, in a folder."""

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import HANG_S
from tests.programs import Ended, Program, forkserver

PROGRAM = ("-m", "leadhand")


def leadhand(
    *arguments: str, folder: Path, given: str | None = None, env: dict[str, str] | None = None
) -> Ended:
    """What `leadhand ARGUMENTS` does in `folder`, 80 columns wide and without colours."""
    return forkserver().run(*PROGRAM, *arguments, folder=folder, given=given, env=_plain(env or {}))


def started(*arguments: str, folder: Path, env: dict[str, str] | None = None) -> Program:
    """The same program under way."""
    return forkserver().start(*PROGRAM, *arguments, folder=folder, env=_plain(env or {}))


def fresh_leadhand(*arguments: str, folder: Path, env: dict[str, str] | None = None) -> Ended:
    """The same from a start of Python of its own: for what is imported, and how it all begins."""
    done = subprocess.run(
        [sys.executable, *PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_S,
        env=_plain(env or {}),
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _plain(env: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", **env}
