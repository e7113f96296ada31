"""Quarantine: tasks that were running at two crashes run alone, which shows which one is the cause.

All schedulers of an event loop share one: a worker that kills the process ends all their runs.
"""

import asyncio
import contextvars
import weakref

SUSPECT_CRASHES = 2
"""A task that was running at so many crashes in a row runs alone."""
MAX_CRASHES = 3
"""A task that was running at so many crashes in a row is given up."""

inside_worker: contextvars.ContextVar[bool] = contextvars.ContextVar("inside_worker", default=False)
"""Whether a worker runs this code; it may run a supervisor of its own."""

_shared: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Quarantine]" = (
    weakref.WeakKeyDictionary()
)


class Quarantine:
    """Counts working workers; a suspect runs once there are none.

    A scheduler is identified by its wake-up event.
    """

    def __init__(self) -> None:
        self.users: list[asyncio.Event] = []
        """The schedulers that may have work to start."""
        self._working = 0
        self._claims: list[asyncio.Event] = []
        """The scheduler whose suspect runs, then those that wait."""

    @classmethod
    def here(cls) -> "Quarantine":
        """The quarantine of the running event loop; a run that a worker started has its own."""
        if inside_worker.get():
            return cls()
        return _shared.setdefault(asyncio.get_running_loop(), cls())

    @property
    def closed(self) -> bool:
        """Whether nothing may start, because a suspect runs or waits."""
        return bool(self._claims)

    def waits(self, by: asyncio.Event) -> bool:
        """Whether `by` has a claim."""
        return by in self._claims

    def claim(self, by: asyncio.Event) -> bool:
        """Whether `by` may start a suspect now; otherwise it is woken when it may."""
        if by not in self._claims:
            self._claims.append(by)
        return self._claims[0] is by and not self._working

    def release(self, by: asyncio.Event) -> None:
        """Withdraw the claim of `by`: its suspect ended, or will not start."""
        if by in self._claims:
            self._claims.remove(by)
            self._wake(self.users)

    def enter(self) -> None:
        """Count one more working worker."""
        self._working += 1

    def leave(self) -> None:
        """Count one less."""
        self._working -= 1
        if not self._working:
            self._wake(self._claims)

    def _wake(self, users: list[asyncio.Event]) -> None:
        for user in users:
            user.set()
