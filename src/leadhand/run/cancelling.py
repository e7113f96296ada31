"""Cancelling a run that this process does not work on. It needs neither its team nor its models."""

import asyncio
from collections.abc import Sequence

from leadhand.contracts import events
from leadhand.contracts.people import RunMessage
from leadhand.engine.recorder import Listener, Recorder
from leadhand.errors import InputError, RunTaken
from leadhand.ports import Clock, Journal
from leadhand.run.answer_step import cancelled_answer
from leadhand.run.intake import check_known_id
from leadhand.run.messages import record_interruption
from leadhand.run.stored import StoredRun, hold_run

POLL_S = 0.2
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
            await asyncio.sleep(POLL_S)


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
