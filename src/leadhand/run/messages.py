"""What reaches a run from outside: replies of people, and requests to stop it.

Cancelling a run that this process does not work on needs neither its team nor its models.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence

from leadhand.contracts import events
from leadhand.contracts.people import RunMessage
from leadhand.engine.recorder import Listener, Recorder
from leadhand.errors import InputError, JournalError, RunTaken
from leadhand.journal.watcher import OnActivity, RunActivity, Watcher
from leadhand.ports import Clock, Journal
from leadhand.run.answer_step import cancelled_answer, record_held
from leadhand.run.intake import check_known_id
from leadhand.run.people import People
from leadhand.run.settings import ContextRules, NotRestored
from leadhand.run.stopping import ActiveRun
from leadhand.run.stored import StoredRun, hold_run

MAX_UNRESTORED = 3
"""How often `restore` may make no context for a run before the run waits for a person."""

_log = logging.getLogger("leadhand")


@contextlib.asynccontextmanager
async def watch_messages(
    journal: Journal, run_id: str, active: ActiveRun, people: People | None
) -> AsyncGenerator[None]:
    """While the block lasts, messages in the journal reach `people` and stop the run."""
    async with Watcher.watch(journal, run_id, _on_activity(journal, run_id, active, people)):
        yield


async def record_interruption(recorder: Recorder, journal: Journal) -> list[RunMessage]:
    """Record that the last process of a run was interrupted, if it left a message about that.

    Returns the replies that came since. Requests to stop that process are deleted.
    """
    replies: list[RunMessage] = []
    for message in await journal.messages(recorder.run_id):
        if message.reply is not None:
            replies.append(message)
            continue
        on_purpose = message.interrupted and not message.reason
        if on_purpose and not recorder.state.stopped:
            recorder.record(events.RunStopped(**recorder.stamp(), reason="interrupted, at once"))
        await journal.drop(message)
    return replies


async def resumed_context(
    rules: ContextRules, given: object, recorder: Recorder, journal: Journal, limit_s: float | None
) -> object:
    """The context of a run that is resumed. Raises `InputError`.

    Each time that `restore` makes none is noted in the journal; after some, the run waits.
    """
    try:
        return await rules.of_resumed_run(given, recorder.state, limit_s=limit_s)
    except NotRestored as error:
        messages = await journal.messages(recorder.run_id)
        times = 1 + sum(message.unrestored for message in messages)
        if times == MAX_UNRESTORED and recorder.state.answer is None:
            record_held(recorder, f"{error} ({times} times); `resume` tries again")
            await recorder.commit()
        if times <= MAX_UNRESTORED:
            note = RunMessage(run_id=recorder.run_id, interrupted=True, reason="no context")
            await journal.post(note)
        raise


def _on_activity(
    journal: Journal, run_id: str, active: ActiveRun, people: People | None
) -> OnActivity:
    logged = ""

    async def on_activity(seen: RunActivity) -> None:
        nonlocal logged
        error = seen.error
        if seen.taken_by is not None:
            active.stop(f"{seen.taken_by} has taken the run over")
            return
        try:
            if people is not None:
                await people.take_replies(seen.messages)
            for message in seen.messages:
                if message.reply is None and not message.interrupted:
                    active.stop(message.reason or "cancelled")
                    await journal.drop(message)
        except JournalError as raised:
            error = raised
        if error is not None and str(error) != logged:
            # Where it matters, the run's own commits raise it.
            _log.warning("messages to run %r can't be read: %s", run_id, error)
            logged = str(error)

    return on_activity


# Runs that this process does not work on


TAKEN_POLL_S = 0.2
"""Seconds between two looks whether another process has taken the request."""
HOLD_S = 60.0
"""How long the journal has to lock the run."""
TAKE_S = 10.0
"""How long the other process has to take the request; afterwards it takes it whenever it can."""


async def cancel_stored(
    journal: Journal, run_id: str, *, reason: str, clock: Clock, listeners: Sequence[Listener] = ()
) -> str | None:
    """Stop a run of another process, or end one that waits or was interrupted.

    Returns the process that was told, described in words, once it has taken that; `None` if no
    process held the run, which then has an answer, `status: cancelled`. Raises `InputError` if
    there is no such run, or it is finished.
    """
    check_known_id(run_id)
    holder: str | None = None
    until_s = clock.monotonic() + TAKE_S
    while True:
        try:
            async with hold_run(journal, run_id, limit_s=HOLD_S):
                stored = StoredRun.of(run_id, await journal.events(run_id))
                if stored.state.answer is None:
                    await _end(journal, stored, reason, clock, listeners)
                elif holder is None:
                    status = stored.state.answer.status
                    raise InputError(f"run {run_id!r} is {status}: there is nothing to cancel")
                return holder
        except RunTaken as taken:
            if holder is None:
                await journal.post(RunMessage(run_id=run_id, reason=reason))
            elif clock.monotonic() > until_s or not any(
                map(_stops, await journal.messages(run_id))
            ):
                return holder
            holder = taken.holder
            await asyncio.sleep(TAKEN_POLL_S)


def _stops(message: RunMessage) -> bool:
    return message.reply is None and not message.interrupted


async def _end(
    journal: Journal, stored: StoredRun, reason: str, clock: Clock, listeners: Sequence[Listener]
) -> None:
    """Give a run that no process works on its answer."""
    recorder = Recorder(
        stored.run_id,
        journal,
        clock=clock,
        listeners=tuple(listeners),
        past=stored.events,
        state=stored.state,
    )
    for reply in await record_interruption(recorder, journal):
        await journal.drop(reply)
    if not recorder.state.stopped:
        recorder.record(events.RunStopped(**recorder.stamp(), reason=reason))
    for id, task in recorder.state.tasks.items():
        if not task.ended:
            stamp = recorder.task_stamp(id, task.attempts)
            recorder.record(events.TaskCancelled(**stamp, reason=reason))
    answer = cancelled_answer(recorder, reason)
    recorder.record(events.RunFinished(**recorder.stamp(), answer=answer))
    await recorder.commit()
