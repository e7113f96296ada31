"""Stopping: a run that is told to stop says so in the journal at once, before its process ends.

Whoever resumes it then knows that what was in flight was stopped, and killed no process.
"""

import asyncio
from contextlib import suppress

from leadhand.contracts import events
from leadhand.engine.recorder import Recorder
from leadhand.errors import JournalError

COMMIT_S = 1.0
"""How long a run that is cancelled may take to commit that."""


class Stopping:
    """Writes down that a run was told to stop."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._committing: asyncio.Task[None] | None = None

    def stop(self, reason: str) -> None:
        """Record it, unless that was done or the run is over, and start to commit it."""
        state = self._recorder.state
        if state.phase == "finished" or state.stopped:
            return
        self._recorder.record(events.RunStopped(**self._recorder.stamp(), reason=reason))
        self._committing = asyncio.ensure_future(self._commit())

    async def close(self) -> None:
        """Return once it is safe, or can't be."""
        if self._committing is not None:
            await asyncio.wait([self._committing], timeout=COMMIT_S)
            self._committing.cancel()

    async def _commit(self) -> None:
        with suppress(JournalError):  # the run's own commits say so
            await self._recorder.commit()
