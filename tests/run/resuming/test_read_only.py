"""Runs in a folder that can't be written are looked at all the same (F31)."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from leadhand.journal import open_store
from leadhand.testing.journal_stories import Story, keep
from tests.programs import Ended
from tests.run.resuming.processes import CLI, Processes


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    """A folder that any user may write to: pytest's own are closed to others by its next start."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_an_ordinary_user_reads_runs_in_a_read_only_home_and_is_told_where_none_can_be_kept(
    processes: Processes, folder: Path
) -> None:
    home = folder / "home"
    with closing(open_store(home)) as journal:
        keep(journal, Story("r").whole("a"))
    for place in [home, *home.rglob("*")]:
        place.chmod(0o555 if place.is_dir() else 0o444)
    program = "tests.run.resuming.nobody:as_nobody" if os.geteuid() == 0 else CLI

    def leadhand(*words: str) -> Ended:
        return processes.run(program, *words, "--home", str(home), folder=folder)

    for words in (("runs",), ("show", "r"), ("trace", "r"), ("runs", "check")):
        read = leadhand(*words)
        assert (read.status, read.err) == (0, "")
        assert "r" in read.out
    for words in (("resume", "r"), ("cancel", "r")):
        refused = leadhand(*words)
        assert (refused.status, refused.out) == (2, "")
        assert refused.err == (
            "reading r\n"
            f"leadhand: no runs can be stored in {home}: it can't be written; "
            "name another folder with --home\n"
        )
