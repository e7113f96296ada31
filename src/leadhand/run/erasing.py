"""Deleting runs: what they spent stays in shared budgets, and of each a line without content."""

import contextlib
import datetime as dt
import json
from collections.abc import Sequence

from leadhand.errors import JournalError
from leadhand.ports import Journal
from leadhand.run.accounts import settle, spent_in
from leadhand.run.stored import StoredRun

DELETED = "deleted/"
"""How the keys of such lines begin; then follow the time and the run's id."""


async def erase(
    journal: Journal,
    run_ids: Sequence[str],
    *,
    by: str,
    at: dt.datetime,
    before: dt.datetime | None = None,
) -> list[str]:
    """Delete these runs, except held ones, on behalf of `by`; returns the ids of the deleted. With
    `before`, only those whose last event is older."""
    audited = hasattr(getattr(journal, "store", journal), "swap_note")
    lines: dict[str, tuple[str, bytes, StoredRun]] = {}
    for run_id in run_ids if audited else ():
        stored = StoredRun(run_id)
        with contextlib.suppress(JournalError):  # of a damaged run only the id is known
            stored.replace(await journal.events(run_id))
        state = stored.state
        status = state.status(held=False, asks=bool(state.questions))
        line = {"run_id": run_id, "team": state.team, "status": status, "at": at.isoformat()}
        key, note = f"{DELETED}{at.isoformat()}/{run_id}", json.dumps({**line, "by": by}).encode()
        await journal.swap_note(key, None, note)
        lines[run_id] = key, note, stored
    gone = [*await journal.delete(run_ids, before=before)]
    for run_id, (key, note, stored) in lines.items():
        if run_id in gone:
            await settle(journal, run_id, stored.state.accounts, spent_in(stored.events))
        else:
            await journal.swap_note(key, note, None)
    return gone
