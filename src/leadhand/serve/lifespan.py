"""The life of a service: ready, taking over runs, and draining on a signal."""

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
from leadhand.serve.retention import prune
from leadhand.serve.service import DRAINING_S, Service

_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_log = logging.getLogger("leadhand")


@asynccontextmanager
async def serving(service: Service) -> AsyncGenerator[None]:
    """Raises what `Supervisor.ready` raises."""
    await asyncio.gather(*(one.ready() for one in service.supervisors.values()))
    taking_over = asyncio.create_task(_take_over(service))
    drained = set[asyncio.Task[None]]()

    def begin() -> asyncio.Task[None]:
        if not drained:
            drained.add(asyncio.create_task(drain(service)))
        return next(iter(drained))

    try:
        with _on_signals(begin):
            yield
    finally:
        taking_over.cancel()
        await asyncio.wait([taking_over])
        await begin()
        erasing = [*service.erasing]
        for task in erasing:
            task.cancel()
        await asyncio.gather(*erasing, return_exceptions=True)
        for supervisor in service.supervisors.values():
            await supervisor.close()


async def drain(service: Service) -> None:
    """Refuse new runs, give those under way the grace, interrupt the others, and end streams."""
    service.draining.set()
    for reading in service.reading:
        if not reading.expired():
            reading.reschedule(asyncio.get_running_loop().time() + DRAINING_S)
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
    return "tenant" in run.origin and "principal" in run.origin


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
