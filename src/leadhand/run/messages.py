"""The messages in the journal to a run: replies of people, and requests to stop it."""

import contextlib
import logging
from collections.abc import AsyncGenerator

from leadhand.contracts import events
from leadhand.contracts.people import RunMessage
from leadhand.engine.recorder import Recorder
from leadhand.errors import JournalError
from leadhand.journal.watcher import OnActivity, RunActivity, Watcher
from leadhand.ports import Journal
from leadhand.run.answer_step import record_held
from leadhand.run.cancellation import ActiveRun
from leadhand.run.people import People
from leadhand.run.run_context import ContextRules, NotRestored

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
