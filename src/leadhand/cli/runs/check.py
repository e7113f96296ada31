"""`leadhand runs check`, and what other commands print about a damaged run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand.cli.home import shown_home
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.tools.text import counted

if TYPE_CHECKING:
    from leadhand.contracts.summary import Inspection
    from leadhand.journal.store import Store

DAMAGED = 3
"""The exit status if a run is damaged."""


def check_runs(store: "Store", home: Path | str, *, as_json: bool) -> int:
    """Print for each run whether it is intact; returns the exit status."""
    found = [store.inspect(run.run_id) for run in store.runs()]
    if as_json:
        told = [
            {
                "run_id": one.run_id,
                "verdict": one.verdict,
                "damage": one.damage or None,
                "unread": one.unread or None,
                "saved": saved(one),
            }
            for one in found
        ]
        print_json(told)
    elif found:
        width = max(len(safe(one.run_id)) for one in found)
        lines = (f"{safe(one.run_id):<{width}}  {_verdict(one)}\n" for one in found)
        sys.stdout.writelines(lines)
    else:
        sys.stdout.write(f"no runs are stored in {safe(shown_home(home))}\n")
    return DAMAGED if any(one.damage for one in found) else 0


def report_damage(found: "Inspection") -> int:
    """Say on stderr where a run is damaged or can't be read here; returns the exit status."""
    if not (found.damage or found.unread):
        return 0
    why = f"is damaged: {found.damage}" if found.damage else f"is shown in part: {found.unread}"
    line = sentence(f"run {found.run_id!r} {why}. What can be read: {saved(found)}")
    sys.stderr.write(f"leadhand: {line}\n")
    return DAMAGED


def saved(found: "Inspection") -> str:
    """The part of a run before the damage, in words."""
    from leadhand.state.fold import fold

    if not found.events:
        return "nothing"
    tasks = fold(found.events).tasks
    done = sum(task.status == "completed" for task in tasks.values())
    results = f", with the results of {done:,} of {counted(len(tasks), 'task')}" if tasks else ""
    return f"{counted(len(found.events), 'event')}{results}"


def _verdict(found: "Inspection") -> str:
    """The result of the check of a run, on one line."""
    said: str = found.verdict
    if found.damage:
        said += f": {sentence(found.damage)}. What can be read: {saved(found)}"
    elif found.unverified:
        said += f": leadhand 0.1 wrote {counted(found.unverified, 'event')} without checksums"
    return f"{said}; {sentence(found.unread)}" if found.unread else said
