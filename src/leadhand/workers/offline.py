"""Code that does a worker's tasks when its model is not available (`Worker(offline=...)`)."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from leadhand.contracts.outcome import Completed, Failed, Handoff, Outcome
from leadhand.ports import Runner

PATIENT_ATTEMPTS = 1
"""Attempts that wait for an endpoint that may come back."""
DEFAULT_CODE_S = 1.0
"""The expected time of code that has not run yet."""
CODE_SLACK_S = 0.25
"""Added to the expected time of code, for a busy machine."""


class OfflineSwitch:
    """Whether models are available to one run, and how long the code took that replaced them."""

    def __init__(self, outer: "OfflineSwitch | None" = None) -> None:
        """`outer` is the switch of the outer run; once it is on, so is this one."""
        self._outer = outer
        self._why: str | None = None
        self._asking: set[asyncio.Timeout] = set()
        self._inner: list[OfflineSwitch] = []
        if outer is not None:
            outer._inner.append(self)
        self.models_until_s: float | None = None
        """The event loop's time from which code does the work, if the run has a deadline."""
        self.code_took_s: dict[str, float] = {}
        """The longest time that the code of each worker took."""

    @property
    def why(self) -> str | None:
        """Why no model is available; None while one is."""
        return self._why or (self._outer.why if self._outer is not None else None)

    def switch_on(self, why: str) -> None:
        self._why = self._why or why
        now_s = asyncio.get_running_loop().time()
        for timeout in self._asking:
            timeout.reschedule(now_s)
        for inner in self._inner:
            inner.switch_on(why)

    def switch_on_everywhere(self, why: str) -> None:
        """`switch_on`, in the outer runs too."""
        if self._outer is not None:
            self._outer.switch_on_everywhere(why)
        else:
            self.switch_on(why)

    def has_time_for(self, seconds: float) -> bool:
        if self.models_until_s is None:
            return self._outer is None or self._outer.has_time_for(seconds)
        return asyncio.get_running_loop().time() + seconds < self.models_until_s

    async def unless_switched_on(
        self, work: Awaitable[Outcome], *, within_s: float | None = None
    ) -> Outcome | None:
        """The outcome of a model's work; None if the switch or the time limit ended it."""
        timeout = asyncio.timeout(within_s)
        self._asking.add(timeout)
        try:
            async with timeout:
                return await work
        except TimeoutError:
            if not timeout.expired():
                raise
            return None
        finally:
            self._asking.discard(timeout)


@dataclass(frozen=True, slots=True)
class OfflineFallback:
    """A `Runner` that asks a model or, with a note in the result, runs the worker's code."""

    by_model: Runner
    by_code: Runner
    offline_switch: OfflineSwitch
    patience_s: float = 0.0
    offline_s: float | None = None

    async def run(self, handoff: Handoff) -> Outcome:
        offline_switch = self.offline_switch
        why = offline_switch.why
        if why is None:
            within_s = self._within_s(handoff)
            work = self.by_model.run(handoff)
            outcome = await offline_switch.unless_switched_on(work, within_s=within_s)
            if outcome is not None and not self._means_no_model(outcome, handoff):
                return outcome
            message = outcome.message if isinstance(outcome, Failed) else None
            why = message or offline_switch.why or f"no model answered within {within_s:.3g} s"
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        done = await self.by_code.run(handoff)
        if not isinstance(done, Completed):
            return done
        took_s = max(loop.time() - started_s, offline_switch.code_took_s.get(handoff.to_agent, 0.0))
        offline_switch.code_took_s[handoff.to_agent] = took_s
        return Completed(result=done.result.model_copy(update={"without_model": why}))

    def _within_s(self, handoff: Handoff) -> float | None:
        """How long a model may take so that the code fits into the attempt; not limited in the
        first, because the model may be quicker in the next."""
        limit_s = handoff.limits.timeout_s
        if limit_s is None or handoff.attempt <= PATIENT_ATTEMPTS:
            return None
        known_s = self.offline_s or self.offline_switch.code_took_s.get(handoff.to_agent)
        code_s = known_s or DEFAULT_CODE_S
        return max(limit_s - code_s - CODE_SLACK_S, limit_s / 2)

    def _means_no_model(self, outcome: Outcome, handoff: Handoff) -> bool:
        if not isinstance(outcome, Failed):
            return False
        if outcome.kind == "budget":
            return True
        waits = (
            outcome.transient
            and handoff.attempt <= PATIENT_ATTEMPTS
            and self.offline_switch.has_time_for(self.patience_s)
        )
        return outcome.kind == "error" and not waits
