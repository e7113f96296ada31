"""Deletes the finished runs of a service: once they are old enough, or once they were read."""

import asyncio
import datetime as dt
import logging
from contextlib import suppress
from functools import partial

from leadhand.contracts.summary import RunSummary
from leadhand.errors import LeadhandError
from leadhand.run.erasing import erase
from leadhand.serve.event_streams import ends
from leadhand.serve.principals import is_own
from leadhand.serve.service import UNKEPT, Service, ServiceCaller

FINISHED = ("complete", "partial", "failed", "cancelled")
UNKEPT_BY = "store: false"
"""On whose behalf a run is erased that was not to be stored."""
HELD_S = 5.0
"""How long a process may hold a run after its last event."""
_LOOK_S = 0.02

_log = logging.getLogger("leadhand")


async def prune(service: Service, now: dt.datetime) -> list[str]:
    """Delete finished runs that a principal started: those whose last event is older than
    `retain_s`, and those that were not to be stored and are older than `unread_s`; their ids.
    Raises `JournalError`."""
    gone = list[str]()
    for by, age_s in (
        ("retention", service.settings.retain_s),
        (UNKEPT_BY, service.settings.unread_s),
    ):
        if age_s is not None:
            old = await service.journal.runs(where=partial(_is_old, by, age_s, now))
            gone += await erase(service.journal, [run.run_id for run in old], by=by, at=now)
    for run_id in gone:
        service.records.forget(run_id)
    return gone


def _is_old(by: str, age_s: float, now: dt.datetime, run: RunSummary) -> bool:
    return (
        run.status in FINISHED
        and run.updated_at < now - dt.timedelta(seconds=age_s)
        and {*run.origin} >= {"tenant", "principal"}
        and (UNKEPT in run.origin or by != UNKEPT_BY)
    )


async def erase_unkept(service: Service, run_id: str) -> None:
    """Erase a run that was not to be stored, if it has ended. What fails is left to `prune`."""
    try:
        known = await service.stored(run_id)
        if known is None or UNKEPT not in known.origin or not await is_over(service, run_id):
            return
        await is_released(service, run_id)
        await erase(service.journal, [run_id], by=UNKEPT_BY, at=dt.datetime.now(dt.UTC))
        service.records.forget(run_id)
    except LeadhandError as error:
        _log.warning("erasing run %s: %s", run_id, error)


def erase_soon(caller: ServiceCaller, run_id: str, *, after_s: float | None = None) -> None:
    """Erase a run that was not to be stored, if it has ended and the caller, who was given its
    answer, started it: by default in `reread_s`, as a page reads a run again once its events end.

    It goes on without its caller: clients leave at the last message of a stream.
    """
    service = caller.service

    async def later() -> None:
        with suppress(LeadhandError):  # `prune` does it
            known = await service.stored(run_id)
            if (
                known is None
                or UNKEPT not in known.origin
                or not is_own(caller.principal, known.origin)
            ):
                return
            if await is_over(service, run_id):
                await asyncio.sleep(service.settings.reread_s if after_s is None else after_s)
                await erase_unkept(service, run_id)

    task = asyncio.create_task(later())
    service.erasing.add(task)
    task.add_done_callback(service.erasing.discard)


async def is_released(service: Service, run_id: str) -> bool:
    """Whether no process holds the run; one may for a moment after its last event."""
    for _ in range(round(HELD_S / _LOOK_S)):
        if await service.journal.holder(run_id) is None:
            return True
        await asyncio.sleep(_LOOK_S)
    return False


async def is_over(service: Service, run_id: str) -> bool:
    """Whether its last event ends it."""
    last = await service.journal.last_seq(run_id)
    found = await service.journal.events(run_id, after_seq=last - 1) if last else ()
    return bool(found) and ends(found[-1])
