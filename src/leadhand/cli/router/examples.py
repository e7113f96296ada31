"""`leadhand router examples`: examples for `train`, collected from stored runs."""

import json
from typing import TYPE_CHECKING

from leadhand.cli.views.consoles import print_note
from leadhand.errors import InputError, JournalError
from leadhand.tools.text import counted
from leadhand.trace.route_examples import RouteExample, route_examples

if TYPE_CHECKING:
    from leadhand.journal.store import Store


def collect_examples(store: "Store", team: str | None) -> None:
    stored = store.runs()
    runs = [run for run in stored if team in (None, run.team)]
    if stored and not runs:
        names = ", ".join(sorted({run.team for run in stored}))
        raise InputError(f"no stored run is of a team called {team!r}: there are runs of {names}")
    found: dict[tuple[str, str], tuple[RouteExample, str]] = {}
    unread = 0
    for run in runs:
        try:
            log = store.events(run.run_id)
        except JournalError:
            unread += 1
            continue
        for example in route_examples(log):
            # The latest run comes first: what was found out last about a text holds.
            found.setdefault((example.text, run.team), (example, run.run_id))
    for example, run_id in found.values():
        print(json.dumps({**example._asdict(), "run": run_id}))
    print_note(f"{counted(len(found), 'example')} in {counted(len(runs), 'run')}")
    if unread:
        print_note(f"{counted(unread, 'damaged run')} left out: `leadhand runs check` names them")
