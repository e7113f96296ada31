"""A journal as a store: each call is awaited in an event loop of its own.

So the conformance suite asks what it asks of stores of the asynchronous protocol too.
"""

import asyncio
import contextlib
import datetime as dt
from collections.abc import Generator, Mapping, Sequence

from leadhand.contracts.events import Event
from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import Inspection, RunFilter, RunSummary
from leadhand.ports import Journal


class Blocking:
    """A store that asks a journal."""

    blocks = True

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def check(self) -> None:
        """It is there."""

    def append(self, event: Event) -> None:
        self._journal.append(event)

    async def commit(self, run_id: str | None = None) -> None:
        await self._journal.commit(run_id)

    def events(self, run_id: str, *, after_seq: int = 0) -> Sequence[Event]:
        return asyncio.run(self._journal.events(run_id, after_seq=after_seq))

    def last_seq(self, run_id: str) -> int:
        return asyncio.run(self._journal.last_seq(run_id))

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[int]:
        hold = self._journal.hold(run_id)
        with asyncio.Runner() as runner:
            last_seq = runner.run(hold.__aenter__())
            try:
                yield last_seq
            finally:
                runner.run(hold.__aexit__(None, None, None))

    def holder(self, run_id: str) -> str | None:
        return asyncio.run(self._journal.holder(run_id))

    def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        return asyncio.run(self._journal.taken_by(*run_ids))

    def post(self, message: RunMessage) -> None:
        asyncio.run(self._journal.post(message))

    def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        return asyncio.run(self._journal.messages(*run_ids))

    def drop(self, message: RunMessage) -> None:
        asyncio.run(self._journal.drop(message))

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        return asyncio.run(self._journal.runs(limit=limit, cursor=cursor, where=where))

    def inspect(self, run_id: str) -> Inspection:
        return asyncio.run(self._journal.inspect(run_id))

    def delete(self, run_ids: Sequence[str], *, before: dt.datetime | None = None) -> Sequence[str]:
        return asyncio.run(self._journal.delete(run_ids, before=before))

    def notes(self, prefix: str) -> Mapping[str, bytes]:
        return asyncio.run(self._journal.notes(prefix))

    def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool:
        return asyncio.run(self._journal.swap_note(key, known, new))

    def close(self) -> None:
        asyncio.run(self._journal.close())
