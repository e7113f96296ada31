"""The life of a service: taking over runs, deleting old ones, and draining on a signal."""

import asyncio
import datetime as dt
import logging
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

from leadhand.contracts.summary import RunSummary
from leadhand.errors import LeadhandError
from leadhand.run.service import erase
from leadhand.serve.service import UNKEPT, Service

FINISHED = ("complete", "partial", "failed", "cancelled")
UNKEPT_BY = "store: false"
"""On whose behalf a run is erased that was not to be stored."""
_HELD_S = (0.02,) * 250
"""How often it is looked whether a process still holds a run whose answer was given."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_log = logging.getLogger("leadhand")


@asynccontextmanager
async def serving(service: Service) -> AsyncGenerator[None]:
    """Raises what `Supervisor.ready` raises."""
    await asyncio.gather(*(one.ready() for one in service.supervisors.values()))
    repeating = asyncio.create_task(_take_over(service))
    draining: list[asyncio.Task[None]] = []

    def begin() -> asyncio.Task[None]:
        if not draining:
            draining.append(asyncio.create_task(drain(service)))
        return draining[0]

    try:
        with _on_signals(begin):
            yield
    finally:
        repeating.cancel()
        await asyncio.wait([repeating])
        await begin()
        for supervisor in service.supervisors.values():
            await supervisor.close()


async def drain(service: Service) -> None:
    """Refuse new runs, give those under way the grace, interrupt the others, and end streams."""
    service.draining.set()
    every = service.supervisors.values()
    await asyncio.gather(*(one.shutdown(grace_s=service.settings.grace_s) for one in every))
    service.drained.set()


async def _take_over(service: Service) -> None:
    """Resume, now and again later, the service's runs that other processes left behind, and delete
    those that are too old."""
    while True:
        for supervisor in service.supervisors.values():
            try:
                await supervisor.resume_interrupted(where=_is_of_a_service)
            except LeadhandError as error:  # the journal may be back the next time
                _log.warning("taking over runs: %s", error)
        try:
            await prune(service, dt.datetime.now(dt.UTC))
        except LeadhandError as error:
            _log.warning("deleting old runs: %s", error)
        await asyncio.sleep(service.settings.take_over_s)


def _is_of_a_service(run: RunSummary) -> bool:
    """Not one that the command line or a program has started, with a setup of its own."""
    return {*run.origin} >= {"tenant", "principal"}


async def prune(service: Service, now: dt.datetime) -> list[str]:
    """Delete finished runs that a principal started: those whose last event is older than
    `retain_s`, and those that were not to be stored and are older than `unread_s`; their ids.
    Raises `JournalError`."""
    settings, old, unread = service.settings, list[str](), list[str]()

    def sort(run: RunSummary) -> bool:
        if run.status in FINISHED and _is_of_a_service(run):
            age_s = (now - run.updated_at).total_seconds()
            if settings.retain_s is not None and age_s > settings.retain_s:
                old.append(run.run_id)
            elif UNKEPT in run.origin and age_s > settings.unread_s:
                unread.append(run.run_id)
        return False  # none is kept: there may be many

    await service.journal.runs(where=sort)
    gone = await _erase(service, old, by="retention")
    return [*gone, *await _erase(service, unread, by=UNKEPT_BY)]


async def erase_unkept(service: Service, run_id: str) -> None:
    """Erase a run that was not to be stored, as its answer was given, unless it waits for a person.
    What fails is left to `prune`."""
    known = service.records.known(run_id)
    if known is not None and UNKEPT not in known.state.origin:
        return
    try:
        run = await service.records.read(run_id)
        if run is None or UNKEPT not in run.state.origin or run.state.answer is None:
            return
        for pause_s in _HELD_S:
            if await service.journal.holder(run_id) is None:
                await _erase(service, [run_id], by=UNKEPT_BY)
                return
            await asyncio.sleep(pause_s)
    except LeadhandError as error:
        _log.warning("erasing run %s: %s", run_id, error)


async def _erase(service: Service, run_ids: list[str], *, by: str) -> list[str]:
    if not run_ids:
        return []
    gone = await erase(service.journal, run_ids, by=by, at=dt.datetime.now(dt.UTC))
    for run_id in gone:
        service.records.forget(run_id)
    return gone


@contextmanager
def _on_signals(begin: Callable[[], asyncio.Task[None]]) -> Generator[None]:
    """Drain on a signal, and only then call the server's own handler: until streams have ended it
    would wait for them, and `/readyz` could not say so. A second signal is for it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    told = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal told
        handler = before[signal.Signals(number)]
        if not callable(handler):
            return
        if told:
            handler(number, frame)
        else:
            told = True
            loop.call_soon_threadsafe(
                lambda: begin().add_done_callback(lambda _: handler(number, None))
            )

    for number in _SIGNALS:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
