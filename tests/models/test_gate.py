"""The gate: a single refusal delays no other call, a limit holds for all calls."""

import asyncio
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.models.gate import IN_A_ROW, MAX_CLOSINGS, MAX_PAUSE_S, Gate, GatePass, pause_s
from leadhand.testing import run_virtual


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


def test_a_pause_doubles_with_each_failure_up_to_a_minute() -> None:
    pauses = [pause_s(None, failures, 0.0) for failures in range(1, 12)]
    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert pauses[-1] == MAX_PAUSE_S
    assert pauses == sorted(pauses)


def test_a_model_that_asks_for_less_time_each_time_is_left_alone_for_longer_all_the_same() -> None:
    """F02"""
    assert [pause_s(1.0, failures, 0.0) for failures in range(1, 6)] == [1.0, 1.0, 2.0, 4.0, 8.0]


# Who goes in when


async def let_in(gate: Gate, count: int) -> list[GatePass]:
    """Passes for this many calls, none of which has to wait."""
    return [place for _ in range(count) if (place := await gate.enter())]


async def closed(asked_s: float | None) -> Gate:
    """A gate that has just closed, without calls in flight."""
    gate = Gate(half)
    for place in await let_in(gate, IN_A_ROW):
        gate.leave(place, "refused", asked_s=asked_s)
    assert gate.round == 1
    return gate


async def inside_after(gate: Gate, seconds: float, *, waiting: int) -> int:
    """How many of those who wait have been let in by then."""
    inside = 0

    async def enter() -> None:
        nonlocal inside
        await gate.enter()
        inside += 1

    entering = [asyncio.ensure_future(enter()) for _ in range(waiting)]
    await asyncio.sleep(seconds)
    for one in entering:
        one.cancel()
    return inside


async def test_an_open_gate_lets_everyone_in_at_once() -> None:
    await let_in(Gate(half), 500)
    assert asyncio.get_running_loop().time() == 0.0


@pytest.mark.parametrize("asked_s", [None, 30.0])
async def test_single_refusals_among_answers_delay_no_other_call(asked_s: float | None) -> None:
    gate = Gate(half)
    for _ in range(50):
        for number, place in enumerate(await let_in(gate, 10)):
            if number in (3, 6):
                gate.leave(place, "refused", asked_s=asked_s)
            else:
                gate.leave(place, "answered")
    assert gate.round == 0
    assert (await inside_after(gate, 0.01, waiting=200)) == 200


async def test_single_refusals_long_before_any_answer_delay_no_other_call() -> None:
    """Ten quick refusals and no answer yet: ninety calls are being answered meanwhile."""
    gate = Gate(half)
    for place in (await let_in(gate, 100))[::10]:
        gate.leave(place, "refused", asked_s=30.0)
    assert gate.round == 0
    assert (await inside_after(gate, 0.01, waiting=200)) == 200


async def test_where_most_calls_are_refused_half_go_in_and_each_answer_admits_one_more() -> None:
    gate = Gate(half)
    places = await let_in(gate, 44)
    gate.leave(places[0], "answered")
    for place in places[1:4]:
        gate.leave(place, "refused", asked_s=30.0)
    assert gate.round == 0
    for place in places[4:34]:
        gate.leave(place, "lost")  # ten are still inside, and 20 may be
    narrow = await inside_after(gate, 60, waiting=200)
    for place in places[34:]:
        gate.leave(place, "answered")
    assert (10 + narrow, narrow + await inside_after(gate, 60, waiting=200)) == (20, 30)


async def test_calls_refused_one_after_another_hold_all_back_until_the_time_asked_for() -> None:
    """F01, F02"""
    gate = await closed(10.0)
    told_s = gate.closed_s
    await gate.enter()
    entered_s = asyncio.get_running_loop().time()
    assert told_s == entered_s == pytest.approx(11.25)


async def test_it_is_the_order_of_going_in_that_counts_not_that_of_the_refusals() -> None:
    gate = Gate(half)
    rounds: list[int] = []
    places = await let_in(gate, 9)
    for number in (8, 2, 6, 3, 4, 0, 5):
        gate.leave(places[number], "refused", asked_s=9.0)
        rounds.append(gate.round)
    assert rounds == [0, 0, 0, 0, 0, 0, 1]


async def test_calls_that_report_what_is_known_do_not_lengthen_the_pause() -> None:
    """F02"""
    gate = Gate(half)
    pauses: set[float] = set()
    for place in await let_in(gate, 100):
        gate.leave(place, "refused")
        pauses.add(gate.closed_s)
    assert gate.round == 1
    assert pauses == {0.0, 0.5625}


async def test_a_longer_wait_delays_all_calls_while_the_gate_is_closed() -> None:
    """F01"""
    gate = Gate(half)
    *places, late, later = await let_in(gate, IN_A_ROW + 2)
    for place in places:
        gate.leave(place, "refused", asked_s=2.0)
    gate.leave(late, "refused", asked_s=8.0)
    longer_s = gate.closed_s
    await asyncio.sleep(10.0)
    gate.leave(later, "refused", asked_s=8.0)
    assert (longer_s, gate.closed_s) == (9.0, 0.0)


async def test_a_refused_probe_closes_the_gate_again_for_twice_as_long() -> None:
    """F02"""
    gate = await closed(None)
    pauses = [gate.closed_s]
    for _ in range(3):
        (probe,) = await let_in(gate, 1)
        gate.leave(probe, "refused")
        pauses.append(gate.closed_s)
    assert pauses == [0.5625, 1.125, 2.25, 4.5]


async def test_a_refused_probe_closes_the_gate_whatever_became_of_calls_before_the_pause() -> None:
    """F02"""
    gate = Gate(half)
    for number, place in enumerate(await let_in(gate, 2 * IN_A_ROW)):
        gate.leave(place, "refused" if number < IN_A_ROW else "answered")
    (probe,) = await let_in(gate, 1)
    gate.leave(probe, "refused")
    assert gate.round == 2


async def test_after_a_pause_calls_go_through_one_two_four_at_a_time() -> None:
    """F02"""
    gate = await closed(5.0)
    started: Counter[float] = Counter()

    async def call() -> None:
        place = await gate.enter()
        assert place is not None
        started[asyncio.get_running_loop().time()] += 1
        await asyncio.sleep(1)
        gate.leave(place, "answered")

    await asyncio.gather(*(call() for _ in range(31)))
    assert [started[moment] for moment in sorted(started)] == [1, 2, 4, 8, 16]


async def test_answers_to_calls_from_before_the_pause_do_not_widen_the_gate() -> None:
    """F02"""
    gate = Gate(half)
    places = await let_in(gate, 50)
    for place in places[:IN_A_ROW]:
        gate.leave(place, "refused", asked_s=5.0)
    for place in places[IN_A_ROW:]:
        gate.leave(place, "answered")
    assert (await inside_after(gate, 100, waiting=50)) == 1


@pytest.mark.parametrize("while_paused", [False, True])
async def test_a_waiter_that_is_cancelled_gives_its_place_on(while_paused: bool) -> None:
    gate = await closed(5.0)
    (place,) = await let_in(gate, 1)  # the one place there is
    first, second = (asyncio.ensure_future(gate.enter()) for _ in range(2))
    await asyncio.sleep(0)
    gate.leave(place, "refused" if while_paused else "lost", asked_s=5.0)
    if while_paused:
        await asyncio.sleep(1)  # it is on its way in and sleeps the new pause out
    first.cancel()
    async with asyncio.timeout(100):
        place = await second
    assert place is not None
    assert place.round == 1 + while_paused


async def probed_in_vain(gate: Gate, *, until_round: int) -> None:
    """Refuse every call until the gate has closed that often."""
    while gate.round < until_round:
        (probe,) = await let_in(gate, 1)
        gate.leave(probe, "refused")


async def test_who_waits_leaves_without_a_place_after_four_pauses_without_an_answer() -> None:
    gate = await closed(2.0)
    await probed_in_vain(gate, until_round=MAX_CLOSINGS - 1)
    (probe,) = await let_in(gate, 1)
    waiting = asyncio.ensure_future(gate.enter(since=0))
    await asyncio.sleep(1)
    assert not waiting.done()
    gate.leave(probe, "refused")
    assert (await waiting, gate.closed_s > 0) == (None, True)


async def test_an_answer_renews_the_patience_of_who_waits() -> None:
    gate = await closed(2.0)
    await probed_in_vain(gate, until_round=MAX_CLOSINGS - 1)
    for _ in range(2):
        (probe,) = await let_in(gate, 1)
        gate.leave(probe, "answered")
    for _ in range(IN_A_ROW):
        (place,) = await let_in(gate, 1)
        gate.leave(place, "refused")
    assert gate.round == MAX_CLOSINGS
    assert (await gate.enter(since=0)) is not None


@dataclass(frozen=True, slots=True)
class Visit:
    """One call as the property test plays it."""

    starts_s: float
    takes_s: float
    ends: Literal["answered", "refused", "lost", "cancelled"]


VISITS = st.builds(
    Visit,
    starts_s=st.sampled_from([0.0, 0.0, 0.3, 1.0, 4.0]),
    takes_s=st.sampled_from([0.0, 0.1, 1.0, 3.0]),
    ends=st.sampled_from(["answered", "answered", "refused", "refused", "lost", "cancelled"]),
)


@given(st.lists(VISITS, min_size=1, max_size=25), st.integers(0, 2**16))
@settings(max_examples=150)
def test_no_more_calls_enter_after_a_pause_than_were_answered_and_none_waits_for_ever(
    visits: list[Visit], seed: int
) -> None:
    """F02"""
    jitter = itertools.cycle([(seed % 97) / 97, 0.0, 1.0])

    async def story() -> None:
        gate = Gate(lambda: next(jitter))
        went_in: Counter[int] = Counter()
        ended: Counter[int] = Counter()
        answered: Counter[int] = Counter()

        async def visit(one: Visit) -> None:
            await asyncio.sleep(one.starts_s)
            place = await gate.enter()
            assert place is not None
            assert gate.closed_s == 0.0
            round = place.round
            went_in[round] += 1
            if round > 0:
                assert went_in[round] - ended[round] <= 1 + answered[round]
            ending: Literal["answered", "refused", "lost"] = "lost"
            try:
                await asyncio.sleep(one.takes_s)
                if one.ends != "cancelled":
                    ending = one.ends
            finally:
                ended[round] += 1
                answered[round] += ending == "answered"
                gate.leave(place, ending)

        async def cancelled(one: Visit) -> None:
            work = asyncio.ensure_future(visit(one))
            await asyncio.sleep(one.starts_s + one.takes_s / 2)
            work.cancel()
            await asyncio.wait([work])
            if not work.cancelled():
                work.result()

        async with asyncio.timeout(10_000), asyncio.TaskGroup() as group:
            for one in visits:
                group.create_task(cancelled(one) if one.ends == "cancelled" else visit(one))
        assert went_in == ended

    run_virtual(story())
