"""Workers that a model works for, and that have code of their own for when no model can be had."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from pydantic import JsonValue

from leadhand.contracts.outcome import Completed, Failed, Handoff, Outcome
from leadhand.plans.payloads import PayloadForm
from leadhand.ports import Runner

PATIENT_ATTEMPTS = 1
"""Attempts after which an endpoint that may come back is waited for no more."""
USUAL_S = 1.0
"""How long code takes of which nothing is known."""
SLACK_S = 0.25
"""What is kept for it beside, on a busy machine."""


class OfflineSwitch:
    """Whether models can be had in one run, and how long code took that did their work."""

    def __init__(self, outer: "OfflineSwitch | None" = None) -> None:
        """`outer` is that of the run around a nested one: what it lacks is lacking here too."""
        self._outer = outer
        self._why: str | None = None
        self._asking: set[asyncio.Timeout] = set()
        self._inner: list[OfflineSwitch] = []
        if outer is not None:
            outer._inner.append(self)
        self.until_s: float | None = None
        """The event loop's time from which code does the work; None: there is no such time."""
        self.took_s: dict[str, float] = {}
        """By worker: the longest that its code took."""

    @property
    def why(self) -> str | None:
        """Why there is no model; None as long as there is one."""
        return self._why or (self._outer.why if self._outer is not None else None)

    def switch_on(self, why: str) -> None:
        """Ask no model any more, and wait for no answer."""
        self._why = self._why or why
        now_s = asyncio.get_running_loop().time()
        for timeout in self._asking:
            timeout.reschedule(now_s)
        for inner in self._inner:
            inner.switch_on(why)

    def switch_on_everywhere(self, why: str) -> None:
        """`switch_on`, in the runs around this one too."""
        if self._outer is not None:
            self._outer.switch_on_everywhere(why)
        else:
            self.switch_on(why)

    def leaves(self, seconds: float) -> bool:
        """Whether there is so much time left to ask models."""
        if self.until_s is None:
            return self._outer is None or self._outer.leaves(seconds)
        return asyncio.get_running_loop().time() + seconds < self.until_s

    async def unless_switched_on(
        self, work: Awaitable[Outcome], *, within_s: float | None = None
    ) -> Outcome | None:
        """The outcome of a model's work; None if the need arose before it, or the time was up."""
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


class OfflineFallback:
    """A `Runner` by model; where no model could be asked, by the worker's code, which is said."""

    def __init__(
        self,
        by_model: Runner,
        by_code: Runner,
        offline_switch: OfflineSwitch,
        *,
        patience_s: float = 0.0,
        offline_s: float | None = None,
    ) -> None:
        """`patience_s` is how long a retry may be put off, `offline_s` how long the code takes."""
        self._offline_s = offline_s
        self._by_model = by_model
        self._by_code = by_code
        self._offline_switch = offline_switch
        self._patience_s = patience_s

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        offline_switch = self._offline_switch
        why = offline_switch.why
        if why is None:
            within_s = self._within_s(handoff)
            asked = self._by_model.run(handoff)
            outcome = await offline_switch.unless_switched_on(asked, within_s=within_s)
            if outcome is not None and not self._means_no_model(outcome, handoff):
                return outcome
            said = outcome.message if isinstance(outcome, Failed) else None
            why = said or offline_switch.why or f"no model answered within {within_s:.3g} s"
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        done = await self._by_code.run(handoff)
        if not isinstance(done, Completed):
            return done
        took_s = max(loop.time() - started_s, offline_switch.took_s.get(handoff.to_agent, 0.0))
        offline_switch.took_s[handoff.to_agent] = took_s
        return Completed(result=done.result.model_copy(update={"without_model": why}))

    def _within_s(self, handoff: Handoff) -> float | None:
        """How long a model may take, for the code to fit into the attempt; None: as it likes.

        The first attempts may end at their limit: the model may be quicker at the next.
        """
        limit_s = handoff.limits.timeout_s
        if limit_s is None or handoff.attempt <= PATIENT_ATTEMPTS:
            return None
        code_s = self._offline_s or self._offline_switch.took_s.get(handoff.to_agent) or USUAL_S
        return max(limit_s - code_s - SLACK_S, limit_s / 2)

    def _means_no_model(self, outcome: Outcome, handoff: Handoff) -> bool:
        """Whether a model's worker failed because there was no model, and not of its own."""
        if not isinstance(outcome, Failed):
            return False
        if outcome.kind == "budget":
            return True
        waits = (
            outcome.transient
            and handoff.attempt <= PATIENT_ATTEMPTS
            and self._offline_switch.leaves(self._patience_s)
        )
        return outcome.kind == "error" and not waits


class Unready:
    """A `Runner` whose tools did not start: its tasks fail, those of other workers don't."""

    def __init__(self, failure: Failed) -> None:
        self._failure = failure

    async def run(self, handoff: Handoff) -> Outcome:
        """The failure."""
        return self._failure


class WithInputs:
    """A `Runner` by code that looks at all that was handed in, where its task names none of it.

    A model that plans does not know the files; its workers find them with their tools.
    """

    def __init__(self, runner: Runner, inputs: Callable[[], tuple[str, ...]]) -> None:
        self._runner = runner
        self._inputs = inputs

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        if not handoff.artifacts and (inputs := self._inputs()):
            handoff = handoff.model_copy(update={"artifacts": inputs})
        return await self._runner.run(handoff)


class WithPayload:
    """A `Runner` by code whose function gets the payload as an instance of the declared type."""

    def __init__(self, runner: Runner, form: PayloadForm) -> None:
        self._runner = runner
        self._form = form

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task. A payload of another form, after a reassignment, fails it."""
        payload = cast("JsonValue", handoff.payload)
        problems = self._form.problems(payload)
        if problems:
            message = f"the task has no payload that this worker takes: {'; '.join(problems)}"
            return Failed(kind="error", message=message)
        typed = self._form.typed(payload)
        return await self._runner.run(handoff.model_copy(update={"payload": typed}))
