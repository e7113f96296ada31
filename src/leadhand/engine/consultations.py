"""Consultations: questions to models and people while tasks run, and callbacks for the answers.

Only the task that a question is about waits for its answer. A question that fails or takes too long
has the answer `None`.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TypeVar

from leadhand.engine.attempts import GRACE_S, AbandonableTask

PATIENCE_S = 60.0
"""How long a model's answer may take."""

T = TypeVar("T")

_log = logging.getLogger("leadhand")


class Consultations:
    """The open questions of one run."""

    def __init__(self, wake_up: Callable[[], None]) -> None:
        """`wake_up` is called when there is an answer to `deliver`."""
        self._wake_up = wake_up
        self._open: dict[asyncio.Task[None], AbandonableTask[object]] = {}
        self._answered: deque[Callable[[], None]] = deque()
        self._closed = False

    @property
    def open(self) -> int:
        """Questions without an answer, and answers not yet delivered."""
        return len(self._open) + len(self._answered)

    def ask(
        self,
        what: str,
        question: Coroutine[object, object, T],
        then: Callable[[T | None], None],
        *,
        patiently: bool = False,
    ) -> None:
        """Start `question`; a later `deliver` calls `then` with the answer, or with `None`.

        If asked `patiently`, as people are, it has no time limit of its own.
        """
        abandonable = AbandonableTask(question)
        patience_s = None if patiently else PATIENCE_S
        asking = asyncio.get_running_loop().create_task(
            self._ask(what, abandonable, then, patience_s), name=f"consultation:{what}"
        )
        self._open[asking] = abandonable
        asking.add_done_callback(self._forget)
        if patiently:
            return
        # The time limit is a cancellation, which the question may ignore as well.
        end = asyncio.get_running_loop().call_later(
            PATIENCE_S + GRACE_S, _abandon, asking, abandonable
        )
        asking.add_done_callback(lambda _: end.cancel())

    def deliver(self) -> None:
        """Call the callbacks of the answers that have arrived."""
        while self._answered:
            self._answered.popleft()()

    async def close(self, grace_s: float) -> None:
        """Cancel all open questions; those that do not stop within `grace_s` are abandoned."""
        self._closed = True
        for asking in list(self._open):
            asking.cancel()
        try:
            if self._open:
                await asyncio.wait(list(self._open), timeout=grace_s)
        finally:  # the run may be cancelled meanwhile
            for asking, abandonable in list(self._open.items()):
                _abandon(asking, abandonable)
            self._answered.clear()

    async def _ask(
        self,
        what: str,
        abandonable: AbandonableTask[T],
        then: Callable[[T | None], None],
        patience_s: float | None,
    ) -> None:
        answer: T | None = None
        try:
            async with asyncio.timeout(patience_s):
                answer = await abandonable
        except asyncio.CancelledError:
            if self._closed:
                raise
        except TimeoutError:
            _log.warning("there was no answer to %r within %g s", what, PATIENCE_S)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever it is, the run must not wait for an answer
            _log.warning("there was no answer to %r: %s", what, error)
        # First: the scheduler that this wakes must not count the question as open.
        self._forget(asyncio.current_task())
        self._answered.append(lambda: then(answer))
        self._wake_up()

    def _forget(self, asking: "asyncio.Task[None] | None") -> None:
        abandonable = self._open.pop(asking, None) if asking is not None else None
        if abandonable is not None:
            abandonable.drop()


def _abandon(asking: asyncio.Task[None], abandonable: AbandonableTask[T]) -> None:
    abandonable.abandon()
    asking.cancel()
