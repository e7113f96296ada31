"""Budgets and rates: how much a run may spend, and how fast a model may be called."""

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Literal, TypeVar

from annotated_types import Ge, Gt
from pydantic import FiniteFloat

from leadhand.contracts.data import argument, check_fields
from leadhand.errors import InputError

L = TypeVar("L", "Budget", "Rate")
_Count = Annotated[int, Ge(1)]

LimitName = Literal["deadline_s", "budget"]
"""The limits of a run."""


@argument
@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """What a run and its nested runs may spend on models. An unset amount is unlimited.

    With a `scope`, what all runs may spend together that have the same there.
    """

    usd: Annotated[FiniteFloat, Gt(0)] | None = None
    """US dollars. Can be enforced only if the price of every model is known."""
    tokens: _Count | None = None
    """Tokens in and out together."""
    requests: _Count | None = None
    """Calls to models, answered or not."""
    scope: str | None = None
    """A name in the runs' origins, such as `tenant`: each value there has a budget, which all its
    runs in a journal share. None: each run has one of its own."""
    per: Literal["day", "month"] | None = None
    """How long a shared budget lasts, in UTC, until the next begins; None: for ever."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.per is not None and self.scope is None:
            raise InputError(f"Budget: per={self.per!r} is for a shared budget: give a scope")
        if self.scope is not None and (self.usd, self.tokens, self.requests) == (None, None, None):
            raise InputError(f"Budget: scope={self.scope!r} has no amount: give usd or tokens")

    def tightened(self, other: "Budget") -> "Budget":
        """The lower one of each amount."""
        return _tightened(self, other, "usd", "tokens", "requests")


Budgets = Budget | Sequence[Budget] | None
"""A run's own budget, those that it shares, or a list of both."""


def budgets_of(given: Budgets) -> tuple[Budget | None, tuple[Budget, ...]]:
    """A run's own budget, and those that it shares. Raises `InputError`."""
    budgets = [*given] if isinstance(given, Sequence) else [] if given is None else [given]
    for budget in budgets:
        if not isinstance(budget, Budget):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"budget is {type(budget).__name__}; it must be a leadhand.Budget")
    own = [budget for budget in budgets if budget.scope is None]
    if len(own) > 1:
        raise InputError(f"budget has {len(own)} budgets without a scope; a run has one of its own")
    return own[0] if own else None, tuple(one for one in budgets if one.scope is not None)


@argument
@dataclasses.dataclass(frozen=True, slots=True)
class Rate:
    """How fast all runs of this process together may call one model. An unset rate is unlimited."""

    rpm: _Count | None = None
    """Requests in any minute."""
    tpm: _Count | None = None
    """Tokens in any minute, in and out together."""
    concurrency: _Count | None = None
    """Requests at once."""

    __post_init__ = check_fields

    def tightened(self, other: "Rate") -> "Rate":
        """The stricter value of each field."""
        return _tightened(self, other, "rpm", "tpm", "concurrency")


def _tightened(one: L, other: L, *names: str) -> L:
    values = {name: (getattr(one, name), getattr(other, name)) for name in names}
    least = {
        name: min((n for n in two if n is not None), default=None) for name, two in values.items()
    }
    return dataclasses.replace(one, **least)
