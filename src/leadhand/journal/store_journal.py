"""The journal over a store: what may block is done in threads, with a limit."""

import asyncio
import contextlib
import datetime as dt
import itertools
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from leadhand.contracts.events import Event, RunWaiting
from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import Inspection, RunFilter, RunSummary
from leadhand.errors import JournalError, RunTaken
from leadhand.journal.codec import Redact, without_secrets
from leadhand.journal.locks import describe_holder
from leadhand.journal.notes import notes_of
from leadhand.journal.store import Store
from leadhand.journal.summaries import StoredSummary
from leadhand.threads import DaemonThreads

PATIENCE_S = 60.0
RELEASE_S = 0.5
"""How long the end of a run waits for its release, which continues in its thread."""

P = ParamSpec("P")
R = TypeVar("R")

_threads = DaemonThreads(idle_s=1.0)


class StoreJournal:
    def __init__(self, store: Store) -> None:
        self.store = store

    def append(self, event: Event) -> None:
        self.store.append(event)

    async def commit(self, run_id: str | None = None) -> None:
        await self.store.commit(run_id)

    async def events(self, run_id: str, *, after_seq: int = 0) -> Sequence[Event]:
        return await self._call(self.store.events, run_id, after_seq=after_seq)

    async def last_seq(self, run_id: str) -> int:
        return await self._call(self.store.last_seq, run_id)

    @contextlib.asynccontextmanager
    async def hold(self, run_id: str) -> AsyncGenerator[int]:
        hold = contextlib.ExitStack()
        given_up = False

        def take() -> int:
            last_seq = hold.enter_context(self.store.hold(run_id))
            if given_up:
                hold.close()
            return last_seq

        try:
            last_seq = await self._call(take)
        except BaseException:
            given_up = True
            await self._release(hold)  # it may have been taken just before
            raise
        try:
            yield last_seq
        finally:
            await self._release(hold)

    async def holder(self, run_id: str) -> str | None:
        return await self._call(self.store.holder, run_id)

    async def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        return await self._call(self.store.taken_by, *run_ids)

    async def post(self, message: RunMessage) -> None:
        await self._call(self.store.post, message)

    async def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        return await self._call(self.store.messages, *run_ids)

    async def drop(self, message: RunMessage) -> None:
        await self._call(self.store.drop, message)

    async def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        return await self._call(self.store.runs, limit=limit, cursor=cursor, where=where)

    async def inspect(self, run_id: str) -> Inspection:
        return await self._call(self.store.inspect, run_id)

    async def delete(
        self, run_ids: Sequence[str], *, before: dt.datetime | None = None
    ) -> Sequence[str]:
        return await self._call(self.store.delete, run_ids, before=before)

    async def notes(self, prefix: str) -> Mapping[str, bytes]:
        return await self._call(self._noting.notes, prefix)

    async def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool:
        return await self._call(self._noting.swap_note, key, known, new)

    @property
    def _noting(self) -> Store:
        """Raises `JournalError` for a store of an older release."""
        if hasattr(self.store, "swap_note"):
            return self.store
        raise JournalError(
            f"{type(self.store).__name__} keeps no notes, which budgets with a scope, uploads and "
            "deletions need: give it `notes` and `swap_note`, see leadhand.journal.Store"
        )

    async def close(self) -> None:
        await self._call(self.store.close)

    async def _call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if not self.store.blocks:
            return function(*args, **kwargs)
        return await _in_thread(lambda: function(*args, **kwargs), PATIENCE_S)

    async def _release(self, hold: contextlib.ExitStack) -> None:
        with contextlib.suppress(JournalError):
            if not self.store.blocks:
                hold.close()
            else:
                await _in_thread(hold.close, RELEASE_S)


async def _in_thread(function: Callable[[], R], limit_s: float) -> R:
    """Raises `JournalError` if that takes longer than `limit_s`."""
    try:
        async with asyncio.timeout(limit_s):
            return await _threads.call(lambda _: function(), None, name="the journal", quiet=True)
    except TimeoutError:
        raise JournalError(
            f"the journal did not answer within {limit_s:g} s: try again once it does"
        ) from None


@dataclass(slots=True)
class _Run:
    events: list[Event] = field(default_factory=list[Event])
    committed: int = 0
    failed: str | None = None


class MemoryStore:
    """Keeps the events of recent runs in lists."""

    blocks = False

    def __init__(self, *, keep_runs: int = 100) -> None:
        """`keep_runs` limits the runs that are kept: the oldest that ended is dropped first."""
        self.redact: Redact | None = None
        """Removes secrets from the events that are appended from now on."""
        self._keep_runs = keep_runs
        self._runs: dict[str, _Run] = {}
        self._holders: dict[str, dt.datetime] = {}
        """Since when each run is held."""
        self._messages: dict[int, RunMessage] = {}
        self._message_ids = itertools.count(1)
        self._notes: dict[str, bytes] = {}

    def append(self, event: Event) -> None:
        run = self._runs.get(event.run_id)
        if run is None:
            run = self._runs[event.run_id] = _Run()
            if len(self._runs) > self._keep_runs:
                self._drop_oldest()
        if run.failed is None:
            run.events += without_secrets([event], self.redact) if self.redact else [event]

    def _drop_oldest(self) -> None:
        """A run that is held or waits for a person stays."""
        for id, run in self._runs.items():
            waits = run.events and isinstance(run.events[-1], RunWaiting)
            if run.events and id not in self._holders and not waits:
                self._forget(id)
                return

    def _forget(self, run_id: str) -> None:
        del self._runs[run_id]
        for message in self.messages(run_id):
            self.drop(message)
        for key in self.notes(notes_of(run_id)):
            del self._notes[key]

    async def commit(self, run_id: str | None = None) -> None:
        """Raises `JournalError` if a position is taken."""
        ids = [*self._runs] if run_id is None else [run_id]
        runs = {id: run for id in ids if (run := self._runs.get(id)) is not None}
        for id, run in runs.items():
            _commit(id, run)
        for run in runs.values():
            if run.failed is not None:
                raise JournalError(run.failed)

    def events(self, run_id: str, *, after_seq: int = 0) -> Sequence[Event]:
        run = self._runs.get(run_id)
        return () if run is None else tuple(e for e in run.events if e.seq > after_seq)

    def check(self) -> None:
        """Nothing can fail."""

    def last_seq(self, run_id: str) -> int:
        run = self._runs.get(run_id)
        return run.events[-1].seq if run is not None and run.events else 0

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[int]:
        now = dt.datetime.now().astimezone()
        since = self._holders.setdefault(run_id, now)
        if since is not now:
            raise RunTaken(run_id, _this_process(since))
        try:
            yield self.last_seq(run_id)
        finally:
            del self._holders[run_id]
            run = self._runs.get(run_id)
            if run is not None:
                del run.events[run.committed :]
                run.failed = None

    def holder(self, run_id: str) -> str | None:
        since = self._holders.get(run_id)
        return None if since is None else _this_process(since)

    def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        """None: only this process has it."""
        return {}

    def post(self, message: RunMessage) -> None:
        id = next(self._message_ids)
        self._messages[id] = message.model_copy(update={"id": id})

    def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        return [message for message in [*self._messages.values()] if message.run_id in run_ids]

    def drop(self, message: RunMessage) -> None:
        self._messages.pop(message.id, None)

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        kept = {id: run for id, run in reversed([*self._runs.items()]) if run.committed}
        ids = [*kept]
        if cursor is not None:
            ids = ids[ids.index(cursor) + 1 :] if cursor in kept else []
        found = (
            StoredSummary.of(kept[id].events[: kept[id].committed]).run_summary(
                id, held=lambda id=id: id in self._holders
            )
            for id in ids
        )
        return [*itertools.islice(filter(where, found), limit)]

    def inspect(self, run_id: str) -> Inspection:
        return Inspection(run_id, tuple(self.events(run_id)))

    def delete(self, run_ids: Sequence[str], *, before: dt.datetime | None = None) -> Sequence[str]:
        gone = [
            id
            for id in run_ids
            if id not in self._holders
            and (run := self._runs.get(id)) is not None
            and run.events
            and (before is None or run.events[-1].at < before)
        ]
        for id in gone:
            self._forget(id)
        return gone

    def notes(self, prefix: str) -> Mapping[str, bytes]:
        return {key: note for key, note in sorted(self._notes.items()) if key.startswith(prefix)}

    def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool:
        if self._notes.get(key) != known:
            return False
        if new is None:
            self._notes.pop(key, None)
        else:
            self._notes[key] = new
        return True

    def close(self) -> None:
        """Nothing to close."""


class MemoryJournal(StoreJournal):
    def __init__(self, *, keep_runs: int = 100) -> None:
        super().__init__(MemoryStore(keep_runs=keep_runs))


def _this_process(since: dt.datetime) -> str:
    return describe_holder(os.getpid(), socket.gethostname(), since)


def _commit(run_id: str, run: _Run) -> None:
    """Mark new events as committed, or drop them if their positions are taken."""
    start, end = run.committed, len(run.events)
    last = run.events[start - 1].seq if start else 0
    for event in run.events[start:end]:
        if event.seq <= last:
            run.failed = f"run {run_id!r}: event {event.seq} is there already"
            del run.events[start:]
            return
        last = event.seq
    run.committed = end
