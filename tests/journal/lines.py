"""A third journal, as another package would write it: a file of JSON lines for each run.

It uses what `leadhand.journal` exports, and what the methods of `Store` take, give and raise, from
the modules of leadhand that define it. docs/extending.md explains it.
"""

import contextlib
import datetime as dt
import fcntl
import itertools
import json
import os
import re
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import Inspection, RunFilter, RunSummary
from leadhand.errors import JournalError, RunTaken
from leadhand.events import Event
from leadhand.journal import (
    EventBatch,
    GroupCommit,
    Locks,
    Redact,
    StoredSummary,
    decode,
    decode_message,
    encode,
    encode_message,
    notes_of,
)


def open_lines(url: str, *, redact: Redact | None = None) -> "LinesStore":
    """The store for `lines:///folder`: the entry point."""
    return LinesStore(Path(unquote(url.partition("://")[2])), redact=redact)


class LinesStore:
    """Keeps each run in `NUMBER.RUN.jsonl`; runs are numbered as they begin."""

    blocks = True

    def __init__(self, folder: Path, *, redact: Redact | None = None) -> None:
        self._folder = folder
        self._redact = redact
        self._locks = Locks(folder / "locks")
        self._queue = GroupCommit(self._write, name="journal of lines")

    def check(self) -> None:
        if self._folder.exists() and not os.access(self._folder, os.R_OK | os.W_OK):
            raise JournalError(f"{self._folder} can't be written: change its permissions")

    # Events

    def append(self, event: Event) -> None:
        self._queue.append(event)

    async def commit(self, run_id: str | None = None) -> None:
        await self._queue.commit(run_id)

    def events(self, run_id: str, *, after_seq: int = 0) -> Sequence[Event]:
        uncommitted = self._queue.uncommitted(run_id)  # first: they may be committed meanwhile
        stored = self._stored(run_id)
        last = stored[-1].seq if stored else 0
        everything = [*stored, *(event for event in uncommitted if event.seq > last)]
        return [event for event in everything if event.seq > after_seq]

    def last_seq(self, run_id: str) -> int:
        events = self.events(run_id)
        return events[-1].seq if events else 0

    def inspect(self, run_id: str) -> Inspection:
        try:
            return Inspection(run_id, tuple(self.events(run_id)))
        except JournalError as error:
            return Inspection(run_id, damage=str(error))

    def _stored(self, run_id: str) -> list[Event]:
        with _explained(f"run {run_id!r} can't be read"):
            path = self._files().get(run_id)
            lines = path.read_text("utf-8").split("\n")[:-1] if path is not None else []
        return [decode(run_id, seq, line) for seq, line in enumerate(lines, 1)]

    def _write(self, batch: EventBatch) -> Mapping[str, str]:
        failed: dict[str, str] = {}
        for run_id, events in batch.items():
            try:
                self._add(run_id, events)
            except JournalError as error:
                failed[run_id] = str(error)
        return failed

    def _add(self, run_id: str, events: Sequence[Event]) -> None:
        """Write events of a run behind those that it has, all or none."""
        text = "".join(f"{body}\n" for body in encode(events, redact=self._redact))
        with _explained(f"run {run_id!r} can't be written"):
            files = self._files()
            path = files.get(run_id) or self._folder / f"{_number(files)}.{quote(run_id)}.jsonl"
            self._folder.mkdir(parents=True, exist_ok=True)
            with path.open("a+", encoding="utf-8") as file:
                file.seek(0)
                first = len(file.read().split("\n"))
                if [event.seq for event in events] != [*range(first, first + len(events))]:
                    raise JournalError(f"run {run_id!r}: event {events[0].seq} is there already")
                end = os.fstat(file.fileno()).st_size
                try:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.truncate(path, end)
                    raise

    def _files(self) -> dict[str, Path]:
        """The files of runs, the first that began first."""
        found = self._folder.glob("*.jsonl")
        numbered = sorted((int(path.name.partition(".")[0]), path) for path in found)
        return {unquote(path.stem.partition(".")[2]): path for _, path in numbered}

    # Locks

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[int]:
        with self._locks.hold(run_id):
            try:
                yield self.last_seq(run_id)
            finally:
                self._queue.forget(run_id)

    def holder(self, run_id: str) -> str | None:
        return self._locks.holder(run_id)

    def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        return {}  # a lock of a file ends with its process only

    # Messages

    def post(self, message: RunMessage) -> None:
        body = encode_message(message, redact=self._redact)
        with _explained(f"a message for run {message.run_id!r} can't be kept"):
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{time.time_ns()}.message"
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps([message.run_id, body]), "utf-8")
            part.rename(path)

    def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        found: list[RunMessage] = []
        for path in sorted(self._folder.glob("*.message")):
            with contextlib.suppress(FileNotFoundError):  # another process has just dropped it
                run_id, body = json.loads(path.read_text("utf-8"))
                if run_id in run_ids:
                    found.append(decode_message(int(path.stem), run_id, body))
        return found

    def drop(self, message: RunMessage) -> None:
        (self._folder / f"{message.id}.message").unlink(missing_ok=True)

    # Runs

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        ids = [*reversed(self._files())]
        if cursor is not None:
            ids = ids[ids.index(cursor) + 1 :] if cursor in ids else []
        summaries = (self._summary(id, events) for id in ids if (events := self._stored(id)))
        found = filter(where, summaries) if where else summaries
        return [*itertools.islice(found, limit)]

    def _summary(self, run_id: str, events: Sequence[Event]) -> RunSummary:
        held = lambda: self.holder(run_id) is not None  # noqa: E731
        return StoredSummary.of(events).run_summary(run_id, held=held)

    def delete(self, run_ids: Sequence[str], *, before: dt.datetime | None = None) -> Sequence[str]:
        gone: list[str] = []
        for run_id in self._files().keys() & {*run_ids}:
            with contextlib.suppress(RunTaken), self._locks.hold(run_id):
                stored = self._stored(run_id)
                if stored and (before is None or stored[-1].at < before):
                    self._files()[run_id].unlink()
                    for message in self.messages(run_id):
                        self.drop(message)
                    for key, note in self.notes(notes_of(run_id)).items():
                        self.swap_note(key, note, None)
                    gone.append(run_id)
        return gone

    # Notes

    def notes(self, prefix: str) -> Mapping[str, bytes]:
        paths = {unquote(path.stem): path for path in self._folder.glob("*.note")}
        with _explained("notes can't be read"):
            keys = sorted(key for key in paths if key.startswith(prefix))
            return {key: paths[key].read_bytes() for key in keys}

    def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool:
        path = self._folder / f"{quote(key, safe='')}.note"
        with _explained(f"the note {key} can't be kept"), self._noting():
            if (path.read_bytes() if path.exists() else None) != known:
                return False
            if new is None:
                path.unlink(missing_ok=True)
                return True
            part = path.with_suffix(".part")
            with part.open("wb") as file:
                file.write(new)
                os.fsync(file.fileno())
            part.rename(path)
            return True

    @contextlib.contextmanager
    def _noting(self) -> Generator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "notes.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def close(self) -> None:
        self._queue.close()


def _number(files: Mapping[str, Path]) -> int:
    """The number of the next run to begin."""
    last = re.match(r"\d+", [*files.values()][-1].name) if files else None
    return int(last[0]) + 1 if last else 1


@contextlib.contextmanager
def _explained(what: str) -> Generator[None]:
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise JournalError(f"{what}: {error}") from error
