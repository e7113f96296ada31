"""Budgets and rates: how much a run may spend, and how fast a model may be called."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leadhand.contracts.arguments import Checked

_DATA = ConfigDict(extra="forbid", defer_build=True)
_Count = Annotated[int, Field(ge=1)]

LimitName = Literal["deadline_s", "budget"]
"""The limits of a run."""


@dataclass(frozen=True, config=_DATA, slots=True)
class Budget(metaclass=Checked):
    """What a run and its nested runs may spend on models. An unset amount is unlimited."""

    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """US dollars. Can be enforced only if the price of every model is known."""
    tokens: _Count | None = None
    """Tokens in and out together."""
    requests: _Count | None = None
    """Calls to models, answered or not."""


@dataclass(frozen=True, config=_DATA, slots=True)
class Rate(metaclass=Checked):
    """How fast all runs of this process together may call one model. An unset rate is unlimited."""

    rpm: _Count | None = None
    """Requests in any minute."""
    tpm: _Count | None = None
    """Tokens in any minute, in and out together."""
    concurrency: _Count | None = None
    """Requests at once."""

    def tightened(self, other: "Rate") -> "Rate":
        """The stricter value of each field."""
        return Rate(
            rpm=_least(self.rpm, other.rpm),
            tpm=_least(self.tpm, other.tpm),
            concurrency=_least(self.concurrency, other.concurrency),
        )


def _least(one: int | None, other: int | None) -> int | None:
    return min((count for count in (one, other) if count is not None), default=None)
