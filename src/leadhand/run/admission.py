"""What a run needs before it works: its turn, its share of budgets, and its uploaded files.

A shared budget is what all runs of a journal with the same value in their origin may spend. The
account of each is a note: what was spent, and what runs have reserved. A run reserves before it is
stored, and what it spent is booked instead when it ends. Until then its reservation stays, also if
its process is lost.
"""

import asyncio
import datetime as dt
import json
import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar
from weakref import WeakKeyDictionary

from leadhand.contracts import events
from leadhand.contracts.budget import Budget
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.errors import BudgetSpent, InputError, JournalError, PlanError, RunInterrupted
from leadhand.models import ledger
from leadhand.models.ledger import NOTHING, UNBOUNDED, Account, Amount, Ledger
from leadhand.models.prompts import prompts_of
from leadhand.plans.checks import check, errors_in
from leadhand.plans.planned_workers import with_chosen_tools
from leadhand.ports import Journal
from leadhand.run.queue import RunQueue
from leadhand.run.run import run_started
from leadhand.run.settings import RunSettings, digest_of
from leadhand.run.step_context import ActiveRun, Cancelled
from leadhand.run.uploads import as_files, keep
from leadhand.workers.runners import needs_model

MAX_VALUE_CHARS = 200
_PERIODS = {"day": "%Y-%m-%d", "month": "%Y-%m", None: "ever"}

T = TypeVar("T")

_locks = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]()
"""Of a process, one run at a time changes an account."""


async def admitted(
    stack: AsyncExitStack,
    journal: Journal,
    recorder: Recorder,
    settings: RunSettings,
    *,
    team: Team,
    queue: RunQueue | None,
    over: bool = False,
) -> RunSettings:
    """Admit a run until `stack` closes; a new one with its uploads. Nothing is needed for one that
    is `over`. Returns its settings with its turn, account and files. Raises `RunRefused`."""
    new = not recorder.state.seq
    uploads = settings.given.uploads if new and settings.given is not None else None
    if queue is not None and not over:
        turn = stack.enter_context(queue.place(settings.origin, may_refuse=new))
        settings = replace(settings, turn=turn)
    if settings.budget is not None or settings.shared:
        spends = not over and needs_model(team)
        budget = reserved(journal, recorder, settings, at=recorder.stamp()["at"], spends=spends)
        settings = await stack.enter_async_context(budget)
    if uploads:
        await keep(journal, recorder.run_id, uploads)
    if names := tuple(uploads or recorder.state.uploads):
        files = await stack.enter_async_context(as_files(journal, recorder.run_id, names))
        settings = replace(settings, uploaded=files)
    return settings


def check_own_plan(plan: Plan, team: Team, request: PlanRequest) -> None:
    """Raises `PlanError` for a plan of the caller that can't be carried out."""
    found = check(
        with_chosen_tools(plan, team), team, request=request.text, earlier=request.earlier
    )
    if errors := errors_in(found):
        raise PlanError(errors)


async def until_turn(
    turn: asyncio.Event,
    recorder: Recorder,
    request: PlanRequest,
    settings: RunSettings,
    team: Team,
    active: ActiveRun,
    plan: Plan | None,
) -> None:
    """Store that a run waits, also its start and `plan` if it is new, and return at its turn, or
    when it is stopped. From then on it is a resumed run. Raises `PlanError`."""
    if plan is not None:
        check_own_plan(plan, team, request)
    if not recorder.state.seq:
        prompts = prompts_of(team) if needs_model(team) else ""
        nonce = secrets.token_hex(8)
        recorder.record(run_started(recorder, team, settings, request, nonce, prompts))
    if plan is not None:
        plan = with_chosen_tools(plan, team)
        recorder.record(events.PlanProposed(**recorder.stamp(), plan=plan, by="person"))
    recorder.record(events.RunQueued(**recorder.stamp()))
    await recorder.commit()
    with suppress(Cancelled):
        await active.unless_stopped(turn.wait())
    recorder.skip_wait()


@dataclass(slots=True)
class _Book:
    """What a note has."""

    spent: Amount = NOTHING
    reserved: dict[str, tuple[Amount, Amount]] = field(
        default_factory=dict[str, tuple[Amount, Amount]]
    )
    """By run: how much, and what the run had spent before."""

    @classmethod
    def read(cls, note: bytes | None) -> "_Book":
        if note is None:
            return cls()
        spent, reserved = json.loads(note)
        rows = {id: (Amount(*amount), Amount(*before)) for id, (amount, before) in reserved.items()}
        return cls(Amount(*spent), rows)

    def write(self) -> bytes:
        return json.dumps([self.spent, self.reserved]).encode()

    def take(self, run_id: str, budget: Budget, own: Amount, most: Amount, spent: Amount) -> Amount:
        """What the run may spend in all: at most its `own` budget, or what is left.

        `most` is what its other budgets allow, `spent` what it has spent. Raises `BudgetSpent`.
        """
        cap = left = ledger.cap_of(budget)
        if run_id not in self.reserved:
            for amount in (self.spent, *(amount for amount, _ in self.reserved.values())):
                left = left.minus(amount)
            amounts = [0, 0, 0]
            for unit in (one for one in range(3) if cap[one] < UNBOUNDED):
                amounts[unit] = max(min(own[unit], most[unit]) - spent[unit], 0)
                if own[unit] >= UNBOUNDED:
                    amounts[unit] = min(amounts[unit], left[unit])
                if left[unit] <= 0 or amounts[unit] > left[unit]:
                    raise BudgetSpent(_refusal(budget, unit, cap, left, Amount(*amounts)))
            self.reserved[run_id] = Amount(*amounts), spent
        amount, before = self.reserved[run_id]
        bounds = zip(cap, most, amount.plus(before), strict=True)
        return Amount(*(other if of >= UNBOUNDED else min(other, one) for of, other, one in bounds))

    def settle(self, run_id: str, spent: Amount) -> None:
        """Book what the run has `spent` since it reserved, if it has reserved anything."""
        if (row := self.reserved.pop(run_id, None)) is not None:
            self.spent = self.spent.plus(spent.minus(row[1]))


@asynccontextmanager
async def reserved(
    journal: Journal, recorder: Recorder, settings: RunSettings, *, at: dt.datetime, spends: bool
) -> AsyncGenerator[RunSettings]:
    """The settings of a run with what it may spend by its own budget and those that it shares.

    Settles if the run ends in the block. Raises `BudgetSpent`, and `InputError` if its origin lacks
    what a budget counts by.
    """
    run_id, spent = recorder.run_id, spent_in(recorder.past)
    own = limit = ledger.cap_of(settings.budget or Budget())
    accounts, taken, account = dict[str, Budget](), dict[str, Budget](), None
    for budget in settings.shared if spends else ():
        key = _key(budget, settings.origin, at, recorder.state.accounts)
        accounts[key] = budget.tightened(accounts.get(key, budget))
    try:
        for key, budget in accounts.items():
            limit = await _reserve(journal, key, run_id, (budget, own, limit, spent))
            taken[key] = budget
        if settings.budget is not None or accounts:
            account = Account(Ledger(ledger.budget_of(limit), spent=spent))
        yield replace(settings, accounts=accounts, account=account)
    except Exception as error:
        if not isinstance(error, JournalError | RunInterrupted):
            await settle(journal, run_id, taken, account.ledger.settled if account else spent)
        raise
    if recorder.state.answer is not None and account is not None:
        await settle(journal, run_id, taken, account.ledger.settled)


async def settle(
    journal: Journal, run_id: str, accounts: Iterable[str], spent: Amount | None = None
) -> None:
    """Book what a run has spent, by its events if it is not given, instead of what it reserved."""
    keys = [*accounts]
    total = spent_in(await journal.events(run_id)) if keys and spent is None else spent or NOTHING
    for key in keys:
        await _change(journal, key, lambda book: book.settle(run_id, total))


def spent_in(log: Iterable[events.Event]) -> Amount:
    """What the recorded calls of a run have used."""
    calls = [event for event in log if isinstance(event, events.ModelCalled)]
    return Amount(
        len(calls),
        sum(call.input_tokens + call.output_tokens for call in calls),
        sum(ledger.nano_usd(call.cost_usd or 0.0) for call in calls),
    )


async def _reserve(
    journal: Journal, key: str, run_id: str, given: tuple[Budget, Amount, Amount, Amount]
) -> Amount:
    try:
        return await _change(journal, key, lambda book: book.take(run_id, *given))
    except BudgetSpent:
        await _clear(journal, key)
        return await _change(journal, key, lambda book: book.take(run_id, *given))


async def _clear(journal: Journal, key: str) -> None:
    """Settle for runs that ended or never began, whose processes died before they did."""
    book = _Book.read((await journal.notes(key)).get(key))
    for run_id, (_, before) in book.reserved.items():
        with suppress(JournalError):  # a damaged run is for those who check it
            if await journal.holder(run_id) is not None:
                continue
            seq = await journal.last_seq(run_id)
            last = await journal.events(run_id, after_seq=seq - 1) if seq else ()
            if not last or isinstance(last[-1], events.RunFinished):
                await settle(journal, run_id, [key], None if last else before)


async def _change(journal: Journal, key: str, change: Callable[[_Book], T]) -> T:
    async with _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        while True:
            known = (await journal.notes(key)).get(key)
            book = _Book.read(known)
            given, new = change(book), book.write()
            if new == known or await journal.swap_note(key, known, new):
                return given


def _key(
    budget: Budget, origin: Mapping[str, object], at: dt.datetime, before: Iterable[str]
) -> str:
    """The key of a budget's account: that from which the run has reserved `before`, or now's."""
    if budget.scope is None or budget.scope not in origin:
        why = f"a budget counts by {budget.scope!r}, which the run's origin lacks"
        raise InputError(f"{why}: give origin={{{budget.scope!r}: ...}}")
    value = json.dumps(origin[budget.scope], sort_keys=True)
    value = value if len(value) <= MAX_VALUE_CHARS else digest_of(value)
    account = f"budget/{budget.per or 'ever'}/{budget.scope}={value}/"
    now = f"{account}{at.astimezone(dt.UTC):{_PERIODS[budget.per]}}"
    return next((key for key in before if key.startswith(account)), now)


def _refusal(budget: Budget, unit: int, cap: Amount, left: Amount, wanted: Amount) -> str:
    every = f"each {budget.scope}" + (f" and {budget.per}" if budget.per else "")
    name = f"the budget of {ledger.in_words(unit, cap)} for {every}"
    if left[unit] <= 0:
        return f"{name} is used up, or reserved by runs under way"
    room, most = ledger.in_words(unit, left), ledger.in_words(unit, wanted)
    return f"{name} has {room} left that no run has reserved, and this run may take {most}"
