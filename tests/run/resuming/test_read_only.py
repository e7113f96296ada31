"""Runs in a folder that can't be written are looked at all the same (F31)."""

import os
from contextlib import closing
from pathlib import Path

from leadhand.journal import open_journal
from tests.journal.runs import Story, keep
from tests.run.resuming.nursery import CLI, Ended, Nursery


def test_an_ordinary_user_reads_runs_in_a_read_only_home_and_is_told_where_none_can_be_kept(
    nursery: Nursery, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with closing(open_journal(home)) as journal:
        keep(journal, Story("r").whole("a"))
    read_only(tmp_path, home)
    program = "tests.run.resuming.nobody:as_nobody" if os.geteuid() == 0 else CLI

    def leadhand(*words: str) -> Ended:
        return nursery.run(program, *words, "--home", str(home), folder=tmp_path)

    for words in (("runs",), ("show", "r"), ("trace", "r"), ("runs", "check")):
        read = leadhand(*words)
        assert (read.status, read.err) == (0, "")
        assert "r" in read.out
    for words in (("resume", "r"), ("cancel", "r")):
        refused = leadhand(*words)
        assert (refused.status, refused.out) == (2, "")
        assert refused.err == (
            f"leadhand: no runs can be kept in {home}: it can't be written; "
            "name another folder with --home\n"
        )


def read_only(folder: Path, home: Path) -> None:
    """Nobody but root can change what is there; processes may still say something."""
    for place in [home, *home.rglob("*")]:
        place.chmod(0o555 if place.is_dir() else 0o444)
    folder.chmod(0o777)
    for above in folder.parents:
        if above.stat().st_uid == os.geteuid() and not above.stat().st_mode & 0o001:
            above.chmod(0o755)
