"""Rates: no minute exceeds the limit of all runs together, and no call waits for ever."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.exceptions import ModelHTTPError, ModelOverloadedError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand import InputError, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.budget import Rate
from leadhand.models.gate import Gate
from leadhand.models.rates import MINUTE_S, NO_RATE, VARIABLE, Limiter, RateUse, rates_of
from leadhand.testing import VirtualClock, run_virtual


def limiter(rate: Rate) -> Limiter:
    return Limiter(Gate(lambda: 0.5), rate)


@asynccontextmanager
async def place(one: Limiter, tokens: int) -> AsyncGenerator[RateUse]:
    share = await one.enter(tokens)
    try:
        yield share
    finally:
        one.leave()


# What is asked for, and by whom


def test_rates_come_from_the_team_and_the_environment_and_the_stricter_holds() -> None:
    environ = {VARIABLE: '{"openai:a": {"rpm": 100, "tpm": 5000}, "openai:b": {"rpm": 7}}'}
    own = {"openai:a": Rate(rpm=20, concurrency=3), "openai:c": Rate(tpm=9)}
    assert rates_of(own, environ) == {
        "openai:a": Rate(rpm=20, tpm=5000, concurrency=3),
        "openai:b": Rate(rpm=7),
        "openai:c": Rate(tpm=9),
    }
    assert rates_of({}, {}) == {}


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ("{", "JSON"),
        ('{"openai:a": {"rpm": 0}}', "openai:a.rpm"),
        ('{"openai:a": {"rps": 5}}', "openai:a.rps"),
    ],
)
def test_an_environment_that_cannot_be_read_is_one_clear_line(said: str, where: str) -> None:
    with pytest.raises(InputError, match=f"{VARIABLE} can't be used: .*write ") as refused:
        rates_of({}, {VARIABLE: said})
    assert where in str(refused.value)
    assert "\n" not in str(refused.value)


# One limiter


@dataclass(frozen=True, slots=True)
class Visit:
    """One call as the property plays it."""

    starts_s: float
    takes_s: float
    expected: int
    used: int
    cancelled: bool


VISITS = st.builds(
    Visit,
    starts_s=st.sampled_from([0.0, 0.0, 0.0, 7.0, 59.0, 61.0]),
    takes_s=st.sampled_from([0.0, 1.0, 30.0]),
    expected=st.integers(0, 120),
    used=st.integers(0, 120),
    cancelled=st.sampled_from([False, False, False, True]),
)
RATES = st.builds(
    Rate,
    rpm=st.none() | st.integers(1, 8),
    tpm=st.none() | st.integers(1, 100),
    concurrency=st.none() | st.integers(1, 4),
)


@given(RATES, st.lists(VISITS, min_size=1, max_size=20))
@settings(max_examples=150)
def test_no_minute_has_more_than_was_allowed_and_everyone_gets_in(
    rate: Rate, visits: list[Visit]
) -> None:
    """Tokens are the expected ones or, corrected, those used; a single call may exceed the rate."""
    entered: list[tuple[float, int]] = []

    async def story() -> None:
        one, inside = limiter(rate), 0

        async def visit(given: Visit) -> None:
            nonlocal inside
            await asyncio.sleep(given.starts_s)
            async with place(one, given.expected) as share:
                inside += 1
                assert rate.concurrency is None or inside <= rate.concurrency
                try:
                    at_s = asyncio.get_running_loop().time()
                    booked = min(given.expected, given.used)
                    entered.append((at_s, booked))
                    one.correct(share, booked)
                    await asyncio.sleep(given.takes_s)
                finally:
                    inside -= 1

        async def cancelled(given: Visit) -> None:
            work = asyncio.ensure_future(visit(given))
            await asyncio.sleep(given.starts_s + given.takes_s / 2)
            work.cancel()
            await asyncio.wait([work])

        async with asyncio.timeout(100_000), asyncio.TaskGroup() as group:
            for given in visits:
                group.create_task(cancelled(given) if given.cancelled else visit(given))

    run_virtual(story())
    for start_s, _ in entered:
        minute = [tokens for at_s, tokens in entered if start_s <= at_s < start_s + MINUTE_S - 1e-6]
        assert rate.rpm is None or len(minute) <= rate.rpm
        within = rate.tpm is None or sum(minute) <= rate.tpm
        assert within or sum(1 for tokens in minute if tokens) == 1


async def test_calls_get_in_in_the_order_they_came() -> None:
    one, order = limiter(Rate(rpm=2, tpm=100)), list[int]()

    async def call(number: int, tokens: int) -> None:
        async with place(one, tokens):
            order.append(number)

    await asyncio.gather(*(call(number, 90 if number % 2 else 5) for number in range(8)))
    assert order == list(range(8))


async def test_tokens_that_were_not_needed_let_the_next_in_at_once() -> None:
    one = limiter(Rate(tpm=1_000))

    async def first() -> None:
        async with place(one, 900) as share:
            await asyncio.sleep(3)
            one.correct(share, 100)

    async def second() -> float:
        await asyncio.sleep(0)
        async with place(one, 800):
            return asyncio.get_running_loop().time()

    assert (await asyncio.gather(first(), second()))[1] == 3.0


async def test_without_a_rate_everyone_gets_in_at_once() -> None:
    one = limiter(NO_RATE)
    async with AsyncExitStack() as stack:
        for _ in range(500):
            await stack.enter_async_context(place(one, 10))
        assert asyncio.get_running_loop().time() == 0.0


# Whole runs


class Endpoint:
    """A model that notes when it was asked, and may be overloaded for a while."""

    def __init__(self, *, overloaded_until_s: float = 0.0, takes_s: float = 0.1) -> None:
        self._until_s = overloaded_until_s
        self._takes_s = takes_s
        self._inside = 0
        self.most_inside = 0
        self.asked_s: list[float] = []
        self.model = FunctionModel(self._answer, model_name="endpoint")

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        now_s = asyncio.get_running_loop().time()
        self.asked_s.append(now_s)
        self._inside += 1
        self.most_inside = max(self._inside, self.most_inside)
        await asyncio.sleep(self._takes_s)
        self._inside -= 1
        if now_s < self._until_s:
            raise ModelHTTPError.for_category(
                ModelOverloadedError,
                status_code=429,
                model_name="endpoint",
                headers={"retry-after": "20"},
            )
        return ModelResponse([TextPart("done")])


def team(model: FunctionModel, rate: Rate = NO_RATE, *more: Worker) -> Team:
    clerk = Worker("clerk", "Does it", instructions="Do it.", plain=True, model=model)
    return Team("office", workers=(clerk, *more), rates={"function:endpoint": rate})


def tasks(count: int, worker: str = "clerk") -> Plan:
    some = (Task(id=f"t{number}", worker=worker, intent="Do it.") for number in range(count))
    return Plan(goal="all", tasks=tuple(some))


def supervisor(team: Team) -> Supervisor:
    return Supervisor(team, deadline_s=None, clock=VirtualClock())


async def test_two_runs_at_once_share_a_models_rate() -> None:
    endpoint = Endpoint()
    work = [supervisor(team(endpoint.model, Rate(rpm=10))).run(plan=tasks(8)) for _ in range(2)]
    assert [answer.status for answer in await asyncio.gather(*work)] == ["complete", "complete"]
    assert len([at_s for at_s in endpoint.asked_s if at_s < 60]) == 10
    assert len(endpoint.asked_s) == 16


async def test_runs_one_after_the_other_share_it_too_and_concurrency_holds_for_all() -> None:
    endpoint = Endpoint(takes_s=1.0)
    for _ in range(2):
        await supervisor(team(endpoint.model, Rate(rpm=10, concurrency=3))).run(plan=tasks(8))
    assert len([at_s for at_s in endpoint.asked_s if at_s < 60]) == 10
    assert endpoint.most_inside == 3


async def test_an_overloaded_model_holds_back_other_runs_as_well() -> None:
    """F01, F02"""
    endpoint = Endpoint(overloaded_until_s=1.0)
    first = asyncio.ensure_future(supervisor(team(endpoint.model)).run(plan=tasks(4)))
    await asyncio.sleep(5)
    second = asyncio.ensure_future(supervisor(team(endpoint.model)).run(plan=tasks(5)))
    answers = await asyncio.gather(first, second)
    assert [answer.status for answer in answers] == ["complete", "complete"]
    assert endpoint.asked_s[:4] == [0.0] * 4
    assert min(endpoint.asked_s[4:]) >= 20.0


async def test_a_worker_that_has_a_nested_run_work_for_it_does_not_stand_in_its_way() -> None:
    """There is one place at the model, and both runs need it again and again."""

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await endpoint.model.request(messages, None, info.model_request_parameters)
        if not info.output_tools:
            return ModelResponse([TextPart("done")])
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("ask_others", {"question": "What is to be done?"})])
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"answer": "It is done."})])

    async def ask_others(question: str) -> str:
        """Has another team answer."""
        answer = await supervisor(team(asked, rate)).run(plan=tasks(2))
        return answer.answer

    endpoint, rate = Endpoint(), Rate(concurrency=1)
    asked = FunctionModel(answer, model_name="endpoint")
    lead = Worker("lead", "Leads", instructions="Lead.", tools=(ask_others,), model=asked)

    async with asyncio.timeout(1_000):
        done = await supervisor(team(asked, rate, lead)).run(plan=tasks(3, "lead"))
    assert done.status == "complete"
    assert len(endpoint.asked_s) == 3 * (2 + 2)
    assert endpoint.most_inside == 1
