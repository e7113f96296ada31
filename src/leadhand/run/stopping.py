"""Recording that a run was told to stop, at once, before its process ends.

A process that resumes the run then knows that its tasks were stopped, not the cause of a crash.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from leadhand.contracts import events
from leadhand.engine.recorder import Recorder
from leadhand.errors import JournalError
from leadhand.run.cancellation import ActiveRun

COMMIT_S = 1.0
"""How long a run that is cancelled may take to commit that."""


@asynccontextmanager
async def stop_recorded(recorder: Recorder, active: ActiveRun) -> AsyncGenerator[None]:
    """While the block lasts, record and commit when the run is told to stop or is cancelled."""
    committing: asyncio.Task[None] | None = None

    def stop(reason: str) -> None:
        nonlocal committing
        state = recorder.state
        if state.phase == "finished" or state.stopped:
            return
        recorder.record(events.RunStopped(**recorder.stamp(), reason=reason))
        committing = asyncio.ensure_future(_commit(recorder))

    active.on_stop.append(stop)
    if active.reason is not None:
        stop(active.reason)
    try:
        yield
    except asyncio.CancelledError:
        stop("the run was cancelled by its program")
        raise
    finally:
        if committing is not None:
            await asyncio.wait([committing], timeout=COMMIT_S)
            committing.cancel()


async def _commit(recorder: Recorder) -> None:
    with suppress(JournalError):  # the run's own commits raise it
        await recorder.commit()
