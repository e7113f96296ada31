"""The ledger: what a tree of runs has spent on models, and what its calls in flight may still cost.

A call reserves the most that it is likely to cost, and is settled at its real cost. Both are atomic
within an event loop, so that two calls never count on the same last cent. Only requests can be
reserved in other threads, too.
"""

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from leadhand.contracts.budget import Budget
from leadhand.errors import BudgetUsedUp

RESERVE = 0.2
"""The share of the remaining budget that is kept for a synthesis by a model."""
_UNSYNTHESIZED = 3
NANO = 1_000_000_000
_AT_WORK = ("planner", "router", "worker")
"""Roles that may not use the reserve, because they do the work to be synthesized; nor may a
judge before the synthesis begins."""
_UNBOUNDED = 2**62
UNBOUNDED = _UNBOUNDED // 2
_MONEY = 2


class Amount(NamedTuple):
    """Requests, tokens and money; money in billionths of a dollar, so that sums are exact."""

    requests: int = 0
    tokens: int = 0
    nano_usd: int = 0

    def plus(self, other: "Amount") -> "Amount":
        return Amount(*(one + more for one, more in zip(self, other, strict=True)))

    def minus(self, other: "Amount") -> "Amount":
        return Amount(*(one - less for one, less in zip(self, other, strict=True)))

    def within(self, room: "Amount") -> bool:
        return all(one <= most for one, most in zip(self, room, strict=True))


NOTHING = Amount()
REQUEST = Amount(requests=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    amount: Amount
    kept: Amount
    granted: asyncio.Future[bool]


class Ledger:
    """The accounts of one budget. For the tasks of one event loop."""

    def __init__(
        self, budget: Budget, *, spent: Amount = NOTHING, called: str = "the budget"
    ) -> None:
        """`spent` is what a resumed run used before; `called` is the budget's name in messages."""
        self.budget = budget
        self._called = called
        self._cap = cap_of(budget)
        self._settled = spent
        self._held = NOTHING
        self._in_flight = 0
        self._waiting: deque[_Waiter] = deque()
        self._lock = threading.Lock()

    @property
    def settled(self) -> Amount:
        return self._settled

    @property
    def held(self) -> Amount:
        return self._held

    @property
    def left(self) -> Amount:
        return self._cap.minus(self._settled).minus(self._held)

    @property
    def overrun(self) -> str | None:
        """A message if calls used more than they had reserved and exceeded the budget."""
        if self._settled.within(self._cap):
            return None
        unit = _lacking(self._settled, self._cap)
        used = in_words(unit, self._settled)
        return (
            f"{self._name(unit)} was exceeded: {used} used, because a call used more than expected"
        )

    async def reserve(self, amount: Amount, *, kept: Amount = NOTHING) -> None:
        """Reserve `amount`, leaving at least `kept` free; must be followed by `settle`.

        Waits while reservations of other calls may turn out too high. Raises `BudgetUsedUp`.
        """
        granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        waiter = _Waiter(amount, kept, granted)
        self._waiting.append(waiter)
        self._serve()
        try:
            if await granted:
                return
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled() and granted.result():
                self.settle(amount, NOTHING)
            self._serve()  # the next waiter may fit
            raise
        raise BudgetUsedUp(self._refusal(amount, kept))

    def take_request(self, *, kept: Amount = NOTHING) -> None:
        """Reserve one request at once, in any thread; must be followed by `settle`.

        Its tokens are not known before: one must be left. Raises `BudgetUsedUp`.
        """
        with self._lock:
            room = self._cap.minus(self._settled).minus(kept)
            needed = Amount(self._held.requests + 1, 1)
            if not needed.within(room):
                unit = _lacking(needed, room)
                used = in_words(unit, self._settled)
                in_flight = f", {self._held.requests:,} in flight" if self._held.requests else ""
                raise BudgetUsedUp(
                    f"{self._name(unit)} is used up: {used} used{in_flight}{_kept(unit, kept)}"
                )
            self._held = self._held.plus(REQUEST)
            self._in_flight += 1

    def settle(self, reserved: Amount, used: Amount) -> None:
        with self._lock:
            self._held = self._held.minus(reserved)
            self._in_flight -= 1
        self.book(used)

    def book(self, used: Amount) -> None:
        """Count what calls used that reserved nothing."""
        self._settled = self._settled.plus(used)
        self._serve()

    def _serve(self) -> None:
        """Grant or refuse waiting reservations, first come, first served, as far as possible."""
        while self._waiting:
            waiter = self._waiting[0]
            if not waiter.granted.done():
                with self._lock:
                    room = self._cap.minus(self._settled).minus(waiter.kept)
                    fits = waiter.amount.plus(self._held).within(room)
                    if not fits and self._in_flight and waiter.amount.within(room):
                        return  # the calls in flight may turn out cheaper
                    if fits:
                        self._held = self._held.plus(waiter.amount)
                        self._in_flight += 1
                waiter.granted.set_result(fits)
            self._waiting.popleft()

    def _refusal(self, amount: Amount, kept: Amount) -> str:
        room = self._cap.minus(self._settled).minus(kept)
        unit = _lacking(amount, room)
        state, said = "is used up", f"{in_words(unit, self._settled)} used, and the next call"
        if not self._settled[unit]:
            state, said = "is too small", "a call"
        said += f" may take {in_words(unit, amount)}"
        return f"{self._name(unit)} {state}: {said}{_kept(unit, kept)}"

    def _name(self, unit: int) -> str:
        return f"{self._called} of {in_words(unit, self._cap)}"


@dataclass(slots=True, eq=False)
class _Allowance:
    ledger: Ledger
    kept: Amount
    """The reserve of the outer run, which not even this run's synthesis may use."""
    kept_from_work: Amount


class Account:
    """What one run may spend from a ledger. Part of it is kept for the run's synthesis. A nested
    run may also have a ledger of its own, for its task's limit."""

    def __init__(self, ledger: Ledger, *, kept: Amount = NOTHING) -> None:
        """`kept` is the reserve of an outer run, which not even this run's synthesis may use."""
        self.ledger = ledger
        self.used_up: str | None = None
        """Why the first call was refused, or that the budget was exceeded; None before."""
        self.on_used_up: Callable[[str], None] = lambda _: None
        self._shares = (_Allowance(ledger, kept, kept),)
        self._synthesizing = False

    @property
    def left(self) -> Amount:
        """What is neither spent nor reserved, of each unit the least."""
        lefts = (one.ledger.left for one in self._shares)
        return Amount(*(min(unit) for unit in zip(*lefts, strict=True)))

    def nested(self, *, max_tokens: int | None = None) -> "Account":
        """An account from the same ledger, up to `max_tokens`."""
        account = Account(self.ledger)
        own = () if max_tokens is None else (_Allowance(_limit(max_tokens), NOTHING, NOTHING),)
        account._shares = (
            *own,
            *(
                _Allowance(one.ledger, one.kept_from_work, one.kept_from_work)
                for one in self._shares
            ),
        )
        return account

    def keep_for_synthesis(self) -> None:
        """Keep a share of the remaining budget for a synthesis by a model."""
        for one in self._shares:
            one.kept_from_work = one.kept.plus(_reserve(one.ledger, one.kept))

    def begin_synthesis(self) -> None:
        """Allow calls to use what was kept."""
        self._synthesizing = True

    async def reserve(self, amount: Amount, *, role: str) -> None:
        """Raises `BudgetUsedUp`."""
        at_work = role in _AT_WORK or (role == "judge" and not self._synthesizing)
        reserved: list[Ledger] = []
        try:
            # Always from the innermost to the outermost, so that calls can't deadlock.
            for one in self._shares:
                kept = one.kept_from_work if at_work else one.kept
                await one.ledger.reserve(amount, kept=kept)
                reserved.append(one.ledger)
        except BaseException as refused:
            for ledger in reserved:
                ledger.settle(amount, NOTHING)
            if isinstance(refused, BudgetUsedUp):
                self._report(str(refused))
            raise

    def take_request(self, in_loop: Callable[[Callable[[], None]], None]) -> None:
        """Reserve one `REQUEST` in any thread; must be followed by `settle`. `in_loop` calls a
        function in the event loop. Raises `BudgetUsedUp`."""
        taken: list[Ledger] = []
        try:
            for one in self._shares:
                one.ledger.take_request(kept=one.kept_from_work)
                taken.append(one.ledger)
        except BudgetUsedUp as refused:
            why = str(refused)

            def give_back() -> None:
                for ledger in taken:
                    ledger.settle(REQUEST, NOTHING)
                self._report(why)

            in_loop(give_back)
            raise

    def settle(self, reserved: Amount, used: Amount) -> None:
        for one in self._shares:
            one.ledger.settle(reserved, used)
        self._report_overrun()

    def book(self, used: Amount) -> None:
        for one in self._shares:
            one.ledger.book(used)
        self._report_overrun()

    def _report_overrun(self) -> None:
        for one in self._shares:
            if one.ledger.overrun is not None:
                self._report(one.ledger.overrun)

    def _report(self, why: str) -> None:
        self.used_up = self.used_up or why
        self.on_used_up(why)


def account_within(outer: Account | None, *, max_tokens: int | None) -> Account | None:
    if outer is not None:
        return outer.nested(max_tokens=max_tokens)
    return None if max_tokens is None else Account(_limit(max_tokens))


def nano_usd(usd: float) -> int:
    """Dollars as whole billionths, rounded up."""
    return math.ceil(round(usd * NANO, 3))


def cap_of(budget: Budget) -> Amount:
    usd = None if budget.usd is None else math.floor(round(budget.usd * NANO, 3))
    bounds = (budget.requests, budget.tokens, usd)
    return Amount(*(_UNBOUNDED if bound is None else bound for bound in bounds))


def budget_of(cap: Amount) -> Budget:
    requests, tokens, nano = (None if bound >= UNBOUNDED else bound for bound in cap)
    return Budget(usd=None if nano is None else nano / NANO, tokens=tokens, requests=requests)


def _limit(max_tokens: int) -> Ledger:
    return Ledger(Budget(tokens=max_tokens), called="the task's limit")


def _reserve(ledger: Ledger, kept: Amount) -> Amount:
    """At least one request, but none of the three that a plan and two results take."""
    left = ledger.left.minus(kept)
    bounded = [amount < UNBOUNDED for amount in left]
    requests = max(int(left.requests * RESERVE), 1) if left.requests > _UNSYNTHESIZED else 0
    shares = (requests, int(left.tokens * RESERVE), int(left.nano_usd * RESERVE))
    return Amount(
        *(max(share, 0) if has else 0 for share, has in zip(shares, bounded, strict=True))
    )


def _lacking(amount: Amount, room: Amount) -> int:
    """The first of requests, tokens and money that `room` has too little of."""
    return next(unit for unit in range(3) if amount[unit] > room[unit])


def _kept(unit: int, kept: Amount) -> str:
    if not kept[unit]:
        return ""
    verb = "are" if unit != _MONEY and kept[unit] > 1 else "is"
    return f"; {in_words(unit, kept)} {verb} kept for the synthesis"


def without_price(name: str) -> str:
    """Why a model with no known price can't be called within a budget in dollars."""
    return (
        f"the price of {name!r} is unknown, so a budget in US dollars can't be enforced: "
        "give one in tokens instead (--budget-tokens)"
    )


def in_words(unit: int, amount: Amount) -> str:
    count = amount[unit]
    if unit == _MONEY:
        usd = count / NANO
        if 0 < usd < 0.001:
            return f"${usd:.9f}".rstrip("0")
        return f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"
    word = ("request", "token")[unit]
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
