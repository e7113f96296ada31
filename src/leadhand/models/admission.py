"""Admission: a call reserves budget, then rate, before it is made, and is settled afterwards.

In this order a call that waits for budget takes up no rate that other calls could use. Both are
released however the call ends.
"""

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from leadhand.contracts.outcome import Usage
from leadhand.errors import InputError, ModelError
from leadhand.models.connections import Connection
from leadhand.models.ledger import NOTHING, UNBOUNDED, Account, Amount, nano_usd, without_price
from leadhand.models.rates import RateUse


class CallReservation:
    def __init__(
        self,
        connection: Connection,
        account: Account | None,
        messages: Sequence[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> None:
        self.expected = Amount(requests=1)
        self.booked = NOTHING
        """Nothing until the call is made."""
        self._forecast, self._limiter = connection.forecast, connection.limiter
        self._account = account
        self._reserved = False
        self._share: RateUse | None = None
        self._counts = account is not None or self._limiter.counts
        self._tokens_in = 0
        if self._counts:
            tokens_in, tokens_out = self._forecast.tokens(messages, settings, parameters)
            self._tokens_in = tokens_in
            self.expected = Amount(1, tokens_in + tokens_out)
            if account is not None and account.ledger.budget.usd is not None:
                price = _price(connection, tokens_in, tokens_out)
                self.expected = self.expected._replace(nano_usd=price)

    @property
    def tokens_left(self) -> int | None:
        """What the budget leaves for the answer, in tokens; None if it is unlimited."""
        left = self._account.left if self._account is not None else None
        if left is None:
            return None
        left, bounds = left.plus(self.expected if self._reserved else NOTHING), list[int]()
        if left.tokens < UNBOUNDED:
            bounds.append(left.tokens - self._tokens_in)
        price = self._forecast.usd(0, 1_000) if left.nano_usd < UNBOUNDED else None
        if price:
            usd = left.nano_usd - nano_usd(self._forecast.usd(self._tokens_in, 0) or 0.0)
            bounds.append(1_000 * usd // max(nano_usd(price), 1))
        return max(min(bounds), 1) if bounds else None

    async def admit(self, role: str) -> None:
        """Wait until the call may be made; always followed by `settle`. Raises `BudgetUsedUp`."""
        if self._account is not None:
            await self._account.reserve(self.expected, role=role)
            self._reserved = True
        self._share = await self._limiter.enter(self.expected.tokens)

    def settle(self) -> None:
        if self._share is not None:
            self._limiter.correct(self._share, self.booked.tokens)
            self._limiter.leave()
        if self._account is not None and self._reserved:
            self._account.settle(self.expected, self.booked)

    def sent(self) -> None:
        """The call may have to be paid for from now on, even without an answer."""
        self.booked = self.expected

    def refused(self) -> None:
        """The model refused the call, which then costs nothing."""
        self.booked = Amount(requests=1)

    def answered(self, usage: Usage) -> None:
        tokens_in, tokens_out = usage.input_tokens, usage.output_tokens
        if not (tokens_in or tokens_out):
            return  # unknown: the expected usage stays booked
        self._forecast.learn(tokens_out)
        if not self._counts:
            return
        usd = usage.cost_usd
        if usd is None and self.expected.nano_usd:
            usd = self._forecast.usd(tokens_in, tokens_out)
        self.booked = Amount(1, tokens_in + tokens_out, nano_usd(usd or 0.0))


def _price(connection: Connection, tokens_in: int, tokens_out: int) -> int:
    usd = connection.forecast.usd(tokens_in, tokens_out)
    if usd is None:
        raise ModelError(without_price(connection.name), transient=False)
    return nano_usd(usd)


def check_price(connection: Connection, account: Account) -> None:
    """Raises `InputError` if the account is in dollars and the model's price is unknown."""
    if account.ledger.budget.usd is not None and connection.forecast.usd(1, 1) is None:
        raise InputError(without_price(connection.name))
