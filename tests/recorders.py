"""A recorder whose events a test reads."""

from collections.abc import Sequence

from leadhand.contracts.events import Event
from leadhand.engine.recorder import Listener, Recorder, SystemClock
from leadhand.journal import MemoryStore
from leadhand.ports import Clock


class LogRecorder(Recorder):
    """The recorder of a run in memory."""

    def __init__(
        self,
        run_id: str = "run",
        *,
        clock: Clock | None = None,
        listeners: tuple[Listener, ...] = (),
        past: Sequence[Event] = (),
    ) -> None:
        self._store = MemoryStore()
        super().__init__(
            run_id, self._store, clock=clock or SystemClock(), listeners=listeners, past=past
        )

    def log(self) -> Sequence[Event]:
        """Everything that it has recorded, in order."""
        return self._store.events(self.run_id)
