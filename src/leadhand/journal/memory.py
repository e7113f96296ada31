"""A journal that lives as long as its process: nothing is written anywhere."""

from collections.abc import Sequence

from leadhand.contracts.event import Event


class MemoryJournal:
    """Keeps the events of the last runs in lists."""

    def __init__(self, *, keep_runs: int = 100) -> None:
        """`keep_runs` is how many runs it remembers; the one begun first is forgotten first."""
        self._keep_runs = keep_runs
        self._runs: dict[str, list[Event]] = {}

    def append(self, event: Event) -> None:
        """Keep an event under its run."""
        events = self._runs.get(event.run_id)
        if events is None:
            events = self._runs[event.run_id] = []
            if len(self._runs) > self._keep_runs:
                del self._runs[next(iter(self._runs))]
        events.append(event)

    async def commit(self) -> None:
        """Nothing to wait for: memory is as safe as it gets."""

    def events(self, run_id: str) -> Sequence[Event]:
        """The events of a run in order; empty where there is no such run."""
        return tuple(self._runs.get(run_id, ()))
