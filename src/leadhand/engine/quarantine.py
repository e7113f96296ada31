"""Quarantine: tasks that were in flight at two crashes run alone, so that the cause is found.

All schedulers of an event loop share one: a worker that kills the process ends all their runs.
"""

import asyncio
import contextvars
import weakref

SUSPECT_CRASHES = 2
"""A task that was in flight at so many crashes in a row runs alone."""
MAX_CRASHES = 3
"""A task that was in flight at so many crashes in a row is given up."""

inside_worker: contextvars.ContextVar[bool] = contextvars.ContextVar("inside_worker", default=False)
"""Whether this is the work of a worker, which may run a supervisor of its own."""

_shared: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Quarantine]" = (
    weakref.WeakKeyDictionary()
)


class Quarantine:
    """How many workers are at work, and who waits for there to be none.

    Schedulers go by the event that wakes them.
    """

    def __init__(self) -> None:
        self.users: list[asyncio.Event] = []
        """The schedulers that may have work to start."""
        self._working = 0
        self._claims: list[asyncio.Event] = []
        """Who has it alone, or is next."""

    @classmethod
    def here(cls) -> "Quarantine":
        """That of the running event loop. What a worker runs counts as that worker's."""
        if inside_worker.get():
            return cls()
        return _shared.setdefault(asyncio.get_running_loop(), cls())

    @property
    def closed(self) -> bool:
        """Whether nothing may start, because a suspect runs or waits."""
        return bool(self._claims)

    def waits(self, by: asyncio.Event) -> bool:
        """Whether `by` has claimed it and not released it."""
        return by in self._claims

    def claim(self, by: asyncio.Event) -> bool:
        """Whether `by` may start a suspect now; if not, it is woken when it may."""
        if by not in self._claims:
            self._claims.append(by)
        return self._claims[0] is by and not self._working

    def release(self, by: asyncio.Event) -> None:
        """The suspect of `by` has ended, or will not start."""
        if by in self._claims:
            self._claims.remove(by)
            self._wake(self.users)

    def enter(self) -> None:
        """One more worker is at work."""
        self._working += 1

    def leave(self) -> None:
        """One less is."""
        self._working -= 1
        if not self._working:
            self._wake(self._claims)

    def _wake(self, users: list[asyncio.Event]) -> None:
        for user in users:
            user.set()
