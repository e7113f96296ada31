"""Reading runs: one as it is now, many in a list, or one event after the other as they happen."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue, NonNegativeInt

from leadhand.contracts.answer import Answer
from leadhand.contracts.data import check_values
from leadhand.contracts.events import Event, RunFinished
from leadhand.contracts.summary import RunStatus, RunSummary, RunView, TaskView
from leadhand.errors import InputError, JournalError, RunInterrupted
from leadhand.events import TextDelta
from leadhand.journal.codec import Redact, without_secrets
from leadhand.models.writing import TextListener
from leadhand.ports import Journal
from leadhand.run.questions import open_questions
from leadhand.run.settings import origin_of
from leadhand.run.stored import StoredRun, check_known_id
from leadhand.run.waiting import INBOX_POLL_S, Callers, HeldRuns, answer_within
from leadhand.state.fold import TaskState

COMMIT_S = 60.0
MAX_TEXTS = 1_000
"""Pieces of text that wait for a slow reader; more are dropped."""
MAX_BEGUN, MAX_BEGINNING = 300, 30
"""Of how many runs the first events are at hand, and how many."""
MAX_EVENTS = 1_000
"""The newest events that wait for a slow reader; it reads those before from the journal."""


class Reader:
    """Who follows a run of this process, and what its models write. Any thread may wake it."""

    def __init__(self, *, deltas: bool) -> None:
        self.deltas = deltas
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._texts = deque[TextDelta]()
        self._dropped: set[tuple[str | None, str]] = set()
        self._arrived = asyncio.Event()

    def add_text(self, delta: TextDelta) -> None:
        writer = (delta.task_id, delta.role)
        if len(self._texts) >= MAX_TEXTS:
            self._dropped.add(writer)
            return
        if writer in self._dropped:
            self._dropped.remove(writer)
            delta = replace(delta, reset=True)
        self._texts.append(delta)
        self.wake()

    def texts(self) -> Iterator[TextDelta]:
        while self._texts:
            yield self._texts.popleft()

    def wake(self) -> None:
        if threading.get_ident() == self._thread:  # a turn of the loop sooner, without its pipe
            self._arrived.set()
            return
        with contextlib.suppress(RuntimeError):  # the reader's loop has ended
            self._loop.call_soon_threadsafe(self._arrived.set)

    async def wait(self) -> None:
        """Until there is something new, at most `INBOX_POLL_S`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(INBOX_POLL_S):
                await self._arrived.wait()
        self._arrived.clear()


class FollowedRun:
    """The newest events of a run of this process, for all who follow it: without secrets, as the
    journal gives them back. Any thread may add to it."""

    def __init__(self, redact: Redact, begun: Iterable[Event]) -> None:
        self.readers: list[Reader] = []
        self._redact, self._lock = redact, threading.Lock()
        self._new = deque[Event](begun, maxlen=MAX_EVENTS)
        self._clean = deque[Event](maxlen=MAX_EVENTS)

    def add(self, event: Event) -> None:
        self._new.append(event)
        for reader in self.readers:
            reader.wake()

    def events(self, after_seq: int) -> Sequence[Event]:
        """Those that are at hand: others may be missing before them."""
        with self._lock:
            new = [self._new.popleft() for _ in range(len(self._new))]
            self._clean += without_secrets(new, self._redact)
            latest: list[Event] = []
            for event in reversed(self._clean):
                # Before those of a run that was lost, and is resumed here, may be others.
                follows = not latest or event.seq == latest[-1].seq - 1
                if event.seq <= after_seq or not follows:
                    break
                latest.append(event)
            return latest[::-1]


class Readers:
    """Those who read runs of one supervisor as they happen; a listener of all its runs."""

    def __init__(
        self, journal: Journal, held: HeldRuns, callers: Callers, *, redact: Redact
    ) -> None:
        self._journal = journal
        self._held = held
        self._callers = callers
        self._redact = redact
        self._followed: dict[str, FollowedRun] = {}
        self._begun: dict[str, list[Event]] = {}
        """All events of runs that began a short time ago: many are followed from then on, and
        reading the journal takes a thread, and a turn of a busy loop."""
        self._closed = False

    def __call__(self, event: Event) -> None:
        if (followed := self._followed.get(event.run_id)) is not None:
            followed.add(event)
        if event.seq == 1:
            self._begun[event.run_id] = []
            if len(self._begun) > MAX_BEGUN:
                del self._begun[next(iter(self._begun))]
        if (begun := self._begun.get(event.run_id)) is not None:
            begun.append(event)
            if len(begun) > MAX_BEGINNING:
                del self._begun[event.run_id]

    def text_listener(self, run_id: str) -> TextListener | None:
        """Passes on what the models of a run write; `None` if no one reads that."""
        followed = self._followed.get(run_id)
        readers = [one for one in followed.readers if one.deltas] if followed is not None else ()
        if not readers:
            return None

        def pass_on(delta: TextDelta) -> None:
            for reader in readers:
                reader.add_text(delta)

        return pass_on

    def close(self) -> None:
        self._closed = True
        for reader in [one for followed in self._followed.values() for one in followed.readers]:
            reader.wake()

    async def batches(
        self,
        run_id: str,
        *,
        after_seq: int = 0,
        deltas: bool = False,
        work: asyncio.Future[Answer] | None = None,
    ) -> AsyncGenerator[Sequence[Event | TextDelta]]:
        """The events of a run after `after_seq`, once they are stored, until the run is finished;
        those together that are there at the same time. Secrets are redacted, as in the journal.

        With `deltas` also what models write here. The journal is polled for runs of other
        processes. Raises `InputError`, what `work` raises, and `RunInterrupted` after `close`.
        """
        check_known_id(run_id)
        check_values(after_seq=(after_seq, int))
        with self._follow(run_id, deltas=deltas) as (followed, reader):
            if work is not None and not work.done():
                work.add_done_callback(lambda _: reader.wake())
            seq = min(after_seq, await self._journal.last_seq(run_id)) if after_seq else 0
            finished, before = False, max(seq - 1, 0)  # the event before may be the end
            found = followed.events(before) if run_id in self._held else ()
            if not found or found[0].seq > before + 1:
                found = await self._journal.events(run_id, after_seq=before)
            if run_id in self._held and not await self._is_stored(run_id):
                found = ()
            batch: list[Event | TextDelta] = []
            while True:
                for event in found:
                    if event.seq >= seq:
                        finished = isinstance(event, RunFinished) and not event.within
                    if event.seq > seq:
                        seq = event.seq
                        batch.append(event)
                if batch:
                    yield batch
                if finished:
                    return
                failed = work is not None and work.done() and not work.cancelled()
                if not seq and work is None:
                    await self._check_run(run_id)
                if self._closed:
                    raise RunInterrupted(run_id)
                found = await self._next(run_id, seq, followed, reader)
                batch = [*reader.texts()]
                if failed and not found and work is not None and (error := work.exception()):
                    raise error

    async def _check_run(self, run_id: str) -> None:
        """Raises `InputError` if there is no such run, unless it is about to start here."""
        await asyncio.sleep(0)  # a task that starts it may have been created just before
        if run_id not in self._callers and not await self._journal.last_seq(run_id):
            raise InputError(f"there is no run {run_id!r}")

    async def _next(
        self, run_id: str, seq: int, followed: FollowedRun, reader: Reader
    ) -> Sequence[Event]:
        """The stored events after `seq`, once there may be some."""
        await reader.wait()
        found = followed.events(seq)
        if not found and run_id in self._held:
            return ()
        # Those of a run that has ended here may have been dropped.
        follows = bool(found) and found[0].seq <= seq + 1
        if follows and await self._is_stored(run_id) and run_id in self._held:
            return found
        if await self._journal.last_seq(run_id) <= seq:
            return ()
        return await self._journal.events(run_id, after_seq=seq)

    async def _is_stored(self, run_id: str) -> bool:
        """Whether the events recorded here are stored. Otherwise others may take their place."""
        try:
            await answer_within(COMMIT_S, self._journal.commit(run_id))
        except JournalError:
            return False
        return True

    @contextlib.contextmanager
    def _follow(self, run_id: str, *, deltas: bool) -> Generator[tuple[FollowedRun, Reader]]:
        followed = self._followed.get(run_id)
        if followed is None:
            followed = self._followed[run_id] = FollowedRun(
                self._redact, self._begun.get(run_id, ())
            )
        reader = Reader(deltas=deltas)
        followed.readers.append(reader)
        try:
            yield followed, reader
        finally:
            followed.readers.remove(reader)
            if not followed.readers:
                del self._followed[run_id]


async def one_by_one(
    batches: AsyncGenerator[Sequence[Event | TextDelta]],
) -> AsyncGenerator[Event | TextDelta]:
    async with contextlib.aclosing(batches):
        async for batch in batches:
            for one in batch:
                yield one


async def run_view(journal: Journal, run_id: str) -> RunView:
    check_known_id(run_id)
    events = await journal.events(run_id)
    state = StoredRun.of(run_id, events).state
    rests = state.answer is not None or state.waiting is not None
    held = not rests and await journal.holder(run_id) is not None
    return RunView(
        run_id=run_id,
        status=state.status(held=held, asks=bool(state.questions)),
        team=state.team,
        request=state.request,
        answer=state.answer or state.waiting,
        questions=open_questions(state),
        tasks=tuple(_task_view(task) for task in state.tasks.values()),
        origin=state.origin,
        queued=state.queued,
        after=(state.after[0].run_id or None) if state.after else None,
        started_at=events[0].at,
        updated_at=events[-1].at,
    )


def _task_view(task: TaskState) -> TaskView:
    done = task.status == "completed" and task.result is not None
    return TaskView(
        id=task.task.id,
        worker=task.worker,
        intent=task.task.intent,
        status=task.status,
        attempts=task.attempts,
        depends_on=tuple(task.task.depends_on),
        output=task.result.output if done and task.result is not None else None,
        error=task.why,
    )


async def run_summaries(
    journal: Journal,
    *,
    status: RunStatus | None = None,
    team: str | None = None,
    origin: Mapping[str, JsonValue] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> list[RunSummary]:
    """The runs that fit, the latest first. Raises `InputError` for arguments that can't be used."""
    check_values(status=(status, RunStatus | None), limit=(limit, NonNegativeInt | None))
    if cursor is not None:
        check_known_id(cursor)
        if not await journal.last_seq(cursor):
            raise InputError(f"there is no run {cursor!r}, which is the cursor: start over")
    items = origin_of(origin) or {}

    def fits(run: RunSummary) -> bool:
        return (
            (status is None or run.status == status)
            and (team is None or run.team == team)
            and {**run.origin, **items} == run.origin
        )

    where = fits if (status, team, origin) != (None, None, None) else None
    return [*await journal.runs(limit=limit, cursor=cursor, where=where)]
