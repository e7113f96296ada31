"""Counts the model calls of another framework's agent, as it makes them in any thread."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from leadhand.contracts import events
from leadhand.contracts.outcome import NO_USAGE, Handoff
from leadhand.engine.failures import bounded
from leadhand.engine.recorder import Recorder
from leadhand.errors import JournalError, ModelError
from leadhand.models.ledger import REQUEST, Account, Amount, without_price

UNNAMED = "unknown"
"""The model of calls for which the framework names none."""
CANCELLED = "the call was cancelled before it was answered"
MAX_TOKENS = 1_000_000_000
"""A higher count counts as wrong."""


class LimitReached(ModelError):
    """A call beyond the `max_steps` or `max_tokens` of its task."""


@dataclass(slots=True)
class _Call:
    model: str
    started_s: float


class Meter:
    """The calls of one attempt, in the run's log and in its budget.

    A call is refused beyond the limits of its task, or if no request or token is left; what it
    takes is known when it is answered.
    """

    def __init__(self, handoff: Handoff, recorder: Recorder, account: Account | None) -> None:
        self.usage = NO_USAGE
        self.refused: ModelError | None = None
        """Why a call was refused; `None` if none was."""
        self._handoff = handoff
        self._recorder = recorder
        self._account = account
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._attempt = asyncio.current_task()
        self._open: dict[object, _Call] = {}
        self._calls = self._tokens = 0
        """What counts in the limits of the task, known at once in any thread."""
        self._is_closed = False
        self._recorded = asyncio.Event()

    def starting(self, call: object, *, model: str | None, calls: int = 0, tokens: int = 0) -> None:
        """Note a call before it is made. Raises `ModelError` if it is refused.

        `calls` and `tokens` are what the framework knows of the attempt, if that is more.
        """
        cancelled = self._attempt is not None and self._attempt.cancelling()
        if self._is_closed or cancelled or self._recorder.state.answer is not None:
            raise ModelError("the attempt is over: it can make no more calls", transient=False)
        try:
            self._check_limits(max(calls, self._calls), max(tokens, self._tokens))
            self._reserve(model or UNNAMED)
        except ModelError as error:
            self.refused = error
            raise
        self._calls = max(calls, self._calls) + 1
        self._open[call] = _Call(model or UNNAMED, self._loop.time())
        if self._is_closed:  # meanwhile, if this is another thread
            self._in_loop(lambda: self._end(call, None, (0, 0), CANCELLED))

    def answered(
        self, call: object, model: str | None, tokens_in: object, tokens_out: object
    ) -> None:
        tokens = _count(tokens_in), _count(tokens_out)
        self._tokens += sum(tokens)
        self._in_loop(lambda: self._end(call, model, tokens, None))

    def failed(self, call: object, error: object) -> None:
        self._in_loop(lambda: self._end(call, None, (0, 0), bounded(str(error))))

    def rest(self, model: str | None, requests: int, tokens_in: int, tokens_out: int) -> None:
        """Note the calls that are only in this sum of the whole attempt, once they are over."""
        known = self.usage
        left = tokens_in - known.input_tokens, tokens_out - known.output_tokens
        tokens = _count(left[0]), _count(left[1])
        for _ in range(requests - known.requests):
            self._record(model or UNNAMED, tokens, 0.0, None)
            if self._account is not None:
                self._account.book(Amount(1, sum(tokens)))
            tokens = 0, 0

    def close(self, error: object = CANCELLED) -> None:
        """End the attempt: calls in flight fail with `error`, and further ones are refused."""
        for call in [*self._open]:
            self._end(call, None, (0, 0), bounded(str(error)))
        self._is_closed = True

    async def commits(self) -> None:
        """Commit calls after they were recorded, until cancelled."""
        with suppress(JournalError):  # the run's next commit raises it too
            while await self._recorded.wait():
                self._recorded.clear()
                await self._recorder.commit()

    def _check_limits(self, calls: int, tokens: int) -> None:
        limits = self._handoff.limits
        if limits.max_steps is not None and calls >= limits.max_steps:
            raise LimitReached(f"no answer within {limits.max_steps} steps", transient=False)
        if limits.max_tokens is not None and tokens >= limits.max_tokens:
            why = f"{tokens:,} tokens used of {limits.max_tokens:,}"
            raise LimitReached(why, transient=False)

    def _reserve(self, model: str) -> None:
        account = self._account
        if account is None:
            return
        if account.ledger.budget.usd is not None:
            raise ModelError(without_price(model), transient=False)
        account.take_request(self._in_loop)

    def _in_loop(self, act: Callable[[], None]) -> None:
        if threading.get_ident() == self._thread:
            act()
        else:
            with suppress(RuntimeError):  # the loop is closed: the run is over
                self._loop.call_soon_threadsafe(act)

    def _end(
        self, call: object, model: str | None, tokens: tuple[int, int], error: str | None
    ) -> None:
        made = self._open.pop(call, None)
        if made is not None:
            took_s = self._loop.time() - made.started_s
            self._record(model or made.model, tokens, took_s, error)
            if self._account is not None:
                self._account.settle(REQUEST, Amount(1, sum(tokens)))

    def _record(
        self, model: str, tokens: tuple[int, int], took_s: float, error: str | None
    ) -> None:
        recorder = self._recorder
        event = events.ModelCalled(
            **recorder.stamp(),
            role="worker",
            model=bounded(model),
            task_id=self._handoff.task_id,
            attempt=self._handoff.attempt,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            duration_s=took_s,
            error=error,
        )
        self.usage = self.usage.plus(event.usage)
        if recorder.state.answer is None:
            recorder.record(event)
            self._recorded.set()


def _count(tokens: object) -> int:
    return tokens if isinstance(tokens, int) and 0 <= tokens <= MAX_TOKENS else 0
