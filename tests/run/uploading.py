"""A team that reads uploaded files, and a process that works with it until it is killed."""

import sys
from pathlib import Path

from leadhand import Handoff, Supervisor, Team, Worker
from tests.patience import wait_until

RUN = "uploaded"
FILES = {"letter.txt": "Grüße".encode(), "a b%2F\N{GRINNING FACE}.csv": b"n\n1\n"}


def read(handoff: Handoff) -> dict[str, str]:
    """What its files have, once there is a file `open` in the working folder."""
    Path("begun").touch()
    wait_until(Path("open").exists)
    paths = [Path(one) for one in handoff.artifacts]
    return {path.name: path.read_text("utf-8") for path in paths}


def team() -> Team:
    worker = Worker("reader", "Reads", offline=read, instructions="Read.")
    return Team("readers", workers=(worker,))


def work() -> None:
    """Start a run with files in the home that the first argument names."""
    Supervisor(team(), home=sys.argv[1]).run_sync("Read them.", run_id=RUN, uploads=FILES)
