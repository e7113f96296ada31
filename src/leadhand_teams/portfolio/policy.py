"""The user's policy: what `policy.yaml` may say, and every mistake in it as one line."""

from contextlib import suppress
from typing import Annotated, Literal, Self, cast

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from leadhand import InputError
from leadhand_teams.shared import values

MAX_CHARS = 200_000
"""A longer policy is refused."""
Target = Literal[
    "min_volatility",
    "max_sharpe",
    "efficient_return",
    "efficient_risk",
    "quadratic_utility",
    "hrp",
    "risk_parity",
    "weights",
]


def _number(value: object) -> object:
    """A number as people write it: 0.6, "60 %", "0,6"."""
    if not isinstance(value, str):
        return value
    with suppress(ValueError):
        return float(value)
    found = values.number(value)
    if found is None:
        raise ValueError(f"{value!r} is not a number: write 0.6 or 60 %")
    return found / 100 if values.unit_of(value) == "%" else found


def _limit(value: object) -> object:
    return None if value in ("null", "~") else _number(value)


Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Positive = Annotated[Number, Field(ge=0)]
Part = Annotated[Number, Field(ge=0, le=1)]
Limit = Annotated[float | None, BeforeValidator(_limit)]
"""Of a weight; None: no limit."""


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Band(_Data):
    """The weight that an asset should have, and how far it may be from it."""

    target: Number | None = None
    min: Number = 0.0
    max: Number = 1.0

    @property
    def is_open(self) -> bool:
        """Whether it has no limits of its own."""
        return (self.min, self.max) == (0, 1)

    @property
    def aim(self) -> float:
        """The target, or the middle of the band."""
        return (self.min + self.max) / 2 if self.target is None else self.target

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.target is None and self.is_open:
            raise ValueError("write a target, or both min and max")
        if not self.min <= self.aim <= self.max:
            ends = f"{self.min:g} to {self.max:g}"
            raise ValueError(f"target {self.aim:g} is not within {ends}: write 0.6 or 60 %")
        return self


NOT_LISTED = Band(target=0, max=0)
"""The band of an asset that a policy with weights does not list."""


class Fees(_Data):
    """What an order costs: a part of its value, and a fixed sum."""

    rate: Part = 0.0
    fixed: Positive = 0.0


class Taxes(_Data):
    """Tax on a gain when a lot is sold, as a part of it; `long` if it was held for `days`."""

    short: Part
    long: Part
    days: int = 365


class Policy(_Data):
    """What the user wants; every key of `policy.yaml` is a field here."""

    target: Target
    target_return: Number | None = None
    target_volatility: Positive | None = None
    risk_aversion: Annotated[Number, Field(gt=0)] = 1.0
    risk_free: Number = 0.02
    days: Annotated[Number, Field(gt=0, le=100_000)] = 252.0
    """Rows of prices in a year."""
    weights: Annotated[
        dict[str, Annotated[Band, BeforeValidator(lambda one: _under("target", one))]],
        Field(validate_default=False),
    ] = {}
    bounds: Annotated[
        dict[str, tuple[Limit, Limit]], BeforeValidator(lambda one: _under("*", one))
    ] = {}
    """The least and the largest weight of an asset, "*" of all others; without them 0 and 1."""
    cash: Positive = 0.0
    fees: Annotated[Fees, BeforeValidator(lambda one: _under("rate", one))] = Fees()
    min_trade: Positive = 0.0
    taxes: Taxes | None = None
    allocation: Literal["greedy", "optimal"] = "optimal"
    shocks: dict[str, dict[str, Number]] = {}
    """Scenarios by name: how much each asset changes; "*" stands for all others."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"efficient_return": "target_return", "efficient_risk": "target_volatility"}
        needed = needs.get(self.target)
        if needed and getattr(self, needed) is None:
            raise ValueError(f"target {self.target} needs {needed}: add it, for example 0.15")
        if bool(self.weights) != (self.target == "weights"):
            raise ValueError("weights and target: weights belong together: add one, or remove one")
        total = sum(band.target or 0.0 for band in self.weights.values())
        if total > 1 + 1e-6:
            raise ValueError(f"weights add up to {total:.4g}, over 1: write 0.6 or 60 % for 60 %")
        return self

    def bounds_of(self, asset: str) -> tuple[float, float]:
        """The least and the largest weight that an asset may have."""
        low, high = self.bounds.get(asset, self.bounds.get("*", (0.0, 1.0)))
        least, most = -float("inf") if low is None else low, float("inf") if high is None else high
        if not self.weights:
            return least, most
        band = self.weights.get(asset, NOT_LISTED)
        return max(least, band.min), min(most, band.max)


def _under(key: str, value: object) -> object:
    """`value` under its usual key, if it is written without one."""
    return cast("object", value) if isinstance(value, dict) else {key: value}


def read_policy(text: str, file: str) -> Policy:
    """The policy. Raises `InputError` with every problem of it, `file: key: what is wrong`."""
    if len(text) > MAX_CHARS:
        raise InputError(f"{file}: it has {len(text):,} characters: a policy has a page at most")
    try:
        # Every scalar is text: the assets ON, NO and Y are no booleans.
        given = cast("object", yaml.load(text, Loader=yaml.BaseLoader))  # pyright: ignore[reportUnknownMemberType]
        return Policy.model_validate(given)
    except ValidationError as error:
        raise InputError("; ".join(f"{file}: {_line(one)}" for one in error.errors())) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: this is not YAML: write one `key: value` a line") from error


def _line(one: ErrorDetails) -> str:
    key = ".".join(map(str, one["loc"]))
    known = f"unknown key: known are {', '.join(Policy.model_fields)}"
    what = known if one["type"] == "extra_forbidden" else one["msg"]
    return f"{key}: {what}" if key else what
