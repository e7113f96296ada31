"""Rates: how fast each model may be called, counted over all runs of this process.

The runs in an event loop share a limiter for each model, and its gate. Calls are counted in a
sliding window: token buckets allow up to twice the limit in their first minute. Times are the event
loop's, and a call's tokens are corrected once they are known; libraries for rate limits can do
neither.
"""

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.models import Model

from leadhand.contracts.budget import Rate
from leadhand.contracts.summary import ModelHealth
from leadhand.errors import InputError
from leadhand.models.gate import Gate

VARIABLE = "LEADHAND_RATES"
"""The environment variable with rates by model name, as JSON: `{"openai:gpt-5": {"rpm": 500}}`."""
MINUTE_S = 60.0
NO_RATE = Rate()


@dataclass(slots=True, eq=False)
class RateUse:
    """The tokens of one call, corrected once they are known."""

    tokens: int
    at_s: float
    counted: bool = False


class Limiter:
    """Limits calls to one model, first come, first served. For the tasks of one event loop."""

    def __init__(self, gate: Gate, rate: Rate = NO_RATE) -> None:
        self.gate = gate
        self.rate = rate
        self._log: deque[RateUse] = deque()
        self._tokens = 0
        self._inside = 0
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    @property
    def counts(self) -> bool:
        return self.rate.rpm is not None or self.rate.tpm is not None

    async def enter(self, tokens: int) -> RateUse:
        """Wait until a call of about `tokens` may be made; must be followed by `leave`. Between
        calls a task holds nothing, so that a worker never blocks nested ones."""
        loop = asyncio.get_running_loop()
        async with self._turn:
            while (wait_s := self._wait_s(tokens, loop.time())) > 0:
                self._freed.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if wait_s == math.inf else wait_s):
                        await self._freed.wait()
            share = RateUse(tokens, loop.time())
            self._inside += 1
            if self.counts:
                share.counted = True
                self._log.append(share)
                self._tokens += tokens
            return share

    def leave(self) -> None:
        self._inside -= 1
        self._freed.set()

    def health(self, model: str) -> ModelHealth:
        self._forget(asyncio.get_running_loop().time())
        counted = self.counts
        return ModelHealth(
            model=model,
            rate=self.rate,
            running=self._inside,
            requests=len(self._log) if counted else None,
            tokens=self._tokens if counted else None,
        )

    def correct(self, share: RateUse, tokens: int) -> None:
        if share.counted:
            self._tokens += tokens - share.tokens
            self._freed.set()
        share.tokens = tokens

    def _wait_s(self, tokens: int, now_s: float) -> float:
        """Seconds until a call may be made; infinite if another call has to end first."""
        rate, log = self.rate, self._log
        self._forget(now_s)
        if rate.concurrency is not None and self._inside >= rate.concurrency:
            return math.inf
        wait_s = 0.0
        if rate.rpm is not None and len(log) >= rate.rpm:
            wait_s = log[-rate.rpm].at_s + MINUTE_S - now_s
        if rate.tpm is not None:
            # A call with more tokens than the limit is allowed when the window is empty.
            over = self._tokens + min(tokens, rate.tpm) - rate.tpm
            for share in log:
                if over <= 0:
                    break
                over -= share.tokens
                wait_s = max(wait_s, share.at_s + MINUTE_S - now_s)
        return wait_s

    def _forget(self, now_s: float) -> None:
        log = self._log
        while log and log[0].at_s + MINUTE_S <= now_s:
            log[0].counted = False
            self._tokens -= log.popleft().tokens


_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[object, tuple[Limiter, Model]]] = (
    WeakKeyDictionary()
)
"""By event loop and model: its address, or its id, kept so that no other object gets it."""


def limiter_of(model: Model, rate: Rate, jitter: Callable[[], float]) -> Limiter:
    """The model's limiter in this event loop; of different rates, the stricter one applies."""
    limiters = _limiters.setdefault(asyncio.get_running_loop(), {})
    address = model.base_url
    key = (model.system, model.model_name, address) if address else id(model)
    if key not in limiters:
        limiters[key] = (Limiter(Gate(jitter)), model)
    limiter = limiters[key][0]
    limiter.rate = limiter.rate.tightened(rate)
    return limiter


def health() -> tuple[ModelHealth, ...]:
    known = _limiters.get(asyncio.get_running_loop(), {})
    return tuple(limiter.health(model.model_name) for limiter, model in known.values())


def rates_of(own: Mapping[str, Rate], environ: Mapping[str, str]) -> dict[str, Rate]:
    """The stricter of both rates, by model name. Raises `InputError` for a wrong `environ`."""
    asked = _rates_in(environ.get(VARIABLE, "").strip())
    return {
        name: own.get(name, NO_RATE).tightened(asked.get(name, NO_RATE))
        for name in {**own, **asked}
    }


def _rates_in(given: str) -> dict[str, Rate]:
    if not given:
        return {}
    try:
        return TypeAdapter(dict[str, Rate]).validate_json(given)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        example = '{"openai:gpt-5": {"rpm": 500, "tpm": 200000, "concurrency": 32}}'
        said = f"{where}: {fault['msg']}" if where else fault["msg"]
        raise InputError(
            f"{VARIABLE} can't be used: {said}; write for example {example}"
        ) from error
