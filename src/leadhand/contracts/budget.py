"""Budgets and rates: how much a run may spend, and how fast a model may be called."""

import dataclasses
from typing import Annotated, Literal

from annotated_types import Ge, Gt
from pydantic import FiniteFloat

from leadhand.contracts.data import argument, check_fields

_Count = Annotated[int, Ge(1)]

LimitName = Literal["deadline_s", "budget"]
"""The limits of a run."""


@argument
@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """What a run and its nested runs may spend on models. An unset amount is unlimited."""

    usd: Annotated[FiniteFloat, Gt(0)] | None = None
    """US dollars. Can be enforced only if the price of every model is known."""
    tokens: _Count | None = None
    """Tokens in and out together."""
    requests: _Count | None = None
    """Calls to models, answered or not."""

    __post_init__ = check_fields


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
        return Rate(
            rpm=_least(self.rpm, other.rpm),
            tpm=_least(self.tpm, other.tpm),
            concurrency=_least(self.concurrency, other.concurrency),
        )


def _least(one: int | None, other: int | None) -> int | None:
    return min((count for count in (one, other) if count is not None), default=None)
