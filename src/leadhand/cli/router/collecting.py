"""`leadhand router examples`: labelled examples from stored runs, for `router train`."""

import json
import sys
from typing import TYPE_CHECKING

from leadhand.cli.views.consoles import print_note
from leadhand.errors import InputError, JournalError
from leadhand.tools.text import counted
from leadhand.trace.route_examples import RouteExample, route_examples

if TYPE_CHECKING:
    from leadhand.journal.store import Store


def collect_examples(store: "Store | None", team: str | None) -> None:
    """Print an example a line, each once; of all runs, or those of one team by its name."""
    found: dict[tuple[str, str], tuple[RouteExample, str]] = {}
    stored = () if store is None else store.runs()
    runs = [run for run in stored if team in (None, run.team)]
    if team is not None and stored and not runs:
        names = sorted({run.team for run in stored})
        raise InputError(
            f"no stored run is of a team called {team!r}: there are runs of {', '.join(names)}"
        )
    unread = 0
    for run in runs:
        assert store is not None
        try:
            log = store.events(run.run_id)
        except JournalError:
            unread += 1
            continue
        for example in route_examples(log):
            # The latest run comes first: what was found out last about a text holds.
            found.setdefault((example.text, run.team), (example, run.run_id))
    for example, run_id in found.values():
        line = json.dumps({**example._asdict(), "run": run_id}, ensure_ascii=True)
        sys.stdout.write(f"{line}\n")
    print_note(f"{counted(len(found), 'example')} in {counted(len(runs), 'run')}")
    if unread:
        print_note(f"{counted(unread, 'damaged run')} left out: `leadhand runs check` names them")
