"""Deletes the finished runs of a service once they are old enough."""

import datetime as dt

from leadhand.contracts.summary import RunSummary
from leadhand.run.erasing import erase
from leadhand.serve.service import Service

FINISHED = ("complete", "partial", "failed", "cancelled")


async def prune(service: Service, now: dt.datetime) -> list[str]:
    """Delete finished runs that a principal started and whose last event is older than
    `retain_s`; their ids. Raises `JournalError`."""
    if service.settings.retain_s is None:
        return []
    before = now - dt.timedelta(seconds=service.settings.retain_s)

    def is_old(run: RunSummary) -> bool:
        return (
            run.status in FINISHED
            and run.updated_at < before
            and {*run.origin} >= {"tenant", "principal"}
        )

    old = [run.run_id for run in await service.journal.runs(where=is_old)]
    gone = await erase(service.journal, old, by="retention", at=now) if old else []
    for run_id in gone:
        service.records.forget(run_id)
    return gone
