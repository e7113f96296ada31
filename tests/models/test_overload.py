"""Many calls at once against a model that refuses some of them, or all for a while."""

import asyncio
import math

import pytest
from pydantic_ai.exceptions import ModelHTTPError, ModelOverloadedError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand.contracts.events import ModelCalled
from leadhand.errors import ModelError
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.models.structured import first_message
from leadhand.testing import VirtualClock, run_virtual
from tests.models.asking import ASKER, PLAIN, misbehaving, recorder
from tests.models.in_process import InProcess


class Endpoint:
    """A model that is overloaded for a while, and counts who asks when."""

    def __init__(self, *, overloaded_until_s: float, at_once: int = 1_000) -> None:
        self._until_s = overloaded_until_s
        self._at_once = at_once
        self._inside = 0
        self.asked_s: list[float] = []
        self.refused = 0
        self.model = FunctionModel(self._answer, model_name="endpoint")

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        now_s = asyncio.get_running_loop().time()
        self.asked_s.append(now_s)
        self._inside += 1
        try:
            await asyncio.sleep(0.2)
            if now_s < self._until_s or self._inside > self._at_once:
                self.refused += 1
                raise ModelHTTPError.for_category(
                    ModelOverloadedError, status_code=529, model_name="endpoint"
                )
        finally:
            self._inside -= 1
        return ModelResponse([TextPart("here")])

    def in_second(self, second: int) -> int:
        """Calls that came in that second."""
        return sum(second <= moment < second + 1 for moment in self.asked_s)


async def called_by_everyone(count: int, *models: FunctionModel) -> list[str]:
    """The model that answered each of `count` concurrent calls; `error` if none did."""
    pen = recorder(clock=VirtualClock())
    async with Connections(seed=3) as connections:
        caller = Caller(connections, pen)

        async def call() -> str:
            try:
                response, usage = await caller.ask(
                    ASKER, [first_message("hello", PLAIN)], request=PLAIN, models=models
                )
            except ModelError:
                return "error"
            assert response.text == "here"
            return usage.model or ""

        return list(await asyncio.gather(*(call() for _ in range(count))))


def test_when_all_calls_are_refused_at_once_one_asks_again_and_then_all_are_answered() -> None:
    """F02"""
    endpoint = Endpoint(overloaded_until_s=1.0)
    answered = run_virtual(called_by_everyone(100, endpoint.model))
    assert "error" not in answered
    assert endpoint.in_second(0) <= 100 + 2
    assert endpoint.in_second(1) < 40
    assert endpoint.refused <= 100 + 2
    assert len(endpoint.asked_s) == 100 + endpoint.refused


def test_a_model_that_stays_overloaded_is_asked_seldom_and_then_left_for_the_next() -> None:
    """F02"""
    first, second = Endpoint(overloaded_until_s=1e9), Endpoint(overloaded_until_s=0.0)
    answered = run_virtual(called_by_everyone(100, first.model, second.model))
    assert len(answered) == 100
    assert "error" not in answered
    assert len(first.asked_s) <= 100 + 4
    assert len(second.asked_s) == 100
    assert max(second.asked_s) < 10


def test_calls_give_up_together_where_there_is_no_other_model() -> None:
    endpoint = Endpoint(overloaded_until_s=1e9)
    assert run_virtual(called_by_everyone(50, endpoint.model)) == ["error"] * 50
    assert len(endpoint.asked_s) <= 50 + 4


class Quota:
    """A model that takes so many calls in each ten seconds, and says when the next ten begin."""

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self.taken: dict[int, int] = {}
        self.refused: dict[int, int] = {}
        self.model = FunctionModel(self._answer, model_name="quota")

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        now_s = asyncio.get_running_loop().time()
        span = int(now_s // 10)
        if self.taken.get(span, 0) >= self._calls:
            self.refused[span] = self.refused.get(span, 0) + 1
            wait_s = math.ceil((span + 1) * 10 - now_s)
            raise ModelHTTPError.for_category(
                ModelOverloadedError,
                status_code=429,
                model_name="quota",
                headers={"retry-after": str(wait_s)},
            )
        self.taken[span] = self.taken.get(span, 0) + 1
        await asyncio.sleep(0.2)
        return ModelResponse([TextPart("here")])


def test_a_real_limit_is_kept_by_all_who_call_and_used_to_the_full() -> None:
    """F01: 200 calls, 40 in each ten seconds; five spans is what the quota allows."""
    quota = Quota(40)
    answered = run_virtual(called_by_everyone(200, quota.model))
    assert "error" not in answered
    assert max(quota.refused.values()) <= 20
    assert list(quota.taken.values())[:4] == [40] * 4
    assert max(quota.taken) <= 5


# Through a provider's SDK


def asked_at_once(
    server: InProcess, count: int, *, until: int
) -> tuple[list[float], list[ModelCalled]]:
    """After how many seconds the first `until` of `count` calls were answered, and the log."""

    async def story() -> tuple[list[float], list[ModelCalled]]:
        pen = recorder(clock=VirtualClock())
        async with Connections(seed=3) as connections:
            caller = Caller(connections, pen)

            async def call() -> float:
                opened: list[ModelMessage] = [first_message("hello", PLAIN)]
                await caller.ask(ASKER, opened, request=PLAIN, models=[server.model])
                return asyncio.get_running_loop().time()

            calls = [asyncio.ensure_future(call()) for _ in range(count)]
            ended = asyncio.as_completed(calls)
            took_s = [await next(ended) for _ in range(until)]
            for one in calls:
                one.cancel()
            await asyncio.wait(calls)
        return took_s, [event for event in pen.log() if isinstance(event, ModelCalled)]

    return run_virtual(story())


def test_two_calls_that_wait_a_minute_delay_no_others() -> None:
    """F01"""
    server = InProcess(script=misbehaving({"429": 60}, {"429": 60}), latency_ms=100)
    took_s, calls = asked_at_once(server, 20, until=18)
    assert max(took_s) < 1
    assert [call.retry_in_s for call in calls if call.error] == [60.0, 60.0]
    assert server.stats().requests == 20


@pytest.mark.parametrize("status", ["429", "529"])
def test_an_outage_costs_few_requests_and_everyone_is_back_soon_after(status: str) -> None:
    """F02: all 40 calls are refused; from then on the model is well."""
    server = InProcess(script=misbehaving(*[{status: None}] * 40))
    took_s, _ = asked_at_once(server, 40, until=40)
    assert min(took_s) > 0.5
    assert max(took_s) < 2
    assert server.stats().requests == 40 + 40


def test_where_the_model_admits_so_many_a_second_everyone_keeps_to_what_it_says() -> None:
    """F01: the server takes 15 calls a second, and asks the rest to come a second later."""
    server = InProcess(script="tests.models.scripts:fifteen_a_second")
    took_s, calls = asked_at_once(server, 30, until=30)
    refused = [call for call in calls if call.error]
    assert max(took_s) < 4
    assert 15 <= len(refused) <= 30
    assert all((call.retry_in_s or 0) >= 0.9 for call in refused)
