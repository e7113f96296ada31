"""The ledger: reservations never exceed the cap, and every waiting call gets an answer."""

import asyncio
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand import InputError
from leadhand.contracts.budget import Budget
from leadhand.errors import BudgetUsedUp
from leadhand.models.ledger import NOTHING, Account, Amount, Ledger, account_within, nano_usd
from leadhand.testing import run_virtual


def tokens(count: int) -> Amount:
    return Amount(requests=1, tokens=count)


def with_synthesis(budget: Budget) -> Account:
    account = Account(Ledger(budget))
    account.keep_for_synthesis()
    return account


def nested(ledger: Ledger) -> tuple[Account, Account]:
    """A run's account and that of a run within it, both with a synthesis by a model."""
    outer = Account(ledger)
    outer.keep_for_synthesis()
    inner = outer.nested()
    inner.keep_for_synthesis()
    return outer, inner


async def spent(account: Account, count: int, *, role: str = "worker") -> bool:
    """Whether a call that takes so many tokens was made."""
    try:
        await account.reserve(tokens(count), role=role)
    except BudgetUsedUp:
        return False
    account.settle(tokens(count), tokens(count))
    return True


# What a budget is


@pytest.mark.parametrize(
    "amounts",
    [{"usd": 0.0}, {"usd": -1.0}, {"usd": float("nan")}, {"usd": float("inf")}, {"tokens": 0}],
)
def test_a_budget_is_of_something(amounts: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Budget(**amounts)  # pyright: ignore[reportArgumentType]


async def test_ten_dimes_are_a_dollar() -> None:
    ledger = Ledger(Budget(usd=1.0))
    dime = Amount(requests=1, nano_usd=nano_usd(0.1))
    made = 0
    for _ in range(11):
        try:
            await ledger.reserve(dime)
        except BudgetUsedUp:
            break
        ledger.settle(dime, dime)
        made += 1
    assert made == 10


# One call


async def test_a_refusal_says_what_the_budget_is_what_was_used_and_what_was_asked_for() -> None:
    account = with_synthesis(Budget(tokens=1_000))
    assert await spent(account, 700)
    with pytest.raises(BudgetUsedUp) as refused:
        await account.reserve(tokens(150), role="worker")
    assert account.used_up == str(refused.value)
    assert str(refused.value) == (
        "the budget of 1,000 tokens is used up: 700 tokens used, and the next call may take "
        "150 tokens; 200 tokens are kept for the synthesis"
    )


async def test_a_budget_too_small_for_any_call_says_so_and_what_a_call_may_take() -> None:
    account = with_synthesis(Budget(tokens=1_000))
    with pytest.raises(BudgetUsedUp) as refused:
        await account.reserve(tokens(2_225), role="planner")
    assert str(refused.value) == (
        "the budget of 1,000 tokens is too small: a call may take 2,225 tokens; "
        "200 tokens are kept for the synthesis"
    )


async def test_what_is_kept_for_the_synthesis_is_there_for_it_alone() -> None:
    account = with_synthesis(Budget(tokens=1_000))
    assert [
        await spent(account, 900),
        await spent(account, 801, role="planner"),
        await spent(account, 800),
        await spent(account, 1),
        await spent(account, 200, role="synthesizer"),
        await spent(account, 1, role="synthesizer"),
    ] == [False, False, True, False, True, False]


@pytest.mark.parametrize(("requests", "for_work"), [(1, 1), (2, 2), (3, 3), (4, 3), (10, 8)])
async def test_none_is_kept_of_the_three_requests_that_a_plan_and_two_results_take(
    requests: int, for_work: int
) -> None:
    account = with_synthesis(Budget(requests=requests))
    made = 0
    while await spent(account, 1):
        made += 1
    assert made == for_work


async def test_a_nested_run_draws_on_the_same_ledger_and_leaves_the_outer_reserve_alone() -> None:
    outer, inner = nested(Ledger(Budget(tokens=1_000)))
    assert [
        await spent(inner, 641),  # a fifth of the outer run's 800 is kept in its turn
        await spent(inner, 640),
        await spent(inner, 161, role="synthesizer"),
        await spent(inner, 160, role="synthesizer"),
        await spent(outer, 1),
        await spent(outer, 200, role="synthesizer"),
    ] == [False, True, False, True, False, True]


@pytest.mark.wall_clock
async def test_a_judge_leaves_the_reserve_alone_until_the_synthesis_begins() -> None:
    """To take one of two results of a task is work; to settle contradictions is synthesis."""
    account = with_synthesis(Budget(tokens=1_000))
    await spent(account, 800)
    during = await spent(account, 100, role="judge")
    account.begin_synthesis()
    assert (during, await spent(account, 100, role="judge")) == (False, True)


@pytest.mark.parametrize("budget", [None, Budget(tokens=10_000)])
@pytest.mark.wall_clock
async def test_a_nested_run_stays_within_the_limit_of_its_task(budget: Budget | None) -> None:
    outer = Account(Ledger(budget)) if budget is not None else None
    inner = account_within(outer, max_tokens=1_000)
    assert inner is not None
    inner.keep_for_synthesis()
    deeper = inner.nested()
    made = [
        await spent(inner, 500),
        await spent(deeper, 301),  # 200 of the limit are for the inner synthesis
        await spent(deeper, 300),
        await spent(inner, 1),
        await spent(inner, 200, role="synthesizer"),
        await spent(inner, 1, role="synthesizer"),
    ]
    why, settled = inner.used_up, inner.ledger.settled.tokens
    assert made == [True, False, True, False, True, False]
    assert why is not None
    assert why.startswith("the task's limit of 1,000 tokens is used up: 800 tokens used, and the")
    assert settled == 1_000


@pytest.mark.wall_clock
async def test_a_call_that_one_of_two_ledgers_refuses_holds_nothing_in_the_other() -> None:
    outer = Account(Ledger(Budget(tokens=100)))
    inner = outer.nested(max_tokens=1_000)
    refused = not await spent(inner, 101)
    held = outer.ledger.held
    await spent(inner, 100)
    assert (held, outer.ledger.settled, refused) == (NOTHING, tokens(100), True)


@pytest.mark.wall_clock
async def test_a_cancelled_wait_for_the_outer_ledger_gives_the_inner_ones_back() -> None:
    outer = Account(Ledger(Budget(tokens=100)))
    inner = outer.nested(max_tokens=100)
    await outer.reserve(tokens(100), role="worker")
    waits = asyncio.ensure_future(inner.reserve(tokens(100), role="worker"))
    await asyncio.sleep(0)
    waits.cancel()
    await asyncio.wait([waits])
    outer.settle(tokens(100), NOTHING)
    assert await spent(inner, 100)


def test_without_budget_and_limit_a_nested_run_has_no_account() -> None:
    assert account_within(None, max_tokens=None) is None


async def test_a_call_that_exceeds_the_budget_is_booked_and_reported_at_once() -> None:
    told: list[str] = []
    account = Account(Ledger(Budget(tokens=1_000)))
    account.on_used_up = told.append
    await account.reserve(tokens(600), role="worker")
    account.settle(tokens(600), tokens(1_240))
    at_once = list(told)
    assert not await spent(account, 1)
    assert account.used_up == told[0]
    told, settled = at_once, account.ledger.settled.tokens
    assert settled == 1_240
    assert told == [
        "the budget of 1,000 tokens was exceeded: 1,240 tokens used, because a call used more "
        "than expected"
    ]


# Many calls


async def test_ten_calls_at_once_do_not_each_see_the_last_cent() -> None:
    account = Account(Ledger(Budget(usd=0.01)))
    cent = Amount(requests=1, nano_usd=nano_usd(0.01))

    async def call() -> bool:
        try:
            await account.reserve(cent, role="worker")
        except BudgetUsedUp:
            return False
        await asyncio.sleep(1)
        account.settle(cent, cent)
        return True

    assert list(await asyncio.gather(*(call() for _ in range(10)))) == [True] + [False] * 9


async def test_a_call_waits_for_one_that_may_turn_out_cheaper() -> None:
    # `small` would fit from the start, but stays behind `next`, which would wait for ever else.
    ledger = Ledger(Budget(tokens=1_000))
    done: list[tuple[str, float]] = []

    async def call(name: str, reserved: int, used: int) -> None:
        try:
            await ledger.reserve(tokens(reserved))
        except BudgetUsedUp:
            done.append((f"{name} refused", asyncio.get_running_loop().time()))
            return
        await asyncio.sleep(1)
        done.append((name, asyncio.get_running_loop().time()))
        ledger.settle(tokens(reserved), tokens(used))

    calls = [("big", 900, 300), ("next", 600, 600), ("small", 100, 0), ("late", 100, 0)]
    await asyncio.gather(*(call(*one) for one in calls))
    assert done == [("big", 1.0), ("next", 2.0), ("small", 2.0), ("late", 3.0)]


async def test_a_call_that_nothing_under_way_could_make_room_for_is_refused_at_once() -> None:
    ledger = Ledger(Budget(tokens=1_000))
    await ledger.reserve(tokens(500))
    ledger.settle(tokens(500), tokens(500))
    await ledger.reserve(tokens(400))
    with pytest.raises(BudgetUsedUp):
        await ledger.reserve(tokens(501))
    assert asyncio.get_running_loop().time() == 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the property plays it."""

    starts_s: float
    takes_s: float
    reserved: Amount
    used: Amount
    ends: Literal["answered", "lost", "cancelled"]
    account: int


AMOUNTS = st.builds(
    Amount, requests=st.just(1), tokens=st.integers(0, 60), nano_usd=st.integers(0, 60)
)
CALLS = st.builds(
    Call,
    starts_s=st.sampled_from([0.0, 0.0, 0.5, 2.0]),
    takes_s=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    reserved=AMOUNTS,
    used=AMOUNTS,
    ends=st.sampled_from(["answered", "answered", "answered", "lost", "cancelled"]),
    account=st.integers(0, 2),
)
BUDGETS = st.builds(
    Budget,
    usd=st.none() | st.integers(1, 150).map(lambda nano: nano / 1_000_000_000),
    tokens=st.none() | st.integers(1, 150),
    requests=st.none() | st.integers(1, 10),
)


@given(BUDGETS, st.lists(CALLS, min_size=1, max_size=25), st.booleans())
@settings(max_examples=100)
def test_the_cap_is_never_exceeded_and_no_call_waits_for_ever(
    budget: Budget, calls: list[Call], overshoots: bool
) -> None:
    """Any calls of a tree of runs, in any order, answered, lost or cancelled at any moment.

    Where real usage may be above what was reserved, it passes the cap by no more than the calls
    that were under way used too much.
    """
    bounds = (
        budget.requests,
        budget.tokens,
        None if budget.usd is None else round(budget.usd * 1_000_000_000),
    )

    def passes(amount: Amount) -> bool:
        return any(bound is not None and amount[unit] > bound for unit, bound in enumerate(bounds))

    async def story() -> None:
        ledger = Ledger(budget)
        outer, inner = nested(ledger)
        accounts = [outer, inner, outer.nested()]
        excess = NOTHING

        async def call(one: Call) -> None:
            nonlocal excess
            await asyncio.sleep(one.starts_s)
            account = accounts[one.account]
            try:
                await account.reserve(one.reserved, role="worker")
            except BudgetUsedUp:
                assert account.used_up is not None
                return
            assert not passes(ledger.settled.plus(ledger.held).minus(excess))
            used = NOTHING
            try:
                await asyncio.sleep(one.takes_s)
                if one.ends == "answered":
                    used = one.used if overshoots else Amount(*map(min, one.used, one.reserved))
            finally:
                excess = excess.plus(Amount(*(max(0, more) for more in used.minus(one.reserved))))
                account.settle(one.reserved, used)
                assert not passes(ledger.settled.plus(ledger.held).minus(excess))

        async def cancelled(one: Call) -> None:
            work = asyncio.ensure_future(call(one))
            await asyncio.sleep(one.starts_s + one.takes_s / 2)
            work.cancel()
            await asyncio.wait([work])
            assert work.cancelled() or work.exception() is None

        async with asyncio.timeout(10_000), asyncio.TaskGroup() as group:
            for one in calls:
                group.create_task(cancelled(one) if one.ends == "cancelled" else call(one))
        assert ledger.held == NOTHING
        assert overshoots or ledger.overrun is None
        assert (ledger.overrun is not None) == passes(ledger.settled)

    run_virtual(story())
