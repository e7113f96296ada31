"""The gate: what an overloaded model asks for holds for everyone, and nobody waits for ever."""

import asyncio
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.exceptions import ModelHTTPError, ModelOverloadedError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand.errors import ModelError
from leadhand.models import Caller, Connections, Gate
from leadhand.models.gate import MAX_PAUSE_S, pause_s
from leadhand.models.structured import opening
from leadhand.testing import VirtualClock, run_virtual
from tests.models.asking import ASKER, PLAIN, recorder


def half() -> float:
    return 0.5


# How long a pause is


@pytest.mark.parametrize(
    ("asked_s", "least_s", "most_s"),
    [
        (7.0, 7.0, 8.75),
        (-5.0, 0.5, 0.625),
        (0.0, 0.5, 0.625),
        (float("nan"), 0.5, 0.625),
        (1e9, 60.0, 60.0),
        (float("inf"), 60.0, 60.0),
    ],
)
def test_a_wait_that_was_asked_for_is_kept_within_bounds_and_jittered(
    asked_s: float, least_s: float, most_s: float
) -> None:
    """F01"""
    assert pause_s(asked_s, 1, 0.0) == least_s
    assert pause_s(asked_s, 1, 1.0) == most_s


def test_a_pause_nobody_asked_for_doubles_with_each_failure_up_to_a_minute() -> None:
    pauses = [pause_s(None, failures, 0.0) for failures in range(1, 12)]
    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert pauses[-1] == MAX_PAUSE_S
    assert pauses == sorted(pauses)


# Who goes in when


def test_an_open_gate_lets_everyone_in_at_once() -> None:
    async def story() -> float:
        gate = Gate(half)
        rounds = await asyncio.gather(*(gate.enter() for _ in range(500)))
        assert set(rounds) == {0}
        return asyncio.get_running_loop().time()

    assert run_virtual(story()) == 0.0


def test_one_overloaded_call_holds_everyone_back_until_the_pause_is_over() -> None:
    """F02"""

    async def story() -> tuple[float, float]:
        gate = Gate(half)
        await gate.enter()
        told_s = gate.overloaded(0, asked_s=10.0)
        gate.leave(0, answered=False)
        await gate.enter()
        return told_s, asyncio.get_running_loop().time()

    told_s, entered_s = run_virtual(story())
    assert told_s == entered_s == pytest.approx(11.25)


def test_calls_that_report_what_is_known_do_not_lengthen_the_pause() -> None:
    """F02"""

    async def story() -> list[float]:
        gate = Gate(half)
        await asyncio.gather(*(gate.enter() for _ in range(100)))
        return [gate.overloaded(0, asked_s=None) for _ in range(100)]

    assert set(run_virtual(story())) == {0.5625}


def test_after_a_pause_calls_go_through_one_two_four_at_a_time() -> None:
    """F02"""

    async def story() -> list[int]:
        gate = Gate(half)
        await gate.enter()
        gate.overloaded(0, asked_s=5.0)
        gate.leave(0, answered=False)
        started: Counter[float] = Counter()

        async def call() -> None:
            round = await gate.enter()
            assert round is not None
            started[asyncio.get_running_loop().time()] += 1
            await asyncio.sleep(1)
            gate.leave(round, answered=True)

        await asyncio.gather(*(call() for _ in range(31)))
        return [started[moment] for moment in sorted(started)]

    assert run_virtual(story()) == [1, 2, 4, 8, 16]


def test_answers_to_calls_from_before_the_pause_do_not_widen_the_gate() -> None:
    """F02"""

    async def story() -> int:
        gate = Gate(half)
        await asyncio.gather(*(gate.enter() for _ in range(50)))
        gate.overloaded(0, asked_s=5.0)
        for _ in range(50):
            gate.leave(0, answered=True)
        inside = 0

        async def enter() -> None:
            nonlocal inside
            await gate.enter()
            inside += 1

        entering = [asyncio.ensure_future(enter()) for _ in range(50)]
        await asyncio.sleep(100)
        for one in entering:
            one.cancel()
        return inside

    assert run_virtual(story()) == 1


@pytest.mark.parametrize("while_paused", [False, True])
def test_a_waiter_that_is_cancelled_gives_its_place_on(while_paused: bool) -> None:
    async def story() -> int | None:
        gate = Gate(half)
        await gate.enter()
        gate.overloaded(0, asked_s=5.0)
        gate.leave(0, answered=False)
        round = await gate.enter()  # the one place there is
        assert round == 1
        first, second = (asyncio.ensure_future(gate.enter()) for _ in range(2))
        await asyncio.sleep(0)
        if while_paused:
            gate.overloaded(round, asked_s=5.0)
        gate.leave(round, answered=False)
        if while_paused:
            await asyncio.sleep(1)  # it is on its way in and sleeps the new pause out
        first.cancel()
        async with asyncio.timeout(100):
            return await second

    assert run_virtual(story()) == 1 + while_paused


def test_who_will_not_wait_any_longer_leaves_without_a_place() -> None:
    async def story() -> tuple[int | None, float]:
        gate = Gate(half)
        waiting = asyncio.ensure_future(gate.enter(until_round=3))
        gate.overloaded(0, asked_s=2.0)
        for round in (1, 2):
            assert await gate.enter() == round
            gate.overloaded(round, asked_s=2.0)
            gate.leave(round, answered=False)
        return await waiting, asyncio.get_running_loop().time()

    assert run_virtual(story())[0] is None


@dataclass(frozen=True, slots=True)
class Visit:
    """One call as the property test plays it."""

    starts_s: float
    takes_s: float
    ends: Literal["answered", "overloaded", "lost", "cancelled"]


VISITS = st.builds(
    Visit,
    starts_s=st.sampled_from([0.0, 0.0, 0.3, 1.0, 4.0]),
    takes_s=st.sampled_from([0.0, 0.1, 1.0, 3.0]),
    ends=st.sampled_from(["answered", "answered", "overloaded", "lost", "cancelled"]),
)


@given(st.lists(VISITS, min_size=1, max_size=25), st.integers(0, 2**16))
@settings(max_examples=150, deadline=None)
def test_never_are_more_inside_than_the_width_and_nobody_waits_for_ever(
    visits: list[Visit], seed: int
) -> None:
    """F02"""
    jitter = itertools.cycle([(seed % 97) / 97, 0.0, 1.0])

    async def story() -> None:
        gate = Gate(lambda: next(jitter))
        inside, width, closed = 0, 1, False

        async def visit(one: Visit) -> None:
            nonlocal inside, width, closed
            await asyncio.sleep(one.starts_s)
            round = await gate.enter()
            assert round is not None
            inside += 1
            assert not closed or inside <= width
            try:
                await asyncio.sleep(one.takes_s)
                if one.ends == "overloaded":
                    if round == gate.round:
                        closed, width = True, 1
                    gate.overloaded(round, asked_s=None)
            finally:
                inside -= 1
                answered = one.ends == "answered"
                width += answered and round == gate.round
                gate.leave(round, answered=answered)

        async def cancelled(one: Visit) -> None:
            work = asyncio.ensure_future(visit(one))
            await asyncio.sleep(one.starts_s + one.takes_s / 2)
            work.cancel()
            await asyncio.wait([work])

        async with asyncio.timeout(10_000), asyncio.TaskGroup() as group:
            for one in visits:
                group.create_task(cancelled(one) if one.ends == "cancelled" else visit(one))
        assert inside == 0

    run_virtual(story())


# A whole run's calls against a model that is overloaded for all


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


async def called_by_everyone(count: int, *endpoints: Endpoint) -> list[str]:
    """Who answered each of `count` calls that are made at once; `error` where nobody did."""
    pen = recorder(clock=VirtualClock())
    async with Connections(seed=3) as connections:
        caller = Caller(connections, pen)

        async def call() -> str:
            try:
                response, usage = await caller.ask(
                    ASKER,
                    [opening("hello", PLAIN)],
                    request=PLAIN,
                    models=[endpoint.model for endpoint in endpoints],
                )
            except ModelError:
                return "error"
            assert response.text == "here"
            return usage.model or ""

        return list(await asyncio.gather(*(call() for _ in range(count))))


def test_when_all_calls_are_refused_at_once_one_asks_again_and_then_all_are_answered() -> None:
    """F02"""
    endpoint = Endpoint(overloaded_until_s=1.0)
    answered = run_virtual(called_by_everyone(100, endpoint))
    assert "error" not in answered
    assert endpoint.in_second(0) <= 100 + 2
    assert endpoint.in_second(1) < 40
    assert endpoint.refused <= 100 + 2
    assert len(endpoint.asked_s) == 100 + endpoint.refused


def test_a_model_that_stays_overloaded_is_asked_seldom_and_then_left_for_the_next() -> None:
    """F02"""
    first, second = Endpoint(overloaded_until_s=1e9), Endpoint(overloaded_until_s=0.0)
    answered = run_virtual(called_by_everyone(100, first, second))
    assert len(answered) == 100
    assert "error" not in answered
    assert len(first.asked_s) <= 100 + 4
    assert len(second.asked_s) == 100
    assert max(second.asked_s) < 10


def test_calls_give_up_together_where_there_is_no_other_model() -> None:
    endpoint = Endpoint(overloaded_until_s=1e9)
    assert run_virtual(called_by_everyone(50, endpoint)) == ["error"] * 50
    assert len(endpoint.asked_s) <= 50 + 4
