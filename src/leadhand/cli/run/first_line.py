"""The first line of a command: what it reads, shown while other modules are imported."""

import contextlib
import os
import sys

from leadhand.cli.views.terminal import sentence
from leadhand.errors import LeadhandError
from leadhand.teams.installed import team_folders


def announce_team(team: str | None, *, quiet: bool) -> None:
    """Say that `team` is loaded, unless it can't be found: then the error stands alone."""
    module, _, attribute = (team or "").partition(":")
    there = module in team_folders() or os.path.isfile(module) or os.path.isdir(module)
    if module and (there or attribute):
        announce(f"loading team {team}", quiet=quiet)


def announce_run(run: str, home: str | None, *, quiet: bool) -> None:
    """Say which stored run is read: `run` is an id, the start of one or `last`."""
    from leadhand.cli.home import find_run, home_of, stored_runs

    with contextlib.suppress(LeadhandError, OSError):
        where = home_of(home, os.environ)
        with contextlib.closing(stored_runs(where)) as store:
            announce(f"reading {find_run(store, run, where)}", quiet=quiet)


def announce(what: str, *, quiet: bool) -> None:
    """A stderr that can't be written is ignored."""
    if not quiet:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{sentence(what)}\n")
            sys.stderr.flush()
