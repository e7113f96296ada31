"""What happens in all runs of a service, for any number of readers."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import JsonValue

from leadhand.contracts.summary import RunSummary
from leadhand.errors import LeadhandError
from leadhand.events import Event, RunStarted, RunWaiting, TextDelta
from leadhand.ports import Journal
from leadhand.run.handle import Run
from leadhand.serve.event_streams import Queue, message, message_of
from leadhand.serve.principals import Principal, may_answer, may_see
from leadhand.serve.run_views import run_entry
from leadhand.supervisor import Supervisor

POLL_S = 0.5
MAX_LISTED = 200
"""Of the latest runs, in which changes by other processes are noticed."""


@dataclass(slots=True, eq=False)
class _Reader:
    principal: Principal
    queue: Queue
    lost: bool = False

    def put(self, text: str) -> None:
        """Add a message; while the reader is too slow, note that it has lost some."""
        if not text:
            return
        if self.lost and self.queue.empty():
            self.lost = False
            self.queue.put_nowait(message("lost", {}))
        try:
            if not self.lost:
                self.queue.put_nowait(text)
        except asyncio.QueueFull:
            self.lost = True


class Feed:
    """Reads each run once for all readers, while there are any."""

    def __init__(
        self,
        supervisors: Mapping[str, Supervisor[Any, object]],
        journal: Journal,
        draining: asyncio.Event,
    ) -> None:
        self._supervisors = supervisors
        self._journal = journal
        self._draining = draining
        self._readers: list[_Reader] = []
        self._polling: asyncio.Task[None] | None = None
        self._known: dict[str, RunSummary] | None = None
        self._looked = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._following: dict[str, asyncio.Task[None]] = {}
        for one in supervisors.values():
            one.add_listener(partial(self._hear, one))

    async def follow(self, principal: Principal, queue: Queue) -> None:
        """Give `principal` what happens from now on, until the service is told to stop."""
        reader = _Reader(principal, queue)
        self._loop = asyncio.get_running_loop()
        self._readers.append(reader)
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll())
        try:
            await self._looked.wait()
            reader.put(message("ready", {}))
            await self._draining.wait()
        finally:
            self._readers.remove(reader)
            if not self._readers:
                self._polling.cancel()
                self._polling = self._known = self._loop = None
                self._looked.clear()

    async def _poll(self) -> None:
        try:
            while True:
                with suppress(LeadhandError):  # the journal may be back the next time
                    await self._look()
                    self._looked.set()
                await asyncio.sleep(POLL_S)
        finally:
            for task in [*self._following.values()]:
                task.cancel()

    async def _look(self) -> None:
        """Report what has changed in the list."""
        listed = await self._journal.runs(
            limit=MAX_LISTED, where=lambda run: run.team in self._supervisors
        )
        known, self._known = self._known, {run.run_id: run for run in listed}
        if known is not None:
            for run in reversed(listed):
                if run != known.get(run.run_id):
                    self._put_changed(run)

    def _hear(self, supervisor: Supervisor[Any, object], event: Event) -> None:
        """An event of a run that is under way here; it may not be stored yet."""
        if self._loop is not None and event.run_id not in self._following:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(
                    self._begin, supervisor, event.run_id, event.seq - 1
                )

    def _begin(self, supervisor: Supervisor[Any, object], run_id: str, after: int) -> None:
        if self._readers and run_id not in self._following:
            task = asyncio.create_task(self._read(supervisor.handle(run_id), after))
            self._following[run_id] = task
            task.add_done_callback(lambda _: self._following.pop(run_id, None))

    async def _read(self, run: Run[Any, object], after: int) -> None:
        listed = (self._known or {}).get(run.id)
        origin = None if listed is None else listed.origin
        with suppress(LeadhandError):
            async with aclosing(run.events(after_seq=after, deltas=True)) as found:
                async for event in found:
                    if isinstance(event, RunStarted) and not event.within:
                        origin = event.origin
                    if origin is not None:
                        self._put(event, run.id, origin)
                    if isinstance(event, RunWaiting) and not event.within:
                        return

    def _put(self, event: Event | TextDelta, run_id: str, origin: Mapping[str, JsonValue]) -> None:
        for reader in self._readers:
            if may_see(reader.principal, origin):
                operator = reader.principal.has("operator")
                reader.put(message_of(event, operator=operator, run_id=run_id))

    def _put_changed(self, run: RunSummary) -> None:
        """Those who only answer questions learn that there may be new ones."""
        for reader in self._readers:
            if may_see(reader.principal, run.origin):
                entry = run_entry(run, operator=reader.principal.has("operator"))
                shown = entry.model_dump(mode="json")
            elif may_answer(reader.principal, run.origin):
                fields = {"run_id", "team", "status", "questions"}
                shown = run.model_dump(mode="json", include=fields)
            else:
                continue
            reader.put(message("run_changed", shown))
