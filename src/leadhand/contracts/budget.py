"""Budgets and rates as data: how much a run may spend in all, and how fast a model may be asked."""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

_DATA = ConfigDict(extra="forbid", defer_build=True)
_Count = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, config=_DATA, slots=True)
class Budget:
    """What a run and all that is nested in it may spend on models. An unset amount has no bound."""

    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """US dollars. Can be held only where the price of every model is known."""
    tokens: _Count | None = None
    """Tokens in and out together."""
    requests: _Count | None = None
    """Calls to models, answered or not."""


@dataclass(frozen=True, config=_DATA, slots=True)
class Rate:
    """How fast one model may be asked by everyone in this process. An unset one has no bound."""

    rpm: _Count | None = None
    """Requests in any minute."""
    tpm: _Count | None = None
    """Tokens in any minute, in and out together."""
    concurrency: _Count | None = None
    """Requests at once."""

    def tightened(self, other: "Rate") -> "Rate":
        """The stricter of both in everything."""
        return Rate(
            rpm=_least(self.rpm, other.rpm),
            tpm=_least(self.tpm, other.tpm),
            concurrency=_least(self.concurrency, other.concurrency),
        )


def _least(one: int | None, other: int | None) -> int | None:
    return min((count for count in (one, other) if count is not None), default=None)
