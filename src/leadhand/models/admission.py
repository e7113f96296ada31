"""Admission: what a call has to pass before it is made, and where it is booked afterwards.

First the run's budget, then the model's rates, always in this order: whoever waits for money holds
no place that others need to spend theirs. Both are given back whatever becomes of the call.
"""

import contextlib
from collections.abc import AsyncGenerator, Sequence

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from leadhand.contracts.budget import NO_RATE
from leadhand.contracts.outcome import Usage
from leadhand.errors import InputError, ModelError
from leadhand.models.connections import Connection
from leadhand.models.ledger import NOTHING, Account, Amount, nano_usd


class Bill:
    """What one call is booked at once it is over."""

    def __init__(self, connection: Connection, expected: Amount) -> None:
        self.expected = expected
        self.booked = NOTHING
        """Nothing as long as the call was not made."""
        self._forecast = connection.forecast

    def sent(self) -> None:
        """The call is made: from here on it may have to be paid for, answered or not."""
        self.booked = self.expected

    def refused(self) -> None:
        """The model did not take the call, and asks no money for it."""
        self.booked = Amount(requests=1)

    def answered(self, usage: Usage) -> None:
        """The answer came, and this is what it took."""
        tokens_in, tokens_out = usage.input_tokens, usage.output_tokens
        if not (tokens_in or tokens_out):
            return  # unknown: what was expected stays booked
        usd = usage.cost_usd
        if usd is None and self.expected.nano_usd:
            usd = self._forecast.usd(tokens_in, tokens_out)
        self.booked = Amount(1, tokens_in + tokens_out, nano_usd(usd or 0.0))
        self._forecast.learn(tokens_out)


@contextlib.asynccontextmanager
async def admitted(
    connection: Connection,
    account: Account | None,
    role: str,
    messages: Sequence[ModelMessage],
    settings: ModelSettings | None,
    parameters: ModelRequestParameters,
) -> AsyncGenerator[Bill]:
    """Wait until a call may be made; it is made in the block, and booked as its bill says.

    Raises `BudgetUsedUp` where the run's `account` does not reach for it.
    """
    expected = Amount(requests=1)
    if account is not None or connection.limiter.rate != NO_RATE:
        tokens_in, tokens_out = connection.forecast.tokens(messages, settings, parameters)
        expected = Amount(1, tokens_in + tokens_out)
        if account is not None and account.ledger.budget.usd is not None:
            expected = expected._replace(nano_usd=_price(connection, tokens_in, tokens_out))
    bill = Bill(connection, expected)
    if account is not None:
        await account.reserve(expected, role=role)
    try:
        async with connection.limiter.place(expected.tokens) as share:
            try:
                yield bill
            finally:
                connection.limiter.correct(share, bill.booked.tokens)
    finally:
        if account is not None:
            account.settle(expected, bill.booked)


def _price(connection: Connection, tokens_in: int, tokens_out: int) -> int:
    usd = connection.forecast.usd(tokens_in, tokens_out)
    if usd is None:
        raise ModelError(_without_price(connection.name), transient=False)
    return nano_usd(usd)


def check_price(connection: Connection, account: Account) -> None:
    """Raises `InputError` where the account is in dollars and nobody knows what the model costs."""
    if account.ledger.budget.usd is not None and connection.forecast.usd(1, 1) is None:
        raise InputError(_without_price(connection.name))


def _without_price(name: str) -> str:
    return (
        f"no price is known of {name!r}, so a budget in US dollars can't be held: "
        "give one in tokens instead (--budget-tokens)"
    )
